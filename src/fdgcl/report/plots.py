"""A figure as what Plotly draws, in plain values.

Colours are left out: the page's script puts them in, by light or dark. Plotly reads
`<b>`, `<a href>` and entities in every text it shows, and `%{x}` in its templates: all
texts are escaped here, and no template is used.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from fdgcl.report.numerals import number
from fdgcl.report.page import Figure, Series
from fdgcl.report.palette import assign, cycle

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star")
DASHES = ("solid", "dashdot", "longdash")
MANY = 2000  # points of a map above which they are drawn smaller
LONGEST = 160  # characters of a text on hover
FEW_DECADES = 1.5
TICK_WIDTH, TICK_LINES = 16, 3


_PLAIN = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "\r": " "}
)


def plain(text: str) -> str:
    """Text that Plotly shows as it is: no tags, no entities, no formulas."""
    return text.translate(_PLAIN)


def draw(figure: Figure) -> dict[str, Any]:
    """The traces and the layout of a figure."""
    names = category_names(figure)
    colors = assign(figure.series)
    traces = [
        _trace(figure, one, color, names)
        for one, color in zip(figure.series, colors, strict=True)
    ]
    return {"name": figure.name, "data": traces, "layout": _layout(figure, names)}


def category_names(figure: Figure) -> list[str]:
    """The names along the x axis, as they come; none where x holds numbers."""
    found: dict[str, None] = {}
    for one in figure.series:
        if any(isinstance(value, str) for value in one.x):
            found.update(dict.fromkeys(str(value) for value in one.x))
    return list(found)


def positions(series: Series, names: Sequence[str]) -> list[float]:
    """Where on the x axis each point lies: names stand side by side."""
    if not names:
        return [float(value) for value in series.x]
    place = {name: float(index) for index, name in enumerate(names)}
    return [place[str(value)] for value in series.x]


def stands_alone(figure: Figure) -> bool:
    """Whether no two series have a bar at the same place."""
    taken = [str(x) for one in figure.series if one.mark == "bar" for x in one.x]
    return len(set(taken)) == len(taken)


def bar_width(names: Sequence[str]) -> float:
    """The part of its place that a bar, or a group of bars, fills."""
    return min(0.66, 0.15 * max(len(names), 1))


def _trace(
    figure: Figure, series: Series, color: int, names: Sequence[str]
) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "name": plain(series.name),
        "x": _numbers(positions(series, names)),
        "y": _numbers(series.y),
        "text": _hover(figure, series),
        "hoverinfo": "text",
        "showlegend": False,
        "meta": {
            "color": color,
            "label": series.name,
            "mark": series.mark,
            "dashed": series.dashed,
            "filled": series.filled,
            "symbol": cycle(color) % len(SYMBOLS),
        },
    }
    if series.mark == "bar":
        trace |= {"type": "bar", "textposition": "none", "marker": {}}
        if series.dashed:
            trace["marker"] = {"pattern": {"shape": "/", "size": 6}}
    else:
        trace |= {"type": "scatter", **_stroke(figure, series, color)}
    if series.error is not None:
        trace["error_y"] = {
            "type": "data",
            "array": _numbers(series.error),
            "thickness": 1.4,
            "width": 4,
        }
    if series.secondary:
        trace["yaxis"] = "y2"
    return trace


def _stroke(figure: Figure, series: Series, color: int) -> dict[str, Any]:
    symbol = SYMBOLS[cycle(color) % len(SYMBOLS)]
    if series.mark == "points":
        crowd = figure.map and sum(len(one.x) for one in figure.series) > MANY
        size = 4 if crowd else (6 if figure.map else 8)
        marker = {"size": size, "opacity": 0.75 if figure.map else 1, "symbol": symbol}
        return {"mode": "markers", "marker": marker}
    line: dict[str, Any] = {"width": 2, "dash": DASHES[cycle(color) % len(DASHES)]}
    if series.dashed:
        line["dash"] = "6px,4px"
    if series.mark == "step":
        line |= {"shape": "hv", "width": 1.2}
    # A line of one point would not show.
    mode = "lines+markers" if len(series.x) == 1 else "lines"
    fill = {"fill": "tozeroy"} if series.filled else {}
    return {"mode": mode, "line": line, "marker": {"size": 7}, **fill}


def _hover(figure: Figure, series: Series) -> list[str]:
    label = series.name if series.name else figure.title
    y_label = figure.secondary_label if series.secondary else figure.y_label
    texts = []
    for index, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        lines = [_hover_text(label)]
        if series.hover is not None:
            lines.insert(0, f"<b>{_hover_text(series.hover[index])}</b>")
        if not figure.map:
            lines.append(_value(figure.x_label, _shown(x)))
            spread = "" if series.error is None else f" ± {number(series.error[index])}"
            lines.append(_value(y_label, number(y) + spread))
        texts.append("<br>".join(lines))
    return texts


def _value(label: str, value: str) -> str:
    return f"{_hover_text(label)}: {value}" if label else value


def _shown(x: object) -> str:
    return number(x) if isinstance(x, float | int) else _hover_text(str(x))


def _hover_text(text: str) -> str:
    """Escaped text; lines stay lines, and very long texts are cut."""
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return "<br>".join(plain(line) for line in short.split("\n"))


def _layout(figure: Figure, names: Sequence[str]) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "xaxis": _axis(figure.x_label, _span(figure, "x") if figure.log_x else None),
        "yaxis": _axis(figure.y_label, _span(figure, "y") if figure.log_y else None),
        "barmode": "overlay" if stands_alone(figure) else "group",
        "bargap": 1 - bar_width(names),
    }
    if names:
        layout["xaxis"] |= {
            "tickmode": "array",
            "tickvals": list(range(len(names))),
            "ticktext": [_tick(name) for name in names],
            "showgrid": False,
            "ticklabeloverflow": "allow",
        }
    if any(one.secondary for one in figure.series):
        layout["yaxis2"] = _axis(figure.secondary_label, None) | {
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "rangemode": "tozero",
            "tickmode": "auto",
        }
    if figure.map:
        layout["xaxis"]["visible"] = False
        layout["yaxis"] |= {"visible": False, "scaleanchor": "x"}
        layout["margin"] = dict.fromkeys("lrtb", 8)
    return layout


def _axis(label: str, decades: float | None) -> dict[str, Any]:
    """An axis; one that spans decades (None for a linear one) is logarithmic."""
    axis: dict[str, Any] = {
        "type": "linear" if decades is None else "log",
        "automargin": True,
        "zeroline": False,
        "exponentformat": "power",
    }
    if decades is not None:
        axis["tickfont"] = {"size": 10}  # Plotly shows powers a quarter larger
        if decades > FEW_DECADES:
            axis["dtick"] = max(1, round(decades / 6))
    if label:
        axis["title"] = {"text": plain(label), "standoff": 10}
    return axis


def _span(figure: Figure, axis: str) -> float:
    """How many decades the positive numbers along an axis span."""
    found = [
        float(value)
        for one in figure.series
        for value in (one.x if axis == "x" else one.y)
        if not one.secondary and not isinstance(value, str)
    ]
    logs = [math.log10(v) for v in found if v > 0 and math.isfinite(v)]
    return max(logs) - min(logs) if logs else 0.0


def _tick(name: str) -> str:
    lines = textwrap.wrap(
        name, TICK_WIDTH, max_lines=TICK_LINES, placeholder=" …", drop_whitespace=True
    )
    return "<br>".join(plain(line) for line in lines) or " "


def _numbers(values: Sequence[float]) -> list[float | None]:
    """Seven digits, more than a plot can show; what is not finite is a gap."""
    found = (float(value) for value in values)
    return [float(f"{v:.7g}") if math.isfinite(v) else None for v in found]
