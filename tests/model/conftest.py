"""Small graphs and a quick model for the tests of the estimator."""

from __future__ import annotations

from typing import Any

import pytest

from fdgcl import FDGCL, Graph, block_model

QUICK: dict[str, Any] = {"dim": 12, "epochs": 6, "device": "cpu"}


@pytest.fixture
def graph() -> Graph:
    return block_model(80, 3, degree=6, homophily=0.8, num_features=7, seed=1)


@pytest.fixture
def quick() -> FDGCL:
    return FDGCL(**QUICK)
