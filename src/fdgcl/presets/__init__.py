"""Settings for known datasets: the paper's, and ours.

Every preset is laid upon `paper_defaults`, and so means the same whatever the defaults
of the estimator become.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError, choose
from fdgcl.methods import METHODS
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.settings import MethodSettings

VARIANTS = ("best", "paper")
_FOLDER = resources.files("fdgcl") / "presets"
_FILES = {
    variant: {
        entry.name.removesuffix(".toml"): entry
        for entry in (_FOLDER / variant).iterdir()
        if entry.name.endswith(".toml")
    }
    for variant in VARIANTS
}
PRESETS = tuple(sorted({name for files in _FILES.values() for name in files}))


def paper_defaults() -> dict[str, Any]:
    """Settings of the paper's method, for whatever a preset does not say.

    Of what decides the embedding all is said, but what is left to the graph.

    Example:
        >>> found = paper_defaults()
        >>> found["loss"], found["combine"], found["keep"], found["hidden"]
        ('regularized-cosmean', 'sum', (), None)
    """
    text = (_FOLDER / "common.toml").read_text(encoding="utf-8")
    # Views as wide as the embedding: TOML has no word for what is unset.
    return {**_parse(text, "common.toml"), "hidden": None}


def with_hidden(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the views' width said where it is left to that of the embedding.

    Args:
        settings: All of a method; without views' width they are given back as they are.

    Example:
        >>> with_hidden({"dim": 64, "hidden": None}), with_hidden({"dim": 64})
        ({'dim': 64, 'hidden': 64}, {'dim': 64})
        >>> with_hidden({"dim": 512, "hidden": None, "combine": "concat"})["hidden"]
        256
    """
    if "hidden" in settings and settings["hidden"] is None:
        return {**settings, "hidden": Settings(**settings).hidden_columns}
    return dict(settings)


def preset_settings(name: str, variant: str = "best") -> dict[str, Any]:
    """Read the settings for a dataset; where there are none of ours, the paper's.

    Example:
        >>> found = preset_settings("texas")
        >>> found["time"], found["loss"], found["reduce"]
        (20.0, 'barlow-twins', 0)
    """
    choose("preset", name, dict.fromkeys(PRESETS))
    files = choose("variant", variant, _FILES)
    if variant == "best" and name not in files:
        files = _FILES["paper"]
    file = choose(f"preset of variant {variant!r}", name, files)
    own = _parse(file.read_text(encoding="utf-8"), f"{name}.toml")
    return {**paper_defaults(), **own}


def read_settings(
    path: Path, kind: type[MethodSettings] = Settings, method: str = "fdgcl"
) -> dict[str, Any]:
    """Read a TOML file with a table `[settings]`, as presets are and `tune` writes.

    Args:
        path: The file. It names the method, `method = "bgrl"`, unless that is FD-GCL.
        kind: The settings of the method that they are for.
        method: Its name.

    Raises:
        InputError: There is no such file, it is no TOML, it is of another method, or it
            names no such setting.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot read the settings in {path}: {error}"
        raise InputError(message) from None
    return _parse(text, str(path), kind, method)


def _parse(
    text: str,
    where: str,
    kind: type[MethodSettings] = Settings,
    method: str = "fdgcl",
) -> dict[str, Any]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{where} is no TOML: {error}"
        raise InputError(message) from None
    _check_method(found.get("method"), where, method)
    settings = found.get("settings")
    if not isinstance(settings, dict):
        message = f"{where} has no table [settings]"
        raise InputError(message)
    return kind.some_from_file(settings, where)


def _check_method(named: Any, where: str, method: str) -> None:
    """Refuse a file of another method than that which is asked for.

    Args:
        named: What the file says; None where it says nothing, as those of FD-GCL.
        where: What to call it.
        method: That which is asked for.
    """
    if (named or "fdgcl") == method:
        return
    if named is None:
        message = (
            f"{where} names no method, so that its settings are of 'fdgcl', not of "
            f"{method!r}: give --method fdgcl or, if they are of {method!r}, write "
            f'method = "{method}" at the top of the file'
        )
        raise InputError(message)
    choose(f"method in {where}", str(named), METHODS)
    message = (
        f"{where} has settings of method {named!r}, not of {method!r}: give "
        f"--method {named}"
    )
    raise InputError(message)
