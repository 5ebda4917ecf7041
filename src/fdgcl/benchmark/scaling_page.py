"""The page of a scaling run: exponents, curves, and every number."""

from __future__ import annotations

from collections.abc import Callable

from fdgcl.benchmark.growth import Growth
from fdgcl.benchmark.problems import Sizes
from fdgcl.benchmark.scaling import AXES, Point, Scaling
from fdgcl.report.numerals import number
from fdgcl.report.page import Figure, Page, Section, Series, Table

MIB = 2**20
_QUANTITIES: dict[str, tuple[str, str, Callable[[Point], float]]] = {
    "precompute_seconds": (
        "Before training",
        "seconds",
        lambda point: point.precompute_seconds,
    ),
    "diffusion_seconds": (
        "Of that, the diffusion",
        "seconds",
        lambda point: point.diffusion_seconds,
    ),
    "epoch_seconds": ("An epoch", "seconds", lambda point: point.epoch_seconds),
    "peak_bytes": ("Peak memory", "MiB", lambda point: point.peak_bytes / MIB),
}


def scaling_page(found: Scaling, facts: dict[str, str]) -> Page:
    """Describe a scaling run."""
    return Page(
        title="How time and memory grow",
        summary=(
            f"From a base of {describe(found.base)}, each size was varied alone, and "
            "the graph as a whole (nodes and edges together). An exponent of 1 is "
            "growth in proportion, of 0 none at all."
        ),
        sections=[
            Section("Exponents", [exponents(found)]),
            Section("Curves", [_figure(found, name) for name in _QUANTITIES]),
            Section("All numbers", [_points(found)]),
        ],
        facts=facts,
    )


def exponents(found: Scaling) -> Table:
    """One row for each size varied."""
    rows = []
    for axis in AXES:
        sizes = [_of(point.sizes, axis) for point in found.along(axis)]
        growths = [found.growth(axis, name) for name in _QUANTITIES]
        span = f"{number(min(sizes))} to {number(max(sizes))}"
        rows.append((axis, span, *(_exponent(growth) for growth in growths)))
    return Table(
        ("varied", "from", "before", "diffusion", "epoch", "memory"),
        rows,
        caption=(
            "Exponents of the size, by least squares of the logarithms, ± their "
            "standard error, and in brackets how many sizes entered: of the four "
            "largest those at which at least three times as much was measured as for "
            "a tiny graph. Before: seconds from the loaded graph to the first epoch, "
            "of which diffusion is a part; the rest is the operator and its spectrum. "
            "Memory: the most that precomputing and training add to the graph. Where "
            "two sizes share a cost, as nodes and edges do in the diffusion, each "
            "alone grows by less than in proportion."
        ),
    )


def describe(sizes: Sizes) -> str:
    """A size in words."""
    return (
        f"{sizes.nodes:,} nodes, {sizes.edges:,} edges, {sizes.features} features, "
        f"dim {sizes.dim} and {sizes.steps} steps"
    )


def _exponent(growth: Growth | None) -> str:
    if growth is None:
        return "-"
    return f"{growth.exponent:.2f} ± {growth.error:.2f} ({len(growth.sizes)})"


def _figure(found: Scaling, quantity: str) -> Figure:
    title, unit, value = _QUANTITIES[quantity]
    series = []
    for axis in AXES:
        points = found.along(axis)
        x = [point.factor for point in points]
        series.append(Series(axis, x, [value(point) for point in points]))
    middle = next(p for p in found.points if p.factor == 1)
    factors = sorted({point.factor for point in found.points})
    series.append(
        Series(
            "in proportion",
            factors,
            [value(middle) * factor for factor in factors],
            dashed=True,
            color=-1,
        )
    )
    return Figure(
        name=quantity.replace("_", "-"),
        title=title,
        series=series,
        x_label="times the base size",
        y_label=unit,
        caption=(
            f"At 1, on every curve: {describe(found.base)}. Median of "
            f"{found.repeats} trainings at each size."
            if quantity != "peak_bytes"
            else "What precomputing and training add to graph and features."
        ),
        log_x=True,
        log_y=True,
    )


def _points(found: Scaling) -> Table:
    rows = [
        (
            point.axis,
            f"{point.sizes.nodes:,}",
            f"{point.sizes.edges:,}",
            str(point.sizes.features),
            str(point.sizes.dim),
            str(point.sizes.steps),
            f"{1e3 * point.precompute_seconds:.4g}",
            f"{1e3 * point.diffusion_seconds:.4g}",
            f"{1e3 * point.epoch_seconds:.4g}",
            f"{point.peak_bytes / MIB:,.1f}",
        )
        for point in found.points
    ]
    columns = ("varied", "nodes", "edges", "features", "dim", "steps")
    measured = ("before, ms", "diffusion, ms", "epoch, ms", "peak, MiB")
    return Table((*columns, *measured), rows)


def _of(sizes: Sizes, axis: str) -> float:
    value: int = getattr(sizes, AXES[axis][0])
    return value
