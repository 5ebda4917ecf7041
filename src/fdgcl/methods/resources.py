"""What a training may use: memory, and the processes that share it."""

from __future__ import annotations

from dataclasses import dataclass, field

from fdgcl._memory import available_bytes, parse_size
from fdgcl.training.process_group import ProcessGroup, SingleProcess

#: Of the memory to spare, where no bound is given.
SHARE = 0.6


def allowed_bytes(memory: str | int | None, name: str = "memory") -> int:
    """A bound in bytes: as given, or a share of what this machine has to spare.

    Args:
        memory: A size such as `6GB`, a number of bytes, or None.
        name: What it is called in errors.

    Example:
        >>> allowed_bytes("6GB")
        6000000000
    """
    if memory is not None:
        return parse_size(memory, name)
    return int(SHARE * available_bytes())


@dataclass(frozen=True)
class Resources:
    """What a training may use.

    Attributes:
        memory: Bound on what this machine's processes hold together, in bytes, where
            the graph is in a store; None for a share of what there is to spare.
        group: Who train together.
        here: How many of them run on this machine; None for all.
    """

    memory: int | None = None
    group: ProcessGroup = field(default_factory=SingleProcess)
    here: int | None = None

    @classmethod
    def within(cls, memory: str | int | None) -> Resources:
        """This process alone, with a bound on its memory or none."""
        return cls(None if memory is None else allowed_bytes(memory))

    @property
    def bound(self) -> int:
        """The bound on memory, in bytes."""
        return allowed_bytes(self.memory)
