"""From files of edges and features to a store, in a bounded amount of memory.

1. features: what becomes of their columns, by a look at all rows
2. ids: which nodes there are, and what they are called
3. runs: the edges, sorted so many at a time
4. merge: the neighbours of each node, some nodes at a time
5. features again: encoded, a few columns in each file

Each stage leaves what it has done in files; killed, the same call goes on from there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from fdgcl._checks import InputError
from fdgcl._memory import resident_bytes
from fdgcl._progress import Progress, silent
from fdgcl.graphs.importing.budget import Budget
from fdgcl.graphs.importing.planning import ImportPlan, plan_import
from fdgcl.graphs.importing.request import (
    Request,
    claimed,
    clear,
    kind_to_make,
    one_table,
)
from fdgcl.graphs.importing.stages import Import, lean_arrow
from fdgcl.graphs.store.store import Store, manifest_path

__all__ = [
    "ImportPlan",
    "Request",
    "kind_to_make",
    "one_table",
    "plan_import",
    "run_request",
]


def run_request(
    request: Request, folder: Path, memory: int, progress: Progress | None = None
) -> Store:
    """Write a graph in files as a store, without ever holding all of it.

    Files are understood as `fdgcl.graphs.read_graph` does; what was taken for what is
    in the manifest (`reading`, `feature_schema`). Edge types are not used. Edges become
    neighbours as `build_operator` has them before it sets self-loops: repeated edges
    count once, or their weights are added; loops and edges of weight zero are dropped.
    Killed or out of disk, the same call goes on where it stopped; on a finished store
    it returns at once. The result does not depend on `memory`, nor on interruptions.

    Args:
        request: What to import.
        folder: The store to be: a new or empty folder, or one begun before.
        memory: Bytes that this process may hold in all.
        progress: Called with the stage, what is done of it, and how much there is.

    Raises:
        InputError: A file does not fit, the memory or the disk will not do, or the
            folder holds something else; the message says what.
    """
    request.check()
    known = request.compare(folder)
    if known and manifest_path(folder).is_file():
        shutil.rmtree(folder / "import", ignore_errors=True)
        return Store.open(folder)
    budget = Budget(memory, resident_bytes())
    budget.check()
    work = Import(request, folder, budget, progress or silent)
    with lean_arrow():
        work.open()
        with claimed(folder):
            if not known:
                clear(folder)
            request.note(folder)
            try:
                work.run()
            except InputError:
                request.note(folder, refused=True)
                raise
    return Store.open(folder)
