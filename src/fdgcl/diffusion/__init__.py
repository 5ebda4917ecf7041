"""From features on a graph to diffused features Z(T)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor

from fdgcl._checks import InputError, check_order
from fdgcl.diffusion.dynamics import DYNAMICS, Dynamics, FixedLinearDynamics, Grand
from fdgcl.diffusion.mittag_leffler import mittag_leffler
from fdgcl.diffusion.polynomial import (
    PolynomialFilter,
    Progress,
    filter_with_gradient,
)
from fdgcl.diffusion.schedule import Schedule, Skip
from fdgcl.diffusion.solvers import SOLVERS
from fdgcl.diffusion.spectral import frequency_response
from fdgcl.diffusion.stepping import diffuse_stepped

Method = Literal["auto", "polynomial", "stepped"]


def diffuse(
    dynamics: Dynamics,
    x: Tensor,
    orders: Sequence[float],
    schedule: Schedule,
    *,
    method: Method = "auto",
    progress: Progress | None = None,
) -> list[Tensor]:
    """Diffuse features to the final time, once for each order.

    Args:
        dynamics: The right-hand side, on its graph.
        x: (nodes x columns) initial features.
        orders: Each in (0, 1].
        schedule: Time, step, solver, skip connections.
        method: `polynomial` shares one pass over the graph among all orders and keeps
            no history (fixed linear dynamics only); `stepped` runs the time loop, with
            gradients; `auto` takes the first where it can.
        progress: Called with (columns done, columns) by the polynomial method.

    Returns:
        `Z(T)` for every order.
    """
    for order in orders:
        check_order(order)
    _check_features(x, dynamics.operator.num_nodes)
    linear = isinstance(dynamics, FixedLinearDynamics)
    if schedule.scheme.needs_linear and not (linear and method != "stepped"):
        message = (
            f"solver {schedule.solver!r} has no steps: it needs fixed linear dynamics "
            f"and the polynomial method, got dynamics {dynamics.name!r} and method "
            f"{method!r}"
        )
        raise InputError(message)
    if method == "polynomial" and not linear:
        message = f"dynamics {dynamics.name!r} is not linear: it must be stepped"
        raise InputError(message)
    if isinstance(dynamics, FixedLinearDynamics) and method != "stepped":
        polynomial = PolynomialFilter.of(dynamics, schedule, orders)
        return polynomial.apply(x, progress=progress)
    return [diffuse_stepped(dynamics, x, order, schedule) for order in orders]


def _check_features(x: Tensor, nodes: int) -> None:
    if x.ndim != 2 or len(x) != nodes or not x.is_floating_point():
        message = (
            f"x must be a matrix of floating-point numbers with one row for each of "
            f"the {nodes:,} nodes, got {x.dtype} of shape {tuple(x.shape)}"
        )
        raise InputError(message)


__all__ = [
    "DYNAMICS",
    "SOLVERS",
    "Dynamics",
    "FixedLinearDynamics",
    "Grand",
    "PolynomialFilter",
    "Schedule",
    "Skip",
    "diffuse",
    "filter_with_gradient",
    "frequency_response",
    "mittag_leffler",
]
