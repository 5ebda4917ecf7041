"""What a training may use: memory, and the processes that share it."""

from __future__ import annotations

from dataclasses import dataclass, field

from fdgcl._memory import allowed_bytes
from fdgcl.training.process_group import ProcessGroup, SingleProcess


@dataclass(frozen=True)
class Resources:
    """What a training may use.

    Attributes:
        memory: Bound on what this machine's processes hold together, in bytes; None
            for a share of what there is to spare.
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
