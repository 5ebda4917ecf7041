"""Edges one by one: sums over them against dense loops, in blocks of any size."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from fdgcl.diffusion import Schedule, build_dynamics
from fdgcl.diffusion.stepping import diffuse_stepped
from fdgcl.operators import incidence
from fdgcl.operators.in_memory import build_operator
from fdgcl.operators.incidence import Incidence
from tolerances import assert_agree, assert_within, gamma

CPU = torch.device("cpu")
#: Blocks of one edge, of a few that divide nothing, of all at once.
BLOCKS = (1, 7, 10**9)


def matrix():
    """Directed and weighted; row 3 is empty, and so is column 1."""
    rng = np.random.default_rng(0)
    dense = (rng.random((6, 6)) < 0.5) * rng.uniform(0.5, 2.0, (6, 6))
    dense[3] = 0
    dense[:, 1] = 0
    return dense


@pytest.fixture(params=BLOCKS)
def edges(request, monkeypatch):
    monkeypatch.setitem(incidence.BLOCK_NUMBERS, "cpu", request.param)
    return Incidence(csr_array(matrix()))


def noise(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return torch.from_numpy(values).requires_grad_()


def pairs():
    """The edges as loops find them."""
    dense = matrix()
    return [(i, j) for i in range(6) for j in range(6) if dense[i, j] != 0]


def test_edges_are_listed_row_by_row(edges):
    found = zip(edges.rows(CPU).tolist(), edges.columns(CPU).tolist(), strict=True)
    assert list(found) == pairs()
    like = torch.empty(0, dtype=torch.float32)
    weights = [np.float32(matrix()[i, j]) for i, j in pairs()]
    assert edges.weights(like).tolist() == weights
    assert edges.weights(like).dtype == torch.float32
    assert (edges.num_nodes, edges.num_edges) == (6, len(pairs()))


def test_multiply(edges):
    weights, x = noise(edges.num_edges), noise(6, 3, seed=1)
    expected = np.zeros((6, 3))
    for weight, (i, j) in zip(weights.tolist(), pairs(), strict=True):
        expected[i] += weight * x.detach().numpy()[j]
    assert_agree(edges.multiply(weights, x), expected)
    assert torch.autograd.gradcheck(edges.multiply, (weights, x))


def test_the_operators_own_weights_give_the_operators_product(edges):
    x = noise(6, 3)
    found = edges.multiply(edges.weights(x), x).detach()
    assert_agree(found, matrix() @ x.detach().numpy())
    turned = edges.product(edges.weights(x), x.detach(), transposed=True)
    assert_agree(turned, matrix().T @ x.detach().numpy())


def test_inner_products(edges):
    first, second = noise(6, 2, 3), noise(6, 2, 3, seed=1)
    found = edges.inner_products(first, second).detach()
    here, there = first.detach().numpy(), second.detach().numpy()
    expected = [
        [here[i, head] @ there[j, head] for head in range(2)] for i, j in pairs()
    ]
    assert_agree(found, expected)
    assert torch.autograd.gradcheck(edges.inner_products, (first, second))


def test_softmax(edges):
    scores = noise(edges.num_edges, 2)
    expected = np.zeros((edges.num_edges, 2))
    for head in range(2):
        values = scores.detach().numpy()[:, head]
        for row in range(6):
            mine = [e for e, (i, _) in enumerate(pairs()) if i == row]
            total = sum(math.exp(values[e]) for e in mine)
            for e in mine:
                expected[e, head] = math.exp(values[e]) / total
    assert_agree(edges.softmax(scores), expected)
    assert torch.autograd.gradcheck(edges.softmax, (scores,))


@pytest.mark.parametrize("shift", [800.0, -800.0])
def test_softmax_of_large_scores_is_finite(edges, shift):
    scores = noise(edges.num_edges, 2).detach()
    shifted = edges.softmax(scores + shift)
    # The shift costs scores what the sum with it rounds; softmax is 2-Lipschitz.
    lost = gamma(2, scores.dtype) * 2 * (abs(shift) + float(scores.abs().max()))
    assert_within(shifted, edges.softmax(scores), lost + gamma(20, scores.dtype))


def message(weight, here, there, value):
    return torch.tanh(there - here) * value * weight + 0.1 * here


def test_sum_messages(edges):
    here, value = noise(6, 3), noise(6, 3, seed=1)
    expected = np.zeros((6, 3))
    at, other = here.detach().numpy(), value.detach().numpy()
    for i, j in pairs():
        weight = matrix()[i, j]
        expected[i] += np.tanh(at[j] - at[i]) * other[j] * weight + 0.1 * at[i]

    def run(here, value):
        return edges.sum_messages(message, [here], [here, value])

    found = run(here, value).detach()
    assert_agree(found, expected)
    assert (found[3] == 0).all()
    assert torch.autograd.gradcheck(run, (here, value))


def test_blocks_cover_every_edge_once(edges):
    numbers = incidence.BLOCK_NUMBERS["cpu"]
    for each in (1, 2, 5, 100):
        blocks = list(edges.blocks(each, CPU))
        seen = [e for block in blocks for e in range(block.start, block.stop)]
        assert seen == list(range(edges.num_edges))
        sizes = [block.stop - block.start for block in blocks]
        assert max(sizes) <= max(1, numbers // each)


def test_blocks_change_nothing(monkeypatch):
    found = []
    for numbers in BLOCKS:
        monkeypatch.setitem(incidence.BLOCK_NUMBERS, "cpu", numbers)
        edges = Incidence(csr_array(matrix()))
        here, value = noise(6, 3), noise(6, 3, seed=1)
        total = edges.sum_messages(message, [here], [here, value])
        total.square().sum().backward()
        found.append((total.detach(), here.grad, value.grad))
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            assert_agree(one, another)


def test_no_edges_at_all():
    edges = Incidence(csr_array((4, 4)))
    x = noise(4, 2)
    weights = torch.empty(0, dtype=torch.float64)
    assert (edges.multiply(weights, x) == 0).all()
    assert edges.softmax(torch.empty(0, 2, dtype=torch.float64)).shape == (0, 2)
    assert (edges.sum_messages(message, [x], [x, x]) == 0).all()
    assert edges.inner_products(x[:, None], x[:, None]).shape == (0, 1)


def test_second_derivatives_are_refused_rather_than_wrong():
    edges = Incidence(csr_array(matrix()))
    weights, x = noise(edges.num_edges), noise(6, 3)
    value = edges.multiply(weights, x).square().sum()
    first, _ = torch.autograd.grad(value, (weights, x), create_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        first.sum().backward()


# Nothing of (edges x columns) for the whole graph.


class Largest(TorchDispatchMode):
    """The numbers in the largest tensor that any operation returns."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **kwargs or {})
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self.numbers = max(self.numbers, tensor.numel())
        return result


NODES, DEGREE, DIM = 120, 20, 8


def largest(name, way, monkeypatch, block, **options):
    """Numbers in the largest tensor, forward and backward, and the number of edges."""
    monkeypatch.setitem(incidence.BLOCK_NUMBERS, "cpu", block)
    rng = np.random.default_rng(0)
    dense = np.zeros((NODES, NODES))
    for row in dense:
        row[rng.choice(NODES, DEGREE, replace=False)] = 1.0
    operator = build_operator(csr_array(dense), direction="out", self_loops=0.0)
    dynamics = build_dynamics(name, options, dim=DIM, dtype=torch.float64)
    x = noise(NODES, DIM)
    # A sparse matrix of the whole graph counts its own size as if it were dense.
    operator.multiply(x).sum().backward()
    with Largest() as seen:
        value = diffuse_stepped(dynamics, operator, x, 0.5, Schedule(1, 0.5), way)
        value.sum().backward()
    return seen.numbers, operator.nnz


@pytest.mark.parametrize("way", ["autograd", "adjoint", "checkpoint"])
def test_convection_never_holds_a_vector_for_every_edge(monkeypatch, way):
    found, edges = largest("cde", way, monkeypatch, block=1000)
    # The edges' own weights, once, are the largest thing there is.
    assert found <= edges
    # And the measure sees it where a block is the whole graph.
    found, edges = largest("cde", way, monkeypatch, block=10**9)
    assert found == edges * DIM


@pytest.mark.parametrize("name", ["grand-attention", "grand-nonlinear"])
def test_attention_holds_numbers_for_every_edge_and_no_vectors(monkeypatch, name):
    options = {"heads": 2, "width": 16}
    found, edges = largest(name, "adjoint", monkeypatch, 1000, **options)
    # Scores of two heads; a product's sparse matrix counts nodes x nodes.
    assert found <= max(edges * 2, NODES * NODES)
    found, edges = largest(name, "adjoint", monkeypatch, 10**9, **options)
    assert found == edges * 2 * 16
