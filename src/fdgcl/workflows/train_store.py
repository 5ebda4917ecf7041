"""Training on a store: diffuse where needed, train, embed all nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from fdgcl._checks import InputError
from fdgcl._memory import allowed_bytes
from fdgcl.embedding_folder import Written, default_run, fit_to_folder
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import training_plan
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import DiffusionPlan, plan_diffusion
from fdgcl.methods.fdgcl.stored import prepare_store
from fdgcl.methods.fdgcl.training_plan import TrainingPlan
from fdgcl.methods.resources import Resources
from fdgcl.training import ProcessGroup, SingleProcess, group_of_environment
from fdgcl.workflows.embedded import training_facts
from fdgcl.workflows.feedback import Feedback, OnNotice, ProgressArgument, feedback
from fdgcl.workflows.models import new_model
from fdgcl.workflows.outputs import refuse_parts
from fdgcl.workflows.reading import Reading, as_path
from fdgcl.workflows.records import is_own, write_record
from fdgcl.workflows.run_folders import check_parts, check_writable
from fdgcl.workflows.source import Source

if TYPE_CHECKING:
    from fdgcl.embedder import GraphEmbedder

CALLED = "fdgcl.workflows.train"


@dataclass(frozen=True)
class PlannedTraining:
    """What training on a store would take.

    Attributes:
        training: Memory, disk and time.
        diffusion: The same of diffusing before it; None where that is done.
        settings: Of the model.
    """

    training: TrainingPlan
    diffusion: DiffusionPlan | None
    settings: Settings = field(repr=False)

    def check(self) -> None:
        """Refuse what will not do.

        Raises:
            InputError: The memory or the disk do not suffice.
        """
        self.training.check()

    def to_dict(self) -> dict[str, Any]:
        """Return costs and settings, ready for JSON."""
        before = self.diffusion
        return {
            "diffusion": None if before is None else before.to_dict(),
            "training": self.training.to_dict(),
            "settings": self.settings.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class TrainedStore:
    """An embedding of all nodes of a store.

    Attributes:
        model: The trained model.
        written: Where the embedding is, in how many parts.
        run: The run folder.
        nodes: How many there are.
        processes: How many trained together.
        notices: What was decided.
    """

    model: GraphEmbedder = field(repr=False)
    written: Written
    run: Path
    nodes: int
    processes: int = 1
    notices: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """Seconds, epochs, and loss and ranks of the last epoch."""
        return training_facts(self.model.history_, self.written.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return places, sizes and settings, ready for JSON."""
        return {
            "embedding": str(self.written.folder),
            "run": str(self.run),
            "nodes": self.nodes,
            "dim": self.written.width,
            "parts": self.written.parts,
            "resumed_epochs": self.model.resumed_epochs_,
            "processes": self.processes,
            **self.facts,
            "settings": self.model.check().to_dict(),
            "notices": list(self.notices),
        }


def train(
    store: str | Path,
    output: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    run: str | Path | None = None,
    memory: int | str | None = None,
    overwrite: bool = False,
    command: str = CALLED,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> TrainedStore:
    """Train on a store, which may be larger than memory, and embed all its nodes.

    Features that are not diffused by these settings yet are diffused first. What is
    done is not done again: after an interruption, make the same call. Processes that
    torchrun started train together.

    Args:
        store: A folder that `import_table` made.
        output: The folder of the embedding, as Parquet files.
        settings: Of the model.
        run: The run folder, an unfinished run in which goes on; None for one in the
            store, by the settings.
        memory: What all processes here may hold, in bytes or as in "6GB"; None for
            60 % of what is to spare.
        overwrite: Replace another embedding in the output.
        command: What the record of the run says that it was made by.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: Settings, store and places do not fit together, or the memory or
            the disk will not do.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import generate, import_table, train
        >>> folder = tempfile.mkdtemp()
        >>> small = {"epochs": 1, "dim": 4, "time": 2.0, "step": 1.0}
        >>> edges, features = generate(100, 300, folder, features=4).files
        >>> store = import_table(edges, f"{folder}/store", features=features).store
        >>> found = train(store.folder, f"{folder}/z", settings=small)
        >>> found.nodes, found.written.width
        (100, 4)
    """
    work = _Work.of(store, output, run, settings, memory, command, overwrite)
    own = is_own(work.folder, work.output)
    refuse_parts(work.output, overwrite=work.overwrite or own)
    with feedback(progress, on_notice) as told:
        model = new_model(work.settings.to_dict())
        with group_of_environment(work.settings.torch_device) as group:
            written = work.run(group, model, told)
        done = model.resumed_epochs_
        if done:
            told.notice(f"{done} of {len(model.history_)} epochs were done before")
        return TrainedStore(
            model,
            written,
            work.folder,
            work.store.manifest.nodes,
            work.members,
            tuple(told.notices),
        )


def plan_training(
    store: str | Path,
    output: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    run: str | Path | None = None,
    memory: int | str | None = None,
) -> PlannedTraining:
    """Say what `train` would take with these arguments, and write nothing.

    Whether it would do is for the plan's `check`.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import generate, import_table, plan_training
        >>> folder = tempfile.mkdtemp()
        >>> edges, features = generate(100, 300, folder, features=4).files
        >>> store = import_table(edges, f"{folder}/store", features=features).store
        >>> plan = plan_training(store.folder, f"{folder}/z", settings={"epochs": 1})
        >>> plan.check()
    """
    work = _Work.of(store, output, run, settings, memory, CALLED, overwrite=True)
    before = None
    if not work.is_diffused:
        before = plan_diffusion(work.store, work.settings, memory=work.memory)
    return PlannedTraining(work.plan(), before, work.settings)


def fit_store(
    store: Store,
    model: GraphEmbedder,
    output: Path,
    *,
    run: Path,
    memory: int | str | None,
    overwrite: bool,
    command: str,
    told: Feedback,
    group: ProcessGroup | None = None,
    here: int | None = None,
) -> Written:
    """Fit a model on a store, and write the embedding of its nodes to a folder.

    Args:
        store: The graph.
        model: The model.
        output: The folder of the embedding.
        run: The run folder.
        memory: Bound on what the processes of this machine hold.
        overwrite: Replace another embedding in the output.
        command: What the record of the run says that it was made by.
        told: Hears of progress and notices.
        group: Who train together.
        here: How many of them are on this machine.

    Raises:
        InputError: Store, settings and places do not fit together.
    """
    check_parts(output)
    refuse_parts(output, overwrite=overwrite or is_own(run, output))

    def progress(stage: str, done: int, total: int) -> None:
        # What was decided for the user is known long before training ends.
        told.notice(*getattr(model, "notices_", ()))
        told.bars(stage, done, total)

    def remember(key: str, seconds: float) -> None:
        """Note whose the parts will be, before the first is written."""
        write_record(
            run,
            command=command,
            source=Source(store.name, store.folder),
            reading=Reading(),
            embedding=output,
            seconds=seconds,
            notices=told.notices,
            model=key,
        )

    bound = allowed_bytes(memory, "`memory`")
    return fit_to_folder(
        model,
        store,
        output,
        run=run,
        resources=Resources(bound, group or SingleProcess(), here),
        progress=progress,
        replace_parts=overwrite,
        on_model=remember,
    )


def is_first_process() -> bool:
    """Whether this process speaks for all that torchrun started."""
    return _number("RANK", 0) == 0


@dataclass(frozen=True)
class _Work:
    """What to train on and how, checked."""

    store: Store
    settings: Settings
    folder: Path
    output: Path
    memory: int
    members: int
    here: int
    command: str
    overwrite: bool

    @classmethod
    def of(
        cls,
        store: str | Path,
        output: str | Path,
        run: str | Path | None,
        settings: Mapping[str, Any] | None,
        memory: int | str | None,
        command: str,
        overwrite: bool,
    ) -> _Work:
        members, target = _number("WORLD_SIZE", 1), Path(output)
        opened = Store.open(Path(store))
        chosen = prepare_store(opened, new_model(settings or {}).check()).settings
        check_parts(target)
        folder = as_path(run) or default_run(opened, chosen)
        check_writable(folder)
        bound = allowed_bytes(memory, "`memory`")
        _choose_device(chosen)
        here = _number("LOCAL_WORLD_SIZE", members)
        return cls(
            opened, chosen, folder, target, bound, members, here, command, overwrite
        )

    def run(self, group: ProcessGroup, model: GraphEmbedder, told: Feedback) -> Written:
        """Diffuse what is not diffused yet, train, and write the embedding."""
        group.by_first(self.plan().check)
        return fit_store(
            self.store,
            model,
            self.output,
            run=self.folder,
            memory=self.memory,
            overwrite=self.overwrite,
            command=self.command,
            told=told,
            group=group,
            here=self.here,
        )

    def plan(self) -> TrainingPlan:
        """What training will take."""
        return training_plan.plan_training(
            self.store,
            self.settings,
            memory=self.memory,
            members=self.members,
            here=self.here,
        )

    @property
    def is_diffused(self) -> bool:
        """Whether all diffused features are there."""
        diffusion = Diffusion.of(self.store, self.settings)
        return diffusion.is_begun and not diffusion.missing


def _number(name: str, default: int) -> int:
    """A number that torchrun leaves in the environment."""
    text = os.environ.get(name, str(default))
    if not text.isdigit():
        message = f"{name} in the environment must be a whole number, got {text!r}"
        raise InputError(message)
    return int(text)


def _choose_device(settings: Settings) -> None:
    """Give each process on a machine a GPU of its own, where there are some."""
    if settings.torch_device.type == "cuda":
        torch.cuda.set_device(_number("LOCAL_RANK", 0) % torch.cuda.device_count())
