"""Right-hand sides on a graph, by name. They know nothing of solvers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fdgcl._checks import InputError, choose, nearest
from fdgcl.diffusion.dynamics.attention import AttentionGrand, NonlinearGrand
from fdgcl.diffusion.dynamics.base import (
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


def build_dynamics(
    name: str,
    options: Mapping[str, Any] | None = None,
    *,
    rate: float = 0.5,
    dim: int = 1,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Dynamics:
    """Make a dynamics by name, its options checked.

    Args:
        name: One of `DYNAMICS`.
        options: Its own options; unknown ones are named.
        rate: Factor in front of the right-hand side.
        dim: Columns of the features in training.
        seed: Of its initial parameters.
        dtype: Of its parameters.
    """
    kind = choose("dynamics", name, DYNAMICS)
    known = kind.options()
    for option in options or {}:
        if option not in known:
            takes = ", ".join(known) or "no options"
            message = (
                f"dynamics {name!r} has no option {option!r}"
                f"{nearest(option, known)} (it takes {takes})"
            )
            raise InputError(message)
    generator = torch.Generator().manual_seed(seed)
    return kind(rate=rate, dim=dim, generator=generator, dtype=dtype, **options or {})


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
]
