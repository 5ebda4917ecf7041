"""Ctrl-C at a moment when nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether the user asked to stop."""

    requested = False

    def raise_if_requested(self) -> None:
        """Stop here, if the user asked to."""
        if self.requested:
            raise KeyboardInterrupt


@contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """Hold the first Ctrl-C back until the block asks; a second one acts at once.

    Signals belong to the main thread; in others nothing is deferred.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interrupt.requested:
            signal.default_int_handler(number, frame)
        interrupt.requested = True

    previous = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous)
