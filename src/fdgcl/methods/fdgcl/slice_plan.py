"""How a diffusion fits into the memory it may have, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fdgcl._checks import check_count
from fdgcl._memory import resident_bytes
from fdgcl.executors.base import cores
from fdgcl.graphs.reduction import reduction_bytes, reduction_products
from fdgcl.graphs.store.row_blocks import RowBlocks
from fdgcl.graphs.store.store import Manifest, Store
from fdgcl.methods.fdgcl.diffused import keeps_averages
from fdgcl.methods.fdgcl.feature_columns import needs_reduction, view_columns
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.planning import Plan, check_memory
from fdgcl.planning.cost import RATES, diffuse_seconds, diffused_bytes

# Of the bound: what allocators and libraries take beside what is counted here.
MARGIN = 0.04
# Of a worker process before it does anything: Python, NumPy, torch.
WORKER_BYTES = 350e6
# What libraries load when first used, and allocators keep of what was freed.
LATER_BYTES = 150e6
# A node's share while the graph is looked at as a whole: two arrays of eight mixtures,
# an order to shuffle them in, degrees and vectors of Lanczos' recurrence.
LOOK_BYTES = 110
# More columns than these gain nothing: a neighbour's row is several cache lines long.
MOST_COLUMNS = 64
# Rows that are read or written at a time.
IO_ROWS = 2**16


@dataclass(frozen=True, kw_only=True)
class DiffusionPlan(Plan):
    """Slices of columns that fit.

    Attributes:
        columns: The first column of each slice, and the number of all.
        workers: Slices at the same time.
        threads: Of each of them.
        separate: Whether workers are processes of their own.
        memory: The bound, of all workers on this machine together.
        reduced_bytes: Of the disk, what features take that are reduced first.
    """

    columns: tuple[int, ...]
    workers: int
    threads: int
    separate: bool
    memory: int
    reduced_bytes: int = 0

    @property
    def features(self) -> int:
        """Columns of all slices."""
        return self.columns[-1]

    @property
    def widest(self) -> int:
        """Columns of the widest slice."""
        return _widest(self.columns)


def plan_diffusion(
    store: Store,
    settings: Settings,
    *,
    memory: int,
    workers: int = 1,
    threads: int | None = None,
    separate: bool = False,
    wide: bool = False,
) -> DiffusionPlan:
    """Choose slices of columns.

    Args:
        store: The graph.
        settings: The model's.
        memory: The bound.
        workers: Slices at the same time, all of them on this machine.
        threads: Of each; None shares the machine's cores.
        separate: Whether workers are processes of their own.
        wide: Whether sums run in float64.

    Raises:
        InputError: Not even one column fits.
    """
    check_count("workers", workers)
    threads = threads or max(1, cores() // workers)
    manifest = store.manifest
    orders, means = len(settings.orders), int(keeps_averages(store, settings))
    itemsize = 8 if wide or settings.dtype == "float64" else 4
    blocks = RowBlocks.of(store)
    base = resident_bytes()
    each = LATER_BYTES + (WORKER_BYTES if separate else 0.0)
    # Factors of rows; a thread's block of indices and ones; what is read and written.
    each += manifest.nodes * 2 * itemsize
    each += threads * blocks.largest * (store.neighbours.dtype.itemsize + itemsize)
    column = manifest.nodes * itemsize * (2 + orders)
    column += itemsize * (threads * blocks.most_rows + 3 * IO_ROWS)
    given, nodes = manifest.features, manifest.nodes
    features = view_columns(settings, given, nodes)
    look = LATER_BYTES + LOOK_BYTES * manifest.nodes
    reduced, before = 0, 0.0
    does: tuple[str, ...] = ()
    if needs_reduction(settings, given, nodes):
        width = settings.reduced(given)
        look = max(look, LATER_BYTES + reduction_bytes(given, width))
        # In float32, as what they are reduced by.
        does = (f"{given:,} columns of features reduced to {width:,}",)
        reduced = 4 * width * (given + nodes * int(features < given))
        work = reduction_products(nodes, given, width)
        before = RATES.multiply_add * work
    least = (base + max(workers * (each + column), look)) / (1 - MARGIN)
    purpose = f"for {manifest.nodes:,} nodes and {workers} worker{'s'[: workers > 1]}"
    check_memory(memory, least, purpose)
    usable = memory * (1 - MARGIN) - base
    # What is just enough must not fail by rounding.
    fitting = max(1, int((usable / workers - each) // column))
    columns = slice_bounds(features, fitting, manifest.block_columns, workers)
    widest = _widest(columns)
    products = products_of(settings) + means
    return DiffusionPlan(
        does=(*does, *_does(manifest, columns, products, workers, threads)),
        peak_bytes=int(base + max(workers * (each + widest * column), look)),
        memory=memory,
        least_bytes=int(least),
        purpose=purpose,
        disk_bytes=reduced
        + diffused_bytes(
            manifest.nodes, features, orders + means, settings.torch_dtype.itemsize
        ),
        seconds=before
        + diffuse_seconds(
            manifest.nodes,
            manifest.entries,
            features,
            widest,
            products,
            orders + means,
            threads * workers,
        ),
        sparse_products=products * features,
        columns=columns,
        workers=workers,
        threads=threads,
        separate=separate,
        reduced_bytes=reduced,
    )


def _does(
    manifest: Manifest,
    columns: Sequence[int],
    products: int,
    workers: int,
    threads: int,
) -> tuple[str, ...]:
    slices = len(columns) - 1
    return (
        f"{slices} slice{'s'[: slices > 1]} of up to {_widest(columns)} columns, "
        f"{products} passes over {manifest.entries:,} neighbours of "
        f"{manifest.nodes:,} nodes for each",
        f"{workers} at a time with {threads} thread{'s'[: threads > 1]} each",
    )


def _widest(columns: Sequence[int]) -> int:
    return max(b - a for a, b in pairwise(columns))


def products_of(settings: Settings) -> int:
    """Passes over the graph, as far as settings alone can tell."""
    dynamics = settings.new_dynamics(settings.hidden_columns)
    found = settings.schedule.products(dynamics.products)
    # The exact solution takes as many as its digits ask for.
    return 30 if found is None else found


def slice_bounds(
    features: int, fitting: int, block_columns: int, workers: int
) -> tuple[int, ...]:
    """Bounds of slices as wide as fits, alike in width, whole blocks of files if so.

    Example:
        >>> slice_bounds(64, fitting=40, block_columns=8, workers=1)
        (0, 32, 64)
    """
    most = min(features, fitting, MOST_COLUMNS)
    if block_columns <= most < features:
        most -= most % block_columns
    count = max(-(-features // most), min(workers, features))
    # Workers that have nothing to do while the last slice runs do not help.
    count = min(-(-count // workers) * workers, features)
    width = -(-features // count)
    whole = -(-width // block_columns) * block_columns
    width = whole if whole <= most else width
    bounds = [*range(0, features, width), features]
    return tuple(bounds)
