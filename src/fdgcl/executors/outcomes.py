"""What may come of a task in another process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeAlias

from fdgcl.executors.base import T


@dataclass(frozen=True)
class Done(Generic[T]):
    """A task was done, and this came of it.

    Example:
        >>> Done(49).value
        49
    """

    value: T


@dataclass(frozen=True)
class Failed:
    """A task raised an exception.

    Attributes:
        error: The exception.
        trace: Where it came from, in the process that ran the task.

    Example:
        >>> Failed(ValueError("odd"), "Traceback ...").error
        ValueError('odd')
    """

    error: Exception
    trace: str


@dataclass(frozen=True)
class Died:
    """The process that was at a task died.

    Attributes:
        how: Of what, in words.

    Example:
        >>> Died("the process ended with exit code 3").how
        'the process ended with exit code 3'
    """

    how: str


Outcome: TypeAlias = Done[Any] | Failed | Died
