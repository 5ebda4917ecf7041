"""Which datasets are here, and why the others are not."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.graphs.datasets import locate


def absent_datasets(
    names: Iterable[str], root: str | os.PathLike[str] | None
) -> dict[str, str]:
    """Return why each dataset that cannot be measured is not here, by its name."""
    reasons = {}
    for name in dict.fromkeys(names):
        place = locate(name, root)
        if place is None:
            reasons[name] = _reason(name, root)
        elif place.kind == "bundled" and name != "cora-bundled":
            reasons[name] = (
                "only the bundled copy is, whose split is not the benchmark's"
            )
    return reasons


def how_to_get(name: str, root: str | os.PathLike[str] | None) -> str:
    """The command that downloads a dataset, or nothing where there is none."""
    entry, target = CATALOGUE.get(name), Path(root or "data") / f"{name}.npz"
    if entry is None or entry.loader is None or target.is_file():
        return ""
    return f"fdgcl data convert {name} --download -o {shlex.quote(str(target))}"


def _reason(name: str, root: str | os.PathLike[str] | None) -> str:
    if root is None:
        return "no data root was given"
    edges = f"{name}-nofeat"
    if edges in CATALOGUE and locate(edges, root) is not None:
        return "the data root has its edges, but not its features"
    return "not in the data root"
