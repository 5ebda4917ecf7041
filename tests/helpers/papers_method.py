"""The paper's method, for tests of what the estimator's own defaults do otherwise."""

from __future__ import annotations

from importlib import resources
from typing import Any

from fdgcl import FDGCL
from fdgcl.presets import paper_defaults

#: For the option `--settings` of commands.
PAPERS_SETTINGS = str(resources.files("fdgcl") / "presets" / "common.toml")


def papers_method(**settings: Any) -> FDGCL:
    """The paper's method with some settings of its own, whatever the defaults are."""
    return FDGCL(**{**paper_defaults(), **settings})
