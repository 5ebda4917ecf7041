"""Right-hand sides on a graph, by name. They know nothing of solvers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fdgcl._checks import InputError
from fdgcl._parts import class_of, made, named
from fdgcl.diffusion.dynamics.attention import AttentionGrand, NonlinearGrand
from fdgcl.diffusion.dynamics.base import (
    COMMON_ARGUMENTS,
    DEFAULT_RATE,
    Dynamics,
    Flow,
    Frequencies,
    Gathering,
    RightHandSide,
)
from fdgcl.diffusion.dynamics.cde import Cde
from fdgcl.diffusion.dynamics.grand import Grand
from fdgcl.diffusion.dynamics.graphcon import GraphCon
from fdgcl.diffusion.dynamics.gread import Gread

DYNAMICS: dict[str, type[Dynamics]] = {
    kind.name: kind
    for kind in (Grand, AttentionGrand, NonlinearGrand, GraphCon, Cde, Gread)
}


def named_dynamics(
    given: object, options: object = None
) -> tuple[Any, dict[str, Any] | None]:
    """Turn a dynamics, an object or a name, into its name and options.

    A model makes dynamics anew, one for each view, by its own rate, width and seed.

    Raises:
        InputError: An object cannot be made again from text, or has a rate of its own.

    Example:
        >>> named_dynamics(Gread(reaction="fisher", nu=0.5))
        ('gread', {'reaction': 'fisher', 'nu': 0.5})
    """
    if isinstance(given, Dynamics) and given.rate != DEFAULT_RATE:
        message = (
            f"the rate is a setting of the model: give rate={given.rate:g} to it, not "
            f"to the dynamics {given!r}"
        )
        raise InputError(message)
    return named("dynamics", given, options, DYNAMICS, Dynamics, COMMON_ARGUMENTS)


def build_dynamics(
    name: str,
    options: Mapping[str, Any] | None = None,
    *,
    rate: float = DEFAULT_RATE,
    dim: int = 1,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Dynamics:
    """Make a dynamics by name, its options checked.

    Args:
        name: One of `DYNAMICS`, or the import path of a class: `package.module:Class`.
        options: Its own options; unknown ones are named.
        rate: Factor in front of the right-hand side.
        dim: Columns of the features in training.
        seed: Of its initial parameters.
        dtype: Of its parameters.

    Raises:
        InputError: The name or an option is unknown, or a value is not allowed.

    Example:
        >>> build_dynamics("cde", {"velocity": "relu"})
        Cde(velocity='relu')
    """
    kind = class_of("dynamics", name, DYNAMICS, Dynamics)
    generator = torch.Generator().manual_seed(seed)
    common = {"rate": rate, "dim": dim, "generator": generator, "dtype": dtype}
    return made("dynamics", kind, options or {}, name, common)


__all__ = [
    "DYNAMICS",
    "AttentionGrand",
    "Cde",
    "Dynamics",
    "Flow",
    "Frequencies",
    "Gathering",
    "Grand",
    "GraphCon",
    "Gread",
    "NonlinearGrand",
    "RightHandSide",
    "build_dynamics",
    "named_dynamics",
]
