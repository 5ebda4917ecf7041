"""What the tests of tuning share."""

from __future__ import annotations

import pytest

from fdgcl.tuning import Problem
from tuning.tiny import Fake, tiny_graph

pytest.importorskip("optuna")


@pytest.fixture
def problem() -> Problem:
    return Problem.of(tiny_graph())


@pytest.fixture
def fake(problem: Problem) -> Fake:
    return Fake(problem)
