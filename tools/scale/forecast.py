"""What a graph beyond those measured would take, by the fitted rates and by counting.

Computing is extrapolated from measured seconds. To that is added what the disk takes,
at the rate measured for one large file, for all bytes that go through it once the page
cache holds none of them. The measured seconds have some of that in them already, so
that the sum is rather too much than too little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

from fdgcl.graphs.importing.featureblocks import BLOCK_COLUMNS
from fdgcl.graphs.importing.index import BYTES_PER_NODE
from fdgcl.methods.fdgcl.slice_plan import (
    LATER_BYTES,
    LOOK_BYTES,
    MARGIN,
    WORKER_BYTES,
    slice_bounds,
)
from fdgcl.operators.stored import LANCZOS_STEPS
from fdgcl.planning import Plan
from fdgcl.planning.cost import (
    MEASURED_THREADS,
    Problem,
    Rates,
    diffuse_seconds,
    diffused_bytes,
    embed_seconds,
    embedding_bytes,
    import_seconds,
    import_temporary_bytes,
    store_bytes,
    train_seconds,
)

_KEY_LIMIT = 2**31
# Of a process: Python and its libraries, before and after they do anything.
_PROCESS_BYTES = WORKER_BYTES + LATER_BYTES


@dataclass(frozen=True)
class Machines:
    """What there is to compute with.

    Attributes:
        count: How many, all alike; they see the same files.
        memory: Bytes of each.
        bound: What a command may use of it; the rest is page cache.
        read: Bytes a second that each reads.
        write: Bytes a second that each writes.
    """

    count: int
    memory: float
    bound: float
    read: float
    write: float

    @property
    def cache(self) -> float:
        """What is left for files."""
        return self.memory - self.bound


@dataclass(frozen=True, kw_only=True)
class StageForecast(Plan):
    """One stage on some machines; without a peak where it does not grow with nodes.

    Attributes:
        stage: Its name.
        computed_seconds: By the rates.
        disk_seconds: For what the page cache does not hold, after computing.
    """

    stage: str
    computed_seconds: float
    disk_seconds: float

    @classmethod
    def of(
        cls,
        stage: str,
        computed_seconds: float,
        disk_seconds: float,
        *,
        peak_bytes: float = 0.0,
        disk_bytes: int = 0,
        temporary_bytes: int = 0,
    ) -> Self:
        """Add up the seconds; the rest is as in `Plan`."""
        return cls(
            does=(stage,),
            peak_bytes=int(peak_bytes),
            disk_bytes=disk_bytes,
            temporary_bytes=temporary_bytes,
            seconds=computed_seconds + disk_seconds,
            stage=stage,
            computed_seconds=computed_seconds,
            disk_seconds=disk_seconds,
        )


@dataclass(frozen=True)
class Limit:
    """Something that ends at a size.

    Attributes:
        what: What happens there, in words.
        nodes: From how many nodes on, edges growing with them.
    """

    what: str
    nodes: float


def fitting_columns(problem: Problem, bound: float) -> int:
    """Columns of a slice that fit, as the plan of a diffusion counts; 0 for none."""
    column = 4 * problem.nodes * (2 + problem.orders)
    left = _usable(bound) - 8 * problem.nodes
    fitting = int(max(left // column, 0))
    if fitting == 0:
        return 0
    bounds = slice_bounds(problem.features, fitting, BLOCK_COLUMNS, workers=1)
    return max(b - a for a, b in pairwise(bounds))


def forecast(problem: Problem, machines: Machines, rates: Rates) -> list[StageForecast]:
    """All stages of a problem; its `columns` are chosen for the bound.

    Only the slices of the diffusion and the epochs and shards of training are shared
    by several machines.
    """
    columns = max(1, fitting_columns(problem, machines.bound))
    chosen = replace(problem, columns=columns)
    return [
        _importing(chosen, machines, rates),
        _diffusing(chosen, machines, rates),
        *_training(chosen, machines, rates),
    ]


def limits(problem: Problem, machines: Machines) -> list[Limit]:
    """What ends first when such a graph grows, the first first."""
    entries = problem.entries / problem.nodes
    usable = _usable(machines.bound)
    column = 4 * (2 + problem.orders)
    found = [
        Limit(
            "the graph no longer fits the page cache beside the command: every "
            "product reads it from disk",
            machines.cache / (4 * entries + 8),
        ),
        Limit(
            f"fewer than {BLOCK_COLUMNS} columns fit a slice: files of features are "
            "read several times, and the graph passes by once for a few columns",
            usable / (8 + BLOCK_COLUMNS * column),
        ),
        Limit("not even one column fits a slice", usable / (8 + column)),
        Limit(
            "the look at the graph as a whole before the first slice no longer fits",
            usable / LOOK_BYTES,
        ),
        Limit(
            "ids that are not 0, 1, 2, ... can no longer be looked up at import",
            usable / BYTES_PER_NODE,
        ),
        Limit("neighbours take 8 bytes instead of 4", float(_KEY_LIMIT)),
    ]
    return sorted(found, key=lambda limit: limit.nodes)


def source_bytes(problem: Problem) -> float:
    """Bytes of an edge list of two 4-byte ids, and of features with an id."""
    return 8.0 * problem.edges + problem.nodes * (4.0 * problem.features + 8)


def graph_bytes(problem: Problem) -> float:
    """Bytes that pass by in a product."""
    return 4.0 * problem.entries + 8.0 * problem.nodes


def _importing(problem: Problem, machines: Machines, rates: Rates) -> StageForecast:
    p = problem
    runs = import_temporary_bytes(p.edges)
    store = store_bytes(p.nodes, p.entries, p.features)
    read = (source_bytes(p) + runs) / machines.read
    return StageForecast.of(
        "import",
        import_seconds(p.edges, p.nodes, p.features, rates=rates),
        read + (runs + store) / machines.write,
        peak_bytes=BYTES_PER_NODE * p.nodes + _PROCESS_BYTES,
        disk_bytes=store,
        temporary_bytes=runs,
    )


def _diffusing(problem: Problem, machines: Machines, rates: Rates) -> StageForecast:
    p = problem
    rounds = -(-p.slices // machines.count)
    columns = min(p.features, rounds * p.columns)
    # The spectrum is looked at once, by one machine; slices are shared.
    whole = (p.nodes, p.entries, columns, p.columns, p.products, p.orders)
    computed = diffuse_seconds(*whole, MEASURED_THREADS, rates=rates)
    written = diffused_bytes(p.nodes, columns, p.orders)
    read = 4.0 * p.nodes * columns
    if graph_bytes(p) > machines.cache:
        passes = LANCZOS_STEPS + rounds * (p.products + 1)  # one to see it is whole
        read += passes * graph_bytes(p)
    return StageForecast.of(
        "diffuse",
        computed,
        read / machines.read + written / machines.write,
        peak_bytes=_PROCESS_BYTES
        + p.nodes * max(LOOK_BYTES, 8 + 4 * p.columns * (2 + p.orders)),
        disk_bytes=diffused_bytes(p.nodes, p.features, p.orders),
    )


def _training(
    problem: Problem, machines: Machines, rates: Rates
) -> list[StageForecast]:
    p = problem
    diffused = diffused_bytes(p.nodes, p.features, p.orders)
    written = embedding_bytes(p.nodes, p.dim)
    once = train_seconds(p.nodes, p.features, p.dim, 0, rates=rates)
    epochs = train_seconds(p.nodes, p.features, p.dim, p.epochs, rates=rates) - once
    embed = embed_seconds(p.nodes, p.features, p.dim, rates=rates)
    share = 1 / machines.count
    return [
        StageForecast.of("statistics", once, diffused / machines.read),
        StageForecast.of(
            "epochs", epochs * share, share * p.epochs * diffused / machines.read
        ),
        StageForecast.of(
            "embed",
            embed * share,
            share * (diffused / machines.read + written / machines.write),
            disk_bytes=written,
        ),
    ]


def _usable(bound: float) -> float:
    return bound * (1 - MARGIN) - _PROCESS_BYTES
