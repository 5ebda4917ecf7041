"""Activations after the diffusion, by name."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional


def _linear(x: Tensor) -> Tensor:
    return x


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "elu": functional.elu,
    "gelu": functional.gelu,
    "tanh": torch.tanh,
    "linear": _linear,
}
