"""A graph's spectrum, and what the diffusion does to each frequency of it.

Up to a few thousand nodes every eigenvalue is computed. Beyond that the density comes
from Chebyshev moments of random vectors (the kernel polynomial method: Weisse et al.,
The kernel polynomial method, 2006), smoothed by Jackson's kernel, which keeps it
non-negative; the share within a bin is then a sum in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.diffusion import Dynamics, Schedule, frequency_response
from fdgcl.diffusion.stability import StabilityReport
from fdgcl.operators.base import Operator
from fdgcl.operators.in_memory import InMemoryOperator, build_operator
from fdgcl.report.page import Figure, Series
from fdgcl.report.palette import QUIET

EXACT_NODES = 3000
BINS = 60
MOMENTS = 256
VECTORS = 8
GRID = 401
TALL = 20.0  # a gain above which the axis is logarithmic

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Density:
    """How the eigenvalues of `L = I - A` spread over [0, lambda_max].

    Attributes:
        edges: (bins + 1,) where bins begin and end.
        shares: (bins,) the share of the eigenvalues in each; they sum to 1.
        exact: Whether all eigenvalues were computed, or their density estimated.
    """

    edges: Floats
    shares: Floats
    exact: bool


def spectral_density(
    operator: Operator,
    *,
    bins: int = BINS,
    exact_nodes: int = EXACT_NODES,
) -> Density:
    """Count or estimate the eigenvalues of the Laplacian, bin by bin.

    Args:
        operator: The graph's operator; its spectrum must be real.
        bins: Number of equal bins from 0 to lambda_max.
        exact_nodes: Up to so many nodes every eigenvalue is computed.

    Raises:
        InputError: The graph is directed: its eigenvalues are complex.
    """
    if not operator.has_real_spectrum:
        message = "the eigenvalues of a directed graph are complex: it has no density"
        raise InputError(message)
    edges = np.linspace(0.0, _top(operator), bins + 1)
    exact = operator.num_nodes <= exact_nodes
    shares = _counted(operator, edges) if exact else _estimated(operator, edges)
    return Density(edges, shares, exact)


def any_graph() -> InMemoryOperator:
    """A graph whose frequencies reach as far as any graph's, to 2."""
    pair = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    return build_operator(pair, self_loops=0.0)


def filter_figure(
    dynamics: Dynamics,
    schedule: Schedule,
    report: StabilityReport,
    density: Density | None,
    caption: str,
) -> Figure:
    """Each order's response over the spectrum, the exact solution's dashed beside it.

    Args:
        dynamics: The right-hand side, linear and fixed.
        schedule: Time, step, solver, skip connections.
        report: What is known of the orders' stability on the graph.
        density: The spectrum to draw behind; None for none.
        caption: Says what spectrum this is.
    """
    top = max(report.lambda_max, 1e-6)
    grid = torch.linspace(0, top, GRID, dtype=torch.float64)
    exact = replace(schedule, solver="exact", window=None)
    curves = []
    for number, entry in enumerate(report.orders):
        order = entry.order
        curves.append((f"order {order:g}", number, False, schedule, order))
        solvable = dynamics.has_symbol and not entry.grows
        if schedule.solver != "exact" and solvable:
            name = f"order {order:g}, exact solution"
            curves.append((name, number, True, exact, order))
    gains = [_gain(dynamics, plan, order, grid) for *_, plan, order in curves]
    tall = max(float(np.abs(gain).max()) for gain in gains) > TALL
    series = [
        Series(
            name,
            grid.tolist(),
            (np.abs(gain) if tall else gain).tolist(),
            dashed=dashed,
            color=number,
        )
        for (name, number, dashed, *_), gain in zip(curves, gains, strict=True)
    ]
    if density is not None:
        series.append(_histogram(density))
    gain_label = "|gain|" if tall else "gain"
    return Figure(
        "frequencies",
        "What the diffusion does to each frequency",
        series,
        x_label="frequency: eigenvalue of the Laplacian",
        y_label=f"{gain_label} (constant signal: 1)",
        secondary_label="" if density is None else "share of the eigenvalues",
        caption=caption,
        log_y=tall,
    )


def _gain(
    dynamics: Dynamics, schedule: Schedule, order: float, grid: torch.Tensor
) -> Floats:
    response = frequency_response(dynamics, schedule, order, grid).numpy()
    return np.asarray(response / response[0])


def _histogram(density: Density) -> Series:
    shares = density.shares.tolist()
    return Series(
        "eigenvalues of the graph",
        density.edges.tolist(),
        [*shares, shares[-1]],
        mark="step",
        color=QUIET,
        secondary=True,
        filled=True,
    )


def _top(operator: Operator) -> float:
    return max(operator.lambda_max, 1e-6)


def _counted(operator: Operator, edges: Floats) -> Floats:
    matrix = _product(operator, np.eye(operator.num_nodes))
    found = np.clip(1 - np.linalg.eigvalsh(matrix), edges[0], edges[-1])
    return np.asarray(np.histogram(found, edges)[0] / len(found))


def _estimated(operator: Operator, edges: Floats) -> Floats:
    top = edges[-1]
    moments = _moments(operator, top) * _jackson(MOMENTS)
    angles = np.arccos(np.clip(2 * edges / top - 1, -1, 1))
    order = np.arange(1, MOMENTS)
    waves = np.sin(np.outer(angles, order)) / order
    below = (moments[0] * (np.pi - angles) - 2 * waves @ moments[1:]) / np.pi
    return np.asarray(np.diff(below))


def _moments(operator: Operator, top: float) -> Floats:
    """Means of `v' T_k(B) v / n` over random signs v, `B = 2 L / top - 1`."""
    nodes = operator.num_nodes
    signs = np.random.default_rng(0).integers(0, 2, (nodes, VECTORS))
    start = (2 * signs - 1).astype(np.float64)

    def apply(block: Floats) -> Floats:
        return np.asarray((2 / top - 1) * block - (2 / top) * _product(operator, block))

    previous, current = start, apply(start)
    moments = np.zeros(MOMENTS)
    moments[0], moments[1] = 1.0, _mean_product(previous, current)
    # T_2k = 2 T_k T_k - T_0: each product with the graph gives two moments.
    for k in range(1, MOMENTS // 2):
        following = np.asarray(2 * apply(current) - previous)
        moments[2 * k] = 2 * _mean_product(current, current) - moments[0]
        moments[2 * k + 1] = 2 * _mean_product(following, current) - moments[1]
        previous, current = current, following
    return moments


def _product(operator: Operator, block: Floats) -> Floats:
    """The symmetric form of A times columns."""
    found = np.empty_like(block)

    def on_block(start: int, stop: int, rows: torch.Tensor) -> None:
        found[start:stop] = rows.numpy()

    operator.each_block(torch.from_numpy(block), on_block)
    return found


def _mean_product(a: Floats, b: Floats) -> float:
    return float(np.einsum("ij,ij->", a, b)) / a.size


def _jackson(count: int) -> Floats:
    k = np.arange(count)
    step = np.pi / (count + 1)
    fading = (count - k + 1) * np.cos(k * step) + np.sin(k * step) / np.tan(step)
    return np.asarray(fading / (count + 1))
