"""How a diffusion fits into the memory it may have, before anything runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fdgcl._checks import InputError, check_count
from fdgcl._memory import describe_size
from fdgcl.graphs.store.row_blocks import RowBlocks
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.planning.cost import describe_seconds, diffuse_seconds
from fdgcl.planning.memory import resident_bytes

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


@dataclass(frozen=True)
class DiffusionPlan:
    """Slices of columns that fit, and what they take.

    Attributes:
        nodes: Nodes.
        entries: Stored neighbours.
        features: Columns of all slices.
        products: Passes over the graph for each slice.
        orders: Results of each slice.
        columns: The first column of each slice, and the number of all.
        workers: Slices at the same time.
        threads: Of each of them.
        separate: Whether workers are processes of their own.
        memory: The bound, of all workers on this machine together.
        peak_bytes: What is expected of it.
        disk_bytes: Of the results.
        seconds: Expected, from rates measured on two cores.
    """

    nodes: int
    entries: int
    features: int
    products: int
    orders: int
    columns: tuple[int, ...]
    workers: int
    threads: int
    separate: bool
    memory: int
    peak_bytes: int
    disk_bytes: int
    seconds: float

    @property
    def widest(self) -> int:
        """Columns of the widest slice."""
        return max(b - a for a, b in pairwise(self.columns))

    def describe(self) -> list[str]:
        """Plain sentences for people."""
        slices = len(self.columns) - 1
        each = "slice" if slices == 1 else "slices"
        return [
            f"{slices} {each} of up to {self.widest} columns, {self.products} passes "
            f"over {self.entries:,} neighbours of {self.nodes:,} nodes for each",
            f"memory: up to {describe_size(self.peak_bytes)} of "
            f"{describe_size(self.memory)}, {self.workers} at a time with "
            f"{self.threads} thread{'s'[: self.threads > 1]} each",
            f"disk: {describe_size(self.disk_bytes)}",
            f"time: about {describe_seconds(self.seconds)}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {**vars(self), "columns": list(self.columns)}


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
    orders = len(settings.orders)
    itemsize = 8 if wide or settings.dtype == "float64" else 4
    blocks = RowBlocks.of(store)
    base = resident_bytes()
    each = LATER_BYTES + (WORKER_BYTES if separate else 0.0)
    # Factors of rows; a thread's block of indices and ones; what is read and written.
    each += manifest.nodes * 2 * itemsize
    each += threads * blocks.largest * (store.neighbours.dtype.itemsize + itemsize)
    column = manifest.nodes * itemsize * (2 + orders)
    column += itemsize * (threads * blocks.most_rows + 3 * IO_ROWS)
    usable = memory * (1 - MARGIN) - base
    fitting = int((usable / workers - each) // column)
    look = LATER_BYTES + LOOK_BYTES * manifest.nodes
    least = base + max(workers * (each + column), look)
    if fitting < 1 or usable < look:
        message = (
            f"memory must be at least {describe_size(least / (1 - MARGIN) + 5e6)} for "
            f"{manifest.nodes:,} nodes and {workers} worker{'s'[: workers > 1]}, got "
            f"{describe_size(memory)}"
        )
        raise InputError(message)
    columns = slice_bounds(manifest.features, fitting, manifest.block_columns, workers)
    widest = max(b - a for a, b in pairwise(columns))
    products = products_of(settings)
    stored = 8 if settings.dtype == "float64" else 4
    return DiffusionPlan(
        nodes=manifest.nodes,
        entries=manifest.entries,
        features=manifest.features,
        products=products,
        orders=orders,
        columns=columns,
        workers=workers,
        threads=threads,
        separate=separate,
        memory=memory,
        peak_bytes=int(base + max(workers * (each + widest * column), look)),
        disk_bytes=stored * orders * manifest.nodes * manifest.features,
        seconds=diffuse_seconds(
            manifest.nodes,
            manifest.entries,
            manifest.features,
            widest,
            products,
            orders,
            threads * workers,
        ),
    )


def products_of(settings: Settings) -> int:
    """Passes over the graph, as far as settings alone can tell."""
    dynamics = settings.new_dynamics(settings.dim)
    found = settings.schedule.products(dynamics.products)
    # The exact solution takes as many as its digits ask for.
    return 30 if found is None else found


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def slice_bounds(
    features: int, fitting: int, block_columns: int, workers: int
) -> tuple[int, ...]:
    """Bounds of slices as wide as fits, alike in width, whole blocks of files if so."""
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
