"""Small stores, written by hand with NumPy and SciPy instead of by an import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from fdgcl.graphs import Graph
from fdgcl.graphs.store.arrays import write_array
from fdgcl.graphs.store.store import (
    Manifest,
    Store,
    features_path,
    id_ends_path,
    ids_path,
    neighbours_path,
    starts_path,
    weights_path,
    write_manifest,
)


def make_store(
    folder: Path,
    *,
    nodes: int = 60,
    edges: int = 200,
    features: int = 8,
    seed: int = 0,
    directed: bool = False,
    weighted: bool = False,
    counts: bool = False,
    ids: str = "numbers",
    block_columns: int = 3,
) -> Store:
    """Write a random graph as a store.

    Args:
        folder: Where to.
        nodes: Number of nodes; the last one has no edge.
        edges: Pairs drawn; loops and repetitions among them are dropped.
        features: Number of features.
        seed: Of all that is random.
        directed: Nodes gather from those they point to; else from both ends.
        weighted: Weights are quarters from 0.25 to 4, else all one.
        counts: Features are 0, 1, 2, ..., those of the first node 0; else normally
            distributed.
        ids: `numbers`, `int64` (10, 17, 24, ...) or `text` (one of them not ASCII).
        block_columns: Features in each file.
    """
    rng = np.random.default_rng(seed)
    matrix = _gathering(rng, nodes, edges, directed=directed, weighted=weighted)
    write_array(starts_path(folder), matrix.indptr.astype(np.int64))
    write_array(neighbours_path(folder), matrix.indices.astype(np.int32))
    if weighted:
        write_array(weights_path(folder), matrix.data.astype(np.float32))
    x = rng.standard_normal((nodes, features)).astype(np.float32)
    if counts:
        x = rng.poisson(0.7, (nodes, features)).astype(np.float32)
        x[0] = 0
    for number, start in enumerate(range(0, features, block_columns)):
        block = x[:, start : start + block_columns]
        write_array(features_path(folder, number), block)
    _write_ids(folder, nodes, ids)
    manifest = Manifest(
        name=folder.name,
        source="drawn at random",
        nodes=nodes,
        entries=int(matrix.nnz),
        edges=edges,
        direction="out" if directed else "symmetric",
        weighted=weighted,
        ids=ids,
        features=features,
        block_columns=block_columns,
    )
    write_manifest(folder, manifest)
    return Store.open(folder)


def in_memory(store: Store) -> Graph:
    """The same graph for the code that holds all of it in memory.

    Its diffusion by the direction of the store's manifest is that of the store.
    """
    manifest = store.manifest
    # The files themselves, by NumPy alone.
    starts, neighbours = (
        np.load(path(store.folder)) for path in (starts_path, neighbours_path)
    )
    weights = np.ones(len(neighbours))
    if manifest.weighted:
        weights = np.load(weights_path(store.folder)).astype(np.float64)
    shape = (manifest.nodes, manifest.nodes)
    matrix = csr_array((weights, neighbours, starts), shape=shape)
    if manifest.direction == "in":
        matrix = csr_array(matrix.T)
    files = sorted((store.folder / "features").glob("*.npy"))
    x = np.concatenate([np.load(file) for file in files], axis=1)
    ids = node_ids(manifest.nodes, manifest.ids)
    return Graph(matrix, x, ids=ids, name=manifest.name)


def node_ids(nodes: int, kind: str) -> NDArray[Any]:
    """The ids that `make_store` gives."""
    if kind == "numbers":
        return np.arange(nodes)
    if kind == "int64":
        return 10 + 7 * np.arange(nodes)
    return np.array([f"n{'é' if i == 1 else ''}{i}" for i in range(nodes)])


def _gathering(
    rng: np.random.Generator,
    nodes: int,
    edges: int,
    *,
    directed: bool,
    weighted: bool,
) -> csr_array:
    """Whom each node gathers from, without itself, sorted."""
    i, j = rng.integers(0, max(nodes - 1, 1), (2, edges))
    weights = rng.integers(1, 17, edges) / 4 if weighted else np.ones(edges)
    # The first of repeated edges counts.
    _, first = np.unique(i * nodes + j, return_index=True)
    first = first[i[first] != j[first]]
    drawn = coo_array(
        (weights[first], (i[first], j[first])), shape=(nodes, nodes)
    ).tocsr()
    matrix = drawn if directed else csr_array(drawn.maximum(drawn.T))
    matrix.sort_indices()
    return matrix


def _write_ids(folder: Path, nodes: int, kind: str) -> None:
    if kind == "numbers":
        return
    names = node_ids(nodes, kind)
    if kind == "int64":
        write_array(ids_path(folder), names)
        return
    texts = [name.encode() for name in names.tolist()]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    write_array(ids_path(folder), np.frombuffer(b"".join(texts), np.uint8))
    write_array(id_ends_path(folder), ends)
