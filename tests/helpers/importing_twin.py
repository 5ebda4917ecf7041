"""An import's plain twin: the same files read at once, through memory."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fdgcl._memory import resident_bytes
from fdgcl._progress import silent
from fdgcl.graphs import read_graph
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.importing import Request, kind_to_make, one_table, run_request
from fdgcl.graphs.importing.budget import Budget, Limits
from fdgcl.graphs.importing.request import claimed
from fdgcl.graphs.importing.stages import Import
from fdgcl.graphs.store.store import Store
from fdgcl.operators.in_memory import directed_weights

#: So small that a graph of a few dozen edges takes many runs, parts and batches.
TINY = Limits(
    batch_rows=7,
    run_entries=20,
    range_entries=200,
    most_entries=200,
    id_bytes=256,
    feature_rows=5,
    feature_columns=8,
    feature_inputs=8,
    keep_rows=10,
)
#: For a few hundred edges.
SMALL = replace(TINY, run_entries=200, batch_rows=40, feature_rows=40, keep_rows=80)


def import_graph(
    edges: Any,
    folder: Path,
    features: Any = None,
    *,
    memory: int,
    progress: Any = None,
    direction: str = "symmetric",
    name: str | None = None,
    **options: Any,
) -> Store:
    """Import with a request made of loose arguments."""
    request = Request(
        Path(edges),
        one_table(features),
        TableOptions.of(options),
        direction=direction,
        name=name,
        made=kind_to_make(features),
    )
    return run_request(request, folder, memory, progress)


def import_in_pieces(
    folder: Path, request: Request, limits: Limits = TINY, progress: Any = silent
) -> Store:
    """Import with limits of one's own."""
    request.check()
    request.compare(folder)
    budget = Budget(10**9 + resident_bytes(), resident_bytes())
    work = Import(request, folder, budget, progress, limits)
    work.open()
    with claimed(folder):
        request.note(folder)
        work.run()
    return Store.open(folder)


def expected(request: Request) -> tuple[csr_array, Any]:
    """The weights by which nodes gather, and the graph, by the way through memory."""
    graph = read_graph(request.edges, request.features, **asdict(request.tables))
    weights = directed_weights(graph.adjacency, request.direction).tocoo()  # type: ignore[arg-type]
    kept = (weights.row != weights.col) & (weights.data != 0)
    parts = (weights.data[kept], (weights.row[kept], weights.col[kept]))
    matrix = csr_array(parts, shape=weights.shape)
    matrix.sort_indices()
    return matrix, graph


def stored_matrix(store: Store) -> csr_array:
    """All of a store's graph as a matrix, by NumPy's own reading of its files."""
    graph = store.folder / "graph"
    starts, neighbours = (np.load(graph / f"{n}.npy") for n in ("starts", "neighbours"))
    data = np.ones(len(neighbours))
    if store.manifest.weighted:
        data = np.load(graph / "weights.npy").astype(np.float64)
    return csr_array((data, neighbours, starts), shape=(len(starts) - 1,) * 2)


def stored_features(store: Store) -> Any:
    """All of a store's features."""
    files = sorted((store.folder / "features").glob("*.npy"))
    return np.concatenate([np.load(file) for file in files], axis=1)


def check(store: Store, request: Request) -> None:
    """Compare a store with its twin, bit by bit."""
    matrix, graph = expected(request)
    found = stored_matrix(store)
    np.testing.assert_array_equal(found.indptr, matrix.indptr)
    np.testing.assert_array_equal(found.indices, matrix.indices)
    np.testing.assert_array_equal(found.data, matrix.data)
    assert store.manifest.weighted == bool((matrix.data != 1).any())
    np.testing.assert_array_equal(
        store.read_ids(0, store.manifest.nodes).astype(object),
        graph.ids.astype(object),
    )
    assert store.manifest.nodes == graph.num_nodes
    assert store.manifest.entries == matrix.nnz
    if graph.features is not None:
        np.testing.assert_array_equal(
            stored_features(store), np.asarray(graph.features, np.float32)
        )
        assert store.manifest.feature_names == graph.feature_names
        assert store.manifest.feature_schema == graph.feature_schema.to_dict()
    assert store.manifest.reading == graph.reading
    for array in store.arrays():
        array.verify()
    assert not (store.folder / "import").exists()
    assert not list(store.folder.rglob("*.partial"))
