"""The most memory that a block of code adds, and giving back what is free."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from fdgcl._memory import give_back, resident_bytes

_SAMPLE_SECONDS = 0.002
# Names of limits in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


@contextmanager
def peak_memory(device: torch.device) -> Iterator[list[int]]:
    """Yield a list of one entry: the most memory that the block added, in bytes.

    On CUDA that is the allocator's peak. On a processor it is the resident set,
    sampled every 2 ms: what lives for less than that may be missed.
    """
    peak = [0]
    if device.type == "cuda":
        torch.cuda.init()  # type: ignore[no-untyped-call]  # no statistics before
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        yield peak
        peak[0] = torch.cuda.max_memory_allocated(device) - before
        return
    before, done = resident_bytes(), threading.Event()

    def watch() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            peak[0] = max(peak[0], resident_bytes() - before)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def give_back_free_memory() -> None:
    """Return what is not in use to the system, so that a later peak is all its own.

    Memory that a first measurement has freed stays with the process as long as the
    allocator keeps it; a second one would take it from there, and seem to need less.
    """
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    give_back()


@contextmanager
def only_new_garbage() -> Iterator[None]:
    """Let collections look at what is made inside the block alone, which is quick."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def freed_at_once() -> Iterator[None]:
    """Let large blocks go back to the system as soon as they are freed.

    glibc soon keeps freed blocks of up to 32 MiB for later, in pieces that need not
    fit what comes: the resident set then shows how it was cut up rather than what is
    in use. Giving back at once takes time, so that nothing should be timed inside;
    and it works only as long as no earlier work has left a heap full of holes.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt is None:
        yield
        return
    mallopt(_MMAP_THRESHOLD, 2**17)
    try:
        yield
    finally:
        # To where glibc would have moved its limits by itself before long.
        mallopt(_MMAP_THRESHOLD, 2**25)
        mallopt(_TRIM_THRESHOLD, 2**26)


def _of_glibc(name: str) -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)
    return found
