"""What a Dask worker of our own does first: it leaves Ctrl-C to who started it."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:  # noqa: ARG001
    """Called by Dask, in the worker's main thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
