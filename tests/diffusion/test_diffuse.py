"""The front door: what it refuses, and what diffusion does on every kind of graph."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.diffusion import SOLVERS, Dynamics, Grand, Schedule, diffuse
from fdgcl.diffusion.dynamics import Flow
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree, half_digits

from .cases import GRAPHS, STEPPING, noise, random_directed, relative

every_graph = pytest.mark.parametrize("graph", GRAPHS)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


class Cubic(Dynamics):
    """A dynamics that is not linear."""

    name = "cubic"
    is_fixed_linear = False

    def start(self, graph, x):
        return Flow(x, lambda _, state: -(state**3))


@pytest.fixture
def operator():
    return build_operator(random_directed(8, 2), direction="out")


@pytest.mark.parametrize("order", [0, -0.5, 1.5, float("nan")])
@pytest.mark.parametrize("method", ["auto", "polynomial", "stepped"])
def test_refuses_orders_outside_the_interval(operator, order, method):
    with pytest.raises(InputError, match="order must"):
        diffuse(
            Grand(), operator, noise(8), (0.5, order), Schedule(1, 1), method=method
        )


def test_refuses_to_step_the_exact_solver(operator):
    schedule = Schedule(1, 1, "exact")
    with pytest.raises(InputError, match=r"solver 'exact' has no steps.*'stepped'"):
        diffuse(Grand(), operator, noise(8), (0.5,), schedule, method="stepped")


@pytest.mark.parametrize("method", ["auto", "polynomial", "stepped"])
def test_refuses_exact_solutions_of_what_is_not_linear(operator, method):
    schedule = Schedule(1, 1, "exact")
    with pytest.raises(InputError, match=r"solver 'exact'.*dynamics 'cubic'"):
        diffuse(Cubic(), operator, noise(8), (0.5,), schedule, method=method)


def test_refuses_polynomials_of_what_is_not_linear(operator):
    with pytest.raises(InputError, match="dynamics 'cubic' is not linear"):
        diffuse(
            Cubic(), operator, noise(8), (0.5,), Schedule(1, 1), method="polynomial"
        )


def test_steps_what_is_not_linear(operator):
    x = noise(8)
    found = diffuse(Cubic(), operator, x, (1.0,), Schedule(1, 1))
    assert_agree(found[0], x - x**3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "rk4"}, "unknown solver 'rk4'"),
        ({"step": 2}, "step must not exceed time, got step 2 and time 1"),
        ({"step": 0.25, "skip": 3}, "skip=3 does not divide the 4 steps"),
    ],
)
def test_refuses_impossible_schedules(settings, message):
    with pytest.raises(InputError, match=message):
        Schedule(**{"time": 1, "step": 1} | settings)


@pytest.mark.parametrize(
    "x", [noise(7), noise(8)[:, 0], torch.ones(8, 2, dtype=torch.int64)]
)
def test_refuses_features_that_do_not_fit(operator, x):
    with pytest.raises(InputError, match="one row for each of the 8 nodes, got"):
        diffuse(Grand(), operator, x, (0.5,), Schedule(1, 1))


def test_auto_takes_the_polynomial_where_it_can(operator):
    called = []
    x, orders, schedule = noise(8), (0.5,), Schedule(3, 1)
    diffuse(
        Grand(), operator, x, orders, schedule, progress=lambda *a: called.append(a)
    )
    assert called == [(2, 2)]


@pytest.mark.parametrize("method", ["polynomial", "stepped"])
def test_does_not_touch_the_features(operator, method):
    x = noise(8)
    before = x.clone()
    diffuse(Grand(), operator, x, (0.5, 1.0), Schedule(3, 1, skip="end"), method=method)
    assert torch.equal(x, before)


# What diffusion does, whatever the graph.


def run(graph, solver, *, direction="out", order=0.6, x=None, **operator):
    """Features, and what is left of them at time 3."""
    built = build_operator(GRAPHS[graph], direction=direction, **operator)
    features = noise(built.num_nodes) if x is None else x
    schedule = Schedule(3, 0.5, solver)
    return features, diffuse(Grand(), built, features, (order,), schedule)[0]


@every_graph
@every_solver
@pytest.mark.parametrize("direction", ["symmetric", "out", "in"])
def test_permuted_nodes_permute_the_result(graph, solver, direction):
    adjacency = GRAPHS[graph]
    nodes = adjacency.shape[0]
    turn = np.random.default_rng(1).permutation(nodes)
    x = noise(nodes)
    results = []
    for matrix, features in (
        (adjacency, x),
        (csr_array(adjacency[turn][:, turn]), x[turn]),
    ):
        operator = build_operator(matrix, direction=direction)
        schedule = Schedule(3, 0.5, solver, "end")
        results.append(diffuse(Grand(), operator, features, (0.6,), schedule)[0])
    assert_agree(results[0][turn], results[1])


@every_graph
@every_solver
def test_column_normalisation_conserves_mass(graph, solver):
    x, found = run(graph, solver, normalization="column")
    assert_agree(found.sum(0), x.sum(0), size=float(x.abs().sum()))


@every_graph
@every_solver
def test_row_normalisation_keeps_constants(graph, solver):
    nodes = GRAPHS[graph].shape[0]
    constant = torch.full((nodes, 1), 3.0, dtype=torch.float64)
    _, found = run(graph, solver, normalization="row", x=constant)
    assert_agree(found, constant)


@every_graph
@pytest.mark.parametrize("order", [0.01, 0.6, 1.0])
def test_exact_row_diffusion_obeys_the_maximum_principle(graph, order):
    x, found = run(graph, "exact", order=order, normalization="row")
    slack = half_digits(x.dtype) * x.abs().max()
    assert (found <= x.max(0).values + slack).all()
    assert (found >= x.min(0).values - slack).all()


@every_solver
def test_parts_of_a_graph_do_not_mix(solver):
    x = torch.zeros(6, 1, dtype=torch.float64)
    x[:3] = 1
    _, found = run("two parts and a lone node", solver, x=x)
    assert (found[:3] > 0.1).all()
    assert_agree(found[3:], torch.zeros(3, 1), found.dtype, size=1)


@every_solver
def test_a_node_alone_keeps_its_features_through_its_self_loop(solver):
    x, found = run("two parts and a lone node", solver, self_loops=1.0)
    assert_agree(found[5], x[5])


@every_solver
def test_a_node_alone_fades_without_a_self_loop(solver):
    x, found = run("two parts and a lone node", solver, self_loops=0.0)
    assert (found[5].abs() < x[5].abs()).all()


@pytest.mark.parametrize("solver", STEPPING)
def test_single_edge_by_hand(solver):
    """Two nodes: the sum stays, the difference decays with lambda = 1."""
    x = torch.tensor([[3.0], [1.0]], dtype=torch.float64)
    _, found = run("single edge", solver, order=1.0, x=x)
    z = 0.25
    once = 1 - z + z**2 / 2 if solver == "corrector" else 1 - z
    difference = 2 * once**6
    assert found.ravel().tolist() == pytest.approx(
        [2 + difference / 2, 2 - difference / 2]
    )


@every_solver
def test_smooths(solver):
    x, found = run("weighted", solver, direction="symmetric")
    assert relative(found, x) > 0.1
    assert found.norm() < x.norm()
