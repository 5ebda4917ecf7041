"""Stable hashes: the same on every machine, in every process and every version."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

HASH_COLUMNS = 32
_STEP = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def hashed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers, those that count too, over all 64 bits (SplitMix64)."""
    return mixed(numbers + _STEP)


def mixed(numbers: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers spread over all 64 bits, no two alike (the finaliser of SplitMix64)."""
    bits = numbers.astype(np.uint64)
    for shift, factor in _ROUNDS:
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits


def signed_hashes(words: Sequence[str]) -> NDArray[np.float32]:
    """Return a row of `HASH_COLUMNS` signs for each word, scaled to length 1.

    The signs are the bits of BLAKE2b (4 bytes, of the word in UTF-8), lowest bit of
    the first byte first: set is plus.
    """
    digests = b"".join(
        hashlib.blake2b(
            word.encode("utf-8", "surrogatepass"), digest_size=HASH_COLUMNS // 8
        ).digest()
        for word in words
    )
    bits = np.unpackbits(np.frombuffer(digests, np.uint8), bitorder="little")
    signs = bits.reshape(len(words), HASH_COLUMNS).astype(np.float32) * 2 - 1
    return np.asarray(signs / np.sqrt(np.float32(HASH_COLUMNS)), np.float32)
