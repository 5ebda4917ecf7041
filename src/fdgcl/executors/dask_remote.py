"""What is sent to Dask's workers: tasks in bytes, and functions by value.

A function inside a function is sent as code, not by its name, so that a worker without
fdgcl can say so, and a scheduler needs none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError, MissingExtraError
from fdgcl._version import __version__
from fdgcl.executors.base import Task

# How long a cluster may take to start its first worker.
FIRST_WORKER_SECONDS = 60


def distributed() -> Any:
    """The package, half of which has no types.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import distributed as package
    except ImportError:
        name = "distributed"
        raise MissingExtraError(name, "dask", "running tasks with Dask") from None
    return package


def performer() -> Callable[[bytes], Any]:
    """A function that does a pickled task; returns what came of it, or an error."""

    def perform(task: bytes) -> Any:
        import pickle

        from fdgcl._checks import InputError

        try:
            return pickle.loads(task).run()
        except InputError as error:
            # Raised, it would be tried again.
            return error

    return perform


def check_workers(client: Any, address: str, task: Task[Any]) -> None:
    """See that workers have this fdgcl, and what a task reads as it is here.

    Args:
        client: Of the cluster.
        address: Of its scheduler.
        task: One of those to run.

    Raises:
        InputError: There is no worker, or one that cannot do the task.
    """
    try:
        # A cluster that grows on demand starts a worker for this.
        client.submit(_nothing(), pure=False).result(timeout=FIRST_WORKER_SECONDS)
    except TimeoutError:
        message = (
            f"the Dask scheduler at {address} has had no worker for "
            f"{FIRST_WORKER_SECONDS} s: start some with `dask worker {address}`"
        )
        raise InputError(message) from None
    files = list(task.inputs)
    here = [_digest(file) for file in files]
    found = client.run(_looker(), files, on_error="return")
    for worker, answer in found.items():
        if isinstance(answer, dict):  # else it was lost just now
            _check(worker, answer, files, here)


def _check(worker: str, answer: dict[str, Any], files: list[str], here: Any) -> None:
    who = f"the Dask worker {worker} on {answer['host']}"
    if answer["version"] != __version__:
        has = "fdgcl " + answer["version"] if answer["version"] else "no fdgcl"
        has += f" ({answer['problem']})" if answer["problem"] else ""
        message = f"{who} has {has}: install fdgcl {__version__} there"
        raise InputError(message)
    for file, digest, expected in zip(files, answer["digests"], here, strict=True):
        if digest != expected:
            state = "does not see" if digest is None else "has another"
            message = (
                f"{who} {state} {file}: it must be in a folder that all "
                "workers share, at the same path"
            )
            raise InputError(message)
    if not answer["writable"]:
        message = f"{who} cannot write to {Path(files[-1]).parent}"
        raise InputError(message)


def _digest(file: str) -> str:
    return hashlib.blake2b(Path(file).read_bytes()).hexdigest()


def _nothing() -> Callable[[], None]:
    return lambda: None


def _looker() -> Callable[[list[str]], dict[str, Any]]:
    def look(files: list[str]) -> dict[str, Any]:
        import hashlib
        import os
        import socket
        from pathlib import Path

        try:
            from fdgcl._version import __version__

            version, problem = __version__, ""
        except ImportError as error:
            version, problem = "", str(error)
        digests: list[str | None] = []
        for file in files:
            try:
                digests.append(hashlib.blake2b(Path(file).read_bytes()).hexdigest())
            except OSError:
                digests.append(None)
        return {
            "host": socket.gethostname(),
            "version": version,
            "problem": problem,
            "digests": digests,
            "writable": all(os.access(Path(f).parent, os.W_OK) for f in files[-1:]),
        }

    return look
