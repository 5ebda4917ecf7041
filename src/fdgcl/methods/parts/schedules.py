"""What changes from step to step, as functions of the step; steps count from 0."""

from __future__ import annotations

import math


def cosine(step: int, steps: int) -> float:
    """From 1 at step 0 to 0 at the end, along half a wave.

    Args:
        step: Which one, of 0 to `steps`.
        steps: How many there are in all.

    Example:
        >>> cosine(0, 10), cosine(5, 10), cosine(10, 10)
        (1.0, 0.5, 0.0)
    """
    return (1 + math.cos(math.pi * step / steps)) / 2


def warm_up_cosine(step: int, warm_up: int, steps: int) -> float:
    """From 0 in a straight line to 1, then by `cosine` to 0.

    Args:
        step: Which one, of 0 to `steps`.
        warm_up: The step that has 1.
        steps: How many there are in all.

    Example:
        >>> [warm_up_cosine(step, 2, 6) for step in (0, 1, 2, 4, 6)]
        [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    if step < warm_up:
        return step / warm_up
    return cosine(step - warm_up, steps - warm_up)
