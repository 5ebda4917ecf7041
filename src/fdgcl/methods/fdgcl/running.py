"""Slices of a diffusion as tasks of an executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fdgcl.executors.base import Executor, Task
from fdgcl.executors.in_process import InProcess
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import DiffusionPlan, plan_diffusion


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
    progress: Callable[[str, int, int], None] | None = None,
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
    folders = str(diffusion.store.folder.absolute()), str(diffusion.folder.absolute())
    tasks = [Task(*folders, number, threads) for number in numbers]
    executor.run(tasks, lambda _: tell(1))
