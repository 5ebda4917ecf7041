"""Settings as a TOML file that says where they come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fdgcl._files import atomic_path
from fdgcl.model import FDGCL


def settings_text(
    settings: Mapping[str, Any],
    header: Iterable[str] = (),
    method: str = FDGCL.method_name,
) -> str:
    """Return settings as TOML, under comments and, unless FD-GCL's, the method's name.

    What is None is left open, and left out: TOML has no word for it, and it is what
    the model takes where nothing is said.

    Example:
        >>> found = {"dim": 64, "readout": ("mean", "max")}
        >>> print(settings_text(found, ["found today"], "bgrl"), end="")
        # found today
        method = "bgrl"
        [settings]
        dim = 64
        readout = ["mean", "max"]
    """
    lines = [f"# {line}".rstrip() for line in header]
    if method != FDGCL.method_name:
        lines.append(f"method = {_toml(method)}")
    lines.append("[settings]")
    lines += [
        f"{name} = {_toml(value)}"
        for name, value in settings.items()
        if value is not None
    ]
    return "\n".join(lines) + "\n"


def write_settings(
    path: Path,
    settings: Mapping[str, Any],
    header: Iterable[str] = (),
    method: str = FDGCL.method_name,
) -> None:
    r"""Write settings as TOML, whole or not at all.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_settings(Path(folder) / "best.toml", {"dim": 64})
        ...     (Path(folder) / "best.toml").read_text()
        '[settings]\ndim = 64\n'
    """
    with atomic_path(path) as temporary:
        text = settings_text(settings, header, method)
        temporary.write_text(text, encoding="utf-8")


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, Mapping):
        pairs = [f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    # Of numbers, texts and truth values, JSON's notation is TOML's as well.
    return json.dumps(value, ensure_ascii=True)
