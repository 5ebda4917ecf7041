"""Precompute or diffuse in the loop? Cost and memory, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fdgcl._checks import InputError, choose
from fdgcl.graphs.reduction import reduction_bytes
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.statistics import BLOCK_ROWS
from fdgcl.planning import Plan

Strategy = Literal["precompute", "in-loop"]

# Dense products run this many times more operations a second than a pass over the
# graph does: 6 to 22 on two CPU cores, fewer the more neighbours a node has.
DENSE_ADVANTAGE = 10.0


@dataclass(frozen=True)
class Workload:
    """The sizes that decide.

    Attributes:
        nodes: N.
        weights: Stored weights of the operator, or of all relations' operators.
        features: F, columns of X.
        nonzeros: Stored values of X (N * F when dense).
        dim: Columns of a view.
        products: Sparse products in one pass over the graph.
        orders: Number of orders.
        epochs: Number of epochs.
        batch_size: Rows of a batch; None for all.
        itemsize: Bytes of a number.
        history: States of a view that stepping keeps, 0 where nothing is stepped.
        held: Matrices of a view's size that a training step holds, for each view:
            hidden, standardised, activated and the gradients of the last two, unless
            the step works in place.
        relations: Operators by which all features are diffused, one per edge type.
        averages: Means of all features over neighbours that stand beside the views.
        parts: What the embedding is made of; None for one view, or their sum.
        given: Columns of X as it came; 0 where that is no matter.
        kept_features: Columns of X as it is kept beside the views; 0 for those that
            views are made of.
        kept_orders: Blocks beside the views that are features diffused by an order.
    """

    nodes: int
    weights: int
    features: int
    nonzeros: int
    dim: int
    products: int
    orders: int
    epochs: int
    batch_size: int | None
    itemsize: int = 4
    history: int = 0
    held: int = 5
    relations: int = 1
    averages: int = 0
    given: int = 0
    kept_features: int = 0
    kept_orders: int = 0
    parts: Parts | None = None

    @property
    def width(self) -> int:
        """Columns of the embedding."""
        return self.dim if self.parts is None else self.parts.width

    @property
    def columns(self) -> int:
        """Columns of the diffused features: those of X, once for each relation."""
        return self.features * self.relations

    @property
    def kept_columns(self) -> int:
        """The same of the features that are kept beside the views."""
        return (self.kept_features or self.features) * self.relations

    @property
    def is_reduced(self) -> bool:
        """Whether something is made of fewer columns of X than there are."""
        return 0 < self.kept_columns < self.given * self.relations


@dataclass(frozen=True, kw_only=True)
class FittingPlan(Plan):
    """What fitting a graph in memory takes, and how its features are diffused.

    Attributes:
        strategy: `precompute` or `in-loop`.
        reason: Why this one.
        relative_cost: Predicted cost of each strategy, in dense operations.
        workload: The sizes it was made for.
    """

    strategy: Strategy
    reason: str
    relative_cost: dict[str, float]
    workload: Workload


def make_plan(
    load: Workload,
    strategy: str = "auto",
    *,
    can_precompute: bool = True,
    memory: int | None = None,
) -> FittingPlan:
    """Weigh both strategies.

    Args:
        load: The sizes.
        strategy: `auto`, or the one to take whatever it costs.
        can_precompute: False where the dynamics has trained parameters.
        memory: The bound on it; None where there is none.

    Example:
        >>> load = Workload(10, 30, 4, 40, 3, 5, 2, epochs=7, batch_size=None)
        >>> make_plan(load).strategy
        'precompute'
    """
    choose("strategy", strategy, dict.fromkeys(("auto", "precompute", "in-loop")))
    if strategy == "precompute" and not can_precompute:
        message = "strategy 'precompute' needs a dynamics that training does not change"
        raise InputError(message)
    costs = {"precompute": _precompute_cost(load), "in-loop": _in_loop_cost(load)}
    chosen: Strategy
    if strategy in ("precompute", "in-loop"):
        chosen = "precompute" if strategy == "precompute" else "in-loop"
        reason = "asked for"
    elif not can_precompute:
        chosen, reason = "in-loop", "the dynamics has to be stepped in every epoch"
    elif load.batch_size is not None:
        chosen, reason = "precompute", "mini-batches need diffused features"
    else:
        chosen = "precompute" if costs["precompute"] <= costs["in-loop"] else "in-loop"
        other = max(costs.values()) / max(min(costs.values()), 1.0)
        reason = f"the other way would cost about {other:.1f} times as much"
    precompute = chosen == "precompute"
    passes = 1 if precompute else _rounds(load)
    columns = load.features if precompute else load.dim
    products = load.products * passes * columns * load.relations
    products += load.averages * load.kept_columns
    if not precompute and load.kept_orders:
        products += load.products * load.kept_columns
    flops = _dense_flops(load) if precompute or _is_dense(load) else 0.0
    peak = _peak_bytes(load, chosen)
    return FittingPlan(
        does=_does(load, chosen, reason, products, flops),
        peak_bytes=peak,
        aside="input aside",
        memory=memory,
        least_bytes=peak,
        purpose="for a graph in memory",
        sparse_products=products,
        dense_flops=flops,
        strategy=chosen,
        reason=reason,
        relative_cost=costs,
        workload=load,
    )


def _does(
    load: Workload, strategy: Strategy, reason: str, products: int, flops: float
) -> tuple[str, ...]:
    operators = "the operator"
    if load.relations > 1:
        operators = f"the operators of {load.relations} edge types"
    batch = "all rows at once"
    if load.batch_size is not None:
        batch = f"batches of {load.batch_size:,} rows"
    reduced = ""
    if load.given > load.features:
        reduced = f" of {load.given:,}"
    elif load.is_reduced:
        reduced = f" (reduced to {load.kept_features:,} beside the views)"
    where = "before training" if strategy == "precompute" else "in every epoch"
    return (
        f"{load.nodes:,} nodes, {load.weights:,} weights in {operators}, "
        f"{load.features:,} features{reduced}, {_widths(load)}",
        f"strategy {strategy}: {reason}",
        f"{load.products} products with the graph for {load.orders} orders, "
        f"{where}; {products:,} columns multiplied in all",
        f"{load.epochs} epochs, {batch}; {flops / 1e9:,.1f} GFLOP of dense products",
    )


def _widths(load: Workload) -> str:
    hidden = "" if load.width == load.dim else f", hidden {load.dim:,}"
    return f"dim {load.width:,}{hidden}"


def _is_dense(load: Workload) -> bool:
    return load.nonzeros >= load.nodes * load.features


def _rounds(load: Workload) -> int:
    """Forward and backward for each order and epoch, and one last forward."""
    return (2 * load.epochs + 1) * load.orders


def _dense_flops(load: Workload) -> float:
    """The products X W of every round."""
    return 2.0 * _rounds(load) * load.nodes * load.columns * load.dim


def _pass_cost(load: Workload, columns: float, orders: int) -> float:
    """One pass over the graph: sparse products, recurrence and sums."""
    sparse = 2.0 * load.weights + (4.0 + 2.0 * orders) * load.nodes * load.relations
    return DENSE_ADVANTAGE * load.products * sparse * columns


def _precompute_cost(load: Workload) -> float:
    return _pass_cost(load, load.features, load.orders) + _dense_flops(load)


def _in_loop_cost(load: Workload) -> float:
    rounds = _rounds(load)
    if _is_dense(load):
        encode = _dense_flops(load)
    else:
        stored = load.nonzeros * load.relations
        encode = DENSE_ADVANTAGE * 2.0 * stored * load.dim * rounds
    return encode + rounds * _pass_cost(load, load.dim, 1)


def _peak_bytes(load: Workload, strategy: str) -> int:
    rows = load.batch_size or load.nodes
    views = load.held * load.orders * rows * load.dim
    adam = 4 * load.orders * load.columns * load.dim
    diffused = load.orders * load.nodes * load.columns
    covariance = load.orders * load.columns**2 if load.batch_size else 0
    # In the loop: the terms of a product or, of one view at a time, a step's.
    states = 4 + (load.orders * load.history + 4 if load.history else 0)
    in_loop = states * rows * load.dim
    kept = diffused + covariance if strategy == "precompute" else in_loop
    beside = load.averages * load.nodes * load.kept_columns
    if strategy == "in-loop" and load.kept_orders:
        beside += load.orders * load.nodes * load.kept_columns
    kept += beside
    embedding = load.nodes * load.width
    trained = kept + adam + max(views, 2 * embedding)
    made, fitting = _compressing(load, strategy)
    peak = max(load.itemsize * trained, load.itemsize * (kept + adam + made) + fitting)
    if not load.is_reduced:
        return peak
    # The features reduced, and before they are, what it takes to find out how.
    reduced = load.itemsize * load.nodes * load.kept_features
    return reduced + max(peak, reduction_bytes(load.given, load.kept_features))


def _compressing(load: Workload, strategy: str) -> tuple[int, int]:
    """Numbers of the parts while they are compressed, and bytes for directions."""
    parts = load.parts
    if parts is None or not parts.is_compressed:
        return 0, 0
    # Features that are diffused in the loop are there for all rows at once.
    rows = min(load.nodes, BLOCK_ROWS) if strategy == "precompute" else load.nodes
    held = rows * (2 * parts.made + max(parts.widths)) + load.nodes * parts.width
    return held + parts.directions, parts.fitting_bytes
