"""Matrices without names of columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.graphs.schema import Overrides, encode_matrix, fit_matrix, fit_schema
from tolerances import assert_agree

RNG = np.random.default_rng(8)


def scaled(x: np.ndarray, scaling: str = "auto") -> np.ndarray:
    return encode_matrix(fit_matrix(x, Overrides(scaling=scaling), "x.npy"), x, "x.npy")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_what_needs_no_scaling_is_the_same_to_the_bit(dtype: type) -> None:
    x = (RNG.normal(size=(60, 5)) * 3).round().astype(dtype)
    np.testing.assert_array_equal(scaled(x), x.astype(np.float32))


def test_one_large_column_no_longer_swallows_the_rest() -> None:
    x = RNG.normal(size=(300, 9))
    x[:, 8] = RNG.integers(1_600_000_000, 1_700_000_000, 300)
    z = scaled(x)
    assert_agree(z.std(axis=0), np.ones(9))
    assert_agree(z.mean(axis=0), np.zeros(9), size=1)


def test_columns_that_stay_beside_those_that_are_scaled() -> None:
    x = np.column_stack(
        [np.arange(300) % 2, np.full(300, 5), np.exp(RNG.normal(0, 4, 300))]
    )
    schema = fit_matrix(x, Overrides(), "x.npy")
    assert schema.columns[0].encoding == "standard"
    z = encode_matrix(schema, x)
    np.testing.assert_array_equal(z[:, 0], x[:, 0])
    np.testing.assert_array_equal(z[:, 1], 0)
    assert z[:, 2].max() < 20


def test_nan_is_missing() -> None:
    x = RNG.normal(size=(30, 3))
    x[[2, 5], 1] = np.nan
    schema = fit_matrix(x, Overrides(), "x.npy")
    assert schema.feature_names == ("1", "2", "3", "2 missing")
    assert "numbers in 1 columns missing: set to the mean" in schema.describe()[1]
    z = encode_matrix(schema, x)
    np.testing.assert_array_equal(np.flatnonzero(z[:, 3]), [2, 5])
    assert_agree(z[2, 1], np.nanmean(x[:, 1]))
    x[7, 2] = np.nan
    with pytest.raises(InputError, match=r"y.npy has nan in row 8, column '3'"):
        encode_matrix(schema, x, "y.npy")


def test_sparse_matrices_stay_as_they_are_unless_asked() -> None:
    x = csr_array(RNG.poisson(0.2, (50, 6)) * [1, 1, 1, 1, 1, 1000])
    kept = encode_matrix(fit_matrix(x, Overrides(), "x.npz"), x)
    assert isinstance(kept, csr_array)
    np.testing.assert_array_equal(kept.toarray(), x.toarray())
    asked = fit_matrix(x, Overrides(scaling="standard"), "x.npz")
    z = encode_matrix(asked, x)
    assert z.nnz == x.nnz
    assert_agree(z.toarray(), x.toarray() / x.toarray().std(axis=0))
    with pytest.raises(InputError, match="sparse, and its quartiles are mostly 0"):
        fit_matrix(x, Overrides(scaling="robust"), "x.npz")


def test_sparse_after_dense() -> None:
    x = RNG.normal(5, 1, (20, 2)) * [1, 1000]
    with pytest.raises(InputError, match="the matrix of the training was dense"):
        encode_matrix(fit_matrix(x, Overrides(), "x.npy"), csr_array(x))


def test_numbers_that_are_not_finite() -> None:
    x = np.ones((4, 2))
    x[2, 1] = np.inf
    with pytest.raises(InputError, match=r"x.npy has inf in row 3, column '2'"):
        fit_matrix(x, Overrides(), "x.npy")
    with pytest.raises(InputError, match=r"x.npz has inf in row 3, column 2"):
        fit_matrix(csr_array(x), Overrides(), "x.npz")


def test_other_shapes_and_names() -> None:
    import pyarrow as pa

    schema = fit_matrix(np.eye(3), Overrides(), "x.npy")
    with pytest.raises(
        InputError, match=r"shape \(2, 2\), where 3 columns are expected"
    ):
        encode_matrix(schema, np.eye(2))
    with pytest.raises(InputError, match=r"a matrix without names: give a .npy"):
        schema.match(["a"], "y.csv")
    table = fit_schema(pa.table({"a": [1, 2]}), typed=True, where="x.parquet")
    with pytest.raises(InputError, match="no names of columns, but training had: a"):
        encode_matrix(table, np.eye(1))
    with pytest.raises(InputError, match="so it has no column 'age'"):
        fit_matrix(np.eye(2), Overrides(drop=("age",)), "x.npy")
    with pytest.raises(InputError, match=r"x.npy has no numbers"):
        fit_matrix(np.empty((0, 3)), Overrides(), "x.npy")
    with pytest.raises(InputError, match="only constant columns"):
        fit_matrix(np.zeros((4, 3)), Overrides(), "x.npy")
