"""The exercises of docs/extending.md, run; and the contract can be broken."""

from __future__ import annotations

import re
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from fdgcl._checks import InputError
from fdgcl.diffusion import DYNAMICS, Dynamics, Schedule, build_dynamics, diffuse
from fdgcl.diffusion.dynamics import Flow
from fdgcl.diffusion.dynamics.base import change
from fdgcl.diffusion.mittag_leffler import mittag_leffler
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree

from .cases import noise, random_symmetric
from .contract import CHECKS, Case, cases

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def kinds_on_the_page():
    found = {}
    for number, fence in enumerate(FENCE.findall(PAGE.read_text(encoding="utf-8"))):
        if "(Dynamics)" not in fence:
            continue
        module = types.ModuleType(f"listing_{number}")
        exec(compile(fence, f"{PAGE.name}, listing {number}", "exec"), module.__dict__)
        for value in vars(module).values():
            own = isinstance(value, type) and value.__module__ == module.__name__
            if own and issubclass(value, Dynamics):
                found[value.name] = value
    return found


ON_THE_PAGE = kinds_on_the_page()


@pytest.fixture
def registered(monkeypatch):
    """The registry with the exercises in it."""
    for name, kind in ON_THE_PAGE.items():
        monkeypatch.setitem(DYNAMICS, name, kind)


def test_the_page_holds_both_exercises():
    assert list(ON_THE_PAGE) == ["leaky-heat", "trained-leak"]
    assert not set(ON_THE_PAGE) & set(DYNAMICS)


@pytest.mark.usefixtures("registered")
def test_a_line_in_the_registry_is_enough_to_be_tested_and_named():
    assert {"leaky-heat", "trained-leak"} <= {case.name for case in cases()}
    with pytest.raises(
        InputError, match=r'mean "leaky-heat".*leaky-heat, trained-leak'
    ):
        build_dynamics("leaky-haet")
    with pytest.raises(InputError, match="has no option 'leek'; did you mean \"leak\""):
        build_dynamics("leaky-heat", {"leek": 1})
    with pytest.raises(InputError, match="leak must be zero or more, got -1"):
        build_dynamics("leaky-heat", {"leak": -1})


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ON_THE_PAGE)
@pytest.mark.parametrize("check", CHECKS)
def test_the_exercises_fulfil_the_contract(name, check):
    CHECKS[check](Case(name))


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("order", [0.4, 1.0])
def test_the_leak_has_the_solution_it_should(order):
    operator, x = build_operator(random_symmetric(12)), noise(12)
    dynamics = build_dynamics("leaky-heat", {"leak": 0.3}, rate=0.7)
    schedule = Schedule(3, 3, "exact")
    (found,) = diffuse(dynamics, operator, x, (order,), schedule)
    laplacian = np.eye(12) - operator.matrix.matrix.toarray()
    values, vectors = np.linalg.eigh(laplacian)
    response = mittag_leffler(order, 0.7 * (values.clip(0) + 0.3) * 3**order)
    expected = torch.from_numpy(vectors * response @ vectors.T) @ x
    assert_agree(found, expected)


# Each of these breaks one promise, and the check of that promise says so.


class Broken(Dynamics):
    name = "broken"
    is_fixed_linear = False

    def start(self, graph, x):
        return Flow(x, lambda t, z: self.slope(graph, t, z))

    def slope(self, graph, t, z):
        return change(graph, z) * self.rate


class ForgetsATensor(Broken):
    def __init__(self, **common):
        super().__init__(**common)
        self.leak = self.new_parameter(self.dim)

    def slope(self, graph, t, z):
        return super().slope(graph, t, z) - z * self.leak


class CutsTheGradient(Broken):
    def slope(self, graph, t, z):
        return super().slope(graph, t, z) + 0.1 * z.detach() ** 2


class CountsNodes(Broken):
    def slope(self, graph, t, z):
        return super().slope(graph, t, z) * torch.arange(len(z))[:, None]


class IsNotLinear(Broken):
    is_fixed_linear = True

    def slope(self, graph, t, z):
        return super().slope(graph, t, z) + 0.1 * z * z


class MiscountsProducts(Broken):
    is_fixed_linear = True

    def slope(self, graph, t, z):
        return super().slope(graph, t, graph.multiply(z))


class DrawsFromTheWorld(Broken):
    def __init__(self, **common):
        super().__init__(**common)
        self.leak = nn.Parameter(torch.rand(self.dim, dtype=torch.float64))


class RoundsToFloat64(Broken):
    def slope(self, graph, t, z):
        return super().slope(graph, t, z).double()


class WritesIntoTheFeatures(Broken):
    def start(self, graph, x):
        x.detach().mul_(0.5)
        return super().start(graph, x)


class IsNotContinuous(Broken):
    def slope(self, graph, t, z):
        return super().slope(graph, t, z) + torch.floor(7 * z) * (t == 0)


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (ForgetsATensor, "ways_agree"),
        (CutsTheGradient, "gradients"),
        (CountsNodes, "permutation"),
        (IsNotLinear, "linear"),
        (MiscountsProducts, "linear"),
        (DrawsFromTheWorld, "seed"),
        (RoundsToFloat64, "precision"),
        (WritesIntoTheFeatures, "leaves_its_input"),
        (IsNotContinuous, "ordinary"),
    ],
)
def test_the_contract_can_be_broken(monkeypatch, kind, check):
    monkeypatch.setitem(DYNAMICS, "broken", kind)
    with pytest.raises((AssertionError, RuntimeError)):
        CHECKS[check](Case("broken"))


def test_what_breaks_no_promise_passes(monkeypatch):
    monkeypatch.setitem(DYNAMICS, "broken", Broken)
    for check in CHECKS.values():
        check(Case("broken"))
