"""What every dynamics must do, as checks that take one of them and its options.

`test_contract` runs all checks on all of the registry, so that a new line in the
registry is picked up by itself. A check knows nothing about any one dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.integrate import solve_ivp
from scipy.sparse import csr_array

from fdgcl.diffusion import DYNAMICS, GRADIENTS, SOLVERS, Schedule, build_dynamics
from fdgcl.diffusion.dynamics import Dynamics, named_dynamics
from fdgcl.diffusion.dynamics.cde import VELOCITIES
from fdgcl.diffusion.dynamics.graphcon import COUPLINGS
from fdgcl.diffusion.dynamics.gread import REACTIONS
from fdgcl.diffusion.polynomial import PolynomialFilter
from fdgcl.diffusion.stepping import diffuse_stepped, run_segments
from fdgcl.operators.in_memory import InMemoryOperator, build_operator
from tolerances import assert_agree

from .cases import STEPPING, noise, random_directed, random_symmetric, relative


@dataclass(frozen=True)
class Case:
    """A name of the registry and options for it."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        values = (f"{key}={value}" for key, value in self.options.items())
        return " ".join([self.name, *values])

    def __hash__(self) -> int:
        return hash(str(self))

    def build(
        self, *, dim: int = 2, dtype: torch.dtype = torch.float64, **common: Any
    ) -> Dynamics:
        return build_dynamics(self.name, self.options, dim=dim, dtype=dtype, **common)


# A name that is not here is tested with its defaults.
WORTH_VARYING: dict[str, list[dict[str, Any]]] = {
    "grand-attention": [{"heads": 2, "width": 3}, {"heads": 1, "width": 2}],
    "grand-nonlinear": [{"heads": 2, "width": 3}, {"heads": 1, "width": 2}],
    "graphcon": [
        {"gamma": 1.3, "nu": 0.7, "coupling": coupling} for coupling in COUPLINGS
    ],
    "cde": [{"velocity": velocity, "convection": 0.8} for velocity in VELOCITIES],
    "gread": [
        {"reaction": reaction, "gamma": 0.9, "nu": 0.4, "trained": trained}
        for reaction in REACTIONS
        for trained in (True, False)
    ],
}


def cases() -> list[Case]:
    """All that the registry holds at the moment."""
    return [
        Case(name, options)
        for name in DYNAMICS
        for options in WORTH_VARYING.get(name, [{}])
    ]


CASES = cases()
LINEAR = [case for case in CASES if case.build().is_fixed_linear]
WITH_SYMBOL = [case for case in LINEAR if case.build().has_symbol]


def operators(nodes: int) -> Iterator[InMemoryOperator]:
    """One undirected, one directed and averaging; the latter has a node alone."""
    yield build_operator(random_symmetric(nodes, seed=3))
    matrix = random_directed(nodes, 2).tolil()
    matrix[2] = 0
    yield build_operator(
        csr_array(matrix), direction="out", normalization="row", self_loops=0.5
    )


class _Anew(torch.autograd.Function):
    """Runs a function again in every backward pass, which gradcheck takes many of."""

    @staticmethod
    def forward(ctx, function, *inputs):
        ctx.function, ctx.inputs = function, inputs
        return function(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            value = ctx.function(*ctx.inputs)
        found = torch.autograd.grad(value, ctx.inputs, gradient, allow_unused=True)
        return None, *found


def check_gradients(case: Case) -> None:
    """Finite differences, in the features and in what is trained."""
    for operator in operators(5):
        dynamics, x = case.build(), noise(5).requires_grad_()
        trained = [p for p in dynamics.parameters() if p.requires_grad]
        for order in (0.5, 1.0):
            for way in GRADIENTS:

                def run(x, *_, order=order, way=way, graph=operator, f=dynamics):
                    # gradcheck moves the parameters themselves, in place.
                    schedule = Schedule(1.5, 0.5, "predictor")
                    return diffuse_stepped(f, graph, x, order, schedule, way)

                def anew(*inputs, run=run):
                    return _Anew.apply(run, *inputs)

                # All entries one by one for one way; along random directions for the
                # others, which `check_ways_agree` holds to the first.
                fast = (order, way) != (0.5, "adjoint") or operator.has_real_spectrum
                assert torch.autograd.gradcheck(anew, (x, *trained), fast_mode=fast)
                assert not trained or _moves(run(x), trained), "nothing is trained"


def _moves(value: torch.Tensor, tensors: list[torch.Tensor]) -> bool:
    found = torch.autograd.grad((value * noise(*value.shape)).sum(), tensors)
    return all(bool(gradient.abs().max() > 1e-9) for gradient in found)


def check_ways_agree(case: Case) -> None:
    """All ways to a gradient give the same, under every schedule."""
    *_, operator = operators(6)
    schedules = [
        (solver, order, window, skip)
        for solver in STEPPING
        for order, window, skip in (
            (0.5, None, "none"),
            (0.5, 2, 2),
            (1.0, None, "every-step"),
            (1.0, 3, "end"),
        )
    ]
    for solver, order, window, skip in schedules:
        schedule = Schedule(2, 0.5, solver, skip, window)
        plain, *others = (
            _value_and_gradient(case, operator, order, schedule, way)
            for way in GRADIENTS
        )
        for other in others:
            for found, expected in zip(other, plain, strict=True):
                assert_agree(found, expected)


def _value_and_gradient(case, operator, order, schedule, way):
    dynamics, x = case.build(), noise(operator.num_nodes).requires_grad_()
    trained = [p for p in dynamics.parameters() if p.requires_grad]
    value = diffuse_stepped(dynamics, operator, x, order, schedule, way)
    weights = noise(*value.shape, seed=1)
    return value, *torch.autograd.grad((value * weights).sum(), [x, *trained])


def check_permutation(case: Case) -> None:
    """Nodes have no order."""
    turn = np.random.default_rng(1).permutation(9)
    adjacency, x = random_directed(9, 3), noise(9)
    schedule = Schedule(2, 0.5, "predictor", "end")
    for direction in ("symmetric", "out"):
        here = build_operator(adjacency, direction=direction)
        there = build_operator(csr_array(adjacency[turn][:, turn]), direction=direction)
        for order in (0.5, 1.0):
            found = diffuse_stepped(case.build(), here, x, order, schedule)
            turned = diffuse_stepped(case.build(), there, x[turn], order, schedule)
            assert_agree(found[turn], turned)


def check_precision(case: Case) -> None:
    """Results have the type of the features, and float32 is close to float64."""
    for operator in operators(9):
        found = {}
        for dtype in (torch.float32, torch.float64):
            dynamics = case.build(dtype=dtype)
            assert all(p.dtype == dtype for p in dynamics.parameters())
            # The same numbers in both.
            x = noise(9).float().to(dtype).requires_grad_()
            flow = dynamics.start(operator, x)
            assert flow.rhs(0.0, flow.initial).dtype == dtype
            found[dtype] = diffuse_stepped(dynamics, operator, x, 0.5, Schedule(2, 0.5))
            assert found[dtype].dtype == dtype
            assert found[dtype].shape == x.shape
            assert found[dtype].device == x.device
            (gradient,) = torch.autograd.grad(found[dtype].sum(), x)
            assert gradient.dtype == dtype
        assert_agree(found[torch.float32], found[torch.float64])


def check_seed(case: Case) -> None:
    """Parameters depend on the seed alone, not on precision or on torch's own state."""
    state = torch.random.get_rng_state()
    first = case.build(seed=3).state_dict()
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.rand(1)
    for other in (case.build(seed=3), case.build(seed=3, dtype=torch.float32)):
        assert list(other.state_dict()) == list(first)
        for name, values in other.state_dict().items():
            assert torch.equal(values.float(), first[name].float())


def check_leaves_its_input(case: Case) -> None:
    operator, x = next(operators(5)), noise(5)
    before = x.clone()
    for way in GRADIENTS:
        leaf = x.requires_grad_()
        diffuse_stepped(case.build(), operator, leaf, 0.5, Schedule(1, 0.5), way)
        assert torch.equal(x.detach(), before)


def check_ordinary(case: Case) -> None:
    """Order 1 is the differential equation, up to the error each scheme declares."""
    ladder = (10, 20, 40)
    for operator in operators(5):
        x = noise(5)
        flow = case.build().start(operator, x)
        shape = flow.initial.shape

        def slope(time, state, flow=flow, shape=shape):
            with torch.no_grad():
                return flow.rhs(time, torch.from_numpy(state).reshape(shape)).ravel()

        start = flow.initial.detach().numpy().ravel()
        # As good as exact: far below what 40 steps of any scheme err by.
        exact = solve_ivp(slope, (0, 1), start, "DOP853", rtol=1e-12, atol=1e-12)
        expected = torch.from_numpy(exact.y[:, -1]).reshape(shape)
        for solver in STEPPING:
            errors = [
                relative(run_segments(flow, 1.0, Schedule(1, 1 / n, solver)), expected)
                for n in ladder
            ]
            declared = SOLVERS[solver].convergence_order(1.0)
            observed = -np.polyfit(np.log(ladder), np.log(errors), 1)[0]
            assert errors == sorted(errors, reverse=True)
            # With steps this large the next power of h bends the slope.
            assert observed >= declared - 0.15, (solver, observed)


def check_linear(case: Case) -> None:
    """What calls itself fixed and linear is, and is one polynomial of the graph."""
    dynamics = case.build()
    if not dynamics.is_fixed_linear:
        return
    assert not any(p.requires_grad for p in dynamics.parameters())
    for operator in operators(9):
        # Features of any width, not of `dim` columns alone.
        x, y = noise(9, 3), noise(9, 3, seed=1)
        for solver in STEPPING:
            for skip in ("none", "every-step", 2):
                schedule = Schedule(2, 0.5, solver, skip)
                polynomial = PolynomialFilter.of(
                    dynamics, operator, schedule, (0.3, 1.0)
                )
                degree = schedule.products(dynamics.products)
                assert polynomial.products == degree
                for order, found in zip((0.3, 1.0), polynomial.apply(x), strict=True):
                    run = (dynamics, operator)
                    stepped = diffuse_stepped(*run, x, order, schedule)
                    assert_agree(found, stepped)
                    both = diffuse_stepped(*run, 2 * x - y, order, schedule)
                    other = diffuse_stepped(*run, y, order, schedule)
                    assert_agree(both, 2 * stepped - other)


def check_declares_itself(case: Case) -> None:
    kind = DYNAMICS[case.name]
    assert kind.name == case.name
    for option, default in kind.options().items():
        built = build_dynamics(case.name, {option: default})
        assert isinstance(built, kind)


def check_is_made_again(case: Case) -> None:
    """What it was made with can be told from it, so that a model can be saved."""
    defaults = DYNAMICS[case.name].options()
    changed = {
        name: value for name, value in case.options.items() if value != defaults[name]
    }
    assert named_dynamics(case.build()) == (case.name, changed or None)
    for name, value in changed.items():
        assert f"{name}={value!r}" in repr(case.build())


CHECKS: dict[str, Callable[[Case], None]] = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}
