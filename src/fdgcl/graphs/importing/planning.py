"""What an import will take of disk and memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fdgcl._memory import resident_bytes
from fdgcl.graphs.importing.budget import Budget
from fdgcl.graphs.importing.request import Request
from fdgcl.graphs.structural import COLUMNS
from fdgcl.planning import Plan, check_disk, cost

# Nodes of a graph of which only edges are known.
_EDGES_PER_NODE = 5
_ID_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class ImportPlan(Plan):
    """What an import takes; ids of text may take more disk.

    Attributes:
        nodes: Number of nodes; a guess, unless `nodes_known`.
        nodes_known: Whether a file says it; text does not.
        edges: Edges in the file; of text a guess.
        features: Number of features; a guess, unless `features_known`.
        features_known: Whether all rows were looked at to tell.
    """

    nodes: int
    nodes_known: bool
    edges: int
    features: int
    features_known: bool


def plan_import(request: Request, memory: int) -> ImportPlan:
    """Say what an import will take, from the sizes of its files and their first rows.

    Args:
        request: What to import.
        memory: The bound.

    Raises:
        InputError: A file does not fit, or the memory will not do.
    """
    request.check()
    budget = Budget(memory, resident_bytes())
    edges = request.edge_file
    file = request.feature_file
    nodes = max(2, edges.rows // _EDGES_PER_NODE) if file is None else file.rows
    indexed, least = 0, budget.least(0)
    width, width_known = COLUMNS, True
    if file is not None:
        indexed = nodes if file.key is not None else 0
        budget.check_fit(file.fit.cost())
        least = max(budget.least(indexed), budget.least_fit(file.fit.cost()))
        width, width_known = file.fit.guess()
    budget.check(indexed)
    making = 0
    if request.structural is not None:
        making = budget.least_made(request.structural, nodes)
        least = max(least, making)
    disk, temporary = disk_bytes(
        nodes, edges.rows, width, request.direction, weighted=edges.weighted
    )
    entries = edges.rows * (2 if request.direction == "symmetric" else 1)
    peak = budget.peak(indexed, entries, weighted=edges.weighted)
    counted = f"{nodes:,} nodes"
    if file is None:
        counted = f"perhaps {counted} (known once the edges are read)"
    elif not file.rows_known:
        counted = f"about {counted}"
    about = "" if width_known else "about "
    return ImportPlan(
        does=(f"{counted}, about {edges.rows:,} edges, {about}{width:,} features",),
        peak_bytes=max(peak, min(making, memory)),
        memory=memory,
        least_bytes=least,
        disk_bytes=disk,
        temporary_bytes=temporary,
        seconds=cost.import_seconds(edges.rows, nodes, width),
        nodes=nodes,
        nodes_known=file is not None and file.rows_known,
        edges=edges.rows,
        features=width,
        features_known=width_known,
    )


def disk_bytes(
    nodes: int, edges: int, features: int, direction: str, *, weighted: bool
) -> tuple[int, int]:
    """What a store holds at most, and what is there beside it while it is made."""
    both = direction == "symmetric"
    entries = edges * (2 if both else 1)
    store = cost.store_bytes(nodes, entries, features, weighted=weighted)
    temporary = cost.import_temporary_bytes(edges, symmetric=both, weighted=weighted)
    return store + _ID_BYTES * nodes, temporary


def refuse_full_disk(folder: Path, needed: int) -> None:
    """Refuse to begin what the disk cannot hold.

    Args:
        folder: The store; what it has already counts.
        needed: Bytes that it will hold while it is made.

    Raises:
        DiskFullError: There is less room.
    """
    held = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    check_disk(folder, needed - held, "the graph takes, while it is imported,")
