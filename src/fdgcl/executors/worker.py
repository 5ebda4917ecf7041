"""What a worker process does beside its tasks: end when it is told to, cleanly.

Ctrl-C in a terminal reaches all of its processes; only the parent answers, which starts
the others with it held back (`without_interrupts`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from multiprocessing import connection
from typing import Any, Never

from fdgcl.executors.base import T, Task

# How long a task may take to clear away what is half done.
_GRACE_SECONDS = 5.0


def begin(life: connection.Connection[Any, Any]) -> None:
    """Prepare a new process.

    Args:
        life: A pipe on which nothing is sent: it closes when the parent ends, or when
            it wants this process to.
    """
    threading.Thread(target=_watch, args=(life,), daemon=True).start()


def perform(task: Task[T]) -> T:
    """Do a task; return what came of it."""
    try:
        # Only a task has something to clear away: without one, SIGTERM is the end.
        signal.signal(signal.SIGTERM, _leave)
        try:
            return task.run()
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    except SystemExit:
        # The pool would take it for a result; half-written files are gone by now.
        os._exit(1)


def _watch(life: connection.Connection[Any, Any]) -> None:
    connection.wait([life])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


def _leave(*_: Any) -> Never:
    sys.exit(1)
