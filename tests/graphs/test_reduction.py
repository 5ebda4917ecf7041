"""Wide features reduced: against NumPy's SVD, and the same however they are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl.graphs import reduction, rows
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.reduction import Reduction, fit_reduction
from fdgcl.graphs.store.arrays import write_array
from fdgcl.graphs.store.features import StoredFeatures, write_reduced
from tolerances import assert_agree, assert_within, gamma, product_bound

pytestmark = pytest.mark.numeric

#: Float32 directions: rounded once, from float64 in which all is summed.
ROUNDED = 4 * gamma(1, np.float32)


def decaying(count: int, columns: int, seed: int = 0) -> NDArray[np.float32]:
    """Features whose principal variances fall by a tenth each, and means not zero."""
    rng = np.random.default_rng(seed)
    rank = min(count, columns)
    left = np.linalg.qr(rng.standard_normal((count, rank))).Q
    right = np.linalg.qr(rng.standard_normal((columns, rank))).Q
    sizes = 0.95 ** np.arange(rank)
    x = (left * sizes) @ right.T * np.sqrt(count) + rng.standard_normal(columns)
    return x.astype(np.float32)


def fitted(x: Any, dim: int, seed: int = 0) -> NDArray[np.float64]:
    found = fit_reduction(x, dim, seed=seed)
    assert found is not None
    assert found.directions.dtype == np.float32
    assert found.directions.shape == (x.shape[1], dim)
    return found.directions.astype(np.float64)


def principal(x: NDArray[Any], dim: int) -> NDArray[np.float64]:
    wide = x.astype(np.float64)
    directions = np.linalg.svd(wide - wide.mean(0), full_matrices=False).Vh[:dim]
    return np.asarray(directions.T)


def as_array(x: NDArray[np.float32], folder: Path) -> Any:
    return x


def as_sparse(x: NDArray[np.float32], folder: Path) -> Any:
    return csr_array(x)


def as_files(x: NDArray[np.float32], folder: Path) -> Any:
    starts = range(0, x.shape[1], 64)
    return StoredFeatures(
        [write_array(folder / f"{start}.npy", x[:, start:][:, :64]) for start in starts]
    )


FORMS: list[Callable[..., Any]] = [as_array, as_sparse, as_files]


@pytest.mark.parametrize("form", FORMS)
def test_the_covariance_of_few_columns_gives_the_very_directions(
    form: Callable[..., Any], tmp_path: Path
) -> None:
    x = decaying(200, 30)
    found = fitted(form(x, tmp_path), 7)
    assert_within(found.T @ found, np.eye(7), 30 * ROUNDED)
    expected = principal(x, 7)
    assert_within(found @ found.T, expected @ expected.T, 30 * ROUNDED)


@pytest.mark.parametrize("form", FORMS)
def test_many_columns_keep_nearly_as_much_variance_as_can_be(
    form: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = decaying(400, 300)
    monkeypatch.setattr(reduction, "EXACT", 100)
    features = form(x, tmp_path)
    found = fitted(features, 20)
    assert_within(found.T @ found, np.eye(20), 300 * ROUNDED)
    centred = x.astype(np.float64) - x.mean(0, dtype=np.float64)
    sizes = np.linalg.svd(centred, compute_uv=False) ** 2
    held = np.square(centred @ found).sum() / sizes.sum()
    best = sizes[:20].sum() / sizes.sum()
    # Three products with the covariance and 32 more directions shrink what does not
    # belong to the space by (sizes[52] / sizes[20]) ** 3, that is to 0.95 ** 192.
    assert best * (1 - 1e-4) < held <= best * (1 + 40 * ROUNDED)
    told = fit_reduction(features, 20, seed=0)
    assert told is not None
    assert told.held == pytest.approx(held, rel=1e-5)  # of float32 directions


@pytest.mark.parametrize("exact", [1024, 40])
@pytest.mark.parametrize(("count", "columns"), [(300, 90), (25, 90)])
def test_it_does_not_depend_on_how_features_are_kept(
    exact: int,
    count: int,
    columns: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = decaying(count, columns)
    monkeypatch.setattr(reduction, "EXACT", exact)
    expected = fitted(x, 35)
    for blocks in (1, 3):
        monkeypatch.setattr(rows, "NUMBERS", x.size // blocks)
        monkeypatch.setattr(reduction, "NUMBERS", x.size // blocks)
        for form in FORMS:
            folder = tmp_path / f"{blocks}-{form.__name__}"
            assert_agree(fitted(form(x, folder), 35), expected, np.float32)


def test_a_seed_mixes_and_nothing_else_does() -> None:
    x = decaying(100, 40)
    one, same, other = fitted(x, 6), fitted(x, 6), fitted(x, 6, seed=1)
    assert np.array_equal(one, same)
    assert np.abs(one - other).max() > 0.1
    # The space is the same.
    assert_within(one @ one.T, other @ other.T, 80 * ROUNDED)
    # No column is privileged: each has about as much variance as any other, where
    # the last principal one has 0.95 ** 118 of the first one's.
    steep = decaying(100, 400)
    variances = (steep @ fitted(steep, 60)).var(axis=0)
    assert variances.max() < 4 * variances.min()


def test_fewer_rows_than_columns_are_wanted() -> None:
    x = decaying(12, 60)
    found = fitted(x, 30)
    # Eleven directions, as rows less their mean have, shared out among 30 columns.
    sizes = np.linalg.svd(found, compute_uv=False)
    assert_within(sizes[:11], np.ones(11), 60 * ROUNDED)
    assert_within(sizes[11:], np.zeros(19), 60 * ROUNDED)
    reduced = fit_reduction(x, 30, seed=0)
    assert reduced is not None
    assert reduced.held == pytest.approx(1)


def test_features_that_do_not_vary() -> None:
    found = fitted(np.ones((5, 9), np.float32), 4)
    assert not found.any()


def test_nothing_is_reduced_that_is_not_wide() -> None:
    x = decaying(20, 8)
    assert [fit_reduction(x, dim, seed=0) for dim in (0, 8, 9)] == [None] * 3


@pytest.mark.parametrize("form", [as_array, as_sparse])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_multiplied(
    form: Callable[..., Any], dtype: type, tmp_path: Path
) -> None:
    x = decaying(20, 8).astype(dtype)
    directions = fitted(x, 3).astype(np.float32)
    x.flags.writeable = False
    found = Reduction(directions)(form(x, tmp_path))
    assert found.dtype == dtype
    bound = product_bound(x, directions, dtype)
    assert_within(found, x.astype(np.float64) @ directions.astype(np.float64), bound)


def test_files_of_reduced_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = decaying(50, 200)
    monkeypatch.setattr(rows, "NUMBERS", 200 * 17)
    features = as_files(x, tmp_path / "given")
    found = Reduction(fitted(x, 150).astype(np.float32))
    written = write_reduced(features, found, tmp_path / "reduced")
    assert written.shape == (50, 150)
    assert [array.shape[1] for array in written.arrays] == [64, 64, 22]
    bound = 2 * product_bound(x, found.directions, np.float32)
    assert_within(written[:], found(x), bound)
    [(start, part)] = written.column_block(2, 60)
    assert start == 0
    assert np.array_equal(part, written[:][:, 128:])


def test_a_map_knows_what_it_was_fitted_on() -> None:
    x = decaying(40, 9)
    scaled = FeatureMap.scaling_of(x, "columns")
    found = scaled.reducing(scaled.scaled(x), 4, seed=0)
    assert (FeatureMap().width, scaled.width, found.width) == (None, 9, 9)
    assert len({FeatureMap().fingerprint, scaled.fingerprint, found.fingerprint}) == 3
    assert found.reducing(x[:5], 3, seed=7).reduction is found.reduction
