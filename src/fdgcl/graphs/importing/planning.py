"""What an import will take of disk and memory."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fdgcl._files import DiskFullError
from fdgcl._memory import describe_size
from fdgcl.graphs.importing.budget import Budget
from fdgcl.graphs.importing.request import Request
from fdgcl.graphs.structural import COLUMNS
from fdgcl.planning import cost
from fdgcl.planning.memory import resident_bytes

# Nodes of a graph of which only edges are known.
_EDGES_PER_NODE = 5
_ID_BYTES = 8


@dataclass(frozen=True)
class ImportPlan:
    """What an import will take.

    Attributes:
        nodes: Number of nodes; a guess, unless `nodes_known`.
        nodes_known: Whether a file says it; text does not.
        edges: Edges in the file; of text a guess.
        features: Number of features; a guess, unless `features_known`.
        features_known: Whether all rows were looked at to tell.
        store_bytes: What the store will hold, at most; ids of text may take more.
        disk_bytes: The same while it is made.
        memory: The memory that was allowed.
        least_memory: The least that would do.
        peak_memory: What will be used of it.
    """

    nodes: int
    nodes_known: bool
    edges: int
    features: int
    features_known: bool
    store_bytes: int
    disk_bytes: int
    memory: int
    least_memory: int
    peak_memory: int


def plan_import(request: Request, memory: int) -> ImportPlan:
    """Say what an import will take, from the sizes of its files and their first rows.

    Raises:
        InputError: A file does not fit, or the memory will not do.
    """
    request.check()
    budget = Budget(memory, resident_bytes())
    edges = request.edge_file
    file = request.feature_file
    guess = max(2, edges.rows // _EDGES_PER_NODE) if file is None else file.rows
    indexed, least = 0, budget.least(0)
    width, width_known = COLUMNS, True
    if file is not None:
        indexed = guess if file.key is not None else 0
        budget.check_fit(file.cost())
        least = max(budget.least(indexed), budget.least_fit(file.cost()))
        width, width_known = file.guess()
    budget.check(indexed)
    making = 0
    if request.structural is not None:
        making = budget.least_made(request.structural, guess)
        least = max(least, making)
    store, disk = disk_bytes(
        guess, edges.rows, width, request.direction, weighted=edges.weighted
    )
    entries = edges.rows * (2 if request.direction == "symmetric" else 1)
    peak = budget.peak(indexed, entries, weighted=edges.weighted)
    return ImportPlan(
        nodes=guess,
        nodes_known=file is not None and file.rows_known,
        edges=edges.rows,
        features=width,
        features_known=width_known,
        store_bytes=store,
        disk_bytes=disk,
        memory=memory,
        least_memory=least,
        peak_memory=max(peak, min(making, memory)),
    )


def disk_bytes(
    nodes: int, edges: int, features: int, direction: str, *, weighted: bool
) -> tuple[int, int]:
    """What a store holds at most, and what it does while it is made."""
    both = direction == "symmetric"
    entries = edges * (2 if both else 1)
    store = cost.store_bytes(nodes, entries, features, weighted=weighted)
    store += _ID_BYTES * nodes
    on_the_way = cost.import_temporary_bytes(edges, symmetric=both, weighted=weighted)
    return store, store + on_the_way


def refuse_full_disk(folder: Path, needed: int) -> None:
    """Refuse to begin what the disk cannot hold.

    Args:
        folder: The store; what it has already counts.
        needed: Bytes that it will hold while it is made.

    Raises:
        DiskFullError: There is less room.
    """
    held = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    free = shutil.disk_usage(folder).free
    if needed - held > free:
        message = (
            f"{folder} needs about {describe_size(needed - held)} of free disk while "
            f"the graph is imported, and there are {describe_size(free)}"
        )
        raise DiskFullError(message)
