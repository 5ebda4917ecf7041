"""Call a function in a fresh interpreter, which nothing done here has touched.

Memory that an earlier measurement has freed would hide what a later one takes. A
worker of a run may have no children of multiprocessing's kind, hence a plain one.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
T = TypeVar("T")

_CODE = "from fdgcl.benchmark.fresh import serve; serve()"


class ChildError(RuntimeError):
    """The fresh interpreter ended without an answer."""


def in_fresh_process(
    function: Callable[P, T],
    threads: int | None,
    *arguments: P.args,
    **options: P.kwargs,
) -> T:
    """Call a function in a process of its own, which ends with this one.

    Args:
        function: Of a module, not of a script.
        threads: Threads of torch there; None for as many as it takes.
        arguments: Handed to the function, pickled.
        options: Likewise.

    Raises:
        ChildError: The process died, for lack of memory for example.
    """
    child = subprocess.Popen(
        [sys.executable, "-c", _CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        _send(child.stdin, (function, arguments, options, threads))
        answer = _receive(child.stdout)
    except (EOFError, BrokenPipeError):
        code = child.wait()
        message = f"the process that was to measure ended with exit code {code}"
        raise ChildError(message) from None
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
    if isinstance(answer, Exception):
        raise answer
    result: T = answer
    return result


def serve() -> None:
    """Answer one call, received through a pipe, in the fresh interpreter."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    questions = sys.stdin.buffer
    function, arguments, options, threads = _receive(questions)
    threading.Thread(target=_end_with_parent, args=(questions,), daemon=True).start()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        answer = function(*arguments, **options)
    except Exception as error:
        answer = error
    _send(answers, answer)


def _end_with_parent(questions: IO[bytes]) -> None:
    questions.read()  # nothing more comes: it returns when the parent is gone
    os._exit(1)


def _send(stream: IO[bytes], value: Any) -> None:
    pickle.dump(value, stream)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    return pickle.load(stream)
