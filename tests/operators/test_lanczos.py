"""Lanczos' view of a spectrum against dense eigenvalues and a plain recurrence."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from fdgcl.graphs import load_dataset, power_law_graph
from fdgcl.operators.in_memory import LANCZOS_STEPS, build_operator
from fdgcl.operators.lanczos import lanczos
from fdgcl.operators.sparse import SparseMatrix
from tolerances import assert_agree


def tridiagonal_of(found):
    beside = found.beside[:-1]
    return np.diag(found.diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def test_is_the_plain_recurrence():
    matrix = build_operator(load_dataset("cora-bundled").adjacency).matrix
    found = lanczos(matrix, steps=6)
    vectors = [np.random.default_rng(0).standard_normal(matrix.shape[0])]
    vectors[0] /= np.linalg.norm(vectors[0])
    for _ in range(5):
        new = matrix.matrix @ vectors[-1]
        for old in vectors:
            new = new - (old @ new) * old
        vectors.append(new / np.linalg.norm(new))
    basis = np.stack(vectors)
    expected = basis @ (matrix.matrix @ basis.T)
    assert_agree(tridiagonal_of(found), expected)
    assert not found.is_complete


def test_moments_of_the_start_are_those_of_the_matrix():
    """As a quadrature: <x, A^m x> is the corner of J^m, for m below 2 k."""
    matrix = build_operator(load_dataset("cora-bundled").adjacency).matrix
    small = tridiagonal_of(lanczos(matrix, steps=4))
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    start /= np.linalg.norm(start)
    moved = start
    for power in range(8):
        corner = np.linalg.matrix_power(small, power)[0, 0]
        assert_agree(corner, start @ moved, size=1)
        moved = matrix.matrix @ moved


def test_a_spectrum_of_few_values_is_found_completely():
    dense = np.ones((150, 150)) / 150
    found = lanczos(SparseMatrix(csr_array(dense)), LANCZOS_STEPS)
    assert found.is_complete
    assert len(found.diagonal) == 2
    assert_agree(found.smallest_eigenvalue(), 0, size=1)


@pytest.mark.parametrize("seed", range(3))
def test_float32_bounds_the_spectrum_too(seed):
    graph = power_law_graph(2000, 8000, seed=seed)
    matrix = build_operator(graph.adjacency).similar
    end = eigsh(matrix.matrix, 1, which="SA", return_eigenvectors=False)[0]
    bounds = [
        lanczos(matrix, LANCZOS_STEPS, dtype).smallest_eigenvalue()
        for dtype in (torch.float32, torch.float64)
    ]
    assert max(bounds) <= end
    assert_agree(bounds[0], bounds[1], np.float32, size=1)


@pytest.mark.dataset
def test_the_bound_on_a_large_graph(data_root):
    graph = load_dataset("ogbn-arxiv-nofeat", data_root)
    operator = build_operator(graph.adjacency)
    end = eigsh(operator.matrix.matrix, 1, which="SA", return_eigenvectors=False)[0]
    assert 1 - end <= operator.lambda_max <= 1 - end + 0.01


@pytest.mark.gpu
def test_a_gpu_sees_the_same_spectrum():
    matrix = build_operator(load_dataset("cora-bundled").adjacency).matrix
    there = lanczos(matrix, steps=20, device=torch.device("cuda"))
    here = lanczos(matrix, steps=20)
    assert_agree(there.diagonal, here.diagonal, size=1)
    assert_agree(there.beside, here.beside, size=1)
