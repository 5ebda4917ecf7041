"""What every dynamics of the registry must do."""

from __future__ import annotations

import pytest

from fdgcl.diffusion import Schedule
from fdgcl.diffusion.stepping import diffuse_stepped
from tolerances import assert_agree

from .cases import noise, relative
from .contract import CASES, CHECKS, DYNAMICS, operators

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def test_every_name_is_tested():
    assert {case.name for case in CASES} == set(DYNAMICS)


@every_case
@pytest.mark.parametrize("check", CHECKS)
def test_contract(case, check):
    CHECKS[check](case)


@every_case
def test_the_rate_is_the_speed_of_the_clock(case):
    """A rate twice as large is a clock that runs twice as fast, at order 1."""
    for operator in operators(6):
        x = noise(6)
        fast = case.build(rate=0.6)
        slow = case.build(rate=0.3)
        at_once = diffuse_stepped(fast, operator, x, 1.0, Schedule(1, 0.25))
        later = diffuse_stepped(slow, operator, x, 1.0, Schedule(2, 0.5))
        assert_agree(at_once, later)
        assert relative(at_once, x) > 1e-3


@pytest.mark.gpu
@every_case
def test_follows_the_features_to_the_device(case):
    for operator in operators(9):
        x = noise(9)
        here = diffuse_stepped(case.build(), operator, x, 0.5, Schedule(2, 0.5))
        for way in ("autograd", "adjoint", "checkpoint"):
            there = x.cuda().requires_grad_()
            dynamics = case.build().cuda()
            found = diffuse_stepped(
                dynamics, operator, there, 0.5, Schedule(2, 0.5), way
            )
            assert found.device == there.device
            assert_agree(found, here)
            found.sum().backward()
            assert there.grad.device == there.device
