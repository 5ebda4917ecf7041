"""The bound on memory that work on a store is given."""

from __future__ import annotations

# Of the memory to spare, where no bound is given.
_SHARE = 0.6


def memory_bound(memory: int | str | None) -> int:
    """The bound in bytes: as given, or 60 % of what this machine has to spare.

    >>> memory_bound("6GB")
    6000000000
    """
    from fdgcl._memory import available_bytes
    from fdgcl.planning.memory import parse_size

    if memory is not None:
        return parse_size(memory, "`memory`")
    return int(_SHARE * available_bytes())
