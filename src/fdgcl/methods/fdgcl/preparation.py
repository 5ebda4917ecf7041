"""A graph under FD-GCL's settings: operators, filters, and what the graph decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.diffusion import Dynamics, Gradient, PolynomialFilter
from fdgcl.diffusion.solvers import SteppingScheme
from fdgcl.diffusion.stability import (
    Bounds,
    CommonBounds,
)
from fdgcl.graphs import Graph
from fdgcl.graphs._validate import is_symmetric
from fdgcl.graphs.directions import Direction, Normalization
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.methods.fdgcl import DiffusedFeatures, InLoop, Stepped, ViewSource
from fdgcl.methods.fdgcl.agreement import can_be_fused
from fdgcl.methods.fdgcl.asking_neighbours import neighbours_of_graph
from fdgcl.methods.fdgcl.averages import Averages
from fdgcl.methods.fdgcl.batching import check_batch_size
from fdgcl.methods.fdgcl.decisions import ViewPreparation
from fdgcl.methods.fdgcl.diffused_features import VIEW_NAMES, has_few_features
from fdgcl.methods.fdgcl.edge_types import chosen_types
from fdgcl.methods.fdgcl.kept_blocks import AVERAGED, kept_blocks
from fdgcl.methods.fdgcl.kept_features import KeptFeatures
from fdgcl.methods.fdgcl.plan import FittingPlan, Workload, make_plan
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.preparation import direction_notices, prepare_graph
from fdgcl.operators.feature_correlation import FeatureCorrelation, feature_correlation
from fdgcl.operators.in_memory import InMemoryOperator, build_operator
from fdgcl.operators.neighbour_information import NeighbourInformation


@dataclass(frozen=True, eq=False)
class DiffusionPreparation(ViewPreparation):
    """A graph in memory under a model's settings.

    Attributes:
        operators: The graph's operator, or one for each of its edge types.
    """

    operators: tuple[InMemoryOperator, ...] = ()

    @cached_property
    def feature_map(self) -> FeatureMap:
        """See the base class; directions are looked for when they are first needed."""
        known, settings = super().feature_map, self.settings
        if not self.is_reduced:
            return known
        return known.reducing(self._scaled, settings.reduce, settings.seed)

    @cached_property
    def features(self) -> NDArray[Any] | csr_array:
        """See the base class; reduced, if they are: what is kept is made of these."""
        return self.feature_map.reduced(self._scaled)

    @property
    def view_features(self) -> NDArray[Any] | csr_array:
        """Those that views are made of."""
        all_columns = self.num_columns == self.data.num_features
        return self._scaled if all_columns else self.features

    @property
    def _scaled(self) -> NDArray[Any] | csr_array:
        assert self.graph.features is not None
        return self.graph.features

    @cached_property
    def operator(self) -> InMemoryOperator:
        """The operator of the whole graph, whatever types its edges have."""
        if len(self.operators) == 1:
            return self.operators[0]
        return _operator(self.graph.adjacency, self.settings)

    @property
    def num_relations(self) -> int:
        """See the base class."""
        return len(self.operators)

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
    def plan(self) -> FittingPlan:
        """How the diffusion is done."""
        nodes, given = self._scaled.shape
        features, stored = self.num_columns, nodes * self.num_columns
        kept = self.settings.reduced(given) if self.is_reduced else given
        if features == given and isinstance(self._scaled, csr_array):
            stored = self._scaled.nnz
        load = Workload(
            nodes=nodes,
            weights=sum(operator.nnz for operator in self.operators),
            features=features,
            given=given,
            kept_features=kept,
            kept_orders=len({*self.kept} & {*VIEW_NAMES}),
            nonzeros=int(stored),
            dim=self.settings.hidden_columns,
            products=self._products,
            orders=len(self.settings.orders),
            epochs=self.settings.epochs,
            batch_size=self.batch_size,
            itemsize=self.settings.torch_dtype.itemsize,
            history=self._history,
            held=self._held,
            relations=len(self.operators),
            averages=len({id(one) for one in self.averages.values()}),
            parts=self.parts,
        )
        fixed = self.settings.is_fixed_linear
        strategy = self.settings.strategy
        multiplied = {*self.kept} - {"features"} and kept == features
        if strategy == "auto" and fixed and multiplied:
            # All features are multiplied for the embedding, whatever training does.
            strategy = "precompute"
        bound = self.resources.memory
        return make_plan(load, strategy, can_precompute=fixed, memory=bound)

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
        nodes, columns = self.graph.num_nodes, self.num_columns * len(self.operators)
        # In place; where there are many features, beside the product and its gradient.
        held = 1 if has_few_features(columns, nodes) else 3
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
    def averages(self) -> dict[str, tuple[InMemoryOperator, ...]]:
        """Of each kept mean over neighbours, the operators that take it.

        It is along the arrows, whatever direction the diffusion has.
        """
        edges = _edges(self.graph)
        wanted = {name: AVERAGED[name] for name in self.kept if name in AVERAGED}
        if wanted and _is_undirected(self.graph):
            wanted = dict.fromkeys(wanted, "out")
        made = {
            direction: tuple(
                build_operator(
                    one, direction=direction, self_loops=0, normalization="row"
                )
                for one in edges
            )
            for direction in dict.fromkeys(wanted.values())
        }
        return {name: made[direction] for name, direction in wanted.items()}

    @cached_property
    def correlations(self) -> list[FeatureCorrelation]:
        """How features persist along the edges, or those of each type."""
        return [
            feature_correlation(self.view_features, edges)
            for edges in _edges(self.graph)
        ]

    def neighbour_information(self) -> NeighbourInformation:
        """See the base class; whatever the types of edges."""
        return neighbours_of_graph(self._scaled, self.graph.adjacency)

    def correlates_without(self, column: int) -> bool:
        """See the base class."""
        return any(
            feature_correlation(self._scaled, edges, without=column).is_informative
            for edges in _edges(self.graph)
        )

    def source(
        self,
        device: torch.device,
        dynamics: Sequence[Dynamics] = (),
        progress: Progress | None = None,
    ) -> ViewSource:
        """See the base class."""
        settings = self.settings
        kept = self.kept_features(device)
        if not settings.is_fixed_linear:
            return Stepped(
                self.view_features,
                self.operator,
                dynamics,
                settings.orders,
                settings.schedule,
                cast(Gradient, settings.gradient),
                kept,
            )
        if self.plan.strategy == "in-loop":
            return InLoop(
                self.view_features,
                *self.filters,
                kept=kept,
                dtype=settings.torch_dtype,
                device=device,
            )
        return DiffusedFeatures.diffuse(
            self.view_features,
            *self.filters,
            dtype=settings.torch_dtype,
            device=device,
            kept=kept,
            progress=None if progress is None else partial(progress, "diffuse"),
        )

    def kept_features(self, device: torch.device) -> KeptFeatures:
        """The features that are kept beside the views, and means of them.

        Args:
            device: Where means are to be.
        """
        dtype = self.settings.torch_dtype
        averages = Averages(self.features, self.averages, dtype, device)
        directions = None
        if self.is_reduced and self.num_columns == self.data.num_features:
            assert self.feature_map.reduction is not None
            directions = torch.from_numpy(self.feature_map.reduction.directions)
        return KeptFeatures(self.features, averages, directions)

    def schema(self) -> dict[str, Any]:
        """See the base class; with the edge types, if there are any."""
        relations = self.graph.relations
        return {**super().schema(), "relations": relations and [*relations]}


def prepare(
    graph: Graph,
    settings: Settings,
    columns: FeatureMap | None = None,
    kept: Sequence[str] | None = None,
) -> DiffusionPreparation:
    """Check a graph against the settings and build its operator.

    Args:
        graph: The graph.
        settings: The model's.
        columns: What was done to those of the graph it was trained on.
        kept: The blocks that a model keeps beside its views; None for those that the
            settings make of this graph.
    """
    made = prepare_graph(graph, settings, columns)
    settings = made.settings
    graph, told = chosen_types(made.graph, settings)
    symmetric = _is_undirected(graph)
    if kept is None:
        kept = kept_blocks(settings.keep, "symmetric" if symmetric else None)
    notices = [*made.notices, *told, *direction_notices(symmetric, settings)]
    operators = tuple(_operator(edges, settings) for edges in _edges(graph))
    return DiffusionPreparation(
        graph,
        made.structural,
        settings,
        tuple(notices),
        made.columns,
        kept=tuple(kept),
        operators=operators,
    )


def _edges(graph: Graph) -> list[csr_array]:
    """The edges of each type; all of them where they have none."""
    return [*(graph.relations or {"": graph.adjacency}).values()]


def _is_undirected(graph: Graph) -> bool:
    return all(map(is_symmetric, _edges(graph)))


def _operator(adjacency: csr_array, settings: Settings) -> InMemoryOperator:
    return build_operator(
        adjacency,
        direction=cast(Direction, settings.direction or "symmetric"),
        self_loops=settings.self_loops,
        normalization=cast(Normalization, settings.normalization),
        device=settings.torch_device,
    )


def check_batches(settings: Settings, nodes: int) -> None:
    """Refuse batches that the graph or the dynamics does not have.

    Raises:
        InputError: A batch is larger than the graph, or nodes are stepped together.
    """
    check_batch_size(settings, nodes)
    smaller = settings.batch_size is not None and settings.batch_size < nodes
    if smaller and not settings.is_fixed_linear:
        message = (
            f"dynamics {settings.dynamics!r} steps all {nodes:,} nodes in "
            f"every epoch: it takes no smaller batch_size, got {settings.batch_size:,}"
        )
        raise InputError(message)
