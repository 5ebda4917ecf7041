"""Checksums of arrays, by chunks, so that a damaged part can be named."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES = 2**24


class Checksums:
    """CRC-32 of every chunk of a stream of bytes."""

    def __init__(self, done: Sequence[int] = (), current: int = 0, size: int = 0):
        self.done, self.current, self.size = list(done), current, size

    def add(self, data: NDArray[Any]) -> list[int]:
        """Take in more bytes; return the numbers of the chunks that they complete."""
        completed = []
        left = as_bytes(data)
        while len(left):
            part = left[: CHUNK_BYTES - self.size]
            self.current = zlib.crc32(part, self.current)
            self.size += len(part)
            left = left[len(part) :]
            if self.size == CHUNK_BYTES:
                completed.append(self._close())
        return completed

    def finish(self) -> list[int]:
        """End the stream; return the number of the last chunk if one is open."""
        return [self._close()] if self.size else []

    def _close(self) -> int:
        self.done.append(self.current)
        self.current = self.size = 0
        return len(self.done) - 1


def as_bytes(values: NDArray[Any]) -> memoryview:
    """The memory of a contiguous array."""
    return values.reshape(-1).view(np.uint8).data
