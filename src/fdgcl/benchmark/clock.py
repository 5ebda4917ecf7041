"""Moments on a processor or a GPU, and the seconds between them."""

from __future__ import annotations

import time
from itertools import pairwise

import torch


def now(device: torch.device) -> float:
    """The time, once all that was asked of the device is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


class Marks:
    """Moments marked without a halt: on CUDA by events in the stream of work."""

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._times: list[float] = []
        self._events: list[torch.cuda.Event] = []

    def mark(self) -> None:
        """Remember this moment."""
        if not self._on_gpu:
            self._times.append(time.perf_counter())
            return
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        self._events.append(event)

    def intervals(self) -> list[float]:
        """Seconds from each mark to the next."""
        if not self._on_gpu:
            return [b - a for a, b in pairwise(self._times)]
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1e3 for a, b in pairwise(self._events)]


class Parts:
    """Seconds of the parts of some work, one after the other."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._last = now(device)
        self.seconds: dict[str, float] = {}

    def end(self, name: str) -> None:
        """The part of this name ends here; the next begins."""
        there = now(self._device)
        self.seconds[name] = there - self._last
        self._last = there
