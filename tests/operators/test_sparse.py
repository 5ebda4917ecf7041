"""Sparse products against SciPy, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from fdgcl.operators.sparse import SparseMatrix, new_tensor
from tolerances import assert_agree, assert_within, gamma, product_bound


def random_matrix(rows=40, columns=30, density=0.1, seed=0):
    rng = np.random.default_rng(seed)
    dense = (rng.random((rows, columns)) < density) * rng.normal(size=(rows, columns))
    return sparse.csr_array(dense)


def both_round(matrix, x, dtype, more=0):
    """Of factors rounded to the dtype, and of SciPy's product in float64."""
    ours = product_bound(matrix, x, dtype, 2 + more)
    return ours + product_bound(matrix, x, np.float64, more)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [0, 1, 5])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_product_equals_scipys(dtype, columns, index):
    matrix = random_matrix()
    matrix.indices = matrix.indices.astype(index)
    matrix.indptr = matrix.indptr.astype(index)
    x = np.random.default_rng(1).normal(size=(30, columns))
    for product in (SparseMatrix(matrix).apply, SparseMatrix(matrix).multiply):
        found = product(torch.tensor(x, dtype=dtype))
        assert found.dtype == dtype
        assert found.shape == (40, columns)
        assert_within(found, matrix @ x, both_round(matrix, x, dtype))


@pytest.mark.parametrize("layout", ["transposed", "sliced"])
def test_blocks_need_not_be_contiguous(layout):
    matrix = random_matrix()
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(30, 30)))
    block = x.T if layout == "transposed" else x[:, 3:20:2]
    assert not block.is_contiguous()
    expected = matrix @ block.numpy()
    bound = both_round(matrix, block, block.dtype)
    assert_within(SparseMatrix(matrix).apply(block), expected, bound)


@pytest.mark.parametrize(
    "matrix",
    [
        sparse.csr_array((4, 3)),
        sparse.csr_array(np.zeros((1, 3))),
        sparse.csr_array(np.ones((4, 3))),
        random_matrix(4, 3, 0.3),
    ],
    ids=["empty", "one empty row", "full", "some empty rows"],
)
def test_odd_shapes(matrix):
    x = torch.eye(3, dtype=torch.float64)
    assert np.array_equal(SparseMatrix(matrix).apply(x), matrix.toarray())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(30,), (30, 1), (30, 5)])
@pytest.mark.parametrize("density", [0.0, 0.1])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (-0.5, 1.0), (2.0, -3.0)])
def test_products_are_added_in_place(dtype, shape, density, alpha, beta):
    matrix = random_matrix(30, 30, density)
    rng = np.random.default_rng(1)
    x, before = rng.normal(size=shape), rng.normal(size=shape)
    out = torch.tensor(before, dtype=dtype)
    place = out.data_ptr()
    given = torch.tensor(x, dtype=dtype)
    found = SparseMatrix(matrix).add_product(given, out, alpha=alpha, beta=beta)
    assert found.data_ptr() == out.data_ptr() == place
    expected = alpha * (matrix @ x) + beta * before
    # Two factors, two products and a sum, on both sides.
    bound = abs(alpha) * both_round(matrix, x, dtype, 4)
    bound = bound + 2 * gamma(4, dtype) * np.abs(beta * before)
    assert_within(out, expected, bound)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (4, 0), (4, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_new_tensors(shape, dtype):
    found = new_tensor(*shape, dtype, torch.device("cpu"))
    assert (tuple(found.shape), found.dtype) == (shape, dtype)
    assert found.is_contiguous()
    assert (found.fill_(2) == 2).all()


def test_shape_and_transpose():
    matrix = SparseMatrix(random_matrix())
    assert matrix.shape == (40, 30)
    assert matrix.nnz == matrix.matrix.nnz
    assert matrix.transposed.shape == (30, 40)
    assert matrix.transposed is matrix.transposed
    assert isinstance(matrix.transposed.matrix, sparse.csr_array)
    dense = matrix.matrix.toarray()
    assert np.array_equal(matrix.transposed.matrix.toarray(), dense.T)


def test_each_type_is_converted_once(monkeypatch):
    made = []
    build = torch.sparse_csr_tensor

    def counting(*args, **kwargs):
        made.append(1)
        return build(*args, **kwargs)

    monkeypatch.setattr(torch, "sparse_csr_tensor", counting)
    matrix = SparseMatrix(random_matrix())
    for dtype in (torch.float32, torch.float64, torch.float32, torch.float64):
        matrix.apply(torch.ones(30, 2, dtype=dtype))
    assert len(made) == 2


def test_read_only_arrays_are_fine():
    matrix = random_matrix()
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    x = torch.ones(30, 2, dtype=torch.float64)
    bound = both_round(matrix, x, x.dtype)
    assert_within(SparseMatrix(matrix).apply(x), matrix @ x.numpy(), bound)


def test_gradient_is_the_transposed_product():
    matrix = SparseMatrix(random_matrix(6, 4, 0.5))
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(4, 3))).requires_grad_()
    assert torch.autograd.gradcheck(matrix.multiply, (x,))
    assert torch.autograd.gradcheck(matrix.apply, (x,))


def test_gradients_of_sums_arrive_through_expanded_tensors():
    """The gradient of a sum is a tensor without memory of its own."""
    matrix = SparseMatrix(random_matrix(6, 4, 0.5))
    x = torch.ones(4, 3, dtype=torch.float64, requires_grad=True)
    matrix.multiply(x).sum().backward()
    expected = matrix.matrix.T @ np.ones((6, 3))
    assert_agree(x.grad, expected)


@pytest.mark.gpu
def test_product_on_a_device():
    matrix = random_matrix()
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(30, 5)))
    found = SparseMatrix(matrix).apply(x.cuda())
    assert found.device.type == "cuda"
    assert_within(found, matrix @ x.numpy(), both_round(matrix, x, x.dtype))
