"""What nodes gather, by both rules, against dense matrices written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, random_array
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.methods.parts.propagation import Edges, Propagation, Rule, gcn, graphconv
from tolerances import assert_agree

NODES = 12


def _adjacency(seed: int = 0) -> csr_array:
    """Directed and weighted, with loops, and one node without any edge."""
    rng = np.random.default_rng(seed)
    found = random_array((NODES, NODES), density=0.25, rng=rng).toarray()
    found[5], found[:, 5] = 0, 0
    found[2, 2], found[7, 7], found[8, 8] = 0.5, 2.0, 0.0
    return csr_array(found)


def _gathered(adjacency: csr_array, direction: str) -> NDArray[np.float64]:
    """Row i: whom node i gathers from."""
    a = adjacency.toarray()
    return {"out": a, "in": a.T, "symmetric": np.maximum(a, a.T)}[direction]


def _gcn(b: NDArray[np.float64]) -> NDArray[np.float64]:
    b = b + np.diag(np.where(np.diag(b) > 0, 0.0, 1.0))
    roots = b.sum(1) ** -0.5
    return roots[:, None] * b * roots


def _graphconv(b: NDArray[np.float64]) -> NDArray[np.float64]:
    b = b + np.eye(len(b))
    return b.sum(1)[:, None] ** -0.5 * b * b.sum(0) ** -0.5


RULES: dict[str, tuple[Rule, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
    "gcn": (gcn, _gcn),
    "graphconv": (graphconv, _graphconv),
}


def _dense(propagation: Propagation) -> Tensor:
    return propagation(torch.eye(NODES, dtype=torch.float64))


@pytest.mark.parametrize("direction", ["symmetric", "out", "in"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("share", [None, 0.6, 0.0])
def test_both_rules_are_their_dense_matrices(
    direction: str, rule: str, share: float | None
) -> None:
    ours, theirs = RULES[rule]
    edges = Edges(_adjacency(), direction, dtype=torch.float64)
    dense = _gathered(_adjacency(), direction)
    kept = None
    if share is not None:
        kept = torch.rand(len(edges), generator=torch.Generator().manual_seed(1))
        kept = kept < share
        gone = ~kept.numpy()
        dense = dense.copy()
        dense[edges.targets.numpy()[gone], edges.sources.numpy()[gone]] = 0
    found = ours(edges, kept)
    assert_agree(_dense(found), theirs(dense))
    x = torch.randn(NODES, 3, dtype=torch.float64)
    assert_agree(found.apply_transposed(x), theirs(dense).T @ x.numpy())


@pytest.mark.parametrize("rule", RULES)
def test_keeping_all_edges_is_dropping_none(rule: str) -> None:
    edges = Edges(_adjacency(), dtype=torch.float64)
    ours, _ = RULES[rule]
    everything = torch.ones(len(edges), dtype=torch.bool)
    assert torch.equal(_dense(ours(edges, everything)), _dense(ours(edges, None)))


def test_the_rules_are_one_on_an_undirected_graph_without_loops() -> None:
    a = _adjacency().toarray()
    np.fill_diagonal(a, 0)
    edges = Edges(csr_array(a), dtype=torch.float64)
    assert_agree(_dense(gcn(edges)), _dense(graphconv(edges)).numpy())
    # And two as soon as an edge is there one way alone.
    kept = torch.ones(len(edges), dtype=torch.bool)
    kept[0] = False
    apart = _dense(gcn(edges, kept)) - _dense(graphconv(edges, kept))
    assert float(apart.abs().max()) > 1e-3


def test_a_node_without_edges_keeps_its_own_row() -> None:
    edges = Edges(_adjacency(), dtype=torch.float64)
    for rule in (gcn, graphconv):
        row = _dense(rule(edges))[5]
        assert_agree(row, np.eye(NODES)[5])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dropped", [False, True])
def test_gradients_flow_back_along_the_edges(rule: str, dropped: bool) -> None:
    edges = Edges(_adjacency(), "out", dtype=torch.float64)
    kept = torch.arange(len(edges)) % 3 > 0 if dropped else None
    propagation = RULES[rule][0](edges, kept)
    x = torch.randn(NODES, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(propagation, (x,))


def test_edges_are_in_the_order_of_their_targets() -> None:
    edges = Edges(_adjacency(), "in", dtype=torch.float64)
    dense = _gathered(_adjacency(), "in")
    targets, sources = np.nonzero(dense)
    np.testing.assert_array_equal(edges.targets, targets)
    np.testing.assert_array_equal(edges.sources, sources)
    assert_agree(edges.weights, dense[targets, sources])
    np.testing.assert_array_equal(edges.is_loop, targets == sources)
    assert_agree(edges.reaching(edges.weights), dense.sum(1))
    assert_agree(edges.leaving(edges.weights), dense.sum(0))


def test_an_unknown_direction_is_named() -> None:
    with pytest.raises(InputError, match="direction 'both'"):
        Edges(_adjacency(), "both")


@pytest.mark.gpu
@pytest.mark.parametrize("rule", RULES)
def test_on_a_gpu_it_is_the_same(rule: str) -> None:
    ours, _ = RULES[rule]

    def run(device: str) -> tuple[Tensor, Tensor]:
        place = torch.device(device)
        edges = Edges(_adjacency(), "out", dtype=torch.float64, device=place)
        kept = (torch.arange(len(edges)) % 3 > 0).to(place)
        x = torch.ones(NODES, 2, dtype=torch.float64, device=place, requires_grad=True)
        result = ours(edges, kept)(x)
        (gradient,) = torch.autograd.grad(result.square().sum(), x)
        return result.detach(), gradient

    for on_gpu, expected in zip(run("cuda"), run("cpu"), strict=True):
        assert_agree(on_gpu, expected)
