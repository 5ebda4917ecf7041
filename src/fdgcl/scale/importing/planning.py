"""What an import will take of disk and memory."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fdgcl._checks import InputError
from fdgcl.scale import cost
from fdgcl.scale.importing.budget import Budget
from fdgcl.scale.importing.featurefile import open_features
from fdgcl.scale.importing.request import Request
from fdgcl.scale.importing.tables import estimated_rows
from fdgcl.scale.memory import describe_size, resident_bytes

RANDOM_COLUMNS = 32
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
        features: Number of features.
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
    store_bytes: int
    disk_bytes: int
    memory: int
    least_memory: int
    peak_memory: int


def plan_import(request: Request, memory: int) -> ImportPlan:
    """Say what an import will take, from the sizes of its files alone.

    Raises:
        InputError: A file does not fit, or the memory will not do.
    """
    request.check()
    budget = Budget(memory, resident_bytes())
    edges = request.edge_file
    nodes, known, width, indexed = _nodes(request)
    guess = nodes or max(2, edges.rows // _EDGES_PER_NODE)
    budget.check(indexed)
    store, disk = disk_bytes(
        guess, edges.rows, width, request.direction, weighted=edges.weighted
    )
    entries = edges.rows * (2 if request.direction == "symmetric" else 1)
    return ImportPlan(
        nodes=guess,
        nodes_known=known,
        edges=edges.rows,
        features=width,
        store_bytes=store,
        disk_bytes=disk,
        memory=memory,
        least_memory=budget.least(indexed),
        peak_memory=budget.peak(indexed, entries, weighted=edges.weighted),
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
        InputError: There is less room.
    """
    held = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    free = shutil.disk_usage(folder).free
    if needed - held > free:
        message = (
            f"{folder} needs about {describe_size(needed - held)} of free disk while "
            f"the graph is imported, and there are {describe_size(free)}"
        )
        raise InputError(message)


def _nodes(request: Request) -> tuple[int | None, bool, int, int]:
    """Nodes as far as a file tells, whether exactly; features; ids to be indexed."""
    if request.features is None:
        return None, False, RANDOM_COLUMNS, 0
    file = open_features(request.features, request.id_column)
    features = file.features(file.key)
    if file.table is None:
        return features.rows, True, features.width, 0  # type: ignore[attr-defined]
    rows = estimated_rows(file.table)
    known = file.table.num_rows is not None
    return rows, known, features.width, rows if file.key is not None else 0
