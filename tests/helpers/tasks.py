"""Diffusions cut into many slices, and tasks that misbehave.

A module of its own: processes that are started anew import it by name.
"""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Never

import torch

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.executors import InProcess
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffusing import begin
from fdgcl.methods.fdgcl.running import SliceTask
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import plan_diffusion
from fdgcl.presets import paper_defaults


def some_settings(**others: Any) -> Settings:
    """Four products with the graph, in the paper's method."""
    small = {"dim": 4, "time": 4.0, "step": 1.0}
    return FDGCL(**{**paper_defaults(), **small, **others}).check()


def begun(store: Store, width: int = 1, **settings: Any) -> Diffusion:
    """A diffusion with slices of so many columns, none of them done."""
    chosen = some_settings(**settings)
    plan = plan_diffusion(store, chosen, memory=10**11, threads=1)
    columns = (*range(0, store.manifest.features, width), store.manifest.features)
    return begin(store, chosen, replace(plan, columns=columns))


def tasks_of(diffusion: Diffusion, threads: int = 1) -> list[SliceTask]:
    """All slices that are missing."""
    folders = str(diffusion.store.folder), str(diffusion.folder)
    return [SliceTask(*folders, number, threads) for number in diffusion.missing]


def contents(diffusion: Diffusion) -> dict[str, bytes]:
    """Every file, hidden ones as well, but for notes whose writers were killed."""
    folder = diffusion.folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    files = [path for path in files if path.suffix != ".tmp"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def diffused_here(diffusion: Diffusion) -> dict[str, bytes]:
    """What the plainest executor makes of it."""
    InProcess(1).run(tasks_of(diffusion), lambda _: None)
    assert diffusion.missing == []
    return contents(diffusion)


class Deadly(SliceTask):
    """Leaves a mark, and takes its process with it."""

    def run(self) -> Never:
        with (Path(self.store) / f"tried-{self.number}").open("a") as stream:
            stream.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


class Refused(SliceTask):
    """Finds something wrong, once the one beside it is at work."""

    def run(self) -> Never:
        while not list(Path(self.store).glob("slow-*")):
            time.sleep(0.01)
        message = f"slice {self.number} is no good"
        raise InputError(message)


class Slow(SliceTask):
    """Takes a minute; says who it is, and that it could clear up."""

    def run(self) -> int:
        mark = Path(self.store) / f"slow-{os.getpid()}"
        mark.touch()
        try:
            time.sleep(60)
        finally:
            mark.with_name("cleared").touch()
        return self.number


class Telling(SliceTask):
    """Writes down what its process may use."""

    def run(self) -> int:
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        told = {name: os.environ.get(name) for name in names}
        found = {**told, "torch": torch.get_num_threads(), "pid": os.getpid()}
        (Path(self.store) / f"told-{self.number}").write_text(json.dumps(found))
        return self.number


def is_alive(pid: int) -> bool:
    """Whether a process is there, and not only its remains."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except OSError:
        return False
