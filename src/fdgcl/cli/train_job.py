"""One training on a store: diffuse where needed, train, embed, tell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
import typer

from fdgcl._checks import InputError
from fdgcl.cli.bounds import allowed_bytes
from fdgcl.cli.failures import FAILURE, interruption
from fdgcl.cli.job import describe, training_facts
from fdgcl.cli.settings import chosen_settings
from fdgcl.cli.suggestions import command, path_word
from fdgcl.cli.terminal import Terminal
from fdgcl.embeddings import part_files
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffusing import diffuse_store
from fdgcl.methods.fdgcl.fitting import beta_notices
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import plan_diffusion
from fdgcl.methods.fdgcl.store_fitting import (
    Trained,
    default_run,
    store_settings,
    train_store,
)
from fdgcl.methods.fdgcl.training_plan import TrainingPlan, plan_training
from fdgcl.model import FDGCL
from fdgcl.training import (
    NonFiniteLossError,
    ProcessGroup,
    ProcessGroupError,
    group_of_environment,
)
from fdgcl.workflows.records import is_own, write_record
from fdgcl.workflows.run_folders import check_writable
from fdgcl.workflows.source import Reading, Source


@dataclass(frozen=True)
class TrainJob:
    """What to train on and how; `run` does it, `plan` only tells.

    Attributes:
        store: The graph.
        settings: The model's.
        folder: Of the run.
        output: Of the embedding.
        memory: The bound, in bytes.
        terminal: Where text goes.
        members: Processes that train together.
        here: How many of them run on this machine.
        is_first: Whether this process speaks for all.
        overwrite: Whether parts of another embedding may be replaced.
        command: What was typed.
    """

    store: Store
    settings: Settings
    folder: Path
    output: Path
    memory: int
    terminal: Terminal
    members: int
    here: int
    is_first: bool
    overwrite: bool
    command: str

    @classmethod
    def of(
        cls,
        store: Path,
        output: Path,
        run: Path | None,
        memory: str | None,
        settings_file: Path | None,
        given: Mapping[str, Any],
        terminal: Terminal,
        *,
        overwrite: bool,
        dry_run: bool,
        command: str,
    ) -> Self:
        """Check what was typed.

        Raises:
            InputError: It does not fit together; the first process says so.
        """
        members = _number("WORLD_SIZE", 1)
        is_first = _number("RANK", 0) == 0
        try:
            opened = Store.open(store)
            chosen = chosen_settings(settings_file, given)
            settings = store_settings(opened, FDGCL(**chosen).check())
            _check_output(output)
            folder = run or default_run(opened, settings)
            check_writable(folder)
            if not dry_run:
                _refuse_parts(output, overwrite=overwrite or is_own(folder, output))
            bound = allowed_bytes(memory)
            _choose_device(settings)
        except InputError:
            if is_first:
                raise
            raise typer.Exit(FAILURE) from None
        return cls(
            opened,
            settings,
            folder,
            output,
            bound,
            terminal if is_first else Terminal(quiet=True),
            members,
            _number("LOCAL_WORLD_SIZE", members),
            is_first,
            overwrite,
            command,
        )

    def plan(self) -> None:
        """Tell what `run` would take; write nothing."""
        plan = self._plan()
        diffusion = None
        if not self._is_diffused:
            diffusion = plan_diffusion(self.store, self.settings, memory=self.memory)
            for sentence in diffusion.describe():
                self.terminal.say(f"diffusing  {sentence}")
        for sentence in plan.describe():
            self.terminal.say(f"training   {sentence}")
        self.terminal.say("dry run: nothing was trained, nothing written")
        self.terminal.emit(
            {
                "diffusion": None if diffusion is None else diffusion.to_dict(),
                "training": plan.to_dict(),
                "settings": self.settings.to_dict(),
            }
        )
        plan.check()

    def run(self) -> None:
        """Do it all."""
        try:
            with group_of_environment(self.settings.torch_device) as group:
                trained = self._run(group)
        except (ProcessGroupError, NonFiniteLossError):
            if self.is_first:
                raise
            raise typer.Exit(FAILURE) from None
        except KeyboardInterrupt:
            rest = "; the same command goes on where it stopped"
            raise interruption(rest, told=self.is_first) from None
        self._tell(trained)

    def _run(self, group: ProcessGroup) -> Trained:
        with self.terminal.bars() as bars:
            group.by_first(self._plan().check)
            if not self._is_diffused:
                group.by_first(self._refuse_others)
                diffuse_store(
                    self.store, self.settings, memory=self.memory, progress=bars
                )
            beta = Diffusion.of(self.store, self.settings).recipe.beta
            self.terminal.notice(*beta_notices(self.settings, beta))
            return train_store(
                self.store,
                self.settings,
                self.folder,
                self.output,
                memory=self.memory,
                group=group,
                here=self.here,
                progress=bars,
                replace_parts=self.overwrite,
                on_model=self._remember,
            )

    def _remember(self, model: str, seconds: float) -> None:
        """Note whose the parts will be, before the first is written."""
        write_record(
            self.folder,
            command=self.command,
            source=Source(self.store.manifest.name, self.store.folder),
            reading=Reading(),
            embedding=self.output,
            seconds=seconds,
            notices=self.terminal.notices,
            model=model,
        )

    def _plan(self) -> TrainingPlan:
        return plan_training(
            self.store,
            self.settings,
            memory=self.memory,
            members=self.members,
            here=self.here,
        )

    @property
    def _is_diffused(self) -> bool:
        diffusion = Diffusion.of(self.store, self.settings)
        return diffusion.is_begun and not diffusion.missing

    def _refuse_others(self) -> None:
        """Several processes would diffuse the same, each of them with all memory."""
        if self.members > 1:
            message = (
                f"the features of {self.store.folder} are not diffused by these "
                "settings yet, which several processes cannot do here: run `fdgcl "
                f"diffuse {shlex.quote(path_word(self.store.folder))}` with them first"
            )
            raise InputError(message)

    def _tell(self, trained: Trained) -> None:
        history, nodes = trained.history, self.store.manifest.nodes
        facts = training_facts(history, trained.seconds)
        target = path_word(trained.embedding)
        following = command("evaluate", target, "--labels", "LABELS")
        if trained.resumed:
            self.terminal.notice(
                f"{trained.resumed} of {len(history)} epochs were done before"
            )
        self.terminal.say(
            f"embedding  {trained.embedding}  ({nodes:,} nodes x {trained.width}, "
            f"{trained.parts} part{'s'[: trained.parts > 1]})"
        )
        self.terminal.say(f"run        {trained.run}")
        self.terminal.say(f"training   {describe(facts)}")
        self.terminal.say(f"next       {following}")
        self.terminal.emit(
            {
                "embedding": str(trained.embedding),
                "run": str(trained.run),
                "nodes": nodes,
                "dim": trained.width,
                "parts": trained.parts,
                "resumed_epochs": trained.resumed,
                "processes": self.members,
                **facts,
                "settings": self.settings.to_dict(),
                "notices": self.terminal.notices,
                "next": following,
            }
        )


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
            "the embedding is a folder of Parquet files: --output must name a folder, "
            f"got {folder}"
        )
        raise InputError(message)
    check_writable(folder)


def _refuse_parts(folder: Path, *, overwrite: bool) -> None:
    if part_files(folder) and not overwrite:
        message = (
            f"{folder} holds another embedding: add --overwrite to replace it, or name "
            "another folder"
        )
        raise InputError(message)


def _choose_device(settings: Settings) -> None:
    """Give each process on a machine a GPU of its own, where there are some."""
    if settings.torch_device.type == "cuda":
        torch.cuda.set_device(_number("LOCAL_RANK", 0) % torch.cuda.device_count())
