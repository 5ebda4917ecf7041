"""Diffusing the features of a store: plan it, prepare it, do what is missing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl._memory import allowed_bytes
from fdgcl.diffusion.stability import StabilityReport, stability_report
from fdgcl.executors import Executor, InProcess
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.decisions import reduction_notices
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffusing import begin, check_settings
from fdgcl.methods.fdgcl.running import plan_slices, run_slices
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import DiffusionPlan
from fdgcl.methods.fdgcl.stored import prepare_store
from fdgcl.planning import check_disk
from fdgcl.workflows.feedback import Feedback, OnNotice, ProgressArgument, feedback
from fdgcl.workflows.models import new_model

if TYPE_CHECKING:
    from fdgcl.operators.lanczos import Tridiagonal


@dataclass(frozen=True)
class PlannedDiffusion:
    """What diffusing a store would take.

    Attributes:
        store: The store.
        plan: Slices, memory, disk and time.
        stability: What the solver does to each frequency.
        slices_done: Slices that are there already.
        slices: All of them; None where they are not written down yet.
    """

    store: Path
    plan: DiffusionPlan
    stability: StabilityReport
    slices_done: int
    slices: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return costs and stability, ready for JSON."""
        return {
            "store": str(self.store),
            "plan": self.plan.to_dict(),
            "stability": self.stability.to_dict(),
            "slices_done": self.slices_done,
        }


@dataclass(frozen=True)
class Diffused:
    """The diffused features of a store, or as many slices of them as are done.

    Attributes:
        store: The store.
        folder: Where the features are.
        slices: How many there are.
        missing: Those not done yet.
        ran: How many were done now.
        seconds: What that took.
        settings: What the features depend on.
        notices: What was found there already.
    """

    store: Path
    folder: Path
    slices: int
    missing: tuple[int, ...]
    ran: int = 0
    seconds: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notices: tuple[str, ...] = ()


def diffuse(
    store: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    memory: int | str | None = None,
    executor: Executor | None = None,
    only: Sequence[int] | None = None,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> Diffused:
    """Diffuse the features of a store, which may be larger than memory.

    What is done is not done again: after an interruption, make the same call.

    Args:
        store: A folder that `import_table` made.
        settings: Of the model.
        memory: What all processes here may hold, in bytes or as in "6GB"; None for
            60 % of what is to spare.
        executor: Runs the slices; None for this process, one slice after the other.
        only: Do these slices alone, from 0, after `prepare_slices`.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: The settings do not fit the store, or the memory will not do.
        DiskFullError: There is no room for the diffused features.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import diffuse, generate, import_table
        >>> folder, small = tempfile.mkdtemp(), {"time": 2.0, "step": 1.0}
        >>> edges, features = generate(100, 300, folder, features=4).files
        >>> store = import_table(edges, f"{folder}/store", features=features).store
        >>> diffuse(store.folder, settings=small).missing
        ()
    """
    start = time.perf_counter()
    work = _Work.of(store, settings, memory, executor)
    wanted = None if only is None else work.check_only(only)
    with work.connected(), feedback(progress, on_notice) as told:
        plan = work.plan()
        work.check_disk(plan, wanted)
        diffusion = begin(work.store, work.settings, plan, told.bars)
        _tell_features(diffusion, work.settings, told)
        missing = diffusion.missing
        left = [n for n in missing if wanted is None or n in wanted]
        _tell_done(diffusion, missing, told)
        run_slices(diffusion, left, work.executor, plan.threads, told.bars)
        seconds = time.perf_counter() - start
        return work.result(diffusion, len(left), seconds, told)


def prepare_slices(
    store: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    memory: int | str | None = None,
    executor: Executor | None = None,
    progress: ProgressArgument = None,
) -> Diffused:
    """Write down what all slices of a diffusion follow; do none of them.

    The arguments are those of `diffuse`, which then does some slices by `only`.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import diffuse, generate, import_table, prepare_slices
        >>> folder, small = tempfile.mkdtemp(), {"time": 2.0, "step": 1.0}
        >>> edges, features = generate(100, 300, folder, features=4).files
        >>> store = import_table(edges, f"{folder}/store", features=features).store
        >>> prepare_slices(store.folder, settings=small).missing
        (0,)
        >>> diffuse(store.folder, settings=small, only=[0]).missing
        ()
    """
    work = _Work.of(store, settings, memory, executor)
    plan = work.plan()
    work.check_disk(plan, None)
    with feedback(progress) as told:
        diffusion = begin(work.store, work.settings, plan, told.bars)
        _tell_features(diffusion, work.settings, told)
        return work.result(diffusion, 0, 0, told)


def plan_diffusing(
    store: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    memory: int | str | None = None,
    executor: Executor | None = None,
) -> PlannedDiffusion:
    """Say what `diffuse` would take with these arguments, and write nothing.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import generate, import_table, plan_diffusing
        >>> folder = tempfile.mkdtemp()
        >>> edges, features = generate(100, 300, folder, features=4).files
        >>> store = import_table(edges, f"{folder}/store", features=features).store
        >>> plan_diffusing(store.folder).slices_done
        0
    """
    work = _Work.of(store, settings, memory, executor)
    plan, diffusion, done, count = work.plan(), work.diffusion, 0, None
    if diffusion.is_begun:
        count = diffusion.recipe.num_slices
        done = count - len(diffusion.missing)
    return PlannedDiffusion(work.store.folder, plan, work.stability(), done, count)


@dataclass(frozen=True)
class _Work:
    """What to diffuse and how."""

    store: Store
    settings: Settings
    memory: int
    executor: Executor

    @classmethod
    def of(
        cls,
        store: str | Path,
        settings: Mapping[str, Any] | None,
        memory: int | str | None,
        executor: Executor | None,
    ) -> _Work:
        opened = Store.open(Path(store))
        chosen = new_model(settings or {}).check()
        check_settings(opened, chosen)
        return cls(
            opened, chosen, allowed_bytes(memory, "`memory`"), executor or InProcess()
        )

    @property
    def diffusion(self) -> Diffusion:
        """What is there of it."""
        return Diffusion.of(self.store, self.settings)

    def connected(self) -> AbstractContextManager[Any]:
        """A cluster that is not there is found out before anything long."""
        if isinstance(self.executor, AbstractContextManager):
            return self.executor
        return nullcontext()

    def plan(self) -> DiffusionPlan:
        """The slices that the executor's workers can hold."""
        return plan_slices(self.store, self.settings, self.memory, self.executor)

    def check_only(self, only: Sequence[int]) -> set[int]:
        """Refuse slices that there are not."""
        if not self.diffusion.is_begun:
            message = (
                f"`only={only[0]}`: slices of {self.store.folder} are not prepared for "
                "these settings: run the same command with `prepare=True` first"
            )
            raise InputError(message)
        count = self.diffusion.recipe.num_slices
        for number in only:
            if not 0 <= number < count:
                message = f"`only` must lie in 0 to {count - 1}, got {number}"
                raise InputError(message)
        return set(only)

    def check_disk(self, plan: DiffusionPlan, wanted: set[int] | None) -> None:
        """Refuse to begin what cannot end."""
        needed, diffusion = plan.disk_bytes, self.diffusion
        if diffusion.is_begun:
            missing = [n for n in diffusion.missing if wanted is None or n in wanted]
            slices = [diffusion.recipe.slice(n) for n in missing]
            columns = sum(part.stop - part.start for part in slices)
            needed = (needed - plan.reduced_bytes) * columns // plan.features
        check_disk(self.store.folder, needed, "the diffused features take")

    def stability(self) -> StabilityReport:
        """What the solver does: on this graph, or before it was looked at, on any."""
        settings, diffusion = self.settings, self.diffusion
        top = diffusion.recipe.lambda_max if diffusion.is_begun else 2.0
        interval = _Interval(self.store.manifest.direction == "symmetric", top)
        dynamics = settings.new_dynamics(settings.hidden_columns)
        return stability_report(dynamics, interval, settings.schedule, settings.orders)

    def result(
        self, diffusion: Diffusion, ran: int, seconds: float, told: Feedback
    ) -> Diffused:
        """What is there now."""
        return Diffused(
            store=self.store.folder,
            folder=diffusion.folder,
            slices=diffusion.recipe.num_slices,
            missing=tuple(diffusion.missing),
            ran=ran,
            seconds=seconds,
            settings=diffusion.recipe.settings,
            notices=tuple(told.notices),
        )


def _tell_features(diffusion: Diffusion, settings: Settings, told: Feedback) -> None:
    """Tell what was decided of the features, as training would."""
    told.notice(*prepare_store(diffusion.store, settings).notices)
    given, recipe = diffusion.store.num_features, diffusion.recipe
    reduced, of_views = settings.reduced(given), recipe.columns[-1] < given
    told.notice(*reduction_notices(given, reduced, recipe.held, of_views=of_views))


def _tell_done(diffusion: Diffusion, missing: Sequence[int], told: Feedback) -> None:
    count = diffusion.recipe.num_slices
    if len(missing) < count:
        done = count - len(missing)
        told.notice(f"{done} of {count} slices were there already")


@dataclass(frozen=True)
class _Interval:
    """The little that stability depends on."""

    has_real_spectrum: bool
    lambda_max: float

    @property
    def tridiagonal(self) -> Tridiagonal:
        """Not known, and not asked for."""
        raise NotImplementedError
