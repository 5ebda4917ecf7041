"""A graph larger than memory, from its files to a store."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._memory import allowed_bytes
from fdgcl.workflows.feedback import OnNotice, ProgressArgument, feedback
from fdgcl.workflows.reading import Features

if TYPE_CHECKING:
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.graphs.importing import ImportPlan, Request
    from fdgcl.graphs.store.store import Store


@dataclass(frozen=True)
class Imported:
    """A graph in a store.

    Attributes:
        store: The store.
        seconds: What it took.
        notices: What was taken for what.
    """

    store: Store
    seconds: float
    notices: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return place and sizes, ready for JSON."""
        manifest = self.store.manifest
        return {
            "store": str(self.store.folder),
            "name": manifest.name,
            "nodes": manifest.nodes,
            "edges": manifest.edges,
            "entries": manifest.entries,
            "direction": manifest.direction,
            "weighted": manifest.weighted,
            "ids": manifest.ids,
            "features": manifest.features,
            "structural": manifest.structural,
            "feature_schema": manifest.feature_schema,
            "reading": list(manifest.reading),
            "bytes": sum(array.nbytes for array in self.store.arrays()),
            "seconds": round(self.seconds, 2),
            "fingerprint": self.store.fingerprint,
        }


def import_table(
    edges: str | Path,
    store: str | Path,
    *,
    features: Features | None = None,
    tables: TableOptions | None = None,
    memory: int | str | None = None,
    direction: str = "symmetric",
    name: str | None = None,
    seed: int = 0,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> Imported:
    """Bring a graph larger than memory into a store: a folder that is read by parts.

    Killed or out of disk, the same call goes on where it stopped.

    Args:
        edges: The edge list, Parquet or text.
        store: Where the store goes: a new folder, or one begun before.
        features: Parquet, text or `.npy`; None for 32 random numbers.
        tables: How columns of these files are understood.
        memory: What this may hold, in bytes or as in "6GB"; None for 60 % of what is
            to spare.
        direction: Whom a node gathers from: `symmetric`, `out` or `in`.
        name: Short name of the graph; None for that of the edge list.
        seed: Of random features.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice.

    Raises:
        InputError: A file does not fit, or memory or disk will not do.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import generate, import_table
        >>> folder = tempfile.mkdtemp()
        >>> edges, features = generate(100, 300, folder, features=4).files
        >>> store = import_table(edges, f"{folder}/store", features=features).store
        >>> store.manifest.nodes, store.manifest.features
        (100, 4)
    """
    from fdgcl.graphs.importing import run_request

    request = _request(edges, features, tables, direction, name, seed)
    bound, start = allowed_bytes(memory, "`memory`"), time.perf_counter()
    with feedback(progress, on_notice) as told:
        made = run_request(request, Path(store), bound, told.bars)
        seconds = time.perf_counter() - start
        told.notice(*made.manifest.reading)
        return Imported(made, seconds, tuple(told.notices))


def plan_import(
    edges: str | Path,
    *,
    features: Features | None = None,
    tables: TableOptions | None = None,
    memory: int | str | None = None,
    direction: str = "symmetric",
    name: str | None = None,
    seed: int = 0,
) -> ImportPlan:
    """Say what `import_table` would take with these arguments; write nothing.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import generate, plan_import
        >>> made = generate(100, 300, tempfile.mkdtemp(), features=0)
        >>> plan_import(made.files[0]).edges
        300
    """
    from fdgcl.graphs import importing

    request = _request(edges, features, tables, direction, name, seed)
    return importing.plan_import(request, allowed_bytes(memory, "`memory`"))


def _request(
    edges: str | Path,
    features: Features | None,
    tables: TableOptions | None,
    direction: str,
    name: str | None,
    seed: int,
) -> Request:
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.graphs.importing import Request, kind_to_make, one_table

    return Request(
        Path(edges),
        one_table(features),
        tables or TableOptions(),
        direction=direction,
        name=name,
        seed=seed,
        made=kind_to_make(features),
    )
