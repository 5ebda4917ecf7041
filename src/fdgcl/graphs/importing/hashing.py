"""Texts and numbers as 64 evenly spread bits, many at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl.graphs.schema.hashing import mixed

Hashes = NDArray[np.uint64]

_PERIOD = 64
# Texts are hashed in parts of about so many bytes; each takes 24 more on the way.
_PART_BYTES = 1 << 20


class TextHash:
    """A random function from texts to 64 bits, by a table for each place and byte.

    Two given texts meet with a chance of about 2 ** -64, whatever they are: the
    table is drawn from the seed. Texts of more than 64 bytes use it again, times an
    odd number that depends on how often.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._table = rng.integers(
            0, 2**64, size=_PERIOD * 256, dtype=np.uint64, endpoint=False
        )

    def __call__(self, texts: pa.Array) -> Hashes:
        """Hash texts, none of which is empty."""
        texts = texts.cast(pa.large_string())
        offsets, data = text_buffers(texts)
        found = np.empty(len(texts), np.uint64)
        first = 0
        while first < len(texts):
            limit = offsets[first] + _PART_BYTES
            last = int(np.searchsorted(offsets, limit, "right")) - 1
            last = min(max(last, first + 1), len(texts))
            found[first:last] = self._part(offsets[first : last + 1], data)
            first = last
        return found

    def _part(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> Hashes:
        starts = offsets[:-1] - offsets[0]
        lengths = np.diff(offsets)
        places = np.arange(offsets[-1] - offsets[0]) - np.repeat(starts, lengths)
        symbols = data[offsets[0] : offsets[-1]]
        values = self._table[(places % _PERIOD) * 256 + symbols]
        if int(lengths.max(initial=0)) > _PERIOD:
            values *= mixed(places // _PERIOD) | np.uint64(1)
        return np.asarray(np.add.reduceat(values, starts), np.uint64)


def text_buffers(texts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where each of some large strings starts and the last ends, and all bytes."""
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int64)
    places = places[texts.offset : texts.offset + len(texts) + 1]
    if data is None:
        return places, np.empty(0, np.uint8)
    return places, np.frombuffer(data, np.uint8)
