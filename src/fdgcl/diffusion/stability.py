"""Is the diffusion stable, and what does it do to each frequency?

Stepping outside the stable region is a choice, not an error: on graphs whose linked
nodes differ, a filter that amplifies high frequencies is often the better one. So the
report says what happens and never forbids it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from fdgcl.diffusion.dynamics import Dynamics
from fdgcl.diffusion.schedule import Schedule
from fdgcl.diffusion.solvers import SteppingScheme
from fdgcl.diffusion.spectral import frequency_response

GRID = 257


class Bounds(Protocol):
    """What must be known of a spectrum: where it lies."""

    @property
    def has_real_spectrum(self) -> bool:
        """Whether it is real."""

    @property
    def lambda_max(self) -> float:
        """It lies in [0, lambda_max], or in the disc over it."""


@dataclass(frozen=True)
class CommonBounds:
    """Bounds that hold for several spectra; see `Bounds`."""

    has_real_spectrum: bool
    lambda_max: float

    @classmethod
    def of(cls, spectra: Sequence[Bounds]) -> Self:
        """The tightest ones."""
        return cls(
            all(one.has_real_spectrum for one in spectra),
            max(one.lambda_max for one in spectra),
        )


@dataclass(frozen=True)
class OrderStability:
    """What one order's diffusion does.

    Attributes:
        order: The order.
        load: `h^order * |f(lambda_max)|`, to be compared with the limit; None where
            the dynamics is not a function f of the Laplacian.
        limit: The scheme's stability limit; None where it has none.
        grows: Whether the equation itself, however it is solved, grows somewhere.
        largest_stable_step: The largest h that is surely stable; None where every h
            is, or is but for numbers beyond floating point.
        peak_gain: Largest |response| over the spectrum, relative to that at 0.
        peak_frequency: Where it is (its absolute value, if complex).
        gain_at_top: |response| at lambda_max, relative to that at 0.
    """

    order: float
    load: float | None
    limit: float | None
    grows: bool
    largest_stable_step: float | None
    peak_gain: float
    peak_frequency: float
    gain_at_top: float

    @property
    def is_stable(self) -> bool | None:
        """Whether steps without end would stay bounded; None where it is not known."""
        if self.load is None:
            return None
        return not self.grows and (self.limit is None or self.load <= self.limit)

    @property
    def amplifies(self) -> bool:
        """Whether some frequency gains on the constant signal."""
        return self.peak_gain > 1 + 1e-6


@dataclass(frozen=True)
class StabilityReport:
    """The stability of every order on one graph."""

    lambda_max: float
    step: float
    orders: tuple[OrderStability, ...]

    @property
    def is_stable(self) -> bool | None:
        """Whether every order is stable; None where it is not known."""
        found = [entry.is_stable for entry in self.orders]
        return None if None in found else all(found)

    @property
    def amplifies(self) -> bool:
        """Whether any order amplifies some frequency."""
        return any(entry.amplifies for entry in self.orders)

    def describe(self) -> list[str]:
        """One plain sentence for each order; equal ones are said once."""
        sentences = [_sentence(entry, self.step) for entry in self.orders]
        return list(dict.fromkeys(sentences))

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)


def stability_report(
    dynamics: Dynamics, operator: Bounds, schedule: Schedule, orders: Sequence[float]
) -> StabilityReport:
    """Compare the schedule with the scheme's stable region on the graph's spectrum.

    The spectrum of a directed graph is complex: the disc over [0, lambda_max] stands
    for it. Every scheme whose limit is z is stable on the disc over [0, z].
    """
    grid = _frequencies(operator, schedule)
    entries = tuple(_of_order(dynamics, grid, schedule, order) for order in orders)
    return StabilityReport(operator.lambda_max, schedule.step, entries)


def _of_order(
    dynamics: Dynamics, grid: Tensor, schedule: Schedule, order: float
) -> OrderStability:
    gains = frequency_response(dynamics, schedule, order, grid).abs()
    gains = gains / gains[0].clamp_min(torch.finfo(torch.float64).tiny)
    load = limit = step = None
    grows = False
    if dynamics.has_symbol:
        symbol = dynamics.symbol(grid)
        strongest = float(symbol.abs().max())
        real = symbol.real if symbol.is_complex() else symbol
        grows = bool((real > 1e-12).any())
        load = schedule.step**order * strongest
        if isinstance(schedule.scheme, SteppingScheme) and not grows:
            limit = schedule.scheme.stability_limit(order)
            step = _largest_step(limit, strongest, order)
    peak = int(gains.argmax())
    return OrderStability(
        order=order,
        load=load,
        limit=limit,
        grows=grows,
        largest_stable_step=step,
        peak_gain=float(gains[peak]),
        peak_frequency=float(grid[peak].abs()),
        gain_at_top=float(gains[-1]),
    )


def _frequencies(operator: Bounds, schedule: Schedule) -> Tensor:
    """From 0 to lambda_max: along the interval, or around the disc (half of it)."""
    # The exact solution mixes walks with non-negative weights: on the whole disc
    # nothing exceeds its value at 0, and the interval tells all.
    if operator.has_real_spectrum or schedule.scheme.needs_linear:
        return torch.linspace(0, operator.lambda_max, GRID, dtype=torch.float64)
    angles = np.linspace(0, np.pi, GRID)
    return torch.from_numpy(operator.lambda_max / 2 * (1 - np.exp(1j * angles)))


def _largest_step(limit: float, strongest: float, order: float) -> float | None:
    """Solve `h^order * strongest = limit`; small orders can put h beyond any float."""
    if strongest == 0:
        return None
    try:
        return float((limit / strongest) ** (1 / order))
    except OverflowError:
        return None


def _sentence(entry: OrderStability, step: float) -> str:
    start = f"order {entry.order:g}: "
    if entry.is_stable is None:
        text = start + "a state of several parts, solved as it is"
    elif entry.grows:
        text = start + "grows by itself, however it is solved"
    elif entry.is_stable:
        text = start + "stable"
    else:
        text = (
            f"{start}unstable at step {step:g} (stable up to "
            f"{entry.largest_stable_step:.3g})"
        )
    if entry.amplifies:
        return (
            f"{text}, amplifies frequency {entry.peak_frequency:.2f} by "
            f"{entry.peak_gain:.3g} against the constant signal"
        )
    return f"{text}, no frequency amplified (highest one times {entry.gain_at_top:.3g})"
