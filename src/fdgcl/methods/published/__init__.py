"""Settings that the authors of methods published for known datasets.

One file for each method and dataset, with its source. What they trained on otherwise
(splits, classifiers) is not in them.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

from fdgcl._checks import choose

_FOLDER = resources.files("fdgcl") / "methods" / "published"


def published_datasets(method: str) -> tuple[str, ...]:
    """The datasets that a method's authors published settings for, by name.

    Example:
        >>> published_datasets("cca-ssg")
        ('citeseer', 'computers', 'cora', 'photo', 'pubmed')
    """
    folder = _FOLDER / method
    if not folder.is_dir():
        return ()
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names))


def published(method: str, dataset: str) -> dict[str, Any]:
    """The settings that a method's authors published for a dataset.

    Args:
        method: Its name.
        dataset: Its name in the catalogue.

    Returns:
        Settings by name; those that are not there were left at their defaults.

    Raises:
        InputError: There are none for it.

    Example:
        >>> published("cca-ssg", "cora")["epochs"]
        50
    """
    known = published_datasets(method)
    choose(
        f"dataset with published settings of {method}", dataset, dict.fromkeys(known)
    )
    text = (_FOLDER / method / f"{dataset}.toml").read_text(encoding="utf-8")
    settings: dict[str, Any] = tomllib.loads(text)["settings"]
    return settings
