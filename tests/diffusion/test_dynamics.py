"""Each dynamics against its formula in plain loops, and what it keeps or loses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from fdgcl.diffusion import DYNAMICS, Schedule, diffuse
from fdgcl.diffusion.dynamics import Frequencies
from fdgcl.diffusion.mittag_leffler import mittag_leffler
from fdgcl.diffusion.stepping import diffuse_stepped
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree, assert_within, half_digits

from .cases import (
    REFERENCE_SCHEMES,
    SYMMETRIC_GRAPHS,
    from_pairs,
    noise,
    random_directed,
    random_symmetric,
    relative,
)
from .contract import CASES, WITH_SYMBOL, Case, operators
from .rhs_reference import REFERENCES, neighbours

every_case = pytest.mark.parametrize("case", CASES, ids=str)
RATE = 0.7


def dense(operator):
    return operator.matrix.matrix.toarray()


def reference(case, dynamics, operator, x):
    parameters = {
        name: values.numpy() for name, values in dynamics.state_dict().items()
    }
    # Where the weights are all ones, loops would not see that a column has its own.
    options = dynamics.options() | case.options
    make = REFERENCES[case.name]
    return make(options, parameters, dense(operator), x.numpy(), RATE)


def shaken(case, **common):
    """With parameters of some size, so that every term shows."""
    dynamics = case.build(rate=RATE, **common)
    generator = torch.Generator().manual_seed(5)
    for parameter in dynamics.parameters():
        if parameter.requires_grad:
            size = torch.rand(parameter.shape, generator=generator)
            parameter.data.add_(size.to(parameter.dtype) - 0.3)
    return dynamics


def test_every_dynamics_has_a_reference():
    assert set(DYNAMICS) == set(REFERENCES)


@every_case
def test_right_hand_side_equals_the_loops(case):
    for operator in operators(8):
        dynamics, x = shaken(case), noise(8)
        flow = dynamics.start(operator, x)
        initial, f, readout = reference(case, dynamics, operator, x)
        assert np.array_equal(flow.initial.detach(), initial)
        state = initial + 0.3 * np.random.default_rng(2).normal(size=initial.shape)
        found = flow.rhs(0.4, torch.from_numpy(state)).detach()
        assert_agree(found, f(0.4, state))
        assert np.array_equal(flow.readout(torch.from_numpy(state)), readout(state))


@every_case
@pytest.mark.parametrize("order", [0.5, 1.0])
@pytest.mark.parametrize("solver", REFERENCE_SCHEMES)
def test_solution_equals_the_loops(case, order, solver):
    for operator in operators(6):
        dynamics, x = shaken(case), noise(6)
        initial, f, readout = reference(case, dynamics, operator, x)
        expected = REFERENCE_SCHEMES[solver](f, initial, order, 0.4, 4)[-1]
        schedule = Schedule(1.6, 0.4, solver)
        found = diffuse_stepped(dynamics, operator, x, order, schedule)
        assert_agree(found, readout(expected))


@pytest.mark.parametrize("case", WITH_SYMBOL, ids=str)
@pytest.mark.parametrize("graph", SYMMETRIC_GRAPHS)
@pytest.mark.parametrize("order", [0.3, 1.0])
def test_the_exact_solver_is_mittag_leffler(case, graph, order):
    operator = build_operator(SYMMETRIC_GRAPHS[graph])
    dynamics, x, time = case.build(rate=RATE), noise(operator.num_nodes), 4.0
    # F is linear: applied to the identity it is its own matrix.
    identity = torch.eye(operator.num_nodes, dtype=torch.float64)
    matrix = dynamics.start(operator, identity).rhs(0.0, identity).numpy()
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    assert_agree(matrix, matrix.T)
    response = mittag_leffler(order, -values.clip(max=0) * time**order)
    expected = torch.from_numpy(vectors * response @ vectors.T) @ x
    (found,) = diffuse(dynamics, operator, x, (order,), Schedule(time, time, "exact"))
    assert_agree(found, expected)


def test_small_frequencies_keep_their_digits():
    tiny = torch.tensor([1e-30, 1e-12], dtype=torch.float64)
    for case in WITH_SYMBOL:
        found = case.build().symbol(tiny) / tiny
        near = 1e-9
        slope = case.build().symbol(torch.tensor(near, dtype=torch.float64)) / near
        # The next term is that much smaller, with coefficients of size 1.
        assert_within(found, slope.expand(2), 10 * near)
    # Which is where F is taken apart: A z - z would be 0 here.
    assert float(Frequencies(tiny).multiply(torch.ones_like(tiny))[0]) == 1.0


# What is kept, and what falls.


def path(case, operator, x, order, schedule_of, count):
    """States after 1, ..., count steps."""
    for steps in range(1, count + 1):
        yield diffuse_stepped(
            case.build(dim=x.shape[1]), operator, x, order, schedule_of(steps)
        ).detach()


@pytest.mark.parametrize("order", [0.5, 1.0])
@pytest.mark.parametrize("solver", REFERENCE_SCHEMES)
def test_grand_conserves_mass_where_columns_sum_to_one(order, solver):
    operator = build_operator(
        random_directed(12, 3), direction="out", normalization="column"
    )
    x = noise(12)
    schedule = Schedule(3, 0.5, solver, window=3)
    found = diffuse_stepped(Case("grand").build(), operator, x, order, schedule)
    assert_agree(found.sum(0), x.sum(0), size=float(x.abs().sum()))
    assert relative(found, x) > 0.1


@pytest.mark.parametrize("order", [0.5, 1.0])
def test_grand_lowers_the_dirichlet_energy(order):
    operator, x = build_operator(random_symmetric(20)), noise(20)
    states = path(
        Case("grand"), operator, x, order, lambda n: Schedule(0.2 * n, 0.2, "gl"), 20
    )
    laplacian = torch.eye(20, dtype=torch.float64) - torch.from_numpy(dense(operator))
    energies = [float((z * (laplacian @ z)).sum()) for z in (x, *states)]
    assert all(later < now for now, later in pairwise(energies))
    assert energies[-1] < 0.5 * energies[0]


AVERAGES = [
    Case("grand"),
    Case("grand-attention", {"heads": 2, "width": 3}),
    Case("grand-nonlinear", {"heads": 2, "width": 3}),
]


@pytest.mark.parametrize("case", AVERAGES, ids=str)
@pytest.mark.parametrize("solver", ["gl", "l1"])
@pytest.mark.parametrize("order", [0.5, 1.0])
def test_averages_obey_the_maximum_principle(case, solver, order):
    """Every new state is an average of old ones while the newest weighs enough."""
    operator = build_operator(
        random_directed(12, 3), direction="out", normalization="row"
    )
    x = noise(12)
    # gl: h^a rate <= a; l1: Gamma(2-a) h^a rate <= 2 - 2^(1-a); these meet both.
    step = {0.5: 0.8, 1.0: 2.0}[order]
    low, high = x.min(0).values, x.max(0).values
    slack = half_digits(x.dtype) * x.abs().max()
    for state in path(
        case, operator, x, order, lambda n: Schedule(step * n, step, solver), 6
    ):
        assert (state <= high + slack).all()
        assert (state >= low - slack).all()
        assert (state.max(0).values < high).all()


@pytest.mark.parametrize("case", AVERAGES[1:], ids=str)
def test_attention_is_an_average_over_the_nodes_gathered_from(case):
    for operator in operators(9):
        dynamics, x = shaken(case), 3 * noise(9)
        edges = operator.incidence
        weights = dynamics.attention(edges, x).detach()
        found = np.zeros((9, 9))
        device = x.device
        found[edges.rows(device), edges.columns(device)] = weights
        assert (weights > 0).all()
        rows = [bool(neighbours(dense(operator), i)) for i in range(9)]
        assert_agree(found.sum(1), np.array(rows, dtype=float))
        assert np.array_equal(found != 0, dense(operator) != 0)


def test_attention_starts_near_a_plain_average_and_can_leave_it():
    operator = next(operators(9))
    case = Case("grand-attention")
    x = noise(9, 4)
    plain = 1 / np.array([len(neighbours(dense(operator), i)) for i in range(9)])
    per_edge = torch.from_numpy(plain)[operator.incidence.rows(x.device)]
    fresh = case.build(dim=4).attention(operator.incidence, x).detach()
    assert relative(fresh, per_edge) < 0.05
    assert relative(fresh, per_edge) > 1e-6
    moved = shaken(case, dim=4).attention(operator.incidence, x).detach()
    assert relative(moved, per_edge) > 0.2


@pytest.mark.parametrize("name", ["grand-attention", "grand-nonlinear"])
def test_attention_does_not_see_the_graphs_weights(name):
    x = noise(12, 3)
    pattern = random_symmetric(12)
    results = []
    for matrix in (pattern, pattern.sign()):
        dynamics = shaken(Case(name), dim=3)
        operator = build_operator(matrix)
        results.append(diffuse_stepped(dynamics, operator, x, 0.5, Schedule(2, 0.5)))
    assert_agree(*results)


def test_the_two_attentions_part_after_one_step():
    operator, x = next(operators(9)), noise(9, 3)
    for steps, alike in ((1, True), (2, False)):
        first, second = (
            diffuse_stepped(
                shaken(Case(name), dim=3), operator, x, 1.0, Schedule(steps, 1)
            )
            for name in ("grand-attention", "grand-nonlinear")
        )
        apart = relative(first, second)
        assert apart < half_digits(x.dtype) if alike else apart > 0.01


def test_graphcon_loses_energy_by_its_damping_alone():
    """E = (|Y|^2 + <Z, (gamma - A) Z>) / 2, and dE/dt = -rate nu |Y|^2."""
    operator, x = build_operator(random_symmetric(15)), noise(15)
    matrix = torch.from_numpy(dense(operator))

    def energies(nu):
        options = {"gamma": 1.2, "nu": nu}
        flow = Case("graphcon", options).build(rate=RATE).start(operator, x)
        state, step, found = flow.initial, 0.002, []
        for _ in range(1500):
            z, y = state
            found.append(float((y * y + 1.2 * z * z - z * (matrix @ z)).sum()) / 2)
            middle = state + step / 2 * flow.rhs(0.0, state)
            state = state + step * flow.rhs(0.0, middle)
        return np.array(found)

    damped = energies(0.8)
    assert (np.diff(damped) < 0).all()
    assert damped[-1] < 0.5 * damped[0]
    free = energies(0.0)
    # The midpoint rule lets a wave of frequency w grow by (w h)^4 / 4 in each step; no
    # w is larger than rate sqrt(gamma + 1).
    grown = 1500 * (RATE * np.sqrt(2.2) * 0.002) ** 4 / 4
    assert_within(free, np.full(1500, free[0]), grown * free[0])


def oscillator(rate, gamma, nu, eigenvalue, time):
    """z'' + rate nu z' + rate^2 (gamma - eigenvalue) z = 0, z(0) = 1, z'(0) = rate."""
    omega = rate * np.sqrt(gamma - eigenvalue - nu**2 / 4)
    swing = np.cos(omega * time) + rate * (1 + nu / 2) / omega * np.sin(omega * time)
    return np.exp(-rate * nu * time / 2) * swing


def test_graphcon_on_one_frequency_is_a_damped_oscillator():
    ring = from_pairs([(i, (i + 1) % 6) for i in range(6)], 6)
    operator = build_operator(ring, self_loops=0.0)
    # A wave along the ring: an eigenvector of A for cos(60 degrees).
    wave = torch.cos(torch.arange(6, dtype=torch.float64) * np.pi / 3)[:, None]
    dynamics = Case("graphcon", {"gamma": 1.4, "nu": 0.5}).build(rate=RATE)
    expected = wave * oscillator(RATE, 1.4, 0.5, 0.5, 2.0)
    errors = [
        relative(
            diffuse_stepped(
                dynamics, operator, wave, 1.0, Schedule(2, 2 / n, "corrector")
            ),
            expected,
        )
        for n in (50, 100, 200)
    ]
    # Heun's method: t h^2 / 6, of an oscillator slower than one of frequency 1.
    assert errors[-1] < 2 * 0.01**2
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize(
    ("reaction", "low", "high"),
    [("fisher", 0, 1), ("allen-cahn", -1, 1), ("zeldovich", 0, 1)],
)
@pytest.mark.parametrize(("solver", "order"), [("predictor", 1.0), ("gl", 0.5)])
def test_reactions_keep_their_interval_and_reach_its_end(
    reaction, low, high, solver, order
):
    operator = build_operator(random_symmetric(12), normalization="row")
    x = torch.from_numpy(np.random.default_rng(0).uniform(low + 0.02, high, (12, 2)))
    case = Case("gread", {"reaction": reaction, "nu": 0.9, "trained": False})
    *_, last = states = list(
        path(case, operator, x, order, lambda n: Schedule(0.4 * n, 0.4, solver), 25)
    )
    slack = half_digits(x.dtype)
    assert all((z >= low - slack).all() for z in states)
    assert all((z <= high + slack).all() for z in states)
    # Where all started positive, the reaction drives all up to 1.
    if low == 0:
        assert (last.mean(0) > x.mean(0)).all()


@pytest.mark.parametrize(
    ("reaction", "rests"),
    [("fisher", (0, 1)), ("allen-cahn", (-1, 0, 1)), ("zeldovich", (0, 1))],
)
@pytest.mark.parametrize("order", [0.5, 1.0])
def test_reactions_rest_at_their_zeros(reaction, rests, order):
    operator = build_operator(random_symmetric(9), normalization="row")
    dynamics = Case("gread", {"reaction": reaction}).build()
    for value in rests:
        x = torch.full((9, 2), float(value), dtype=torch.float64)
        found = diffuse_stepped(dynamics, operator, x, order, Schedule(3, 0.5))
        assert_agree(found, x, size=1)
    x = torch.full((9, 2), 0.5, dtype=torch.float64)
    found = diffuse_stepped(dynamics, operator, x, order, Schedule(3, 0.5))
    assert (found > 0.55).all()


@pytest.mark.parametrize("order", [0.5, 1.0])
def test_a_source_alone_is_a_power_of_time(order):
    """D^a z = c has the solution z(0) + c t^a / Gamma(1 + a)."""
    operator, x = next(operators(6)), noise(6)
    options = {"reaction": "source", "gamma": 0.0, "nu": 0.6, "trained": False}
    dynamics = Case("gread", options).build(rate=0.5)
    (found,) = diffuse(dynamics, operator, x, (order,), Schedule(4, 0.5))
    gain = {0.5: 2 * np.sqrt(4 / np.pi), 1.0: 4.0}[order]
    assert_agree(found, x * (1 + 0.3 * gain))


# Without their own terms, all are heat diffusion.


@pytest.mark.parametrize("order", [0.5, 1.0])
@pytest.mark.parametrize(
    ("case", "rate"),
    [
        (Case("cde", {"convection": 0.0}), 0.5),
        *[
            (
                Case(
                    "gread",
                    {"reaction": name, "gamma": 0.8, "nu": 0, "trained": trained},
                ),
                0.4,
            )
            for name in ("blurring-sharpening", "source", "fisher")
            for trained in (True, False)
        ],
    ],
    ids=str,
)
def test_is_grand_without_its_own_term(case, rate, order):
    for operator in operators(9):
        x, schedule = noise(9), Schedule(3, 0.5, "predictor", "end")
        found = diffuse_stepped(case.build(rate=0.5), operator, x, order, schedule)
        grand = Case("grand").build(rate=rate)
        expected = diffuse_stepped(grand, operator, x, order, schedule)
        assert_agree(found, expected)


@pytest.mark.parametrize("case", [c for c in CASES if c.name != "gread"], ids=str)
def test_seeds_differ(case):
    first, second = (dict(case.build(seed=s).named_parameters()) for s in (0, 1))
    assert all(not torch.equal(first[name], second[name]) for name in first)


def test_trained_weights_of_gread_start_as_given_in_every_column():
    dynamics = Case("gread", {"gamma": 0.3, "nu": -0.2}).build(dim=4)
    assert dynamics.weights.tolist() == [[0.3] * 4, [-0.2] * 4]
    assert dynamics.weights.requires_grad


@every_case
def test_one_set_of_parameters_serves_on_several_graphs(case):
    dynamics = shaken(case)
    for nodes in (5, 9):
        for operator in operators(nodes):
            x = noise(nodes)
            found = diffuse_stepped(dynamics, operator, x, 0.5, Schedule(1, 0.5))
            initial, f, readout = reference(case, dynamics, operator, x)
            expected = REFERENCE_SCHEMES["predictor"](f, initial, 0.5, 0.5, 2)[-1]
            assert_agree(found, readout(expected))
