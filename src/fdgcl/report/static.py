"""The figures of a page as files for a paper, by matplotlib.

Texts are shown as they are: a node called `$x_1$` is no formula.
"""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import MissingExtraError, choose
from fdgcl._files import atomic_path
from fdgcl.report.page import Figure, Page, Series, check_names
from fdgcl.report.palette import LIGHT, QUIET_LIGHT, assign, cycle
from fdgcl.report.plots import bar_width, category_names, positions, stands_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FORMATS = ("png", "pdf", "svg")
SIZE, MAP_SIZE = (5.4, 3.3), (5.4, 4.6)  # inches
MARKERS = ("o", "D", "s", "^", "P", "*")
LINES = ("-", "-.", (0, (8, 3)))
LEGEND_ROW = 0.17  # inches
LEGEND_WIDTH = 92  # characters beside each other
LONGEST_NAME = 60

_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": "#8A9099",
    "grid.color": "#E4E7EB",
    "grid.linewidth": 0.6,
    "xtick.color": "#59616B",
    "ytick.color": "#59616B",
    "axes.labelcolor": "#333333",
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "text.parse_math": False,
    "pdf.fonttype": 42,  # TrueType, which journals want embedded
    "svg.fonttype": "none",
    "savefig.dpi": 220,
}


def write_figures(
    page: Page, folder: Path, formats: Sequence[str] = ("png", "pdf")
) -> list[Path]:
    """Write every figure of a page, each in every format, and return the files.

    Args:
        page: The page; its tables and texts are left out.
        folder: Where to; made if needed. Files are called by the figures' names.
        formats: Of `png`, `pdf` and `svg`.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: An unknown format, or a folder that cannot be written.
    """
    for name in formats:
        choose("format of figures", name, dict.fromkeys(FORMATS))
    check_names(page)
    need_matplotlib()
    import matplotlib as mpl

    written = []
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # not what some settings file of the user says
        mpl.rcParams.update(_STYLE)
        # A name in a script the font lacks is drawn as boxes, which needs no warning.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        for figure in page.figures():
            canvas = _draw(figure)
            for name in formats:
                path = Path(folder) / f"{figure.name}.{name}"
                with atomic_path(path) as temporary:
                    canvas.savefig(temporary, format=name, metadata=_undated(name))
                written.append(path)
    return written


def need_matplotlib() -> None:
    """Make sure that matplotlib is there, before any work.

    Raises:
        MissingExtraError: It is not.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        package = "matplotlib"
        raise MissingExtraError(package, "plot", "A figure in a file") from error


def _undated(name: str) -> dict[str, None]:
    """No date in the file: the same figure gives the same bytes."""
    return {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(name, {})


def _draw(figure: Figure) -> Canvas:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    width, height = MAP_SIZE if figure.map else SIZE
    rows = -(-len(figure.series) // _legend_columns(figure)) if figure.series else 1
    canvas = Canvas((width, height + LEGEND_ROW * (rows - 1)), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot()
    right = _right_axis(figure, axes)
    names = category_names(figure)
    bars = [one for one in figure.series if one.mark == "bar"]
    handles = []
    for one, number in zip(figure.series, assign(figure.series), strict=True):
        target = right if one.secondary and right is not None else axes
        if one.mark == "bar":
            slots = 1 if stands_alone(figure) else len(bars)
            width = bar_width(names) / slots
            offset = (bars.index(one) % slots - (slots - 1) / 2) * width
            handle = _bars(target, one, number, names, offset, 0.92 * width)
        else:
            handle = _curve(target, one, number, names, figure)
        handles.append(handle)
    _finish(figure, axes, names)
    if right is not None and right.dataLim.y0 >= 0:
        right.set_ylim(bottom=0)
    if len(handles) > 1:
        _legend(canvas, figure, handles)
    return canvas


def _right_axis(figure: Figure, axes: Axes) -> Axes | None:
    axes.spines["right"].set_visible(False)
    if not any(one.secondary for one in figure.series):
        return None
    right = axes.twinx()
    right.grid(visible=False)
    right.set_ylabel(figure.secondary_label)
    # What belongs to the left axis is drawn over what belongs to the right one.
    axes.set_zorder(right.get_zorder() + 1)
    axes.patch.set_visible(False)
    return right


def _bars(
    axes: Axes,
    series: Series,
    number: int,
    names: Sequence[str],
    offset: float,
    width: float,
) -> Any:
    places = [x + offset for x in positions(series, names)]
    color = _color(number)
    look: dict[str, Any] = {"facecolor": color, "edgecolor": color}
    if series.dashed:
        look = {"facecolor": "white", "edgecolor": color, "hatch": "////"}
    return axes.bar(
        places,
        _finite(series.y),
        width,
        yerr=None if series.error is None else _finite(series.error),
        error_kw={"ecolor": "#333333", "elinewidth": 1, "capsize": 2.5},
        linewidth=0.8,
        **look,
    )


def _curve(
    axes: Axes, series: Series, number: int, names: Sequence[str], figure: Figure
) -> Any:
    x, y = positions(series, names), _finite(series.y)
    color = _color(number)
    look: dict[str, Any]
    if series.mark == "points":
        crowd = figure.map and sum(len(one.x) for one in figure.series) > 2000
        look = {
            "linestyle": "none",
            "marker": MARKERS[cycle(number) % len(MARKERS)],
            "markersize": 1.8 if crowd else (3 if figure.map else 4.5),
            "markeredgewidth": 0,
            "alpha": 0.8 if figure.map else 1,
            # Thousands of points as vectors make a page that no viewer opens.
            "rasterized": crowd,
        }
    else:
        look = {
            "linestyle": "--" if series.dashed else LINES[cycle(number) % len(LINES)],
            "drawstyle": "steps-post" if series.mark == "step" else "default",
            "linewidth": 0.9 if series.mark == "step" else 1.5,
            "marker": "o" if len(x) == 1 else "",
        }
    errors = None if series.error is None else _finite(series.error)
    handle = axes.errorbar(
        x,
        y,
        yerr=errors,
        color=color,
        # Whiskers of several curves stand at the same places: faint ones can overlap.
        ecolor=color if series.mark == "points" else (color, 0.5),
        elinewidth=0.9,
        capsize=2.5,
        capthick=0.9,
        **look,
    )
    if series.filled:
        step: Any = "post" if series.mark == "step" else None
        area = axes.fill_between(x, y, step=step, color=color, alpha=0.18, linewidth=0)
        return (area, handle)
    return handle


def _finish(figure: Figure, axes: Axes, names: Sequence[str]) -> None:
    axes.set_title(_short(figure.title))
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    if figure.log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(_power)
    if figure.log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(_power)
    for axis, log in ((axes.xaxis, figure.log_x), (axes.yaxis, figure.log_y)):
        if log:
            axis.set_minor_formatter("")
    if names:
        tilted = len(names) > 6 and max(map(len, names)) > 6
        # Tilted names of several lines would run into each other.
        width, lines = (40, 1) if tilted else (16, 3)
        wrapped = ["\n".join(textwrap.wrap(n, width, max_lines=lines)) for n in names]
        axes.set_xticks(
            range(len(names)),
            wrapped,
            rotation=40 if tilted else 0,
            ha="right" if tilted else "center",
        )
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.grid(visible=False, axis="x")
    if figure.map:
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)


def _power(value: float, _: float) -> str:
    """Ticks of a logarithmic axis, without the formulas that are switched off."""
    exponent = round(math.log10(value)) if value > 0 else 0
    if -4 < exponent < 5:
        return f"{value:g}"
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


def _legend_columns(figure: Figure) -> int:
    longest = max(len(_short(one.name)) for one in figure.series)
    return max(1, min(len(figure.series), LEGEND_WIDTH // (longest + 8)))


def _legend(canvas: Canvas, figure: Figure, handles: Sequence[Any]) -> None:
    # matplotlib leaves out names that begin with an underscore: they are put in later.
    legend = canvas.legend(
        handles,
        [str(index) for index in range(len(handles))],
        loc="outside lower center",
        ncols=_legend_columns(figure),
        markerscale=2 if figure.map else 1,
    )
    for place, one in zip(legend.get_texts(), figure.series, strict=True):
        place.set_text(_short(one.name))


def _color(number: int) -> str:
    return QUIET_LIGHT if number < 0 else LIGHT[number % len(LIGHT)]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def _finite(values: Sequence[float]) -> list[float]:
    """Numbers with gaps where they are not finite."""
    found = (float(value) for value in values)
    return [value if math.isfinite(value) else math.nan for value in found]
