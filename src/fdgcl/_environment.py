"""Environment variables for the processes that a block starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set some variables while the block runs; then all are as they were before.

    Args:
        values: What to set.

    Example:
        >>> with environment({"FDGCL_EXAMPLE": "1"}):
        ...     os.environ["FDGCL_EXAMPLE"]
        '1'
        >>> "FDGCL_EXAMPLE" in os.environ
        False
    """
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
