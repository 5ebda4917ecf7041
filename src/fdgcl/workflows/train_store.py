"""Training on a store: diffuse where needed, train, embed all nodes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from fdgcl._checks import InputError
from fdgcl.embeddings import part_files
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import store_fitting, training_plan
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffusing import diffuse_store
from fdgcl.methods.fdgcl.fitting import beta_notices
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import DiffusionPlan, plan_diffusion
from fdgcl.methods.fdgcl.training_plan import TrainingPlan
from fdgcl.training import ProcessGroup, group_of_environment
from fdgcl.workflows.embedded import training_facts
from fdgcl.workflows.feedback import Feedback, OnNotice, ProgressArgument, feedback
from fdgcl.workflows.memory_bound import memory_bound
from fdgcl.workflows.models import new_model
from fdgcl.workflows.reading import Reading, as_path
from fdgcl.workflows.records import is_own, write_record
from fdgcl.workflows.run_folders import check_writable
from fdgcl.workflows.source import Source

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
        trained: Where it is, in how many parts; the run folder, and the history.
        nodes: How many there are.
        settings: Of the model.
        processes: How many trained together.
        notices: What was decided.
    """

    trained: store_fitting.Trained
    nodes: int
    settings: Settings = field(repr=False)
    processes: int = 1
    notices: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """Seconds, epochs, and loss and ranks of the last epoch."""
        return training_facts(self.trained.history, self.trained.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return places, sizes and settings, ready for JSON."""
        return {
            "embedding": str(self.trained.embedding),
            "run": str(self.trained.run),
            "nodes": self.nodes,
            "dim": self.trained.width,
            "parts": self.trained.parts,
            "resumed_epochs": self.trained.resumed,
            "processes": self.processes,
            **self.facts,
            "settings": self.settings.to_dict(),
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

    >>> import tempfile
    >>> from fdgcl.workflows import generate, import_table, train
    >>> folder = tempfile.mkdtemp()
    >>> small = {"epochs": 1, "dim": 4, "time": 2.0, "step": 1.0}
    >>> edges, features = generate(100, 300, folder, features=4).files
    >>> store = import_table(edges, f"{folder}/store", features=features).store
    >>> found = train(store.folder, f"{folder}/z", settings=small)
    >>> found.nodes, found.trained.width
    (100, 4)
    """
    work = _Work.of(store, output, run, settings, memory, command, overwrite)
    work.refuse_parts()
    with feedback(progress, on_notice) as told:
        with group_of_environment(work.settings.torch_device) as group:
            trained = work.run(group, told)
        if trained.resumed:
            told.notice(
                f"{trained.resumed} of {len(trained.history)} epochs were done before"
            )
        return TrainedStore(
            trained,
            work.store.manifest.nodes,
            work.settings,
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
    """
    work = _Work.of(store, output, run, settings, memory, CALLED, overwrite=True)
    before = None
    if not work.is_diffused:
        before = plan_diffusion(work.store, work.settings, memory=work.memory)
    return PlannedTraining(work.plan(), before, work.settings)


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
        model = new_model(settings or {})
        chosen = store_fitting.store_settings(opened, model.check())
        _check_output(target)
        folder = as_path(run) or store_fitting.default_run(opened, chosen)
        check_writable(folder)
        bound = memory_bound(memory)
        _choose_device(chosen)
        here = _number("LOCAL_WORLD_SIZE", members)
        return cls(
            opened, chosen, folder, target, bound, members, here, command, overwrite
        )

    def refuse_parts(self) -> None:
        """Refuse to mix the parts of two embeddings."""
        own = self.overwrite or is_own(self.folder, self.output)
        if part_files(self.output) and not own:
            message = (
                f"{self.output} holds another embedding: add `overwrite=True` to "
                "replace it, or name another folder"
            )
            raise InputError(message)

    def run(self, group: ProcessGroup, told: Feedback) -> store_fitting.Trained:
        """Diffuse what is not diffused yet, train, and write the embedding."""
        group.by_first(self.plan().check)
        if not self.is_diffused:
            group.by_first(self._refuse_others)
            diffuse_store(
                self.store, self.settings, memory=self.memory, progress=told.bars
            )
        beta = Diffusion.of(self.store, self.settings).recipe.beta
        told.notice(*beta_notices(self.settings, beta))

        def remember(model: str, seconds: float) -> None:
            """Note whose the parts will be, before the first is written."""
            write_record(
                self.folder,
                command=self.command,
                source=Source(self.store.manifest.name, self.store.folder),
                reading=Reading(),
                embedding=self.output,
                seconds=seconds,
                notices=told.notices,
                model=model,
            )

        return store_fitting.train_store(
            self.store,
            self.settings,
            self.folder,
            self.output,
            memory=self.memory,
            group=group,
            here=self.here,
            progress=told.bars,
            replace_parts=self.overwrite,
            on_model=remember,
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

    def _refuse_others(self) -> None:
        """Several processes would diffuse the same, each of them with all memory."""
        if self.members > 1:
            folder = str(self.store.folder)
            word = shlex.quote(f"./{folder}" if folder.startswith("-") else folder)
            message = (
                f"the features of {folder} are not diffused by these settings yet, "
                "which several processes cannot do here: run `fdgcl diffuse "
                f"{word}` with them first"
            )
            raise InputError(message)


def _number(name: str, default: int) -> int:
    """A number that torchrun leaves in the environment."""
    text = os.environ.get(name, str(default))
    if not text.isdigit():
        message = f"{name} in the environment must be a whole number, got {text!r}"
        raise InputError(message)
    return int(text)


def _check_output(folder: Path) -> None:
    if folder.suffix in (".parquet", ".pq") or folder.is_file():
        message = (
            "the embedding is a folder of Parquet files: `output` must name a folder, "
            f"got {folder}"
        )
        raise InputError(message)
    check_writable(folder)


def _choose_device(settings: Settings) -> None:
    """Give each process on a machine a GPU of its own, where there are some."""
    if settings.torch_device.type == "cuda":
        torch.cuda.set_device(_number("LOCAL_RANK", 0) % torch.cuda.device_count())
