"""Experiments from their files, every key checked by name.

One TOML file is one experiment, and its path says which one:
`<table>/<dataset>-<variant>.toml`. `every` in the dataset's place stands for every
dataset that is found in the data root (`discovery.py`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from fdgcl._checks import (
    InputError,
    check_count,
    check_finite,
    check_nonnegative,
    choose,
    nearest,
)
from fdgcl.estimators import estimator_of
from fdgcl.experiments.experiment import Experiment, PaperNumber
from fdgcl.experiments.measures import TABLES, build_measure
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.methods.published import published
from fdgcl.model import FDGCL
from fdgcl.presets import VARIANTS, preset_settings

ROOT: Traversable = resources.files("fdgcl.experiments") / "tables"
EVERY = "every"  # in the place of a dataset's name
_ENDING = ".toml"
_KEYS = (
    *("label", "method", "preset", "base", "order", "note"),
    *("settings", "paper", "options"),
)
_OF_THE_RUN = ("seed", "device")  # settings that no file may fix


def load_experiments(table: str, root: Traversable | None = None) -> list[Experiment]:
    """Return the experiments of a table, in reading order.

    Args:
        table: The table's name.
        root: The folder of all tables; by default the one in this package.

    Raises:
        InputError: A file has an unknown key or a bad value; it is named.
    """
    measure = build_measure(choose("table", table, TABLES).measure)
    found = [
        _read(table, dataset, variant, file, measure.options)
        for dataset, variant, file in table_files(table, root)
    ]
    found.sort(key=lambda pair: (pair[0], pair[1].dataset, pair[1].variant))
    return [experiment for _, experiment in found]


def table_files(
    table: str, root: Traversable | None = None
) -> list[tuple[str, str, Traversable]]:
    """Return dataset, variant and file of a table's experiments, without reading them.

    Raises:
        InputError: A file's name does not start with a known dataset's.
    """
    folder = (root or ROOT) / table
    if not folder.is_dir():
        return []
    files = [entry for entry in folder.iterdir() if entry.name.endswith(_ENDING)]
    return [(*_split(file), file) for file in sorted(files, key=lambda file: file.name)]


def _split(file: Traversable) -> tuple[str, str]:
    stem = file.name.removesuffix(_ENDING)
    names = [name for name in (*CATALOGUE, EVERY) if stem.startswith(f"{name}-")]
    if not names:
        message = (
            f"{file}: the name must be <dataset>-<variant>{_ENDING} with a known "
            f"dataset{nearest(stem.partition('-')[0], CATALOGUE)}"
        )
        raise InputError(message)
    dataset = max(names, key=len)
    return dataset, stem.removeprefix(f"{dataset}-")


def _read(
    table: str,
    dataset: str,
    variant: str,
    file: Traversable,
    options: Mapping[str, Any],
) -> tuple[int, Experiment]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        _refuse_unknown("key", content, _KEYS)
        experiment = Experiment(
            table=table,
            dataset=dataset,
            variant=variant,
            label=_text(content, "label", variant),
            settings=_settings(content),
            method=_method(content),
            options=_options(content, options),
            paper=_paper(content),
            paper_word=_text(_table(content, "paper"), "word", ""),
            note=_text(content, "note", ""),
        )
        return check_count("order", content.get("order", 0), minimum=0), experiment
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, InputError) as error:
        message = f"{file}: {error}"
        raise InputError(message) from None


def _method(content: Mapping[str, Any]) -> str:
    return _text(content, "method", "fdgcl")


def _settings(content: Mapping[str, Any]) -> dict[str, Any]:
    given = _table(content, "settings")
    estimator = estimator_of(_method(content))
    known = estimator().get_params()
    _refuse_unknown("setting", given, known)
    for name in _OF_THE_RUN:
        if name in given:
            message = f"the setting {name!r} belongs to the run, not to an experiment"
            raise InputError(message)
    settings = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in {**_preset(content), **given}.items()
    }
    model = estimator(**settings)
    model.check()
    return dict(model.get_params())


def _preset(content: Mapping[str, Any]) -> dict[str, Any]:
    """FD-GCL's preset in a variant; of other methods, what their authors published."""
    method, base = _method(content), _text(content, "base", VARIANTS[0])
    if "base" in content and method != FDGCL.method_name:
        message = (
            f"base is a variant of FD-GCL's presets, and the method is {method!r}: its "
            "preset is what its authors published"
        )
        raise InputError(message)
    if "preset" not in content:
        if "base" in content:
            message = "base is a variant of a preset, and no preset is named"
            raise InputError(message)
        return {}
    name = _text(content, "preset", "")
    if method != FDGCL.method_name:
        return published(method, name)
    return preset_settings(name, base)


def _options(content: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    given = _table(content, "options")
    _refuse_unknown("option", given, known)
    for name, value in given.items():
        default = known[name]
        if default is not None and type(value) is not type(default):
            message = (
                f"the option {name!r} must be a {type(default).__name__}, got {value!r}"
            )
            raise InputError(message)
    return {**known, **given}


def _paper(content: Mapping[str, Any]) -> PaperNumber | None:
    if "paper" not in content:
        return None
    given = _table(content, "paper")
    _refuse_unknown("key of [paper]", given, ("value", "std", "word"))
    if ("value" in given) == ("word" in given):
        message = "[paper] needs a value, or a word in its place"
        raise InputError(message)
    if "word" in given:
        return None
    std = given.get("std")
    return PaperNumber(
        check_finite("value", given["value"]),
        None if std is None else check_nonnegative("std", std),
    )


def _table(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        message = f"{name} must be a table, [{name}], got {value!r}"
        raise InputError(message)
    return value


def _text(content: Mapping[str, Any], name: str, default: str) -> str:
    value = content.get(name, default)
    if not isinstance(value, str):
        message = f"{name} must be text, got {value!r}"
        raise InputError(message)
    return value


def _refuse_unknown(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    names = list(known)
    for name in given:
        if name not in names:
            message = (
                f"unknown {kind} {name!r}{nearest(name, names)} "
                f"(known: {', '.join(names)})"
            )
            raise InputError(message)
