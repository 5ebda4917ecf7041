"""Activations after the diffusion: by name, by import path, or one's own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from fdgcl._checks import InputError, choose
from fdgcl._parts import imported, is_path, options_of, path_of

Activation = Callable[[Tensor], Tensor]


def _linear(x: Tensor) -> Tensor:
    return x


def _half_relu(x: Tensor) -> Tensor:
    """Half of the columns as they are, the other half rectified.

    What is linear in the features and what is not are both there for the loss, which
    keeps columns from saying the same.
    """
    half = x.shape[-1] // 2
    return torch.cat([x[..., :half], torch.relu(x[..., half:])], -1)


ACTIVATIONS: dict[str, Activation] = {
    "half-relu": _half_relu,
    "relu": torch.relu,
    "elu": functional.elu,
    "gelu": functional.gelu,
    "tanh": torch.tanh,
    "linear": _linear,
}

#: The same in place, where the slope can be told from the result: gelu's cannot.
IN_PLACE: dict[str, Activation] = {
    "relu": torch.relu_,
    "elu": lambda x: functional.elu(x, inplace=True),
    "tanh": torch.tanh_,
    "linear": _linear,
}


def named_activation(given: object) -> str:
    """Turn an activation that is a function or a module into its name or import path.

    Raises:
        InputError: Its import path would not give it again.

    Example:
        >>> named_activation(torch.tanh), named_activation(torch.sigmoid)
        ('tanh', 'torch:sigmoid')
    """
    if isinstance(given, str) or not callable(given):
        return given  # type: ignore[return-value]  # which the check refuses
    for name, known in ACTIVATIONS.items():
        if known is given:
            return name
    if isinstance(given, nn.Module):
        options = options_of("activation", given)
        if options:
            message = (
                f"the activation {given!r} has options, and is made again without: "
                "write a function or a class of your own that needs none"
            )
            raise InputError(message)
        return path_of("activation", type(given))
    if not hasattr(given, "__qualname__"):
        message = f"activation must be a name, a function or a module, got {given!r}"
        raise InputError(message)
    return path_of("activation", given)


def build_activation(name: str) -> Activation:
    """Return the activation of a name, or what is at an import path.

    Args:
        name: A key of `ACTIVATIONS`, or `package.module:name` of a function, or of a
            class that is made without arguments.

    Raises:
        InputError: There is none, it is trained, or does not keep a matrix's shape.

    Example:
        >>> build_activation("torch:sigmoid")(torch.zeros(1))
        tensor([0.5000])
    """
    if not is_path(name):
        return choose("activation", name, ACTIVATIONS)
    found = imported("activation", name)
    trial = torch.linspace(-1, 1, 6).view(2, 3)
    try:
        made = found() if isinstance(found, type) else found
        result = made(trial)
    except Exception as error:
        message = f"the activation {name!r} cannot be applied to a matrix: {error}"
        raise InputError(message) from error
    like = isinstance(result, Tensor) and result.shape == trial.shape
    if not like or result.dtype != trial.dtype:
        message = f"the activation {name!r} must give a matrix like the one it gets"
        raise InputError(message)
    if isinstance(made, nn.Module) and any(True for _ in made.parameters()):
        message = f"the activation {name!r} has weights, and must have none"
        raise InputError(message)
    activation: Activation = made
    return activation


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
