"""Ctrl-C at a moment when nothing is half done, and none that is lost."""

from __future__ import annotations

import signal
import sys
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


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back for the block, and for good from what it starts.

    Threads and processes inherit this: in a terminal Ctrl-C reaches every process, and
    only the one that started the others is to answer.
    """
    from multiprocessing import resource_tracker  # not for every command

    # Where the first new process starts this, it lifts the block for those that follow.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


#: Until a Ctrl-C that was lost is sent again: finalizers take less.
_SOON = 0.05


_came = False


def was_interrupted() -> bool:
    """Whether Ctrl-C came since `watch_interrupts`, whatever a library made of it."""
    return _came


def watch_interrupts() -> None:
    """Let no Ctrl-C of this process be lost from here on.

    Python cannot raise what comes up in a finalizer or in the callback of a weak
    reference: it reports that and goes on, also with a Ctrl-C that happens to arrive
    there. Such a one is sent again when the finalizer is over.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)
    report = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(_SOON, _interrupt_main)
            again.daemon = True
            again.start()
        else:
            report(lost)

    sys.unraisablehook = hook


def _note(number: int, frame: FrameType | None) -> None:
    global _came
    _came = True
    signal.default_int_handler(number, frame)


def _interrupt_main() -> None:
    main = threading.main_thread().ident
    assert main is not None
    # To that thread, so that it also wakes up from whatever it waits for.
    signal.pthread_kill(main, signal.SIGINT)
