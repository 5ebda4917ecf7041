"""Generated files: the same for the same seed, degrees by a power law, communities."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import chisquare

from fdgcl._checks import InputError
from fdgcl.graphs import generating, read_graph
from fdgcl.graphs.generating import COMMUNITIES, PowerLawFiles
from fdgcl.graphs.synthetic import power_law_graph


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


def edges_of(path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    table = pq.read_table(path)
    return np.stack([table[name].to_numpy() for name in ("source", "target")])


def test_the_same_seed_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generating, "_EDGES_AT_ONCE", 1000)
    files = PowerLawFiles(500, 5500, 6, seed=4)
    one, two = files.write(tmp_path / "one"), files.write(tmp_path / "two")
    other = PowerLawFiles(500, 5500, 6, seed=5).write(tmp_path / "other")
    for first, second, third in zip(one, two, other, strict=True):
        assert first.read_bytes() == second.read_bytes()
        assert first.read_bytes() != third.read_bytes()
    assert pq.ParquetFile(one[0]).num_row_groups == 6
    assert pq.read_schema(one[0]).field("source").type == "int32"


def test_sizes_and_what_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    files = PowerLawFiles(1234, 4321, 5)
    edges, features = files.write(tmp_path, lambda *call: told.append(call))
    found = edges_of(edges)
    assert found.shape == (2, 4321)
    assert found.min() >= 0
    assert found.max() < 1234
    assert pq.read_table(features)["id"].to_pylist() == list(range(1234))
    assert told[-1] == ("writing features.parquet", 1234, 1234)
    graph = read_graph(edges, features)
    assert graph.num_nodes == 1234
    assert graph.num_features == 5


def test_degrees_are_those_of_the_graph_drawn_in_memory(tmp_path: Path) -> None:
    """A chi-squared test against the formula, and a graph drawn the other way."""
    nodes, edges = 2000, 200_000
    files = PowerLawFiles(nodes, edges, 0, seed=1)
    start, end = edges_of(files.write(tmp_path)[0])
    rank = np.argsort(files._nodes_by_rank)
    expected = (np.arange(nodes) + 10.0) ** (-1 / 1.5)
    expected *= edges / expected.sum()
    counts = np.bincount(rank[start], minlength=nodes)
    assert chisquare(counts, expected).pvalue > 1e-3
    # Ends move within eight ranks only.
    blocks = np.bincount(rank[end] // COMMUNITIES)
    wanted = expected.reshape(-1, COMMUNITIES).sum(axis=1)
    assert chisquare(blocks, wanted).pvalue > 1e-3
    twin = power_law_graph(nodes, edges, directed=True, seed=3).adjacency
    # Communities make more edges repeat: ends in another order belong to none.
    end = np.random.default_rng(0).permutation(end)
    pairs = np.unique(start[start != end].astype(np.int64) * nodes + end[start != end])
    # Of 200,000 drawn, some thousands repeat: their root is 0.05 % of them all.
    assert len(pairs) == pytest.approx(twin.nnz, rel=0.005)
    degrees = np.bincount(pairs // nodes, minlength=nodes)
    quantiles = np.linspace(0.05, 0.95, 19)
    found, drawn = (np.quantile(v, quantiles) for v in (degrees, np.diff(twin.indptr)))
    # Degrees of 40 and more deviate by their root, quantiles by a tenth of it.
    assert found == pytest.approx(drawn, rel=4 * 0.1 / 40**0.5)


def test_communities_show_in_edges_and_features(tmp_path: Path) -> None:
    edges, features = PowerLawFiles(8000, 40_000, 32, seed=2).write(tmp_path)
    start, end = edges_of(edges)
    within = np.mean(start % COMMUNITIES == end % COMMUNITIES)
    # 0.0025 is one standard deviation of a share of 40,000.
    assert within == pytest.approx(0.5 + 0.5 / COMMUNITIES, abs=4 * 0.0025)
    vectors = pq.read_table(features)["features"].combine_chunks()
    x = vectors.flatten().to_numpy().reshape(-1, 32)
    means = np.stack([x[c::COMMUNITIES].mean(axis=0) for c in range(COMMUNITIES)])
    # Noise of variance 32 / 1000 in the square of each mean's length.
    assert np.linalg.norm(means, axis=1) == pytest.approx(1, abs=0.1)
    # 0.0014 is one standard deviation of that of 256,000 numbers.
    assert x.std() == pytest.approx(np.sqrt(1 + 1 / 32), abs=7 * 0.0014)


def test_tiny_graphs_and_no_features(tmp_path: Path) -> None:
    (path,) = PowerLawFiles(3, 50, 0).write(tmp_path)
    assert set(edges_of(path).ravel().tolist()) <= {0, 1, 2}


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((1, 5, 0), "nodes must be a whole number of at least 2"),
        ((5, 0, 0), "edges must be a whole number of at least 1"),
        ((5, 5, -1), "features must be a whole number of at least 0"),
        ((5, 5, 1, 2.0), "exponent must be above 2"),
    ],
)
def test_bad_sizes(sizes: tuple[int, int, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PowerLawFiles(*sizes)
