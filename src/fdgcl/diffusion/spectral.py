"""The diffusion as a function of frequency, and as coefficients of a polynomial.

A fixed linear dynamics, solved by an explicit scheme, is a polynomial of the graph:
`Z(T) = p(L) Z(0)`, skip connections included. No formula of any scheme is written a
second time to get p: *the same solver* runs on plain numbers, one for each frequency,
in float64. Coefficients are then found by interpolation at nodes that are well
conditioned for the spectrum at hand:

- real spectrum (symmetric graph): polynomials orthogonal on the graph's own spectral
  density or, where that is not to be had, Chebyshev terms on [0, lambda_max];
- otherwise the spectrum of A fills a unit disc, where plain powers of A are the
  well-conditioned basis and the coefficients are a Fourier transform on the circle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl._checks import InputError, check_order
from fdgcl.diffusion.dynamics import Dynamics, Frequencies
from fdgcl.diffusion.mittag_leffler import mittag_leffler, mittag_leffler_taylor
from fdgcl.diffusion.schedule import Schedule
from fdgcl.diffusion.solvers import SteppingScheme
from fdgcl.diffusion.stepping import run_segments
from fdgcl.operators.lanczos import Tridiagonal

EXACT_TOLERANCE = 1e-12
EXACT_MAX_TERMS = 4096
EXACT_LOST_MASS = 1e-10


def frequency_response(
    dynamics: Dynamics,
    schedule: Schedule,
    order: float,
    frequency: Tensor,
) -> Tensor:
    """Return p at the given frequencies: what the diffusion multiplies each by.

    Args:
        dynamics: A fixed linear dynamics.
        schedule: Time, step, solver, skip connections.
        order: In (0, 1].
        frequency: Eigenvalues of `L = I - A`, float64 or complex128.

    Returns:
        The response, in the shape and dtype of `frequency`.
    """
    check_order(order)
    if not dynamics.is_fixed_linear:
        message = f"dynamics {dynamics.name!r} is not linear: no frequency response"
        raise InputError(message)
    if isinstance(schedule.scheme, SteppingScheme):
        flow = dynamics.start(Frequencies(frequency), torch.ones_like(frequency))
        return flow.readout(run_segments(flow, order, schedule))
    if not dynamics.has_symbol:
        raise InputError(_no_exact_solution(dynamics))
    decay = -dynamics.symbol(frequency).numpy()
    if np.iscomplexobj(decay):
        message = "the exact solver has no response at complex frequencies"
        raise InputError(message)
    if np.any(decay < -1e-12):
        message = (
            f"the exact solver needs a dynamics in which nothing grows, and this "
            f"{dynamics.name!r} grows at some frequencies; choose a stepping solver"
        )
        raise InputError(message)
    decay = np.maximum(decay, 0.0)
    segment_time = schedule.time / max(schedule.segments, 1)
    once = torch.from_numpy(mittag_leffler(order, decay * segment_time**order))
    return _repeat_with_skips(once, schedule.segments)


def _no_exact_solution(dynamics: Dynamics) -> str:
    return (
        f"the exact solver needs a dynamics that is a function of the Laplacian, and "
        f"{dynamics.name!r} with these options is not; choose a stepping solver"
    )


def _repeat_with_skips(once: Tensor, segments: int) -> Tensor:
    """The response of several segments from that of one."""
    total = torch.ones_like(once)
    for _ in range(max(segments, 1)):
        total = total * once + (1.0 if segments else 0.0)
    return total


def chebyshev_coefficients(
    dynamics: Dynamics, schedule: Schedule, orders: Sequence[float], lambda_max: float
) -> NDArray[np.float64]:
    """Coefficients (orders x terms) of T_k(2 L / lambda_max - I)."""
    degree = schedule.products(dynamics.products)

    def at(count: int) -> NDArray[np.float64]:
        # (1 + cos) / 2 as a squared sine, which keeps its digits near frequency 0.
        half_angles = np.pi * (np.arange(count)[::-1] + 0.5) / (2 * count)
        nodes = torch.from_numpy(lambda_max * np.sin(half_angles) ** 2)
        from scipy.fft import dct  # loaded here, as few programs get this far

        values = [frequency_response(dynamics, schedule, a, nodes) for a in orders]
        coefficients = dct(torch.stack(values).numpy(), type=2) / count
        coefficients[:, 0] /= 2
        return np.asarray(coefficients)

    if degree is not None:
        return at(degree + 1)
    # Mittag-Leffler is entire: the coefficients fall off faster than any geometric
    # series, and doubling stops as soon as the tail is rounding error. Late in time
    # all is over but at frequency 0, which no node touches: it is checked beside.
    zero = torch.zeros(1, dtype=torch.float64)
    ends = [float(frequency_response(dynamics, schedule, a, zero)) for a in orders]
    count = 16
    while count <= 2 * EXACT_MAX_TERMS:
        coefficients = at(count)
        found = coefficients @ (-1.0) ** np.arange(count)
        kept = _significant(coefficients)
        if kept <= count // 2 and np.allclose(found, ends, rtol=1e-9, atol=0):
            return coefficients[:, :kept]
        count *= 2
    message = (
        f"the exact solution at time {schedule.time:g} needs more than "
        f"{EXACT_MAX_TERMS} products with the graph; choose a smaller time or rate"
    )
    raise InputError(message)


def orthogonal_coefficients(
    dynamics: Dynamics,
    schedule: Schedule,
    orders: Sequence[float],
    density: Tridiagonal,
) -> NDArray[np.float64]:
    """Coefficients (orders x terms) of polynomials orthonormal on a spectral density.

    Those of p are the first column of p(J), J being the density's tridiagonal matrix
    with as many rows as p has terms: each polynomial takes the first unit vector to
    the next one in turn.
    """
    degree = schedule.products(dynamics.products)
    assert degree is not None
    matrix = np.diag(density.diagonal[: degree + 1])
    beside = np.arange(degree)
    matrix[beside, beside + 1] = matrix[beside + 1, beside] = density.beside[:degree]
    values, vectors = np.linalg.eigh(matrix)
    frequency = torch.from_numpy(1 - values)
    rows = [frequency_response(dynamics, schedule, a, frequency) for a in orders]
    return np.asarray((torch.stack(rows).numpy() * vectors[0]) @ vectors.T)


def disc_coefficients(
    dynamics: Dynamics, schedule: Schedule, orders: Sequence[float]
) -> NDArray[np.float64]:
    """Coefficients (orders x terms) of the powers of A, for a spectrum in the disc."""
    degree = schedule.products(dynamics.products)
    if degree is None:
        return _disc_coefficients_exact(dynamics, schedule, orders)
    count = degree + 1
    circle = np.exp(2j * np.pi * np.arange(count) / count)
    nodes = torch.from_numpy(1 - circle)
    values = [frequency_response(dynamics, schedule, a, nodes) for a in orders]
    return np.asarray(np.fft.fft(torch.stack(values).numpy(), axis=1).real / count)


def _disc_coefficients_exact(
    dynamics: Dynamics, schedule: Schedule, orders: Sequence[float]
) -> NDArray[np.float64]:
    if not dynamics.has_symbol:
        raise InputError(_no_exact_solution(dynamics))
    ends = torch.tensor([0.0, 1.0], dtype=torch.float64)
    at_zero, at_one = dynamics.symbol(ends).tolist()
    if dynamics.products != 1 or at_zero != 0:
        message = (
            f"the exact solver on a directed graph needs plain diffusion, "
            f"not {dynamics.name!r}"
        )
        raise InputError(message)
    segment_time = schedule.time / max(schedule.segments, 1)
    rows = [_exact_row(-at_one * segment_time**a, a, schedule) for a in orders]
    coefficients = np.zeros((len(rows), max(map(len, rows))))
    for row, values in zip(coefficients, rows, strict=True):
        row[: len(values)] = values
    return coefficients


def _exact_row(scale: float, order: float, schedule: Schedule) -> NDArray[np.float64]:
    # The mean number of terms is at least the scale.
    reachable = scale < EXACT_MAX_TERMS
    once = mittag_leffler_taylor(order, scale, EXACT_MAX_TERMS if reachable else 1)
    once = once[: _significant(once[None, :])]
    # Non-negative coefficients: what is left out of their sum bounds the error
    # wherever the spectrum lies in the disc.
    if 1 - once.sum() > EXACT_LOST_MASS:
        message = (
            f"the exact solution of order {order:g} at time {schedule.time:g} is out "
            "of reach on a directed graph; choose a smaller time or rate, or a "
            "stepping solver"
        )
        raise InputError(message)
    total = np.ones(1)
    for _ in range(max(schedule.segments, 1)):
        total = np.convolve(total, once)
        total[0] += 1.0 if schedule.segments else 0.0
    return total


def _significant(coefficients: NDArray[np.float64]) -> int:
    """How many leading columns hold all but rounding error of the sum."""
    sizes = np.abs(coefficients).max(axis=0)
    tails = np.cumsum(sizes[::-1])[::-1]
    return max(1, int(np.count_nonzero(tails > EXACT_TOLERANCE * math.fsum(sizes))))
