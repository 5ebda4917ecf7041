"""Pairs that do not go together, and options that do not exist, are named."""

from __future__ import annotations

import pytest
import torch

from fdgcl._checks import InputError
from fdgcl.diffusion import DYNAMICS, Schedule, build_dynamics, diffuse
from fdgcl.diffusion.dynamics import Flow, Frequencies
from fdgcl.diffusion.dynamics.base import Dynamics, change
from fdgcl.diffusion.stability import stability_report
from fdgcl.operators.in_memory import build_operator

from .cases import noise, random_directed, random_symmetric

FIXED = {"trained": False}


@pytest.fixture
def operator():
    return build_operator(random_symmetric(8))


def made(name, **options):
    return build_dynamics(name, options, dim=2, dtype=torch.float64)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cde", {}),
        ("grand-attention", {}),
        ("grand-nonlinear", {}),
        ("gread", {"reaction": "fisher"} | FIXED),
        ("gread", {}),
        ("graphcon", {"coupling": "tanh"}),
    ],
)
@pytest.mark.parametrize("method", ["auto", "polynomial"])
def test_no_exact_solution_of_what_is_trained_or_not_linear(
    operator, name, options, method
):
    dynamics, schedule = made(name, **options), Schedule(1, 1, "exact")
    message = rf"solver 'exact' has no steps.*got dynamics '{name}'$"
    with pytest.raises(InputError, match=message):
        diffuse(dynamics, operator, noise(8), (0.5,), schedule, method=method)
    with pytest.raises(InputError, match=f"'{name}' is not linear with fixed"):
        diffuse(
            dynamics, operator, noise(8), (0.5,), Schedule(1, 1), method="polynomial"
        )


@pytest.mark.parametrize(
    ("name", "options"), [("graphcon", {}), ("gread", {"reaction": "source"} | FIXED)]
)
def test_no_exact_solution_without_a_symbol(operator, name, options):
    with pytest.raises(InputError, match=f"function of the Laplacian, and '{name}'"):
        diffuse(
            made(name, **options), operator, noise(8), (0.5,), Schedule(1, 1, "exact")
        )


def test_no_exact_solution_of_what_grows(operator):
    dynamics = made("gread", nu=1.5, **FIXED)
    with pytest.raises(InputError, match="nothing grows, and this 'gread' grows"):
        diffuse(dynamics, operator, noise(8), (0.5,), Schedule(1, 1, "exact"))
    (entry,) = stability_report(dynamics, operator, Schedule(1, 1), (0.5,)).orders
    assert entry.grows
    assert not entry.is_stable


class Leaky(Dynamics):
    """One product, like heat diffusion, but something is lost at frequency 0 too."""

    name = "leaky"
    is_fixed_linear = True

    def start(self, graph, x):
        return Flow(x, lambda _, z: (change(graph, z) - 0.5 * z) * self.rate)


@pytest.mark.parametrize("dynamics", [made("gread", nu=0.2, **FIXED), Leaky()])
def test_exact_on_a_directed_graph_is_for_plain_diffusion(dynamics):
    directed = build_operator(random_directed(8, 2), direction="out")
    message = f"directed graph needs plain diffusion, not '{dynamics.name}'"
    with pytest.raises(InputError, match=message):
        diffuse(dynamics, directed, noise(8), (0.5,), Schedule(1, 1, "exact"))


def test_stability_is_not_known_of_a_state_of_two_parts(operator):
    report = stability_report(made("graphcon"), operator, Schedule(2, 0.5), (0.5,))
    assert report.is_stable is None
    assert "a state of several parts" in report.describe()[0]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("grandd", {}, "unknown dynamics 'grandd'; did you mean \"grand\""),
        ("grand", {"heads": 2}, r"'grand' has no option 'heads' \(it takes no options"),
        (
            "cde",
            {"velocty": "relu"},
            "'cde' has no option 'velocty'; did you mean \"velocity\"",
        ),
        ("cde", {"velocity": "rleu"}, "unknown velocity 'rleu'; did you mean \"relu\""),
        ("cde", {"convection": -1}, "convection must be zero or more, got -1"),
        ("cde", {"spread": float("nan")}, "spread must be a finite number, got nan"),
        (
            "gread",
            {"reaction": "fischer"},
            "unknown reaction 'fischer'; did you mean \"fisher\"",
        ),
        ("gread", {"gamma": float("inf")}, "gamma must be a finite number, got inf"),
        ("gread", {"nu": "much"}, "nu must be a finite number, got 'much'"),
        ("graphcon", {"nu": -0.5}, "nu must be zero or more, got -0.5"),
        (
            "graphcon",
            {"coupling": "sin"},
            r"unknown coupling 'sin'.*linear, tanh, relu",
        ),
        ("grand-attention", {"heads": 0}, "heads must be a whole number of at least 1"),
        ("grand-nonlinear", {"width": 2.5}, "width must be a whole number of at least"),
        ("gread", {"rate": 2}, "'gread' has no option 'rate'"),
    ],
)
def test_bad_options_are_named(name, options, message):
    with pytest.raises(InputError, match=message):
        build_dynamics(name, options, dim=2)


@pytest.mark.parametrize("name", DYNAMICS)
@pytest.mark.parametrize("rate", [0, -1.0, float("nan")])
def test_every_dynamics_refuses_rates_that_do_not_diffuse(name, rate):
    with pytest.raises(InputError, match="rate must be"):
        build_dynamics(name, rate=rate)


def test_what_is_trained_wants_the_columns_it_was_made_for(operator):
    schedule = Schedule(1, 1)
    for name in ("cde", "grand-attention", "grand-nonlinear", "gread"):
        with pytest.raises(InputError, match=f"x must have 2 columns.*'{name}'.*got 3"):
            diffuse(made(name), operator, noise(8, 3), (0.5,), schedule)
    diffuse(
        made("gread", reaction="fisher", **FIXED),
        operator,
        noise(8, 3),
        (0.5,),
        schedule,
    )


def test_unknown_methods_and_gradients_are_refused(operator):
    parts = (made("cde"), operator, noise(8), (0.5,), Schedule(1, 1))
    with pytest.raises(InputError, match=r"unknown method 'step'.*auto, poly"):
        diffuse(*parts, method="step")
    with pytest.raises(
        InputError, match="unknown gradient 'ajoint'; did you mean \"adj"
    ):
        diffuse(*parts, gradient="ajoint")


def test_edges_have_no_frequency():
    frequencies = Frequencies(torch.ones(3, dtype=torch.float64))
    with pytest.raises(InputError, match="single edges has no frequency response"):
        made("cde").start(frequencies, noise(3))
