"""The paper's method on the command line, whatever the defaults are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fdgcl.presets import paper_defaults
from fdgcl.tuning import write_settings

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
