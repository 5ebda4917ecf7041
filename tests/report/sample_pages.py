"""Pages for tests: every kind of figure, and texts that mean harm."""

from __future__ import annotations

import math

import numpy as np

from fdgcl.report.page import Figure, Listing, Page, Section, Series, Table, Text

HOSTILE = (
    "<script>window.__hacked=1</script>",
    '<img src=x onerror="window.__hacked=1">',
    '<a href="javascript:window.__hacked=1">x</a>',
    "</script><script>window.__hacked=1</script>",
    "<!--<script>",
    "%{x} %{customdata} &lt;b&gt; &amp;",
    "<b>bold</b><br><extra>$x_1$</extra>",
    "line\u2028and\u2029ends \"'`",
    "nul \x00 and \ud800 lone",
)


def every_figure(*names: str) -> list[Figure]:
    """One figure of each kind, its texts taken from `names` in turn."""
    first, second, third = names[0], names[1 % len(names)], names[2 % len(names)]
    x = list(range(1, 31))
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((3, 20, 2))
    lines = Figure(
        "lines",
        f"Lines {first}",
        [
            Series(first, x, [math.exp(-v / 9) if v != 7 else math.nan for v in x]),
            Series(second, x, [math.sin(v / 9) for v in x], dashed=True),
            Series(third, x, [100.0 * v for v in x], secondary=True, error=x),
        ],
        x_label=first,
        y_label=second,
        secondary_label=third,
        caption=f"Caption {third}",
    )
    bars = Figure(
        "bars",
        "Bars",
        [
            Series(first, [*names, "plain"], range(len(names) + 1), mark="bar"),
            Series(second, [first], [3.0], mark="bar", dashed=True, error=[math.inf]),
        ],
        y_label="height",
    )
    logs = Figure(
        "logs",
        "Logarithmic",
        [
            Series("falling", [1, 10, 100], [1.0, 1e-3, 0.0]),
            Series("points", [2, 20], [0.1, 0.01], mark="points", error=[0.01, 0.001]),
        ],
        log_x=True,
        log_y=True,
    )
    steps = Figure(
        "steps",
        "Steps",
        [
            Series("density", [0, 1, 2, 3], [3.0, 1.0, 2.0, 2.0], "step", filled=True),
            Series("one point", [1.5], [2.5]),
        ],
    )
    maps = Figure(
        "map",
        "Map",
        [
            Series(
                f"{name} {k}",
                cloud[k, :, 0].tolist(),
                cloud[k, :, 1].tolist(),
                mark="points",
                hover=[f"{names[i % len(names)]} {i}" for i in range(20)],
                color=k - 1,
            )
            for k, name in enumerate((first, second, third))
        ],
        map=True,
    )
    return [lines, bars, logs, steps, maps]


def every_page(*names: str) -> Page:
    """A page with everything, its texts taken from `names`."""
    rows = [(name, "1.5 ± 0.2", name) for name in names]
    table = Table(("name", "number", names[0]), rows, names[0], frozenset({(0, 1)}))
    return Page(
        f"Title {names[0]}",
        f"Summary {' '.join(names)}",
        [
            Section(
                f"Texts {names[0]}",
                [Text(f"Text {' '.join(names)}"), Listing(names), table],
            ),
            Section("Figures", every_figure(*names)),
            *(Section(name, [Text("More.")]) for name in names[:3]),
        ],
        {name: f"fact {name}" for name in names},
    )
