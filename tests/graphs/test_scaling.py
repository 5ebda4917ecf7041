from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from fdgcl._checks import InputError
from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.scaling import (
    ColumnScale,
    choose_scaling,
    fit_scaling,
    is_bag_of_words,
    scale_features,
)
from tolerances import assert_agree, assert_within, gamma, half_digits, sum_bound

COUNTS = np.array(
    [[2, 0, 1, 0], [0, 0, 1, 0], [3, 1, 1, 0], [0, 0, 0, 0]], dtype=np.float32
)

# A length is the root of a sum of four squares; a number is divided by it.
LENGTHS = gamma(4 + 1 + 1 + 1, np.float32)


def dense(x: NDArray[np.float32] | csr_array) -> NDArray[np.float32]:
    return x.toarray() if isinstance(x, csr_array) else x


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_none_is_the_very_same(form: type) -> None:
    x = form(COUNTS)
    assert scale_features(x, "none") is x


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_rows_have_length_one_and_empty_ones_stay_empty(form: type) -> None:
    x = form(COUNTS)
    scaled = scale_features(x, "row")
    assert scaled.dtype == np.float32
    assert_within(np.linalg.norm(dense(scaled), axis=1), [1, 1, 1, 0], 2 * LENGTHS)
    assert_within(dense(scaled)[2], COUNTS[2] / np.sqrt(11), LENGTHS)
    np.testing.assert_array_equal(dense(x), COUNTS)


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_tf_idf_is_scikit_learns(form: type) -> None:
    scaled = dense(scale_features(form(COUNTS), "tf-idf"))
    # scikit-learn adds 1 to every weight so that no column vanishes: take it back.
    reference = TfidfTransformer(norm=None, smooth_idf=False)
    used = COUNTS[:, :3]
    weights = reference.fit(used).idf_ - 1
    expected = used * weights
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = expected / np.where(lengths > 0, lengths, 1)
    assert_within(scaled[:, :3], expected, LENGTHS + 2 * gamma(2, np.float32))
    np.testing.assert_array_equal(scaled[:, 3], 0)


def test_weights_of_another_graph_are_used_as_they_are() -> None:
    columns = ColumnScale(np.array([1.0, 0.0, 0.0, 0.0]))
    scaled = scale_features(COUNTS, "tf-idf", columns)
    assert_within(scaled[:, 0], [1, 0, 1, 0], LENGTHS)
    assert not np.asarray(scaled)[:, 1:].any()


def test_stored_zeros_are_not_words() -> None:
    x = csr_array((np.array([1.0, 0.0]), np.array([0, 0]), np.array([0, 1, 2])))
    scale = fit_scaling(x, "tf-idf")
    assert scale is not None
    assert_agree(scale.weights, [np.log(2)])


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_negative_features_are_no_counts(form: type) -> None:
    with pytest.raises(
        InputError, match="negative features; choose 'row', 'columns' or 'none'"
    ):
        scale_features(form(-COUNTS), "tf-idf")


def test_features_without_zeros_are_no_counts() -> None:
    with pytest.raises(InputError, match="there are none in these features"):
        scale_features(np.ones((3, 2)), "tf-idf")


def many_scales(rows: int = 300) -> NDArray[np.float32]:
    """Columns whose means and spreads are far apart; the third is constant."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, 4)) * [1, 1e-6, 0, 1e6] + [0, 3, 7, 1.7e9]
    return x.astype(np.float32)


def test_columns_is_scikit_learns() -> None:
    x = many_scales()
    before = x.copy()
    scaled = scale_features(x, "columns")
    assert scaled.dtype == np.float32
    reference = StandardScaler().fit_transform(x.astype(np.float64))
    reference[:, 2] = 0  # rounding of a constant is nothing to scale
    # A mean that float32 has no room for would leave the second column no digit.
    assert_agree(scaled, reference)
    np.testing.assert_array_equal(x, before)


def test_columns_of_sparse_features_keep_their_zeros() -> None:
    x = csr_array(COUNTS)
    scaled = scale_features(x, "columns")
    assert isinstance(scaled, csr_array)
    np.testing.assert_array_equal(scaled.indices, x.indices)
    squares = np.square(scaled.toarray()).mean(axis=0)
    assert_agree(squares, [1, 1, 1, 0])


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_columns_of_another_graph_are_scaled_as_those_of_the_first(form: type) -> None:
    x = many_scales()
    columns = fit_scaling(form(x), "columns")
    assert columns is not None
    for other in (x[:50], csr_array(x[:50])):
        found = dense(scale_features(other, "columns", columns))
        assert_agree(found, dense(scale_features(form(x), "columns"))[:50])


def means_bound(x: NDArray[np.float32]) -> NDArray[np.float64]:
    """What the mean of each column, in float64, may be off by."""
    return sum_bound(x, np.float64) / len(x)


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_moments_are_those_of_numpy(form: type) -> None:
    rng = np.random.default_rng(1)
    x = many_scales() * (rng.random((300, 4)) < 0.7)
    x[:, 2] = 7
    found = ColumnMoments.of(form(x))
    wide = x.astype(np.float64)
    assert_within(found.means, wide.mean(axis=0), 2 * means_bound(x))
    # Each column by its own size: they are far apart.
    expected = wide.var(axis=0)
    assert_within(found.variances, expected, half_digits(np.float64) * expected)
    assert found.variances[2] == 0
    expected = (wide**2).mean(axis=0)
    assert_within(found.mean_squares, expected, half_digits(np.float64) * expected)
    assert not found.are_zero
    assert ColumnMoments.of(form(0 * x)).are_zero


def test_moments_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x = many_scales()
    whole = ColumnMoments.of(x)
    monkeypatch.setattr("fdgcl.graphs.moments._NUMBERS", 28)  # seven rows
    parts = ColumnMoments.of(x)
    off = means_bound(x)
    assert_within(parts.means, whole.means, 2 * off)
    # Deviations are off by what the means are from which they are taken: of all rows,
    # of each block, and of the blocks from each other. Their squares round as well.
    spread = np.sqrt(whole.variances)
    squares = 2 * gamma(len(x) + 8, np.float64) * spread
    assert_within(np.sqrt(parts.variances), spread, 3 * off + squares)


def words(
    rows: int = 200, columns: int = 51, share: float = 0.4
) -> NDArray[np.float32]:
    drawn = np.random.default_rng(0).random((rows, columns))
    return np.where(drawn < share, 1 + drawn, 0).astype(np.float32)


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_bags_of_words_are_many_columns_of_mostly_zeros(form: type) -> None:
    assert is_bag_of_words(form(words()))
    assert not is_bag_of_words(form(words(columns=50)))
    assert not is_bag_of_words(form(words(share=0.6)))
    negative = words()
    negative[:, 3] *= -1
    assert not is_bag_of_words(form(negative))
    # Stored zeros are zeros.
    stored = csr_array(np.ones((3, 60)))
    stored.data[:100] = 0
    assert is_bag_of_words(stored)


def test_few_of_many_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdgcl.graphs.scaling._LOOKS", 3)
    monkeypatch.setattr("fdgcl.graphs.scaling._LOOK_ROWS", 5)
    x = words(100)
    seen = x.copy()
    x[5:20] = -1  # not among them
    assert is_bag_of_words(x)
    seen[98] = -1
    assert not is_bag_of_words(seen)


@pytest.mark.parametrize(
    ("columns", "structural", "encoded", "expected"),
    [
        (51, None, False, "row"),
        (51, None, True, "row"),
        (51, "degree", False, "none"),
        (9, None, False, "columns"),
        (9, None, True, "none"),
    ],
)
def test_what_auto_comes_to(
    columns: int, structural: str | None, encoded: bool, expected: str
) -> None:
    x = words(columns=columns)
    found, why = choose_scaling(x, structural=structural, encoded=encoded)
    assert found == expected
    assert why
