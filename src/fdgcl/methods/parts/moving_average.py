"""A network whose weights are a moving average of another's."""

from __future__ import annotations

from typing import Generic, TypeVar, final

import torch
from torch import Tensor, nn

from fdgcl.methods.parts.schedules import cosine

N = TypeVar("N", bound=nn.Module)


@final
class MovingAverage(nn.Module, Generic[N]):
    """A network that no gradient reaches, and that follows an online one.

    Statistics of batch normalisation are its own: it has seen data too.

    Args:
        network: What it starts as; its weights are taken over.

    Attributes:
        network: The network.
        steps: How many times it has followed, saved with the weights.

    Example:
        >>> online, target = nn.Linear(1, 1), MovingAverage(nn.Linear(1, 1))
        >>> target.follow(online, 0.0)
        >>> torch.equal(target.network.weight, online.weight), int(target.steps)
        (True, 1)
    """

    def __init__(self, network: N) -> None:
        super().__init__()
        self.network = network
        self.network.requires_grad_(False)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.steps: Tensor

    @torch.no_grad()
    def follow(self, online: N, momentum: float) -> None:
        """Move all weights towards the online network's.

        Args:
            online: Of the same architecture.
            momentum: How much of its own weights is kept.
        """
        mine, theirs = self.network.parameters(), online.parameters()
        for weight, other in zip(mine, theirs, strict=True):
            weight.lerp_(other, 1 - momentum)
        self.steps += 1


def cosine_momentum(base: float, step: int, steps: int) -> float:
    """The momentum of a step: from the base to 1, where the target stands still.

    Example:
        >>> [round(cosine_momentum(0.9, step, 10), 3) for step in (0, 5, 10)]
        [0.9, 0.95, 1.0]
    """
    return 1 - (1 - base) * cosine(step, steps)
