"""Ctrl-C and SIGTERM: acted on when nothing is half done, and never lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

#: Signals that ask a process to end, beside Ctrl-C: of batch systems and containers,
#: and of a terminal that is closed.
_REQUESTS = (signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], None]


class Interrupt:
    """Whether someone asked to stop."""

    requested = False


@contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """Hold back signals that ask to stop until the block checks for them.

    A second Ctrl-C acts at once. A second SIGTERM does not: to end at once there is
    SIGKILL, and several supervisors of a process may send one SIGTERM each.

    Signals belong to the main thread; in others nothing is deferred.
    """
    interrupt = Interrupt()

    def note(number: int, frame: FrameType | None) -> None:
        _remember(number)
        if interrupt.requested and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        interrupt.requested = True

    with _handled((signal.SIGINT, *_watched()), note):
        yield interrupt


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Hold back requests to stop during the block, and Ctrl-C from all that it starts.

    Threads and processes inherit this: in a terminal Ctrl-C reaches every process, and
    only the one that started the others is to answer. SIGTERM they get as usual.
    """
    from multiprocessing import resource_tracker  # not for every command

    # Where the first new process starts this, it lifts the block for those that follow.
    resource_tracker.ensure_running()
    came: list[int] = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        # Another thread, in which it is not blocked, may be the one that gets Ctrl-C.
        with _handled(
            (signal.SIGINT, *_watched()), lambda number, _: came.append(number)
        ):
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _handled(numbers: tuple[int, ...], handler: Handler) -> Iterator[None]:
    """Let signals be handled so while the block runs, in the main thread."""
    with ExitStack() as after:
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                after.callback(signal.signal, number, signal.signal(number, handler))
        yield


def _watched() -> tuple[int, ...]:
    """Those of the signals beside Ctrl-C that `watch_interrupts` made requests of."""
    return tuple(
        number
        for number in _REQUESTS
        if callable(signal.getsignal(number)) and _installed
    )


#: Until a Ctrl-C that was lost is sent again: finalizers take less.
_SOON = 0.05

_installed = False
_came: int | None = None


def interrupted_by() -> signal.Signals | None:
    """The signal that came since `watch_interrupts`, whatever a library made of it."""
    return None if _came is None else signal.Signals(_came)


def watch_interrupts() -> None:
    """See that no Ctrl-C is lost from here on, and treat SIGTERM like one.

    Python cannot raise what comes up in a finalizer or in the callback of a weak
    reference: it reports that and goes on, also with a Ctrl-C that happens to arrive
    there. Such a Ctrl-C is sent again when the finalizer is over.
    """
    global _installed
    _installed = True
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note)
    for number in _REQUESTS:
        # The parent process may have had it ignored, as nohup does.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _note)
    report = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            again = threading.Timer(_SOON, _interrupt_main)
            again.daemon = True
            again.start()
        else:
            report(lost)

    sys.unraisablehook = hook


def end_at_once() -> None:
    """Let signals that ask to stop end the process: there is nothing left to keep."""
    for number in (signal.SIGINT, *_REQUESTS):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def _note(number: int, frame: FrameType | None) -> None:
    _remember(number)
    signal.default_int_handler(number, frame)


def _remember(number: int) -> None:
    global _came
    if _installed:  # elsewhere a process may go on after it
        _came = number


def _interrupt_main() -> None:
    main = threading.main_thread().ident
    assert main is not None
    # To that thread, so that it also wakes up from whatever it waits for.
    signal.pthread_kill(main, _came or signal.SIGINT)
