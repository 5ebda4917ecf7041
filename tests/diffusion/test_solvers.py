"""Every scheme of the registry against closed forms and against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from fdgcl._checks import InputError
from fdgcl.diffusion import SOLVERS
from fdgcl.diffusion.mittag_leffler import mittag_leffler
from fdgcl.diffusion.stepping import solve
from tolerances import assert_agree, assert_within, gamma, half_digits, recurrence_bound

from .cases import ORDERS, REFERENCE_SCHEMES, STEPPING

every_solver = pytest.mark.parametrize("solver", STEPPING)
every_order = pytest.mark.parametrize("order", ORDERS)

# How far below the declared order of convergence the slope over the ladder may lie:
# errors are sums of several powers of h, of which the second still counts at h = 1/32.
SLACK = 0.05


# Of 30 steps of 0.1, whose slopes are 2-Lipschitz: each is rounded together with the
# slopes before it, of size 2 at most.
THIRTY_STEPS = recurrence_bound(30, 1 + 0.1 * 2, 2 * gamma(30 + 8, np.float64))


def run(solver, f, y0, order, step, steps):
    start = y0 if torch.is_tensor(y0) else torch.tensor(y0, dtype=torch.float64)
    return solve(f, start, order=order, step=step, steps=steps, scheme=SOLVERS[solver])


def value(solver, f, y0, order, step, steps):
    return float(run(solver, f, y0, order, step, steps))


def test_every_stepping_scheme_has_a_reference():
    assert set(STEPPING) == set(REFERENCE_SCHEMES)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_registry_names_what_it_holds(solver):
    assert SOLVERS[solver].name == solver
    assert SOLVERS[solver].derivative == "caputo"
    assert SOLVERS[solver].needs_linear == (solver not in STEPPING)


@every_solver
@every_order
def test_equals_the_loop_from_the_formula(solver, order):
    def f(t, y):
        return math.cos(t) - 0.7 * y * y

    expected = REFERENCE_SCHEMES[solver](f, 0.8, order, 0.2, 12)
    for steps in (1, 2, 3, 7, 12):
        assert_agree(value(solver, f, 0.8, order, 0.2, steps), expected[steps], size=1)


@every_solver
@every_order
def test_converges_as_declared(solver, order):
    """Three problems with known solutions at t = 1, on a ladder of steps."""
    powers = [2.0, 1 + order]
    caputo = [math.gamma(p + 1) / math.gamma(p + 1 - order) for p in powers]

    def f(t, y):
        # D^a y = -y, then D^a y = D^a t^p + t^p - y, whose solution is t^p.
        forcing = [
            c * t ** (p - order) + t**p for c, p in zip(caputo, powers, strict=True)
        ]
        return torch.tensor([0.0, *forcing], dtype=torch.float64) - y

    exact = np.array([float(mittag_leffler(order, 1.0)), 1.0, 1.0])
    ladder = [32, 64, 128, 256]
    errors = []
    for n in ladder:
        found = run(solver, f, [1.0, 0.0, 0.0], order, 1 / n, n)
        errors.append(np.abs(found.numpy() - exact))
    slopes = -np.polyfit(np.log(ladder), np.log(errors), 1)[0]
    declared = SOLVERS[solver].convergence_order(order)
    assert declared >= 1
    assert (slopes >= declared - SLACK).all(), slopes


@pytest.mark.parametrize("solver", [name for name in STEPPING if name != "corrector"])
def test_order_one_is_forward_euler(solver):
    def f(t, y):
        return math.sin(3 * t) - y * y

    y = 1.0
    for k in range(30):
        y += 0.1 * f(k * 0.1, y)
        assert_within(value(solver, f, 1.0, 1.0, 0.1, k + 1), y, 2 * THIRTY_STEPS)


def test_order_one_of_the_corrector_is_heun():
    y = 1.0
    for k in range(30):
        predicted = y - 0.1 * 2 * y
        y += 0.05 * (-2 * y - 2 * predicted)
        found = value("corrector", lambda _, y: -2 * y, 1.0, 1.0, 0.1, k + 1)
        assert_within(found, y, 2 * THIRTY_STEPS)


def test_heun_only_where_the_equation_is_linear():
    """What the docstring says: the prediction starts from y_0, not from y_k."""

    def f(_, y):
        return -y * y

    first = 1 + 0.05 * (f(0, 1.0) + f(0, 1 + 0.1 * f(0, 1.0)))
    assert_agree(value("corrector", f, 1.0, 1.0, 0.1, 1), first)
    heun = first + 0.05 * (f(0, first) + f(0, first + 0.1 * f(0, first)))
    assert abs(value("corrector", f, 1.0, 1.0, 0.1, 2) - heun) > 1e-5


@pytest.mark.parametrize(
    ("time", "step", "order", "published"),
    [
        (1, 0.1, 1.0, 0.348678),
        (1, 0.1, 0.9, 0.358724),
        (1, 0.1, 0.5, 0.418948),
        (1, 0.1, 0.1, 0.527073),
        (2, 0.5, 1.0, 0.0625),
        (2, 0.5, 0.9, 0.125067),
        (2, 0.5, 0.5, 0.348291),
        (2, 0.5, 0.1, 0.842341),
        (3, 1.0, 0.5, -0.063081),
    ],
)
def test_predictor_gives_torchfdes_numbers(time, step, order, published):
    """What the paper's solver returns for D^a y = -y, y(0) = 1."""
    steps = round(time / step)
    found = value("predictor", lambda _, y: -y, 1.0, order, step, steps)
    # Published with six decimals, of float32 arithmetic.
    assert found == pytest.approx(published, abs=0.5e-6 + gamma(steps, np.float32))


@every_solver
@every_order
def test_nothing_moves_without_a_right_hand_side(solver, order):
    """Caputo's derivative of a constant is 0; Riemann-Liouville's is not."""
    found = run(solver, lambda _, y: 0 * y, [2.0, -3.0], order, 0.5, 40)
    assert_agree(found, [2.0, -3.0])


@every_solver
@every_order
def test_is_stable_up_to_its_limit_and_no_further(solver, order):
    limit = SOLVERS[solver].stability_limit(order)
    z = torch.tensor([0.97 * limit, 1.03 * limit], dtype=torch.float64)
    below, above = run(solver, lambda _, y: -z * y, [1.0, 1.0], order, 1.0, 200).abs()
    assert below <= 1
    assert above > 20


@every_solver
@every_order
def test_is_stable_on_the_disc_below_its_limit(solver, order):
    """What the stability report relies on for directed graphs."""
    diameter = 0.97 * SOLVERS[solver].stability_limit(order)
    z = torch.from_numpy(diameter / 2 * (1 - np.exp(1j * np.linspace(0, np.pi, 33))))
    start = torch.ones_like(z)
    for steps in (120, 200):
        end = run(solver, lambda _, y: -z * y, start, order, 1.0, steps)
        assert end.abs().max() <= 1 + half_digits(np.float64)


@pytest.mark.parametrize(
    ("order", "limit"), [(0.1, 0.997), (0.5, 1.166), (0.9, 1.739), (1.0, 2.0)]
)
def test_limits_of_the_predictor(order, limit):
    found = SOLVERS["predictor"].stability_limit(order)
    assert found == pytest.approx(limit, abs=0.5e-3 + half_digits(np.float64))


@every_solver
def test_limit_is_two_at_order_one(solver):
    """That of forward Euler and of Heun's method."""
    assert_agree(SOLVERS[solver].stability_limit(1.0), 2.0)


@pytest.mark.parametrize("solver", [name for name in STEPPING if name != "corrector"])
def test_one_stage_schemes_refuse_to_correct(solver):
    with pytest.raises(InputError, match="no corrector"):
        SOLVERS[solver].correct(0, 0.5, 1)
