"""One diffusion of a store: plan it, prepare it, do what is missing, tell."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl._files import DiskFullError
from fdgcl._memory import describe_size
from fdgcl.cli.failures import interruption
from fdgcl.cli.terminal import Terminal
from fdgcl.diffusion.stability import StabilityReport, stability_report
from fdgcl.executors import Executor
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffusing import begin
from fdgcl.methods.fdgcl.running import plan_slices, run_slices
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import DiffusionPlan

if TYPE_CHECKING:
    from fdgcl.operators.lanczos import Tridiagonal


@dataclass(frozen=True)
class DiffuseJob:
    """What to diffuse and how.

    Attributes:
        store: The graph.
        settings: The model's, checked.
        memory: The bound, in bytes.
        executor: Runs the slices.
        terminal: Where text goes.
        following: The command to suggest next, as words.
    """

    store: Store
    settings: Settings
    memory: int
    executor: Executor
    terminal: Terminal
    following: Sequence[str]

    def plan_only(self) -> None:
        """Tell what it takes; write nothing."""
        plan, diffusion = self._plan(), self._diffusion
        stability = self._stability()
        for sentence in (*plan.describe(), *stability.describe()):
            self.terminal.say(sentence)
        done = 0
        if diffusion.is_begun:
            count = diffusion.recipe.num_slices
            done = count - len(diffusion.missing)
            self.terminal.say(f"{done} of {count} slices are done")
        else:
            self.terminal.notice(
                "stability is by the largest frequency that any graph has, 2; after "
                "--prepare, by this graph's own"
            )
        self.terminal.say("dry run: nothing was diffused, nothing written")
        self.terminal.emit(
            {
                "store": str(self.store.folder),
                "plan": plan.to_dict(),
                "stability": stability.to_dict(),
                "slices_done": done,
                "notices": self.terminal.notices,
            }
        )

    def prepare(self) -> None:
        """Write down what all slices follow, and say how many there are."""
        plan = self._plan()
        self._check_disk(plan, None)
        with self.terminal.bars() as bars:
            diffusion = begin(self.store, self.settings, plan, bars)
        count = diffusion.recipe.num_slices
        self.terminal.say(f"prepared  {diffusion.folder}")
        self.terminal.say(f"slices    {count} (--only 0 to --only {count - 1})")
        self.terminal.emit(
            {
                "store": str(self.store.folder),
                "diffused": str(diffusion.folder),
                "slices": count,
                "missing": diffusion.missing,
                "notices": self.terminal.notices,
            }
        )

    def run(self, only: Sequence[int] | None) -> None:
        """Diffuse what is missing, or of that only some slices."""
        start = time.perf_counter()
        wanted = None if only is None else self._check_only(only)
        with self._connected():
            plan = self._plan()
            self._check_disk(plan, wanted)
            with self.terminal.bars() as bars:
                try:
                    diffusion = begin(self.store, self.settings, plan, bars)
                    missing = diffusion.missing
                    left = [n for n in missing if wanted is None or n in wanted]
                    self._tell_done(diffusion, missing)
                    run_slices(diffusion, left, self.executor, plan.threads, bars)
                except KeyboardInterrupt:
                    rest = "; what is done is kept: the same command goes on"
                    raise interruption(rest) from None
        self._tell(diffusion, len(left), time.perf_counter() - start)

    @property
    def _diffusion(self) -> Diffusion:
        return Diffusion.of(self.store, self.settings)

    def _connected(self) -> AbstractContextManager[Any]:
        """A cluster that is not there is found out before anything long."""
        if isinstance(self.executor, AbstractContextManager):
            return self.executor
        return nullcontext()

    def _plan(self) -> DiffusionPlan:
        return plan_slices(self.store, self.settings, self.memory, self.executor)

    def _check_only(self, only: Sequence[int]) -> set[int]:
        diffusion = self._diffusion
        if not diffusion.is_begun:
            message = (
                f"--only {only[0]}: slices of {self.store.folder} are not prepared for "
                "these settings: run the same command with --prepare first"
            )
            raise InputError(message)
        count = diffusion.recipe.num_slices
        for number in only:
            if not 0 <= number < count:
                message = f"--only must lie in 0 to {count - 1}, got {number}"
                raise InputError(message)
        return set(only)

    def _check_disk(self, plan: DiffusionPlan, wanted: set[int] | None) -> None:
        """Refuse to begin what cannot end."""
        needed, diffusion = plan.disk_bytes, self._diffusion
        if diffusion.is_begun:
            missing = [n for n in diffusion.missing if wanted is None or n in wanted]
            slices = [diffusion.recipe.slice(n) for n in missing]
            columns = sum(part.stop - part.start for part in slices)
            needed = needed * columns // plan.features
        free = shutil.disk_usage(self.store.folder).free
        if needed > free:
            message = (
                f"{self.store.folder} has {describe_size(free)} of free disk, and the "
                f"diffused features take {describe_size(needed)}"
            )
            raise DiskFullError(message)

    def _stability(self) -> StabilityReport:
        settings, diffusion = self.settings, self._diffusion
        top = diffusion.recipe.lambda_max if diffusion.is_begun else 2.0
        interval = _Interval(self.store.manifest.direction == "symmetric", top)
        dynamics = settings.new_dynamics(settings.dim)
        return stability_report(dynamics, interval, settings.schedule, settings.orders)

    def _tell_done(self, diffusion: Diffusion, missing: Sequence[int]) -> None:
        count = diffusion.recipe.num_slices
        if len(missing) < count:
            done = count - len(missing)
            self.terminal.notice(f"{done} of {count} slices were there already")

    def _tell(self, diffusion: Diffusion, ran: int, seconds: float) -> None:
        count, missing = diffusion.recipe.num_slices, diffusion.missing
        following = None if missing else shlex.join(self.following)
        left = f", {len(missing)} left" if missing else ""
        self.terminal.say(f"diffused  {diffusion.folder}")
        self.terminal.say(f"slices    {ran} of {count}{left}, {seconds:.1f} s")
        if following is not None:
            self.terminal.say(f"next      {following}")
        self.terminal.emit(
            {
                "store": str(self.store.folder),
                "diffused": str(diffusion.folder),
                "slices": count,
                "ran": ran,
                "missing": missing,
                "seconds": round(seconds, 3),
                "settings": diffusion.recipe.settings,
                "notices": self.terminal.notices,
                "next": following,
            }
        )


@dataclass(frozen=True)
class _Interval:
    """The little that stability depends on."""

    has_real_spectrum: bool
    lambda_max: float

    @property
    def tridiagonal(self) -> Tridiagonal:
        """Not known, and not asked for."""
        raise NotImplementedError
