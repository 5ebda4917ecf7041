"""What a method is: how it takes a graph, what it trains, and how it embeds.

A method is three things, each a class of its own:

- its settings, a `MethodSettings`;
- its model, a `GraphModel`: weights and whatever else is saved;
- its `Trainable`: the model on a graph, which the one training loop trains, and which
  embeds the graph's nodes.

`Method` ties them together. Everything else (run folder, log, checkpoints, command
line, tuning, tables, reports) knows methods by these alone.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor, nn

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.graphs import Graph
from fdgcl.graphs.data import GraphData
from fdgcl.graphs.diagnosis import check_edges
from fdgcl.graphs.scaling import COLUMN_SCALINGS, ColumnScale
from fdgcl.graphs.store.store import Store
from fdgcl.methods.preparation import (
    Preparation,
    check_is_graph,
    direction_notices,
    prepare_graph,
)
from fdgcl.methods.reuse import check_schema, matched
from fdgcl.methods.settings import MethodSettings
from fdgcl.training.trainable import Trainable

S = TypeVar("S", bound=MethodSettings)
M = TypeVar("M", bound="GraphModel")


class GraphModel(nn.Module):
    """All that is saved of a trained model.

    Beside its weights it keeps what the training graph's columns were scaled by, so
    that another graph's are scaled alike.

    Args:
        num_features: Columns of the features.
        feature_scaling: What is done to them first.
    """

    def __init__(self, num_features: int, feature_scaling: str = "none") -> None:
        super().__init__()
        scaled = num_features if feature_scaling in COLUMN_SCALINGS else 0
        centred = num_features if feature_scaling == "columns" else 0
        weights = torch.ones(scaled, dtype=torch.float64)
        means = torch.zeros(centred, dtype=torch.float64)
        self.register_buffer("column_weights", weights)
        self.register_buffer("column_means", means, persistent=bool(centred))
        self.column_weights: Tensor
        self.column_means: Tensor

    @property
    def columns(self) -> ColumnScale | None:
        """What the training graph's columns were scaled by, if by anything."""
        if not len(self.column_weights):
            return None
        means = self.column_means.cpu().numpy() if len(self.column_means) else None
        return ColumnScale(self.column_weights.cpu().numpy(), means)

    @torch.no_grad()
    def keep_columns(self, columns: ColumnScale) -> None:
        """Keep what the training graph's columns were scaled by."""
        self.column_weights.copy_(torch.from_numpy(columns.weights))
        if columns.means is not None:
            self.column_means.copy_(torch.from_numpy(columns.means))


@dataclass(frozen=True)
class Config:
    """What a run was begun with; `config.json` says it.

    Attributes:
        method: Name of the method.
        settings: Its settings.
        schema: What the features looked like.
        graph: Name, sizes and fingerprint of the graph it was fitted on.
        decisions: What the settings left open and the graph decided.
    """

    method: str
    settings: Any
    schema: dict[str, Any]
    graph: dict[str, Any]
    decisions: dict[str, Any]

    @classmethod
    def of(cls, method: str, prepared: Preparation[Any]) -> Config:
        """What is to be said of a graph as it was prepared."""
        return cls(
            method,
            prepared.settings,
            schema=prepared.schema(),
            graph=prepared.describe_graph(),
            decisions=prepared.decisions(),
        )

    @property
    def num_features(self) -> int:
        """Columns of the features it was fitted on."""
        return int(self.schema["num_features"])

    @property
    def num_relations(self) -> int:
        """How many times they stand side by side once diffused: by each edge type."""
        return len(self.schema["relations"] or [None])


class Method(abc.ABC, Generic[S, M]):
    """A method by name, with what it needs to be prepared, made and trained.

    Attributes:
        name: What users choose it by.
        title: What it is called, for people.
        settings: The class of its settings.
        has_views: Whether there are views beside the embedding.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings: type[S]
    has_views: ClassVar[bool] = False

    def prepare(
        self, data: GraphData, settings: S, columns: ColumnScale | None = None
    ) -> Preparation[S]:
        """Check a graph against the settings, and plan.

        Args:
            data: The graph; methods that need all of it take no store.
            settings: Of the method.
            columns: What the training graph's columns were scaled by; None for the
                training graph itself.

        Raises:
            InputError: They do not go together.
        """
        graph = self.need_memory(data)
        told = direction_notices(graph.is_symmetric, settings)
        return prepare_graph(graph, settings, columns).also_telling(*told)

    def prepare_other(
        self,
        data: GraphData,
        settings: S,
        schema: dict[str, Any],
        columns: ColumnScale | None,
        decisions: dict[str, Any],  # noqa: ARG002
    ) -> Preparation[S]:
        """Prepare a graph for a model that is trained already, or refuse it.

        Args:
            data: The graph, whose features must be those of training.
            settings: The model's.
            schema: What the training graph's features looked like.
            columns: What they were scaled by, if by anything.
            decisions: What was left open in the settings and decided by that graph.
        """
        graph, made, ignored = matched(self.need_memory(data), settings, schema)
        prepared = self.prepare(graph, made, columns)
        check_schema(schema, prepared)
        return prepared.also_telling(*ignored)

    def need_memory(self, data: GraphData) -> Graph:
        """Return a graph that is in memory; others are refused."""
        if not isinstance(data, Store):
            check_is_graph(data)
            assert isinstance(data, Graph)
            return data
        message = (
            f"method {self.name!r} holds the whole graph in memory and takes no "
            f"store, got {data.folder}: read edges and features by read_graph, or take "
            "method 'fdgcl'"
        )
        raise InputError(message)

    def check_training(self, prepared: Preparation[S]) -> None:
        """Refuse a graph that nothing can be learned from, or batches that do not fit.

        Raises:
            InputError: There is no edge between two nodes, say.
        """
        if isinstance(prepared.data, Graph):
            check_edges(prepared.data.adjacency)
        processes = prepared.resources.group.size
        if processes > 1 and isinstance(prepared.data, Graph):
            message = (
                "several processes share the work on a store alone, and this graph is "
                f"in memory: train it by one, got {processes}"
            )
            raise InputError(message)

    def check_decisions(self, decisions: dict[str, Any]) -> bool:  # noqa: ARG002
        """Whether decisions that were read from a file are such as there can be."""
        return True

    def sizes(self, config: Config) -> set[int]:
        """Sizes that weights must have: looked at before memory is taken for them."""
        return {config.num_features * config.num_relations}

    @abc.abstractmethod
    def new_model(self, config: Config) -> M:
        """An untrained model for what a run was begun on, on its device.

        Args:
            config: Settings, what the features look like, and what was decided by the
                graph. No graph: a model is loaded without one.
        """

    @abc.abstractmethod
    def on_graph(
        self,
        model: M,
        prepared: Preparation[S],
        config: Config,
        *,
        progress: Progress | None = None,
    ) -> Trainable[M]:
        """The model on a graph, to be trained or to embed.

        Args:
            model: The model.
            prepared: The graph: that of training, or another one.
            config: Of the run.
            progress: Called while features are made ready, where that takes time.
        """
