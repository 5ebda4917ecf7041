"""How long-running work reports its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

#: Called with the stage, what is done of it, and all there is.
Progress: TypeAlias = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""
