"""Settings as a TOML file that says where they come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fdgcl._files import atomic_path


def settings_text(settings: Mapping[str, Any], header: Iterable[str] = ()) -> str:
    """Return settings as TOML, under comments.

    What is None is left open, and left out: TOML has no word for it, and it is what
    the model takes where nothing is said.

    Example:
        >>> print(settings_text({"dim": 64, "orders": (0.1, 1.0)}, ["found today"]))
        # found today
        [settings]
        dim = 64
        orders = [0.1, 1.0]
        <BLANKLINE>
    """
    lines = [f"# {line}".rstrip() for line in header]
    lines.append("[settings]")
    lines += [
        f"{name} = {_toml(value)}"
        for name, value in settings.items()
        if value is not None
    ]
    return "\n".join(lines) + "\n"


def write_settings(
    path: Path, settings: Mapping[str, Any], header: Iterable[str] = ()
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
        temporary.write_text(settings_text(settings, header), encoding="utf-8")


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, Mapping):
        pairs = [f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    # Of numbers, texts and truth values, JSON's notation is TOML's as well.
    return json.dumps(value, ensure_ascii=True)
