"""Examples in docstrings: all of them run, and every public name has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fdgcl

SOURCE = Path(fdgcl.__file__).parent

#: Packages whose `__all__` is for other packages of fdgcl, not for users.
INTERNAL = {
    "fdgcl.benchmark": "what `fdgcl bench` measures with",
    "fdgcl.training": "the loop, rank and log of a training: FDGCL.fit runs them",
}

#: Packages within others that users import from.
NESTED = ("fdgcl.graphs.schema", "fdgcl.graphs.store")

#: Public names that need no example, each with the reason.
EXCEPTIONS = {
    "fdgcl.graphs.store.DamagedError": "an error: it is caught, not made",
    "fdgcl.graphs.store.Manifest": "the fields of a file: Store's example shows some",
}

#: Names that have no example yet, by the package that offers them.
MISSING = {
    "fdgcl": ("FDGCL",),
    "fdgcl.diffusion": (
        "PolynomialFilter",
        "check_method",
        "diffuse",
        "diffuse_stepped",
        "filter_with_gradient",
        "frequency_response",
        "mittag_leffler",
        "short_memory_bound",
    ),
    "fdgcl.executors": (
        "Dask",
        "Executor",
        "WorkerError",
    ),
    "fdgcl.tuning": (
        "Budget",
        "NoTrialError",
        "Problem",
        "Space",
        "Tuned",
        "require_optuna",
        "tune",
    ),
}


def public_packages() -> list[str]:
    """The package itself and those in it that say what they offer."""
    found = ["fdgcl"]
    for module in pkgutil.iter_modules([str(SOURCE)], "fdgcl."):
        if module.ispkg and module.name not in INTERNAL:
            offered = getattr(importlib.import_module(module.name), "__all__", ())
            found += [module.name] if offered else []
    return [*found, *NESTED]


def public_definitions() -> Iterator[tuple[str, Any]]:
    """Every class and function in an `__all__`, by the shortest name it has."""
    seen = set()
    for package in public_packages():
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if value not in seen:
                seen.add(value)
                yield f"{package}.{name}", value


def modules_with_examples() -> list[str]:
    paths = [path for path in SOURCE.rglob("*.py") if ">>> " in path.read_text("utf-8")]
    parts = [path.relative_to(SOURCE.parent).with_suffix("").parts for path in paths]
    return sorted(".".join(part).removesuffix(".__init__") for part in parts)


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    # An example may change how warnings are filtered.
    with warnings.catch_warnings():
        result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_has_an_example() -> None:
    without = {
        name
        for name, value in public_definitions()
        if ">>> " not in (value.__doc__ or "")
    }
    known = {f"{home}.{name}" for home, names in MISSING.items() for name in names}
    excused = EXCEPTIONS.keys() | known
    assert sorted(without - excused) == [], "these need an example (>>>)"
    assert sorted(excused - without) == [], "these have one: take them off the list"
