"""Slices of a diffusion as tasks of an executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from fdgcl._progress import Progress
from fdgcl.executors import Executor, InProcess, Task
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffusing import begin, diffuse_slice
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import DiffusionPlan, plan_diffusion


@dataclass(frozen=True)
class SliceTask(Task[int]):
    """One slice of a diffusion.

    Attributes:
        store: Folder of the store.
        diffusion: Folder with the recipe.
        number: Of the slice.
        threads: To use, and no more.
    """

    store: str
    diffusion: str
    number: int
    threads: int

    @property
    def key(self) -> str:
        """What to call it where it fails."""
        return f"slice {self.number}"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The store's manifest, and the recipe that all slices follow."""
        return f"{self.store}/manifest.json", f"{self.diffusion}/recipe.json"

    def run(self) -> int:
        """Diffuse it in this process, unless that is done; return its number."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            diffuse_slice(self.store, self.diffusion, self.number, self.threads)
        finally:
            torch.set_num_threads(before)
        return self.number


def plan_slices(
    store: Store, settings: Settings, memory: int, executor: Executor
) -> DiffusionPlan:
    """Slices that an executor's workers can have in memory at the same time.

    Args:
        store: The graph.
        settings: The model's.
        memory: The bound: of this machine, or of each worker elsewhere.
        executor: Will run them.
    """
    return plan_diffusion(
        store,
        settings,
        memory=memory,
        workers=executor.workers if executor.on_this_machine else 1,
        threads=executor.threads,
        separate=not isinstance(executor, InProcess),
    )


def run_slices(
    diffusion: Diffusion,
    numbers: Sequence[int],
    executor: Executor,
    threads: int,
    progress: Progress | None = None,
) -> None:
    """Run some slices of a diffusion that was begun.

    Args:
        diffusion: The diffusion.
        numbers: Of the slices.
        executor: Runs them.
        threads: Of each.
        progress: Called with the stage `slices`, and how many of all slices are done.
    """
    count = diffusion.recipe.num_slices
    done = count - len(diffusion.missing)

    def tell(step: int) -> None:
        nonlocal done
        done += step
        if progress is not None:
            progress("slices", done, count)

    tell(0)
    folders = str(diffusion.store.folder.resolve()), str(diffusion.folder.resolve())
    tasks = [SliceTask(*folders, number, threads) for number in numbers]
    executor.run(tasks, lambda _: tell(1))


def diffuse_store(
    store: Store,
    settings: Settings,
    *,
    memory: int,
    executor: Executor | None = None,
    columns: FeatureMap | None = None,
    progress: Progress | None = None,
) -> Diffusion:
    """Diffuse all that is not diffused yet.

    Args:
        store: The graph.
        settings: The model's.
        memory: Bound on what this machine's processes hold together, in bytes.
        executor: Runs the tasks; None runs them here, one after the other.
        columns: What is done to the features, where a trained model says so.
        progress: Called with the stages look and slices.
    """
    executor = executor or InProcess()
    plan = plan_slices(store, settings, memory, executor)
    diffusion = begin(store, settings, plan, progress, columns)
    run_slices(diffusion, diffusion.missing, executor, plan.threads, progress)
    return diffusion
