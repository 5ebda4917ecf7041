"""From a graph and settings to what a method needs, checked and planned."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl._memory import describe_size, total_bytes
from fdgcl._progress import Progress
from fdgcl.diffusion.stability import StabilityReport
from fdgcl.graphs import Graph
from fdgcl.graphs.data import GraphData, fingerprint, table_of
from fdgcl.graphs.diagnosis import FeatureFindings, examine_features
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.rows import RowSource
from fdgcl.graphs.scaling import choose_scaling
from fdgcl.graphs.structural import structural_features
from fdgcl.methods.resources import Resources
from fdgcl.methods.settings import MethodSettings
from fdgcl.planning import Plan

S = TypeVar("S", bound=MethodSettings)


@dataclass(frozen=True, eq=False)
class Preparation(Generic[S]):
    """One graph under one method's settings: what is known before anything runs.

    Attributes:
        data: The graph; one in memory with features made where it had none, and scaled.
        structural: The kind of features made; None where it had its own.
        settings: The method's settings.
        notices: What the user should be told.
        columns: What is done to the features, as far as it is known by now.
        resources: What training may use.
    """

    data: GraphData
    structural: str | None
    settings: S
    notices: tuple[str, ...]
    columns: FeatureMap | None = None
    resources: Resources = field(default_factory=Resources)

    def within(self, resources: Resources) -> Self:
        """The same, to be done with what there is."""
        return replace(self, resources=resources)

    def begin(self, progress: Progress | None = None) -> None:
        """Find out what must be known of the graph before training, if that is long."""

    @property
    def feature_map(self) -> FeatureMap:
        """What is done to the features, once `begin` has found it out."""
        return self.columns or FeatureMap()

    def check_memory(self) -> None:
        """Refuse what memory cannot hold, before any of it is taken.

        Raises:
            InputError: Training takes more than there is, or than it may.
        """
        self.plan.check()
        device = self.settings.torch_device
        on_gpu = device.type == "cuda"
        total = total_bytes()
        if on_gpu:
            total = torch.cuda.get_device_properties(device).total_memory
        if self.plan.peak_bytes > total:
            where = "the GPU" if on_gpu else "this machine"
            message = (
                f"training with dim {self.width:,} takes about "
                f"{describe_size(self.plan.peak_bytes)} of memory, and {where} has "
                f"{describe_size(total)}: choose a smaller {self.sizes}"
            )
            raise InputError(message)

    @property
    def graph(self) -> Graph:
        """The graph, which is in memory."""
        assert isinstance(self.data, Graph)
        return self.data

    @property
    def features(self) -> NDArray[Any] | csr_array:
        """Its features."""
        assert self.graph.features is not None
        return self.graph.features

    @cached_property
    def findings(self) -> FeatureFindings:
        """What the columns of the features tell before training.

        Raises:
            InputError: There is nothing in them.
        """
        return examine_features(
            self._moments(), self.data.feature_names, self.settings.feature_scaling
        )

    def _moments(self) -> ColumnMoments:
        assert self.graph.features is not None
        return ColumnMoments.of(self.graph.features)

    @property
    def stability(self) -> StabilityReport | None:
        """What a diffusion does to each frequency; None where nothing tells."""
        return None

    def describe_stability(self) -> list[str]:
        """Plain sentences on what a diffusion does to each frequency."""
        return []

    def describe_decisions(self) -> list[str]:
        """What the graph decided for the user."""
        return []

    def warnings(self) -> list[str]:
        """What to warn of before training."""
        return [text for text in (self.findings.warning,) if text is not None]

    @property
    def sizes(self) -> str:
        """The settings, in words, that memory grows with."""
        return "dim or batch_size"

    @property
    def width(self) -> int:
        """Columns of the embedding."""
        return int(getattr(self.settings, "dim", self.data.num_features))

    @cached_property
    def plan(self) -> Plan:
        """What training takes, for a method that holds all of the graph."""
        from fdgcl.methods.fdgcl.plan import Workload, make_plan

        nodes, features = self.features.shape
        stored = np.prod(self.features.shape, dtype=np.int64)
        if isinstance(self.features, csr_array):
            stored = self.features.nnz
        # As much as two views take that are diffused in every step of training.
        load = Workload(
            nodes=nodes,
            weights=self.graph.num_edges + nodes,
            features=features,
            nonzeros=int(stored),
            dim=self.width,
            products=2,
            orders=2,
            epochs=self.settings.epochs,
            batch_size=None,
            itemsize=self.settings.torch_dtype.itemsize,
            history=1,
        )
        peak = make_plan(load, "in-loop", can_precompute=False).peak_bytes
        return Plan(
            does=(
                f"{nodes:,} nodes, {self.graph.num_edges:,} edges, {features:,} "
                f"features, dim {self.width:,}",
                f"{self.settings.epochs:,} epochs, each on the whole graph",
            ),
            peak_bytes=peak,
            aside="input aside",
            memory=self.resources.memory,
            least_bytes=peak,
            purpose="for a graph in memory",
        )

    def decisions(self) -> dict[str, Any]:
        """What was left open in the settings and decided by the graph."""
        return {}

    def schema(self) -> dict[str, Any]:
        """What another graph's features must look like."""
        names = self.data.feature_names
        return {
            "num_features": self.data.num_features,
            "feature_names": None if names is None else list(names),
            "structural": self.structural,
            "table": table_of(self.data),
            "relations": None,
            "adjacency": fingerprint(self.data, features=False),
        }

    def describe_graph(self) -> dict[str, Any]:
        """What the run folder says of the graph."""
        return {
            "name": self.data.name,
            "source": self.data.source,
            "nodes": self.data.num_nodes,
            "edges": self.data.num_edges,
            "fingerprint": fingerprint(self.data),
        }

    def also_telling(self, *texts: str) -> Self:
        """The same, with more to tell, first."""
        return replace(self, notices=(*texts, *self.notices))


def prepare_graph(
    graph: Graph, settings: S, columns: FeatureMap | None = None
) -> Preparation[S]:
    """Check a graph in memory against the settings, and make its features ready.

    Args:
        graph: The graph.
        settings: Of the method.
        columns: What was done to those of the graph it was trained on.
    """
    check_is_graph(graph)
    notices: list[str] = []
    structural = None
    if graph.features is None:
        structural = settings.structural
        made = structural_features(graph, structural, seed=settings.seed)
        graph = graph.with_features(made)
        notices.append(
            f"the graph has no features: {made.shape[1]} {structural!r} features were "
            "made from its edges"
        )
    assert graph.features is not None
    if columns is None:
        settings, told = chosen_scaling(graph, graph.features, settings, structural)
        notices += told
        columns = FeatureMap.scaling_of(graph.features, settings.feature_scaling)
    else:
        columns.check(graph.num_features)
        settings = replace(settings, feature_scaling=columns.scaling)
    if columns.scaling != "none":
        graph = replace(graph, features=columns.scaled(graph.features))
    return Preparation(graph, structural, settings, tuple(notices), columns)


def chosen_scaling(
    data: GraphData, features: RowSource, settings: S, structural: str | None
) -> tuple[S, list[str]]:
    """Return settings in which no scaling is left open, and what to tell of it.

    Args:
        data: The graph that is trained on.
        features: Its features.
        settings: Of the method.
        structural: The kind of features made from the edges, if they were.
    """
    if settings.feature_scaling != "auto":
        return settings, []
    encoded = table_of(data) is not None
    found, why = choose_scaling(features, structural=structural, encoded=encoded)
    told = f"feature_scaling {found!r} was chosen: {why}"
    return replace(settings, feature_scaling=found), [told]


def direction_notices(symmetric: bool, settings: MethodSettings) -> list[str]:
    """What to tell where edges are directed and no direction was given."""
    if symmetric or settings.direction is not None:
        return []
    return [
        "the edges are directed and no direction was given: they are used both "
        "ways (direction 'symmetric'; 'out' and 'in' keep one)"
    ]


def check_is_graph(graph: object) -> None:
    """Refuse what is no graph, naming what makes one."""
    if not isinstance(graph, Graph):
        message = (
            f"the model takes a fdgcl Graph, got {type(graph).__name__}; see "
            "Graph.from_edges, from_scipy, from_networkx and from_pyg"
        )
        raise InputError(message)


def check_width(trained: int, found: int) -> None:
    """Refuse another number of features than a model was trained on."""
    if found != trained:
        message = (
            f"the model was trained on {trained:,} features, this graph has {found:,}"
        )
        raise InputError(message)
