"""What a worker process does: one task after the other, until its parent ends it."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from multiprocessing import connection, parent_process
from typing import Any, Never

from fdgcl.executors.base import Task
from fdgcl.executors.outcomes import Done, Failed

#: How long a task may take to remove what is half done.
GRACE_SECONDS = 5.0


def serve(pipe: connection.Connection[Any, Any]) -> None:
    """Do tasks until there are no more, or the parent is gone.

    Args:
        pipe: Tasks come in by it, pickled, and `Done` or `Failed` go out.
    """
    _follow_parent()
    while True:
        try:
            pipe.send_bytes(_perform(pipe.recv_bytes()))
        except (EOFError, BrokenPipeError):
            return


def _perform(pickled: bytes) -> bytes:
    try:
        task: Task[Any] = pickle.loads(pickled)
        # Only a task has something half done: without one, SIGTERM ends the process.
        signal.signal(signal.SIGTERM, _leave)
        try:
            return pickle.dumps(Done(task.run()))
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> bytes:
    trace = traceback.format_exc()
    try:
        pickled = pickle.dumps(Failed(error, trace))
        pickle.loads(pickled)
    except Exception:  # whatever its own class makes of being pickled
        text = f"{type(error).__name__}: {error}"
        return pickle.dumps(Failed(RuntimeError(text), trace))
    return pickled


def _follow_parent() -> None:
    """End with the parent, however that ends; signals of a terminal are its to answer.

    Ctrl-C was held back before this process was started (`without_interrupts`), and
    what is sent to the parent's process group does not come here either.
    """
    os.setpgid(0, 0)
    parent = parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _leave(*_: Any) -> Never:
    sys.exit(1)
