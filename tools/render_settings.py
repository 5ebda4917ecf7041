"""Write docs/settings.md from the settings: `python tools/render_settings.py`."""

# ruff: noqa: E501  (prose)

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fdgcl._settings import PANELS, about, settings_of, shown_default
from fdgcl.cli.settings import KINDS, flag_of
from fdgcl.methods import METHODS, find_method
from fdgcl.methods.settings import MethodSettings

TARGET = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings

Made by `tools/render_settings.py` from the descriptions in the code, which the signature and docstring of the estimator and the help of the command line are made of, too.

A setting is a keyword argument of the estimator, an option of `fdgcl embed` and `fdgcl train`, a line under `[settings]` of a settings file, and a name for `fdgcl tune --set`:

```python
FDGCL(orders=(0.1, 1.0), dynamics="gread", dynamics_options={"reaction": "fisher"})
```

```bash
fdgcl embed edges.csv --orders 0.1,1 --dynamics gread --dynamics-options reaction=fisher
```

```toml
[settings]
orders = [0.1, 1.0]
dynamics = "gread"
dynamics_options = { reaction = "fisher" }
```

The loss, the dynamics, the solver and the activation may be objects of your own, or import paths: [extending](extending.md). All settings are checked together before anything is read or computed. Where a table names no option, the setting is for Python alone.
"""


def main() -> None:
    """Write the page."""
    TARGET.write_text(render(), encoding="utf-8")


def render() -> str:
    """Return the page."""
    lines = [HEAD]
    for method in map(find_method, METHODS):
        lines += _tables(method.title, method.settings)
    return "\n".join(lines)


def _tables(title: str, kind: type[MethodSettings]) -> Iterator[str]:
    yield f"## {title}\n"
    for panel in PANELS:
        yield f"| {panel} | option | default | |"
        yield "|---|---|---|---|"
        for name, one in settings_of(kind).items():
            known = about(one)
            if known.panel == panel:
                is_option = known.option and kind in KINDS
                option = f"`{_option(name, one.default)}`" if is_option else ""
                default = _default(shown_default(one), known.shown is None)
                yield f"| `{name}` | {option} | {default} | {known.text} |"
        yield ""


def _option(name: str, default: object) -> str:
    flag = flag_of(name)
    return f"{flag}`, `--no-{flag[2:]}" if isinstance(default, bool) else flag


def _default(text: str, literal: bool) -> str:
    return f"`{text}`" if literal and text != "nothing" else text


if __name__ == "__main__":
    main()
