"""Time and memory of ours against each size alone, on generated graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from fdgcl._checks import check_count
from fdgcl.benchmark.growth import Growth, fit_growth
from fdgcl.benchmark.memory import freed_at_once, only_new_garbage
from fdgcl.benchmark.problems import Sizes, bench_settings, generate
from fdgcl.benchmark.trainings import train_ours
from fdgcl.graphs import Graph
from fdgcl.methods.fdgcl.settings import Settings

QUANTITIES = (
    "precompute_seconds",
    "diffusion_seconds",
    "epoch_seconds",
    "peak_bytes",
)
EPOCHS = 4  # of which the first is not timed
# What memory even the smallest problem may seem to take: pages, threads, caches.
_FIXED_BYTES = 2**21


@dataclass(frozen=True)
class Ladder:
    """A base size, and by what each size is multiplied in turn."""

    base: Sizes
    factors: tuple[float, ...]


#: Large enough for a place that what is fixed does not show, small enough to wait for.
LADDERS = {
    "cpu": Ladder(Sizes(20_000, 200_000, 64, 64, 16), (1 / 2, 1, 2, 4, 8)),
    "cuda": Ladder(Sizes(100_000, 1_000_000, 128, 256, 16), (1 / 2, 1, 2, 4, 8)),
    "quick": Ladder(Sizes(2_000, 8_000, 16, 16, 8), (1 / 4, 1 / 2, 1, 2, 4)),
}
#: What is varied: one size alone, or the graph as a whole, its degree kept.
AXES: dict[str, tuple[str, ...]] = {
    "nodes": ("nodes",),
    "edges": ("edges",),
    "graph": ("nodes", "edges"),
    "features": ("features",),
    "dim": ("dim",),
    "steps": ("steps",),
}
_TINY = Sizes(64, 128, 4, 4, 2)


@dataclass(frozen=True)
class Point:
    """One problem, measured: medians over repeats.

    Attributes:
        axis: What was varied, of `AXES`.
        factor: By what, from the base.
        sizes: The problem.
        precompute_seconds: From the graph to the first epoch.
        diffusion_seconds: Of that, the diffusion of the features.
        epoch_seconds: Of an epoch.
        peak_bytes: Memory that both added.
    """

    axis: str
    factor: float
    sizes: Sizes
    precompute_seconds: float
    diffusion_seconds: float
    epoch_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Scaling:
    """All that was measured, and the exponents that follow.

    Attributes:
        base: The size that the others are multiples of.
        repeats: Trainings at each size.
        fixed: What a tiny problem takes, by quantity.
        points: In the order measured.
    """

    base: Sizes
    repeats: int
    fixed: Mapping[str, float]
    points: tuple[Point, ...]

    def along(self, axis: str) -> list[Point]:
        """The points of one axis."""
        return [point for point in self.points if point.axis == axis]

    def growth(self, axis: str, quantity: str) -> Growth | None:
        """How a quantity grows along an axis."""
        points = self.along(axis)
        name = AXES[axis][0]
        return fit_growth(
            [getattr(point.sizes, name) for point in points],
            [getattr(point, quantity) for point in points],
            self.fixed[quantity],
        )

    def records(self) -> Iterator[dict[str, Any]]:
        """One plain record for each point and each fit, for JSON lines."""
        for point in self.points:
            yield {"kind": "point", **asdict(point)}
        for axis in AXES:
            for quantity in QUANTITIES:
                found = self.growth(axis, quantity)
                values = None if found is None else asdict(found)
                yield {"kind": "fit", "axis": axis, "of": quantity, "growth": values}


def scale(
    ladder: Ladder,
    *,
    device: str = "auto",
    precision: str = "float32",
    repeats: int = 3,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Scaling:
    """Measure every point of a ladder.

    Args:
        ladder: Base and factors.
        device: `auto`, `cpu` or `cuda`.
        precision: Of products on CUDA.
        repeats: Trainings at each size, after one that warms up; memory is watched
            in another, before any of them.
        seed: Of graphs and weights.
        progress: Called with what is done, and all there is to do.
    """
    check_count("repeats", repeats)

    def problem(sizes: Sizes) -> tuple[Graph, Settings]:
        settings = bench_settings(
            dim=sizes.dim,
            time=float(sizes.steps),
            device=device,
            precision=precision,
            seed=seed,
            strategy="precompute",
            batch_size=sizes.nodes,
        )
        return generate(sizes.nodes, sizes.edges, sizes.features, seed), settings

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, 2 * len(plan))

    plan = [
        (axis, factor, _multiplied(ladder.base, axis, factor))
        for axis in AXES
        for factor in ladder.factors
    ]
    points: list[Point] = []
    with only_new_garbage():
        peaks = []
        with freed_at_once():
            _peak(*problem(_TINY))  # libraries take memory for themselves, once
            fixed_bytes = max(_peak(*problem(_TINY)), _FIXED_BYTES)
            for done, (_, _, sizes) in enumerate(plan):
                tell(done)
                peaks.append(_peak(*problem(sizes)))
        tiny = _medians(*problem(_TINY), repeats)
        for done, (axis, factor, sizes) in enumerate(plan):
            tell(len(plan) + done)
            times = _medians(*problem(sizes), repeats)
            points.append(Point(axis, factor, sizes, **times, peak_bytes=peaks[done]))
    fixed = {**tiny, "peak_bytes": fixed_bytes}
    return Scaling(ladder.base, repeats, fixed, tuple(points))


def _multiplied(base: Sizes, axis: str, factor: float) -> Sizes:
    changes = {name: max(1, round(getattr(base, name) * factor)) for name in AXES[axis]}
    return replace(base, **changes)


def _peak(graph: Graph, settings: Settings) -> int:
    return train_ours(graph, settings, 2, watch_memory=True).peak_bytes


def _medians(graph: Graph, settings: Settings, repeats: int) -> dict[str, float]:
    train_ours(graph, settings, 2)
    runs = [train_ours(graph, settings, EPOCHS) for _ in range(repeats)]
    return {
        "precompute_seconds": median(sum(run.parts.values()) for run in runs),
        "diffusion_seconds": median(run.parts["diffusion"] for run in runs),
        "epoch_seconds": median(s for run in runs for s in run.epochs[1:]),
    }
