"""The paper's method on the command line, whatever the defaults are."""

from __future__ import annotations

from pathlib import Path

from fdgcl.presets import paper_defaults
from fdgcl.tuning import write_settings

#: The options that take what `write_paper` wrote, from inside its folder.
PAPER = ("--settings", "paper.toml")


def write_paper(folder: Path) -> None:
    """Write the paper's method as a file of settings, `paper.toml`."""
    write_settings(folder / "paper.toml", paper_defaults())
