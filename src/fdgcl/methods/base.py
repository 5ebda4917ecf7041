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
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.reduction import Reduction
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

    Beside its weights it keeps what was done to the training graph's features first, so
    that the same is done to another graph's.

    Args:
        num_features: Columns of the features.
        feature_scaling: How they are scaled; not `auto`, which is decided by a graph.
        reduced: Columns that they are reduced to after that, if they are.
    """

    def __init__(
        self,
        num_features: int,
        feature_scaling: str = "none",
        reduced: int | None = None,
    ) -> None:
        super().__init__()
        assert feature_scaling != "auto", "a graph decides that"
        self._scaling = feature_scaling
        scaled = num_features if feature_scaling in COLUMN_SCALINGS else 0
        centred = num_features if feature_scaling == "columns" else 0
        weights = torch.ones(scaled, dtype=torch.float64)
        means = torch.zeros(centred, dtype=torch.float64)
        self.register_buffer("column_weights", weights)
        self.register_buffer("column_means", means, persistent=bool(centred))
        directions = torch.zeros(num_features if reduced else 0, reduced or 0)
        self.register_buffer("directions", directions, persistent=bool(reduced))
        self.column_weights: Tensor
        self.column_means: Tensor
        self.directions: Tensor

    @property
    def columns(self) -> FeatureMap:
        """What was done to the training graph's features."""
        scale = reduction = None
        if len(self.column_weights):
            means = self.column_means.cpu().numpy() if len(self.column_means) else None
            scale = ColumnScale(self.column_weights.cpu().numpy(), means)
        if len(self.directions):
            reduction = Reduction(self.directions.cpu().numpy())
        return FeatureMap(self._scaling, scale, reduction)

    @torch.no_grad()
    def keep_columns(self, columns: FeatureMap) -> None:
        """Keep what was done to the training graph's features."""
        if columns.scale is not None:
            self.column_weights.copy_(torch.from_numpy(columns.scale.weights))
            if columns.scale.means is not None:
                self.column_means.copy_(torch.from_numpy(columns.scale.means))
        if columns.reduction is not None:
            self.directions.copy_(torch.from_numpy(columns.reduction.directions))


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
        self, data: GraphData, settings: S, columns: FeatureMap | None = None
    ) -> Preparation[S]:
        """Check a graph against the settings, and plan.

        Args:
            data: The graph; methods that need all of it take no store.
            settings: Of the method.
            columns: What was done to the training graph's features; None for the
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
        columns: FeatureMap,
        decisions: dict[str, Any],  # noqa: ARG002
    ) -> Preparation[S]:
        """Prepare a graph for a model that is trained already, or refuse it.

        Args:
            data: The graph, whose features must be those of training.
            settings: The model's.
            schema: What the training graph's features looked like.
            columns: What was done to them.
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
