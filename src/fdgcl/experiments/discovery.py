"""The datasets of a table: those its files name, or every one in the data root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fdgcl._checks import InputError
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.loader import EVERY
from fdgcl.experiments.presence import absent_datasets
from fdgcl.graphs.compact_arrays import load_arrays


def find_datasets(
    names: Iterable[str], root: str | os.PathLike[str] | None
) -> tuple[list[str], dict[str, str]]:
    """Return the datasets that are here, and why each of the others is not.

    Args:
        names: As a table's files name them; `every` stands for all that the data root
            holds.
        root: The data root.
    """
    wanted = list(dict.fromkeys(names))
    found, unusable = list[str](), dict[str, str]()
    if EVERY in wanted and root is not None:
        found, unusable = node_datasets(root)
    own = [name for name in wanted if name != EVERY]
    absent = absent_datasets(own, root) | unusable
    return [n for n in dict.fromkeys((*own, *found)) if n not in absent], absent


def of_datasets(
    experiments: Sequence[Experiment], names: Iterable[str]
) -> list[Experiment]:
    """Return experiments on these datasets in the place of those on `every` one."""
    if all(one.dataset != EVERY for one in experiments):
        return list(experiments)
    return [
        replace(one, dataset=name)
        for name in names
        for one in experiments
        if one.dataset in (EVERY, name)
    ]


def node_datasets(
    root: str | os.PathLike[str],
) -> tuple[list[str], dict[str, str]]:
    """Return the compact files that a probe of nodes can use, and why not the others.

    Args:
        root: The folder with files NAME.npz; what lies in folders below it are other
            libraries' raw files.
    """
    found, unusable = [], {}
    for file in sorted(Path(root).glob("*.npz"), key=lambda file: file.stem):
        reason = _unusable(file)
        if reason:
            unusable[file.stem] = reason
        else:
            found.append(file.stem)
    return found, unusable


def _unusable(file: Path) -> str:
    """Why a file cannot be measured, or nothing; of its arrays only labels are read."""
    names: set[str] = set()
    try:
        arrays = load_arrays(file, ("y",), lambda _, found: names.update(found))
    except InputError as error:
        return str(error).replace(str(file), "it")
    if "ptr" in names:
        return "a collection of graphs"
    if "edge_index" not in names:
        return "it has no edges"
    if not names & {"x", "x_data"}:
        return "it has no features"
    if "y" not in names:
        others = names & {"target_values", "target_matrix"}
        return "its labels are not classes" if others else "it has no labels"
    y = arrays["y"]
    if len(np.unique(y[y >= 0])) < 2:
        return "its labels are of one class alone"
    return ""
