"""Operators against dense formulas, bounds against dense eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, read_compact
from fdgcl.operators.base import Operator
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree, assert_within, gamma, half_digits

DIRECTIONS = ("symmetric", "out", "in")
NORMALIZATIONS = ("symmetric", "row", "column")
SELF_LOOPS = (0.0, 0.5, 1.0, 3.0)

# How far above the largest eigenvalue the bound may lie, on graphs of any kind.
SHARPNESS = 0.01


def random_weights(nodes=12, seed=0):
    """Directed and weighted, with a self-loop, and a last node without any edge."""
    rng = np.random.default_rng(seed)
    dense = (rng.random((nodes, nodes)) < 0.25) * rng.uniform(0.5, 2, (nodes, nodes))
    dense[2, 2] = 1.7
    dense[-1] = dense[:, -1] = 0
    return dense


def expected_operator(dense, direction, normalization, self_loops):
    weights = {
        "symmetric": np.maximum(dense, dense.T),
        "out": dense.copy(),
        "in": dense.T.copy(),
    }[direction]
    np.fill_diagonal(weights, self_loops)
    degree = weights.sum(axis=0 if normalization == "column" else 1)
    result = np.zeros_like(weights)
    for i, j in zip(*np.nonzero(weights), strict=True):
        if normalization == "row":
            result[i, j] = weights[i, j] / degree[i]
        elif normalization == "column":
            result[i, j] = weights[i, j] / degree[j]
        elif degree[i] > 0 and degree[j] > 0:
            result[i, j] = weights[i, j] / np.sqrt(degree[i] * degree[j])
    return result


def dense_of(operator):
    return operator.matrix.matrix.toarray()


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("self_loops", SELF_LOOPS)
def test_equals_the_dense_formula(direction, normalization, self_loops):
    dense = random_weights()
    operator = build_operator(
        csr_array(dense),
        direction=direction,
        normalization=normalization,
        self_loops=self_loops,
    )
    expected = expected_operator(dense, direction, normalization, self_loops)
    # Both divide by roots of degrees: sums of 12 weights and the self-loop.
    rounding = 2 * gamma(13 + 4, expected.dtype)
    assert_within(dense_of(operator), expected, rounding * expected)
    assert operator.num_nodes == 12
    assert operator.nnz == np.count_nonzero(expected)
    assert operator.has_real_spectrum == (direction == "symmetric")
    x = np.random.default_rng(1).normal(size=(12, 3))
    assert_agree(operator.apply(torch.tensor(x)), expected @ x)


def test_defaults_are_those_of_a_graph_convolution():
    dense = random_weights()
    expected = expected_operator(dense, "symmetric", "symmetric", 1.0)
    assert_agree(dense_of(build_operator(csr_array(dense))), expected)


@pytest.mark.parametrize("self_loops", SELF_LOOPS)
def test_in_and_out_are_transposes(self_loops):
    """Mass shared along edges one way is averages taken the other way."""
    adjacency = csr_array(random_weights())
    build = lambda d, n: dense_of(  # noqa: E731
        build_operator(adjacency, direction=d, normalization=n, self_loops=self_loops)
    )
    assert_agree(build("out", "row").T, build("in", "column"))
    assert_agree(build("in", "row").T, build("out", "column"))
    assert not np.allclose(build("out", "symmetric"), build("in", "symmetric"))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_transposed_operator(direction, normalization):
    operator = build_operator(
        csr_array(random_weights()), direction=direction, normalization=normalization
    )
    transposed = operator.transposed
    assert_agree(dense_of(transposed), dense_of(operator).T)
    assert operator.transposed is transposed
    assert transposed.has_real_spectrum == operator.has_real_spectrum
    assert_agree(transposed.lambda_max, operator.lambda_max)


def test_symmetric_edges_have_a_real_spectrum_in_every_direction():
    dense = random_weights()
    adjacency = csr_array(np.maximum(dense, dense.T))
    for direction in DIRECTIONS:
        assert build_operator(adjacency, direction=direction).has_real_spectrum


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("self_loops", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_graphs_own_arrays_are_left_alone(direction, self_loops, dtype):
    """They are read-only, and taken without a copy wherever that is possible."""
    dense = random_weights().astype(dtype)
    np.fill_diagonal(dense, 0)
    graph = Graph(csr_array(dense))
    build_operator(graph.adjacency, direction=direction, self_loops=self_loops)
    assert np.array_equal(graph.adjacency.toarray(), dense)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"direction": "both"}, "unknown direction 'both'"),
        ({"normalization": "rows"}, "unknown normalization 'rows'; did you mean \"row"),
        ({"self_loops": -1.0}, "self_loops must be zero or more, got -1.0"),
        ({"self_loops": float("nan")}, "self_loops must be a finite number, got nan"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        build_operator(csr_array(random_weights()), **settings)


# The bound on the spectrum.


def ring(nodes):
    dense = np.roll(np.eye(nodes), 1, axis=1)
    return dense + dense.T


def star(nodes):
    dense = np.zeros((nodes, nodes))
    dense[0, 1:] = dense[1:, 0] = 1
    return dense


def bipartite(left, right):
    dense = np.zeros((left + right, left + right))
    dense[:left, left:] = dense[left:, :left] = 1
    return dense


def blocks(*parts):
    nodes = sum(map(len, parts))
    dense, start = np.zeros((nodes, nodes)), 0
    for part in parts:
        dense[start : start + len(part), start : start + len(part)] = part
        start += len(part)
    return dense


SHAPES = {
    "single edge": ring(2) / 2,
    "ring of 3": ring(3),
    "ring of 50": ring(50),
    "ring of 301": ring(301),
    "star": star(30),
    "complete": np.ones((20, 20)) - np.eye(20),
    "complete bipartite": bipartite(7, 12),
    "sparse": np.maximum(random_weights(200, 1), random_weights(200, 1).T),
    "random and a far-off edge": blocks(np.ones((150, 150)), ring(2) / 2),
    "no edges": np.zeros((4, 4)),
    "one node": np.zeros((1, 1)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("self_loops", [0.0, 1.0, 10.0])
def test_the_bound_is_above_the_spectrum_and_sharp(shape, normalization, self_loops):
    operator = build_operator(
        csr_array(SHAPES[shape]), normalization=normalization, self_loops=self_loops
    )
    laplacian = np.eye(operator.num_nodes) - operator.similar.matrix.toarray()
    top = np.linalg.eigvalsh(laplacian)[-1]
    assert operator.lambda_max >= top - half_digits(laplacian.dtype)
    assert operator.lambda_max <= top + SHARPNESS
    assert operator.lambda_max <= 2


def test_known_bounds():
    def bound(dense, **kwargs):
        return build_operator(csr_array(dense), **kwargs).lambda_max

    assert_agree(bound(ring(50), self_loops=0.0), 2)
    assert_agree(bound(star(30), self_loops=0.0), 2)
    assert_agree(bound(bipartite(7, 12), self_loops=0.0), 2)
    assert_agree(bound(ring(50), self_loops=1.0), 4 / 3)
    assert_agree(bound(ring(2) / 2, self_loops=1.0), 1)
    complete = np.ones((20, 20)) - np.eye(20)
    assert_agree(bound(complete, self_loops=0.0), 1 + 1 / 19)
    assert_agree(bound(complete, self_loops=1.0), 1)


@pytest.mark.dataset
@pytest.mark.parametrize("name", ["actor", "cora", "squirrel", "texas"])
@pytest.mark.parametrize("self_loops", [0.0, 1.0])
def test_the_bound_on_benchmark_graphs(data_root, name, self_loops):
    """Actor's spectrum ends in a cluster, which few Lanczos steps do not resolve."""
    adjacency = read_compact(data_root / f"{name}.npz").adjacency
    operator = build_operator(adjacency, self_loops=self_loops)
    ends = eigsh(operator.matrix.matrix, 1, which="SA", return_eigenvectors=False)
    top = 1 - ends[0]
    assert top - half_digits(ends.dtype) <= operator.lambda_max <= top + SHARPNESS


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("self_loops", [0.0, 1.0])
def test_directed_spectra_lie_in_the_disc_over_the_bound(normalization, self_loops):
    for seed in range(5):
        operator = build_operator(
            csr_array(random_weights(30, seed)),
            direction="out",
            normalization=normalization,
            self_loops=self_loops,
        )
        values = np.linalg.eigvals(np.eye(30) - dense_of(operator))
        radius = operator.lambda_max / 2
        assert (np.abs(values - radius) <= radius + half_digits(np.float64)).all()
        assert operator.lambda_max <= 2
    assert (operator.lambda_max < 1.95) == (self_loops > 0)


def test_the_bound_is_computed_once(monkeypatch):
    operator = build_operator(csr_array(ring(9)))
    first = operator.lambda_max
    monkeypatch.delattr(Operator, "_smallest_eigenvalue")
    assert operator.lambda_max == first


def test_the_bound_takes_few_products():
    """Lanczos, not a dense eigensolver: a large ring is no trouble."""
    nodes = 200_000
    rows = np.arange(nodes)
    columns = (rows + 1) % nodes
    one_way = csr_array((np.ones(nodes), (rows, columns)), shape=(nodes, nodes))
    bound = build_operator(one_way).lambda_max
    assert 4 / 3 <= bound <= 4 / 3 + SHARPNESS


# Properties of any weighted graph.


@st.composite
def weighted_graphs(draw):
    nodes = draw(st.integers(1, 7))
    weight = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
    return draw(arrays(np.float64, (nodes, nodes), elements=weight))


any_graph = given(
    dense=weighted_graphs(),
    direction=st.sampled_from(DIRECTIONS),
    normalization=st.sampled_from(NORMALIZATIONS),
    self_loops=st.sampled_from((0.0, 0.1, 1.0)),
)


@any_graph
@settings(deadline=None, max_examples=80)
def test_spectrum_lies_in_the_unit_disc(dense, direction, normalization, self_loops):
    operator = build_operator(
        csr_array(dense),
        direction=direction,
        normalization=normalization,
        self_loops=self_loops,
    )
    matrix = dense_of(operator)
    assert np.isfinite(matrix).all()
    # Defective eigenvalues are only found to a root of the rounding error.
    assert np.abs(np.linalg.eigvals(matrix)).max() <= 1 + 1e-3
    assert 0 <= operator.lambda_max <= 2
    similar = operator.similar.matrix.toarray()
    if operator.has_real_spectrum:
        assert_agree(similar, similar.T)
        top = np.linalg.eigvalsh(np.eye(len(dense)) - similar)[-1]
        assert operator.lambda_max >= top - half_digits(similar.dtype)


@any_graph
@settings(deadline=None, max_examples=80)
def test_averages_and_shares_add_up(dense, direction, normalization, self_loops):
    matrix = dense_of(
        build_operator(
            csr_array(dense),
            direction=direction,
            normalization=normalization,
            self_loops=self_loops,
        )
    )
    if normalization == "symmetric":
        if direction == "symmetric":
            assert_agree(matrix, matrix.T)
        return
    sums = matrix.sum(axis=1 if normalization == "row" else 0)
    if self_loops:
        assert_agree(sums, np.ones(len(sums)))
    assert_agree(sums[sums != 0], np.ones(np.count_nonzero(sums)))
