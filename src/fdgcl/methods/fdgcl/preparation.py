"""From a graph and settings to everything training needs, checked and planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.diffusion import Dynamics, Gradient, PolynomialFilter
from fdgcl.diffusion.polynomial import Progress
from fdgcl.diffusion.solvers import SteppingScheme
from fdgcl.diffusion.stability import (
    Bounds,
    CommonBounds,
    StabilityReport,
    stability_report,
)
from fdgcl.graphs import Graph
from fdgcl.graphs._validate import is_symmetric
from fdgcl.graphs.diagnosis import FeatureFindings, check_edges, examine_features
from fdgcl.graphs.directions import Direction, Normalization
from fdgcl.graphs.fingerprint import fingerprint
from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.scaling import ColumnScale, column_scale, scale_features
from fdgcl.graphs.structural import structural_features
from fdgcl.methods.fdgcl import Diffused, InLoop, Stepped, ViewSource
from fdgcl.methods.fdgcl.agreement import can_be_fused
from fdgcl.methods.fdgcl.batching import batch_lr, batch_rows, check_batch_size
from fdgcl.methods.fdgcl.edge_types import chosen_types
from fdgcl.methods.fdgcl.plan import FittingPlan, Workload, make_plan
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.operators.feature_correlation import FeatureCorrelation, feature_correlation
from fdgcl.operators.in_memory import Operator, build_operator

UNINFORMATIVE_BETA = 1.0


@dataclass(frozen=True, eq=False)
class Preparation:
    """One graph under one model's settings.

    Attributes:
        graph: The graph, with features made where it had none.
        structural: The kind of features made; None where it had its own.
        settings: The model's settings.
        operators: The graph's operator, or one for each of its edge types.
        notices: What the user should be told.
        columns: What the features' columns were scaled by, if by anything.
    """

    graph: Graph
    structural: str | None
    settings: Settings
    operators: tuple[Operator, ...]
    notices: tuple[str, ...]
    columns: ColumnScale | None = None

    @property
    def features(self) -> NDArray[Any] | csr_array:
        """The features."""
        assert self.graph.features is not None
        return self.graph.features

    @cached_property
    def dynamics(self) -> Dynamics:
        """The equation's right-hand side as it is before training."""
        return self.settings.new_dynamics(self.settings.dim)

    @cached_property
    def operator(self) -> Operator:
        """The operator of the whole graph, whatever types its edges have."""
        if len(self.operators) == 1:
            return self.operators[0]
        return _operator(self.graph.adjacency, self.settings)

    @property
    def spectrum(self) -> Bounds:
        """Where the spectra of all operators lie."""
        return CommonBounds.of(self.operators)

    @cached_property
    def filters(self) -> tuple[PolynomialFilter, ...]:
        """The diffusion of all orders by each operator, where fixed and linear."""
        settings = self.settings
        return tuple(
            PolynomialFilter.of(
                self.dynamics, operator, settings.schedule, settings.orders
            )
            for operator in self.operators
        )

    @cached_property
    def stability(self) -> StabilityReport | None:
        """What the diffusion does to each frequency; None where it is not linear."""
        settings = self.settings
        if not settings.is_fixed_linear:
            return None
        return stability_report(
            self.dynamics, self.spectrum, settings.schedule, settings.orders
        )

    def describe_stability(self) -> list[str]:
        """Plain sentences on what the diffusion does to each frequency."""
        if self.stability is not None:
            return self.stability.describe()
        return [
            f"dynamics {self.settings.dynamics!r} is not linear, or is trained: "
            "whether steps are stable depends on the features; smaller ones are safer"
        ]

    @cached_property
    def plan(self) -> FittingPlan:
        """How the diffusion is done."""
        nodes, features = self.features.shape
        stored = np.prod(self.features.shape, dtype=np.int64)
        if isinstance(self.features, csr_array):
            stored = self.features.nnz
        load = Workload(
            nodes=nodes,
            weights=sum(operator.nnz for operator in self.operators),
            features=features,
            nonzeros=int(stored),
            dim=self.settings.dim,
            products=self._products,
            orders=len(self.settings.orders),
            epochs=self.settings.epochs,
            batch_size=self.batch_size,
            itemsize=self.settings.torch_dtype.itemsize,
            history=self._history,
            held=self._held,
            relations=len(self.operators),
        )
        fixed = self.settings.is_fixed_linear
        strategy = self.settings.strategy
        if strategy == "auto" and {"local", "global"} & set(self.settings.keep):
            # All features are diffused for the embedding, whatever training does.
            strategy = "precompute"
        return make_plan(load, strategy, can_precompute=fixed)

    @property
    def _products(self) -> int:
        if self.settings.is_fixed_linear:
            return max(one.products for one in self.filters)
        found = self.settings.schedule.products(self.dynamics.products)
        assert found is not None
        return found

    @property
    def _held(self) -> int:
        """Matrices of a view's size that a training step holds, for each view."""
        settings = self.settings
        # A loss of the user's own, which may not be at hand, is none of the fused ones.
        plain = not settings.fast or ":" in settings.loss
        if plain or not can_be_fused(
            settings.new_loss(), settings.activation, settings.standardize
        ):
            return 5
        nodes, features = self.features.shape
        columns = features * len(self.operators)
        # In place; where there are many features, beside the product and its gradient.
        held = 1 if columns <= (self.batch_size or nodes) // 4 else 3
        # Each of several pairs has copies of its views, beside the gradients of all.
        return held if len(settings.orders) <= 2 else held + 2

    @property
    def _history(self) -> int:
        """States that stepping keeps for the backward pass, at most; 0 if none."""
        settings = self.settings
        scheme = settings.schedule.scheme
        if settings.is_fixed_linear or not isinstance(scheme, SteppingScheme):
            return 0
        kept = settings.schedule.steps_per_segment * scheme.evaluations_per_step
        return kept + settings.schedule.segments

    @cached_property
    def correlations(self) -> list[FeatureCorrelation]:
        """How features persist along the edges, or those of each type."""
        return [
            feature_correlation(self.features, edges) for edges in _edges(self.graph)
        ]

    @property
    def is_homophilic(self) -> bool:
        """Whether linked nodes are alike, by the edges of some type at least."""
        return any(one.is_homophilic for one in self.correlations)

    @cached_property
    def findings(self) -> FeatureFindings:
        """What the columns of the features tell before training.

        Raises:
            InputError: There is nothing in them.
        """
        moments = ColumnMoments.of(self.features)
        names = self.graph.feature_names
        return examine_features(moments, names, self.settings.feature_scaling)

    @cached_property
    def beta(self) -> float | Sequence[float]:
        """The views' weights; where they were left open, the graph decides.

        Where a node's neighbours tell nothing of it, other views are noise and the
        local view stands alone. Features made from the edges are no evidence of that.
        """
        if self.settings.beta is not None:
            return self.settings.beta
        informative = self.structural is not None or any(
            one.is_informative for one in self.correlations
        )
        alone = self.findings.outweighing
        if not informative and alone is not None:
            # One column hides what the others say, and training does hear them.
            informative = any(
                feature_correlation(self.features, edges, without=alone).is_informative
                for edges in _edges(self.graph)
            )
        return 1 / len(self.settings.orders) if informative else UNINFORMATIVE_BETA

    @property
    def batch_size(self) -> int | None:
        """Rows of a batch; None for all."""
        return batch_rows(self.settings, self.graph.num_nodes)

    @property
    def lr(self) -> float:
        """The learning rate of a batch."""
        return batch_lr(self.settings, self.graph.num_nodes)

    def source(
        self,
        device: torch.device,
        dynamics: Sequence[Dynamics] = (),
        progress: Progress | None = None,
    ) -> ViewSource:
        """Where the views' hidden features come from, as planned.

        Args:
            device: Where diffused features go.
            dynamics: Of each view, where training changes them.
            progress: Called while features are diffused.
        """
        settings = self.settings
        if not settings.is_fixed_linear:
            return Stepped(
                self.features,
                self.operator,
                dynamics,
                settings.orders,
                settings.schedule,
                cast(Gradient, settings.gradient),
            )
        if self.plan.strategy == "in-loop":
            return InLoop(self.features, *self.filters)
        return Diffused.of(
            self.features,
            *self.filters,
            dtype=self.settings.torch_dtype,
            device=device,
            progress=progress,
        )

    def decisions(self) -> dict[str, Any]:
        """What was left open in the settings and decided by the graph."""
        return {"beta": self.beta, "batch_size": self.batch_size, "lr": self.lr}

    def schema(self) -> dict[str, Any]:
        """What another graph's features must look like."""
        names = self.graph.feature_names
        return {
            "num_features": self.graph.num_features,
            "feature_names": None if names is None else list(names),
            "structural": self.structural,
            "table": table_of(self.graph),
            "relations": self.graph.relations and [*self.graph.relations],
            "adjacency": fingerprint(self.graph, features=False),
        }

    def describe_graph(self) -> dict[str, Any]:
        """What the run folder says of the graph."""
        return {
            "name": self.graph.name,
            "source": self.graph.source,
            "nodes": self.graph.num_nodes,
            "edges": self.graph.num_edges,
            "fingerprint": fingerprint(self.graph),
        }


def prepare(
    graph: Graph, settings: Settings, columns: ColumnScale | None = None
) -> Preparation:
    """Check a graph against the settings and build its operator.

    Args:
        graph: The graph.
        settings: The model's.
        columns: What those of the graph it was trained on were scaled by.
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
    graph, columns = _scaled(graph, settings, columns)
    graph, told = chosen_types(graph, settings)
    notices += told
    if settings.direction is None and not all(map(is_symmetric, _edges(graph))):
        notices.append(
            "the edges are directed and no direction was given: they are used both "
            "ways (direction 'symmetric'; 'out' and 'in' keep one)"
        )
    operators = tuple(_operator(edges, settings) for edges in _edges(graph))
    return Preparation(graph, structural, settings, operators, tuple(notices), columns)


def _edges(graph: Graph) -> list[csr_array]:
    """The edges of each type; all of them where they have none."""
    return [*(graph.relations or {"": graph.adjacency}).values()]


def _operator(adjacency: csr_array, settings: Settings) -> Operator:
    return build_operator(
        adjacency,
        direction=cast(Direction, settings.direction or "symmetric"),
        self_loops=settings.self_loops,
        normalization=cast(Normalization, settings.normalization),
        device=settings.torch_device,
    )


def _scaled(
    graph: Graph, settings: Settings, columns: ColumnScale | None
) -> tuple[Graph, ColumnScale | None]:
    scaling = settings.feature_scaling
    if scaling == "none":
        return graph, None
    assert graph.features is not None
    if columns is None:
        columns = column_scale(graph.features, scaling)
    else:
        check_width(len(columns.weights), graph.num_features)
    scaled = scale_features(graph.features, scaling, columns)
    return replace(graph, features=scaled), columns


def prepare_training(graph: Graph, settings: Settings) -> Preparation:
    """Prepare a graph to be trained on, which must hold at least one batch."""
    prepared = prepare(graph, settings)
    check_edges(graph.adjacency)
    check_batch_size(settings, graph.num_nodes)
    smaller = settings.batch_size is not None and settings.batch_size < graph.num_nodes
    if smaller and not settings.is_fixed_linear:
        message = (
            f"dynamics {settings.dynamics!r} steps all {graph.num_nodes:,} nodes in "
            f"every epoch: it takes no smaller batch_size, got {settings.batch_size:,}"
        )
        raise InputError(message)
    return prepared


def table_of(graph: Graph) -> dict[str, Any] | None:
    """How the columns of a table became features, for a file; None for arrays."""
    if graph.feature_schema is None:
        return None
    # Here, as it loads Arrow, which arrays do without.
    from fdgcl.graphs.schema import schema_to_dict

    return schema_to_dict(graph.feature_schema)


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
