"""The paper's method, for tests of what the estimator's own defaults do otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from fdgcl import FDGCL
from fdgcl.presets import paper_defaults
from fdgcl.tuning import write_settings

#: For the option `--settings` of commands.
PAPERS_SETTINGS = str(resources.files("fdgcl") / "presets" / "common.toml")
#: The options that take what `write_paper` wrote, from inside its folder.
PAPER = ("--settings", "paper.toml")


def write_paper(folder: Path) -> None:
    """Write the paper's method as a file of settings, `paper.toml`."""
    write_settings(folder / "paper.toml", paper_defaults())


def as_words(settings: Mapping[str, Any]) -> Iterator[str]:
    """Settings as options; what is left open is left out."""
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        elif value is not None:
            yield f"--{flag}"
            yield ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def papers_method(**settings: Any) -> FDGCL:
    """The paper's method with some settings of its own, whatever the defaults are."""
    return FDGCL(**{**paper_defaults(), **settings})
