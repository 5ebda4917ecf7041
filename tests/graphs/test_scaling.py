from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from fdgcl._checks import InputError
from fdgcl.graphs.scaling import column_rarity, scale_features

COUNTS = np.array(
    [[2, 0, 1, 0], [0, 0, 1, 0], [3, 1, 1, 0], [0, 0, 0, 0]], dtype=np.float32
)


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
    np.testing.assert_allclose(np.linalg.norm(dense(scaled), axis=1), [1, 1, 1, 0])
    np.testing.assert_allclose(dense(scaled)[2], COUNTS[2] / np.sqrt(11), rtol=1e-6)
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
    np.testing.assert_allclose(scaled[:, :3], expected, rtol=1e-6)
    np.testing.assert_array_equal(scaled[:, 3], 0)


def test_weights_of_another_graph_are_used_as_they_are() -> None:
    weights = np.array([1.0, 0.0, 0.0, 0.0])
    scaled = scale_features(COUNTS, "tf-idf", weights)
    np.testing.assert_allclose(scaled[:, 0], [1, 0, 1, 0])
    assert not np.asarray(scaled)[:, 1:].any()


def test_stored_zeros_are_not_words() -> None:
    x = csr_array((np.array([1.0, 0.0]), np.array([0, 0]), np.array([0, 1, 2])))
    np.testing.assert_allclose(column_rarity(x), [np.log(2)])


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_negative_features_are_no_counts(form: type) -> None:
    with pytest.raises(InputError, match="negative features; choose 'row' or 'none'"):
        scale_features(form(-COUNTS), "tf-idf")


def test_features_without_zeros_are_no_counts() -> None:
    with pytest.raises(InputError, match="there are none in these features"):
        scale_features(np.ones((3, 2)), "tf-idf")
