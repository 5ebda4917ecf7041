"""From features on a graph to diffused features Z(T)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from torch import Tensor

from fdgcl._checks import InputError, check_order, choose
from fdgcl.diffusion.dynamics import DYNAMICS, Dynamics, Grand, build_dynamics
from fdgcl.diffusion.mittag_leffler import mittag_leffler
from fdgcl.diffusion.polynomial import (
    PolynomialFilter,
    Progress,
    filter_with_gradient,
)
from fdgcl.diffusion.schedule import Schedule, Skip
from fdgcl.diffusion.short_memory import short_memory_bound
from fdgcl.diffusion.solvers import SOLVERS
from fdgcl.diffusion.spectral import frequency_response
from fdgcl.diffusion.stepping import GRADIENTS, Gradient, diffuse_stepped
from fdgcl.operators.in_memory import InMemoryOperator

Method = Literal["auto", "polynomial", "stepped"]


def diffuse(
    dynamics: Dynamics,
    operator: InMemoryOperator,
    x: Tensor,
    orders: Sequence[float],
    schedule: Schedule,
    *,
    method: Method = "auto",
    gradient: Gradient = "autograd",
    progress: Progress | None = None,
) -> list[Tensor]:
    """Diffuse features to the final time, once for each order.

    Args:
        dynamics: The right-hand side.
        operator: The graph.
        x: (nodes x columns) initial features.
        orders: Each in (0, 1].
        schedule: Time, step, solver, skip connections.
        method: `polynomial` shares one pass over the graph among all orders and keeps
            no history (fixed linear dynamics only); `stepped` runs the time loop, with
            gradients; `auto` takes the first where it can.
        gradient: How the stepped method finds gradients.
        progress: Called with (columns done, columns) by the polynomial method.

    Returns:
        `Z(T)` for every order.
    """
    for order in orders:
        check_order(order)
    _check_features(x, operator.num_nodes)
    _check_width(x, dynamics)
    check_method(dynamics, schedule, method)
    if dynamics.is_fixed_linear and method != "stepped":
        polynomial = PolynomialFilter.of(dynamics, operator, schedule, orders)
        return polynomial.apply(x, progress=progress)
    return [
        diffuse_stepped(dynamics, operator, x, order, schedule, gradient)
        for order in orders
    ]


def check_method(dynamics: Dynamics, schedule: Schedule, method: Method) -> None:
    """Refuse a dynamics that cannot be solved in the way asked for."""
    choose("method", method, dict.fromkeys(get_args(Method)))
    scheme = schedule.scheme
    if scheme.needs_linear and (method == "stepped" or not dynamics.is_fixed_linear):
        asked = " and method 'stepped'" if method == "stepped" else ""
        message = (
            f"solver {scheme.name!r} has no steps: it needs a linear dynamics with "
            f"fixed weights, got dynamics {dynamics.name!r}{asked}"
        )
        raise InputError(message)
    if scheme.needs_linear and not dynamics.has_symbol:
        message = (
            f"solver {scheme.name!r} needs a dynamics that is a function of the "
            f"Laplacian, and {dynamics.name!r} with these options is not"
        )
        raise InputError(message)
    if method == "polynomial" and not dynamics.is_fixed_linear:
        message = (
            f"dynamics {dynamics.name!r} is not linear with fixed weights: it must be "
            "stepped"
        )
        raise InputError(message)


def _check_features(x: Tensor, nodes: int) -> None:
    if x.ndim != 2 or len(x) != nodes or not x.is_floating_point():
        message = (
            f"x must be a matrix of floating-point numbers with one row for each of "
            f"the {nodes:,} nodes, got {x.dtype} of shape {tuple(x.shape)}"
        )
        raise InputError(message)


def _check_width(x: Tensor, dynamics: Dynamics) -> None:
    """What is trained has as many columns as it was made for."""
    trained = any(parameter.requires_grad for parameter in dynamics.parameters())
    if trained and x.shape[1] != dynamics.dim:
        message = (
            f"x must have {dynamics.dim} columns, the dim that dynamics "
            f"{dynamics.name!r} was made with, got {x.shape[1]}"
        )
        raise InputError(message)


__all__ = [
    "DYNAMICS",
    "GRADIENTS",
    "SOLVERS",
    "Dynamics",
    "Gradient",
    "Grand",
    "PolynomialFilter",
    "Schedule",
    "Skip",
    "build_dynamics",
    "check_method",
    "diffuse",
    "diffuse_stepped",
    "filter_with_gradient",
    "frequency_response",
    "mittag_leffler",
    "short_memory_bound",
]
