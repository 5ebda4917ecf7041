"""The paper's method, for tests of what the estimator's own defaults do otherwise."""

from __future__ import annotations

from typing import Any

from fdgcl import FDGCL
from fdgcl.presets import paper_defaults


def papers_method(**settings: Any) -> FDGCL:
    """The paper's method with some settings of its own, whatever the defaults are."""
    return FDGCL(**{**paper_defaults(), **settings})
