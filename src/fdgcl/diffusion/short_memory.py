"""How far a memory window can lead away from the full memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError, check_nonnegative, check_order
from fdgcl.diffusion.recurrence import Recurrence
from fdgcl.diffusion.schedule import Schedule
from fdgcl.diffusion.solvers import SteppingScheme, Weights


def short_memory_bound(
    schedule: Schedule, order: float, lipschitz: float, size: float
) -> float:
    r"""Bound `|y - y~|` at the final time, y with all its memory, y~ with the window.

    Both run the same scheme, with weights w and w~ of a step. Subtract the two steps
    and write e_j for `|y_j - y~_j|`:

    - kept right-hand sides (`predictor`, `corrector`):
      `e_{k+1} <= e_0 + sum_j |w~_j| L e_j + sum_j |w_j - w~_j| |F(y_j)|`;
      the corrector does so twice, its prediction's error entering as `|slope| L`;
    - kept states (`l1`, `gl`): the weights of a step sum to one, with a window and
      without, so that y_0 may be subtracted from every state:
      `e_{k+1} <= |initial| e_0 + sum_j |w~_j| e_j + |slope| L e_k
      + sum_j |w_j - w~_j| |y_j - y_0|`. What `gl` drops goes to y_0 and costs once;
      `l1` lays it on the oldest state kept and pays twice.

    The bound is these recursions, run with equality on numbers. The error grows with
    time as L lets it: like `E_order(L t^order)`, for a dissipative F far too much.

    Args:
        schedule: Time, step, solver, skip connections and the `window`.
        order: In (0, 1].
        lipschitz: L, such that `|F(t, y) - F(t, z)| <= L |y - z|`.
        size: For `predictor` and `corrector` a bound on `|F(t, y)|`, for `l1` and `gl`
            one on `|y - y_0|`, y_0 being the state that the segment starts from; both
            along the run with all its memory.

    Returns:
        The bound, in the norm that `lipschitz` and `size` are meant in.
    """
    check_order(order)
    check_nonnegative("lipschitz", lipschitz)
    check_nonnegative("size", size)
    scheme = schedule.scheme
    if not isinstance(scheme, SteppingScheme):
        message = f"solver {scheme.name!r} takes no steps and has no memory window"
        raise InputError(message)
    steps = schedule.steps_per_segment
    full = Recurrence(scheme, order, schedule.step, steps)
    short = Recurrence(scheme, order, schedule.step, steps, schedule.window)
    error = 0.0
    for _ in range(max(schedule.segments, 1)):
        # Adding the initial features after a segment is exact.
        error = _of_segment(full, short, error, lipschitz, size)
    return error


def _of_segment(
    full: Recurrence, short: Recurrence, start: float, lipschitz: float, size: float
) -> float:
    errors = np.full(1, start)
    for k in range(full.steps):
        pairs = [(full.predictions[k], short.predictions[k])]
        if full.corrections:
            pairs.append((full.corrections[k], short.corrections[k]))
        ahead = float(errors[k])
        for complete, kept in pairs:
            ahead = _of_update(complete, kept, errors, ahead, short, lipschitz, size)
        errors = np.append(errors, ahead)
    return float(errors[-1])


def _of_update(
    complete: Weights,
    kept: Weights,
    errors: NDArray[np.float64],
    at_slope: float,
    recurrence: Recurrence,
    lipschitz: float,
    size: float,
) -> float:
    """One update; `at_slope` is the error where its last F is taken."""
    entries = len(errors)
    all_weights, weights = (_on_all(part.past, entries) for part in (complete, kept))
    dropped = np.abs(all_weights - weights)
    keeps_states = recurrence.scheme.keeps == "state"
    if keeps_states:
        dropped[0] = 0.0  # y_0 - y_0
    carried = np.abs(weights) @ errors * (1.0 if keeps_states else lipschitz)
    total = abs(kept.initial) * errors[0] + abs(kept.newest) * errors[-1]
    total += carried + abs(kept.slope) * lipschitz * at_slope + dropped.sum() * size
    return float(total)


def _on_all(past: NDArray[np.float64], entries: int) -> NDArray[np.float64]:
    """The weights of all entries of the history, zeros before the window."""
    padded: NDArray[np.float64] = np.zeros(entries)
    padded[entries - len(past) :] = past
    return padded
