"""Where and with what a measurement was made, and what it took."""

from __future__ import annotations

import gc
import os
import platform
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import torch

from fdgcl._version import __version__
from fdgcl.executors.base import cores

COMMIT_VARIABLE = "FDGCL_COMMIT"
_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_RESET_PEAK = "5"  # what the kernel wants to hear to forget the highest memory so far
_MIB = 2**20


def environment(device: str, threads: int | None) -> dict[str, Any]:
    """Versions, commit and hardware, as plain values for JSON.

    Args:
        device: `cpu` or `cuda`.
        threads: Threads of a process; None where torch decides.
    """
    return {
        "versions": {
            "fdgcl": __version__,
            "torch": torch.__version__,
            "numpy": version("numpy"),
            "scipy": version("scipy"),
            "python": platform.python_version(),
        },
        "commit": source_commit(),
        "device": device,
        "hardware": hardware_name(device),
        "cores": cores(),
        "threads": threads,
        "memory_peak_of": "unit" if _forget_peak() else "process",
    }


def hardware_name(device: str) -> str:
    """The name of the GPU or the processor."""
    if device.startswith("cuda"):
        return str(torch.cuda.get_device_name(device))
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


@cache
def source_commit() -> str | None:
    """The commit this package's source is at, with a `+` if it was changed since.

    Where the source is no git tree the variable FDGCL_COMMIT may name it.
    """
    folder = Path(__file__).parents[1]
    # A package installed into another project's repository is not part of it.
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None:
        return os.environ.get(COMMIT_VARIABLE) or None
    commit = _git(folder, "rev-parse", "HEAD")
    return f"{commit}+" if _git(folder, "status", "--porcelain", "--", ".") else commit


def _git(folder: Path, *words: str) -> str | None:
    # Without the lock a status only looks: it does not refresh the index on disk.
    calm = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            env=calm,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@dataclass
class Meter:
    """Seconds and peak memory of a block; on a GPU its memory as well.

    Memory is the highest resident size of the process within the block, libraries and
    graph included. Where the kernel does not let it be reset, it is the highest so far.
    """

    device: str
    seconds: float = 0.0
    memory_mib: float = 0.0
    gpu_memory_mib: float | None = None

    def __enter__(self) -> Self:
        gc.collect()
        if self._on_gpu:
            # There are no statistics to reset before.
            torch.cuda.init()  # type: ignore[no-untyped-call]
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)
        _forget_peak()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        if self._on_gpu:
            torch.cuda.synchronize(self.device)
            peak = torch.cuda.max_memory_allocated(self.device)
            self.gpu_memory_mib = round(peak / _MIB, 1)
        self.seconds = round(time.perf_counter() - self._start, 3)
        self.memory_mib = round(_peak_bytes() / _MIB, 1)

    @property
    def _on_gpu(self) -> bool:
        return self.device.startswith("cuda")

    def to_dict(self) -> dict[str, float]:
        """What the lines say of it."""
        found = {"seconds": self.seconds, "peak_memory_mib": self.memory_mib}
        if self.gpu_memory_mib is not None:
            found["peak_gpu_memory_mib"] = self.gpu_memory_mib
        return found


def _forget_peak() -> bool:
    try:
        _CLEAR.write_text(_RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return True


def _peak_bytes() -> int:
    if _STATUS.is_file():
        for line in _STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts in bytes, everything else in KiB.
    return peak if sys.platform == "darwin" else peak * 1024
