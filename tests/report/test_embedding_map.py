"""Maps and principal components of embeddings whose shape is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from fdgcl.report import principal as components
from fdgcl.report.embedding_map import (
    Groups,
    clusters,
    embedding_map,
    fifths,
    project,
    sample_rows,
)
from fdgcl.report.principal import principal, principal_section
from tolerances import assert_agree

RNG = np.random.default_rng(0)


def blobs(each: int = 40, count: int = 3) -> tuple[np.ndarray, np.ndarray]:
    centres = 6 * np.eye(16)[:count]
    y = np.repeat(np.arange(count), each)
    return (centres[y] + RNG.standard_normal((len(y), 16))).astype(np.float32), y


def test_what_is_alike_lies_together() -> None:
    z, y = blobs()
    plane, method = project(z)
    assert plane.shape == (120, 2)
    assert "t-SNE" in method
    nearest = NearestNeighbors(n_neighbors=6).fit(plane)
    others = nearest.kneighbors(return_distance=False)
    assert (y[others] == y[:, None]).mean() > 0.95
    assert np.array_equal(project(z)[0], plane)


def test_many_rows_are_projected_by_principal_components() -> None:
    z = RNG.standard_normal((6000, 4)) @ np.diag([9, 5, 0.1, 0.1])
    plane, method = project(z)
    assert "two principal components" in method
    rows = z / np.linalg.norm(z, axis=1, keepdims=True)
    u, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    for k in range(2):
        aligned = abs(np.corrcoef(plane[:, k], u[:, k] * s[k])[0, 1])
        assert aligned > 0.999


@pytest.mark.parametrize(
    "z",
    [
        np.ones((1, 3)),
        np.ones((50, 3)),
        np.zeros((20, 2)),
        RNG.standard_normal((2, 5)),
        RNG.standard_normal((30, 1)),
        RNG.standard_normal((11, 4)),
    ],
    ids=lambda z: f"{z.shape}",
)
def test_odd_shapes(z: np.ndarray) -> None:
    figure = embedding_map(z, np.arange(len(z)), None)
    assert sum(len(one.x) for one in figure.series) == len(z)
    assert all(np.isfinite(one.x).all() for one in figure.series)


def test_labels_ids_and_caption() -> None:
    z, y = blobs()
    codes = np.where(np.arange(120) % 10 == 0, -1, y)
    ids = np.array([f"n{i}" for i in range(120)])
    figure = embedding_map(z, ids, Groups(codes, ("a", "b", "c"), "label"))
    assert [one.name for one in figure.series] == ["no label", "a", "b", "c"]
    assert [one.color for one in figure.series] == [-1, 0, 1, 2]
    assert sorted(id_ for one in figure.series for id_ in one.hover) == sorted(ids)
    second = figure.series[2]
    assert second.hover == ids[codes == 1].tolist()
    assert "All 120 nodes" in figure.caption
    assert "Coloured by label" in figure.caption


def test_without_labels_there_are_clusters() -> None:
    z, y = blobs(count=8)
    found = clusters(z)
    pairs = {(int(a), int(b)) for a, b in zip(found.codes, y, strict=True)}
    assert len(pairs) == 8
    assert "k-means" in embedding_map(z, np.arange(len(z)), None).caption
    assert len(clusters(z[:5]).names) == 5


def test_very_many_nodes_are_sampled() -> None:
    rows = sample_rows(20_001)
    assert len(rows) == 20_000
    assert np.array_equal(rows, np.unique(rows))
    assert np.array_equal(rows, sample_rows(20_001))
    assert np.array_equal(sample_rows(7), np.arange(7))
    z = RNG.standard_normal((20_001, 3))
    groups = Groups(np.zeros(20_001, np.int64), ("all",), "label")
    figure = embedding_map(z, np.arange(20_001), groups)
    assert len(figure.series[0].x) == 20_000
    assert "20,000 of 20,001 nodes" in figure.caption


def test_small_groups_go_together() -> None:
    codes = np.repeat(np.arange(30), np.arange(1, 31))
    z = RNG.standard_normal((len(codes), 3))
    names = [f"class {i}" for i in range(30)]
    figure = embedding_map(z, np.arange(len(z)), Groups(codes, names, "label"))
    assert len(figure.series) == 22
    assert figure.series[0].name == "9 smaller groups"
    assert len(figure.series[0].x) == sum(range(1, 10))
    assert [one.name for one in figure.series[1:]] == names[9:]


def orthogonal(variances: list[float], rows: int = 64) -> np.ndarray:
    """Centred rows whose principal components are known."""
    basis, _ = np.linalg.qr(
        np.column_stack([np.ones(rows), RNG.standard_normal((rows, len(variances)))])
    )
    turn, _ = np.linalg.qr(RNG.standard_normal((len(variances),) * 2))
    return basis[:, 1:] @ np.diag(np.sqrt(variances)) @ turn + 5


def test_principal_components() -> None:
    variances = np.array([5.0, 3.0, 1.0, 1.0])
    found = principal(orthogonal(variances.tolist()))
    assert_agree(found.shares, variances / 10)
    assert_agree(found.effective_rank, 100 / 36)
    equal = principal(orthogonal([2.0] * 7))
    assert_agree(equal.effective_rank, 7)


def test_wide_rows_and_no_variance() -> None:
    wide = RNG.standard_normal((10, 50))
    found, turned = principal(wide), principal(wide - wide.mean(axis=0))
    assert len(found.shares) == 9, "ten centred rows span nine directions"
    assert_agree(found.shares, turned.shares)
    centred = wide - wide.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False) ** 2
    assert_agree(found.shares, values[:9] / values.sum())
    assert principal(np.ones((5, 3))).effective_rank == 0


def test_large_matrices_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RNG.standard_normal((300, 40)) @ np.diag(0.8 ** np.arange(40))
    whole = principal(rows)
    monkeypatch.setattr(components, "ALL_COMPONENTS", 10)
    monkeypatch.setattr(components, "SHOWN", 12)
    cut = principal(rows)
    assert_agree(cut.shares, whole.shares[:12])
    assert cut.effective_rank == whole.effective_rank


def test_section_of_components() -> None:
    section = principal_section({"embedding": principal(orthogonal([3.0, 1.0]))})
    text, single, summed = section.blocks
    assert "1.6 (embedding)" in text.text
    assert single.series[0].y == pytest.approx([0.75, 0.25])
    assert summed.series[0].y == pytest.approx([0.75, 1.0])


def test_values_are_shown_in_fifths() -> None:
    values = np.array([*range(10), np.nan])
    groups = fifths(values, "age")
    assert np.bincount(groups.codes[:10]).tolist() == [2] * 5
    assert groups.codes[10] == -1
    assert groups.names[0] == "0 to 1.8"
    few = fifths(np.array([1.0, 1, 1, 1, 2]), "age")
    assert few.codes.max() < len(few.names)
