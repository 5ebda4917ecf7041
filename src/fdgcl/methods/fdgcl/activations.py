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

#: The same in place, where the slope can be told from the result: gelu's cannot.
IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "elu": lambda x: functional.elu(x, inplace=True),
    "tanh": torch.tanh_,
    "linear": _linear,
}


def pull_back(activation: str, result: Tensor, gradient: Tensor) -> None:
    """Overwrite the result of an activation by the gradient before it.

    Args:
        activation: A key of `IN_PLACE`.
        result: What the activation gave.
        gradient: With respect to the result.
    """
    if activation == "relu":
        torch.ops.aten.threshold_backward.grad_input(
            gradient, result, 0, grad_input=result
        )
    elif activation == "tanh":
        torch.ops.aten.tanh_backward.grad_input(gradient, result, grad_input=result)
    elif activation == "elu":
        result.clamp_(max=0).add_(1).mul_(gradient)
    else:
        result.copy_(gradient)
