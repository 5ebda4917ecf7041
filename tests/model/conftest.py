"""Small graphs and a quick model for the tests of the estimator."""

from __future__ import annotations

from typing import Any

import pytest

from fdgcl import FDGCL, Graph, block_model
from helpers.papers_method import papers_method

QUICK: dict[str, Any] = {"dim": 12, "epochs": 6, "device": "cpu"}


def quick_model(**settings: Any) -> FDGCL:
    """The paper's method, quick; whatever the defaults are."""
    return papers_method(**{**QUICK, **settings})


@pytest.fixture
def graph() -> Graph:
    return block_model(80, 3, degree=6, homophily=0.8, num_features=7, seed=1)


@pytest.fixture
def quick() -> FDGCL:
    return quick_model()
