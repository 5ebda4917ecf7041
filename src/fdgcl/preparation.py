"""From a graph and settings to everything training needs, checked and planned."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.batching import batch_lr, batch_rows, check_batch_size
from fdgcl.diffusion import Dynamics, Gradient, PolynomialFilter
from fdgcl.diffusion.plan import Plan, Workload, make_plan
from fdgcl.diffusion.polynomial import Progress
from fdgcl.diffusion.solvers import SteppingScheme
from fdgcl.diffusion.stability import StabilityReport, stability_report
from fdgcl.graphs import Graph
from fdgcl.graphs.operators import Direction, Normalization, Operator, build_operator
from fdgcl.graphs.persistence import Persistence, feature_persistence
from fdgcl.graphs.scaling import column_rarity, scale_features
from fdgcl.graphs.structural import structural_features
from fdgcl.losses import build_loss
from fdgcl.settings import Settings
from fdgcl.views import Diffused, InLoop, Stepped, ViewSource
from fdgcl.views.agreement import can_be_fused

INFORMATIVE_BETA = 0.5
UNINFORMATIVE_BETA = 1.0


@dataclass(frozen=True, eq=False)
class Preparation:
    """One graph under one model's settings.

    Attributes:
        graph: The graph, with features made where it had none.
        structural: The kind of features made; None where it had its own.
        settings: The model's settings.
        operator: The graph's operator.
        notices: What the user should be told.
        column_weights: What the features' columns were multiplied by, if by anything.
    """

    graph: Graph
    structural: str | None
    settings: Settings
    operator: Operator
    notices: tuple[str, ...]
    column_weights: NDArray[Any] | None = None

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
    def polynomial(self) -> PolynomialFilter:
        """The diffusion of both orders, where it is fixed and linear."""
        settings = self.settings
        return PolynomialFilter.of(
            self.dynamics, self.operator, settings.schedule, settings.orders
        )

    @cached_property
    def stability(self) -> StabilityReport | None:
        """What the diffusion does to each frequency; None where it is not linear."""
        settings = self.settings
        if not settings.is_fixed_linear:
            return None
        return stability_report(
            self.dynamics, self.operator, settings.schedule, settings.orders
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
    def plan(self) -> Plan:
        """How the diffusion is done."""
        nodes, features = self.features.shape
        stored = np.prod(self.features.shape, dtype=np.int64)
        if isinstance(self.features, csr_array):
            stored = self.features.nnz
        load = Workload(
            nodes=nodes,
            weights=self.operator.nnz,
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
            return self.polynomial.products
        found = self.settings.schedule.products(self.dynamics.products)
        assert found is not None
        return found

    @property
    def _held(self) -> int:
        """Matrices of a view's size that a training step holds, for each view."""
        settings = self.settings
        loss = build_loss(settings.loss, settings.eta)
        if not settings.fast or not can_be_fused(
            loss, settings.activation, settings.standardize
        ):
            return 5
        nodes, features = self.features.shape
        # In place; where there are many features, beside the product and its gradient.
        return 1 if features <= (self.batch_size or nodes) // 4 else 3

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
    def persistence(self) -> Persistence:
        """How features persist along the edges."""
        return feature_persistence(self.features, self.graph.adjacency)

    @cached_property
    def beta(self) -> float:
        """The first view's weight; where it was left open, the graph decides.

        Where a node's neighbours tell nothing of it, the global view is noise and the
        local view stands alone. Features made from the edges are no evidence of that.
        """
        if self.settings.beta is not None:
            return self.settings.beta
        informative = self.structural is not None or self.persistence.is_informative
        return INFORMATIVE_BETA if informative else UNINFORMATIVE_BETA

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
            return InLoop(self.features, self.polynomial)
        return Diffused.of(
            self.features,
            self.polynomial,
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
    graph: Graph, settings: Settings, column_weights: NDArray[Any] | None = None
) -> Preparation:
    """Check a graph against the settings and build its operator.

    Args:
        graph: The graph.
        settings: The model's.
        column_weights: Of the graph the model was trained on, where it has any.
    """
    _check_is_graph(graph)
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
    graph, column_weights = _scaled(graph, settings, column_weights)
    if settings.direction is None and not graph.is_symmetric:
        notices.append(
            "the edges are directed and no direction was given: they are used both "
            "ways (direction 'symmetric'; 'out' and 'in' keep one)"
        )
    operator = build_operator(
        graph.adjacency,
        direction=cast(Direction, settings.direction or "symmetric"),
        self_loops=settings.self_loops,
        normalization=cast(Normalization, settings.normalization),
        device=settings.torch_device,
    )
    return Preparation(
        graph, structural, settings, operator, tuple(notices), column_weights
    )


def _scaled(
    graph: Graph, settings: Settings, column_weights: NDArray[Any] | None
) -> tuple[Graph, NDArray[Any] | None]:
    scaling = settings.feature_scaling
    if scaling == "none":
        return graph, None
    assert graph.features is not None
    if scaling == "tf-idf" and column_weights is None:
        column_weights = column_rarity(graph.features)
    elif column_weights is not None:
        _check_width(len(column_weights), graph.num_features)
    scaled = scale_features(graph.features, scaling, column_weights)
    return graph.with_features(scaled), column_weights


def prepare_training(graph: Graph, settings: Settings) -> Preparation:
    """Prepare a graph to be trained on, which must hold at least one batch."""
    prepared = prepare(graph, settings)
    check_batch_size(settings, graph.num_nodes)
    smaller = settings.batch_size is not None and settings.batch_size < graph.num_nodes
    if smaller and not settings.is_fixed_linear:
        message = (
            f"dynamics {settings.dynamics!r} steps all {graph.num_nodes:,} nodes in "
            f"every epoch: it takes no smaller batch_size, got {settings.batch_size:,}"
        )
        raise InputError(message)
    return prepared


def _check_is_graph(graph: object) -> None:
    if not isinstance(graph, Graph):
        message = (
            f"the model takes a fdgcl Graph, got {type(graph).__name__}; see "
            "Graph.from_edges, from_scipy, from_networkx and from_pyg"
        )
        raise InputError(message)


def check_schema(schema: dict[str, Any], prepared: Preparation) -> None:
    """Refuse a graph whose features are not those a model was trained on."""
    found = prepared.schema()
    if found["structural"] != schema["structural"]:
        message = (
            f"the model was trained on {_kind(schema)}, this graph has {_kind(found)}"
        )
        raise InputError(message)
    _check_width(schema["num_features"], found["num_features"])
    if found["structural"] == "spectral" and found["adjacency"] != schema["adjacency"]:
        message = (
            "the model was trained on spectral features, which belong to one graph "
            "alone; train with structural features 'degree' to embed other graphs"
        )
        raise InputError(message)
    _check_names(schema["feature_names"], found["feature_names"])


def _check_width(trained: int, found: int) -> None:
    if found != trained:
        message = (
            f"the model was trained on {trained:,} features, this graph has {found:,}"
        )
        raise InputError(message)


def _check_names(trained: list[str] | None, found: list[str] | None) -> None:
    if trained is None or found is None or trained == found:
        return
    place = next(
        i
        for i, pair in enumerate(zip(trained, found, strict=True))
        if pair[0] != pair[1]
    )
    message = (
        f"feature column {place + 1} is {found[place]!r}, the model was trained with "
        f"{trained[place]!r} there: order the columns as in training"
    )
    raise InputError(message)


def _kind(schema: dict[str, Any]) -> str:
    made = schema["structural"]
    return "the graph's own features" if made is None else f"{made!r} features"


def fingerprint(graph: Graph, *, features: bool = True) -> str:
    """A short hash of a graph's edges and, unless told otherwise, features."""
    adjacency = graph.adjacency
    parts = [adjacency.indptr, adjacency.indices, adjacency.data]
    if features and isinstance(graph.features, csr_array):
        x = graph.features
        parts += [x.indptr, x.indices, x.data]
    elif features and graph.features is not None:
        parts.append(graph.features)
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(str((part.shape, part.dtype)).encode())
        digest.update(np.ascontiguousarray(part).data.cast("B"))
    return digest.hexdigest()
