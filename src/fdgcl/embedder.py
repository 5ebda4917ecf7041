"""What all methods' estimators do: fit on a graph, embed it, embed others."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from fdgcl._bars import watched
from fdgcl._notices import notice
from fdgcl._progress import Progress
from fdgcl.fitted import Fitted
from fdgcl.fitting import (
    OnEpoch,
    announce,
    conclude,
    run_training,
    tell_epoch,
)
from fdgcl.graphs import GraphDataset
from fdgcl.graphs.data import GraphData
from fdgcl.graphs.store.store import Store
from fdgcl.levels import as_graph, choose_level, rows_of, settings_for
from fdgcl.methods.base import Config
from fdgcl.methods.preparation import Preparation
from fdgcl.methods.resources import Resources
from fdgcl.planning import Plan
from fdgcl.run_folder import RunFolder
from fdgcl.training.records import EpochRecord, NonFiniteLossError
from fdgcl.training.trainable import Trainable
from fdgcl.training_log import CHECKPOINT_SECONDS


class GraphEmbedder(Fitted):
    """An estimator of one method: graph in, embedding out, no labels.

    `FDGCL` and the estimators of the compared methods are such.

    Attributes:
        history_: One record an epoch.
        notices_: What was decided for the user.
        plan_: What training was expected to cost.
        stability_: What a diffusion does to each frequency; None where nothing tells.
        stability_notes_: The same in words.
        fit_seconds_: Seconds spent preparing and training.
        resumed_epochs_: Epochs that an earlier start of the run had done.
    """

    def plan(
        self, graph: GraphData | GraphDataset, *, memory: str | int | None = None
    ) -> Plan:
        """Say how `fit` would go about a graph and what it would cost."""
        prepared = self.prepare(graph, Resources.within(memory))
        self._take_notes(prepared)
        return prepared.plan

    def fit(
        self,
        graph: GraphData | GraphDataset,
        y: None = None,  # noqa: ARG002
        *,
        run: str | Path | None = None,
        resume: bool = False,
        memory: str | int | None = None,
        progress: bool | Progress | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> Self:
        """Train on a graph; labels, if it has any, are not looked at.

        Args:
            graph: The graph, in memory or a `Store` on disk; or a dataset of graphs,
                all of whose nodes are trained on.
            y: Ignored, for scikit-learn's sake.
            run: Folder for settings, metrics and weights; made if needed.
            resume: Go on with the unfinished run in that folder.
            memory: Bound on what training may hold, such as `6GB`. None: for a graph in
                memory what this machine has, and for a store 60 % of what is to spare.
            progress: Whether to show a bar; None shows one in a notebook and in an
                interactive session on a terminal, and nothing elsewhere. A function is
                called with (stage, done, total) instead; stages are diffuse and train.
            on_epoch: Called after each epoch with its record and a function that gives
                the embedding by the weights of that moment.

        Raises:
            InputError: Settings, graph or run folder do not fit together.
            NonFiniteLossError: Training diverged; the last good weights are kept.
        """
        with watched(progress) as tell:
            resources = Resources.within(memory)
            self.fit_on(graph, run, resume, tell, on_epoch, resources).release()
        return self

    def fit_transform(
        self,
        graph: GraphData | GraphDataset,
        y: None = None,  # noqa: ARG002
        *,
        level: str | None = None,
        run: str | Path | None = None,
        resume: bool = False,
        memory: str | int | None = None,
        progress: bool | Progress | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> NDArray[np.float32]:
        """Train as `fit` does, with its arguments, and return the embedding.

        A row stands for a node or, in a dataset of graphs, for a graph; level `node`
        or `graph` says which, where that is to be otherwise.
        """
        chosen = choose_level(graph, level)
        with watched(progress) as tell:
            resources = Resources.within(memory)
            trainable = self.fit_on(graph, run, resume, tell, on_epoch, resources)
            return rows_of(self._embed(trainable), graph, chosen, self.readout)

    def transform(
        self,
        graph: GraphData | GraphDataset,
        *,
        level: str | None = None,
        memory: str | int | None = None,
        progress: bool | Progress | None = None,
    ) -> NDArray[np.float32]:
        """Embed a graph or graphs, seen or not, by the trained model.

        Level is as in `fit_transform`, memory and progress as in `fit`.
        """
        chosen = choose_level(graph, level)
        with watched(progress) as tell:
            trainable = self.on_other(graph, tell, Resources.within(memory))
            return rows_of(self._embed(trainable), graph, chosen, self.readout)

    @torch.no_grad()
    def views(self, graph: GraphData | GraphDataset) -> tuple[NDArray[np.float32], ...]:
        """The views of a graph by the trained model, each (nodes x dim)."""
        found = self.on_other(graph, None, Resources()).views()
        return tuple(view.float().cpu().numpy() for view in found)

    @property
    def has_views(self) -> bool:
        """Whether the method has views beside its embedding."""
        return self._method().has_views

    def prepare(
        self, graph: GraphData | GraphDataset, resources: Resources
    ) -> Preparation[Any]:
        """Check a graph against the settings, before anything is computed.

        Raises:
            InputError: They do not go together.
        """
        method = self._method()
        prepared = method.prepare(as_graph(graph), settings_for(graph, self.check()))
        prepared = prepared.within(resources)
        method.check_training(prepared)
        return prepared

    def prepare_other(
        self, graph: GraphData | GraphDataset, resources: Resources
    ) -> Preparation[Any]:
        """Check a graph against the trained model, before anything is computed.

        Raises:
            InputError: Its features are not those of training.
        """
        config, columns = self.config, self._fitted_model().columns
        prepared = self._method().prepare_other(
            as_graph(graph), self.check(), config.schema, columns, config.decisions
        )
        return prepared.within(resources)

    def on_other(
        self,
        graph: GraphData | GraphDataset,
        progress: Progress | None,
        resources: Resources,
    ) -> Trainable[Any]:
        """The trained model on a graph, seen or not, to embed it.

        Args:
            graph: As in `transform`.
            progress: Called with (stage, done, total).
            resources: Memory, and who embed together.
        """
        model, method = self._fitted_model(), self._method()
        prepared = self.prepare_other(graph, resources)
        prepared.begin(progress)
        self.notices_ = [*prepared.notices]
        notice(*self.notices_)
        self._note_stability(prepared)
        return method.on_graph(model, prepared, self._config, progress=progress)

    def _take_notes(self, prepared: Preparation[Any]) -> None:
        self._note_stability(prepared)
        self.plan_: Plan = prepared.plan
        self.notices_ = announce(prepared)

    def _note_stability(self, prepared: Preparation[Any]) -> None:
        self.stability_ = prepared.stability
        self.stability_notes_ = prepared.describe_stability()

    def fit_on(
        self,
        graph: GraphData | GraphDataset,
        run: str | Path | None,
        resume: bool,
        progress: Progress | None,
        on_epoch: OnEpoch | None,
        resources: Resources,
    ) -> Trainable[Any]:
        """Train as `fit` does, and return the model on its graph.

        Args:
            graph: As in `fit`.
            run: As in `fit`.
            resume: As in `fit`.
            progress: Called with (stage, done, total).
            on_epoch: As in `fit`.
            resources: Memory, and who train together.
        """
        started = time.perf_counter()
        method, prepared = self._method(), self.prepare(graph, resources)
        group = resources.group
        prepared.begin(progress)
        if group.is_first:
            self._take_notes(prepared)
        prepared.check_memory()
        self._config = Config.of(method.name, prepared)
        # Before anything is written: the model may be too large for the memory.
        self._model = method.new_model(self._config)
        files = None if run is None else RunFolder(run)
        if files is not None:
            group.by_first(lambda: files.begin(self._config, resume=resume))
        trainable = method.on_graph(
            self._model, prepared, self._config, progress=progress
        )
        self._model.keep_columns(prepared.feature_map)
        self.history_ = []
        if files is not None and files.is_finished:
            files.read_model(self._model)
            self.history_ = files.read_metrics()
            self._refuse_diverged(files)
            self.resumed_epochs_ = len(self.history_)
        else:
            explained = prepared.findings.cause is not None
            # An epoch over a store takes longer than writing a checkpoint does.
            seconds = 0.0 if isinstance(graph, Store) else CHECKPOINT_SECONDS
            self._train(
                trainable,
                files,
                progress,
                on_epoch,
                explained=explained,
                checkpoint_seconds=seconds,
            )
        self.fit_seconds_ = time.perf_counter() - started
        if group.is_first:
            conclude(prepared, self.history_, self.fit_seconds_)
        return trainable

    def _train(
        self,
        trainable: Trainable[Any],
        files: RunFolder | None,
        progress: Progress | None,
        on_epoch: OnEpoch | None,
        *,
        explained: bool,
        checkpoint_seconds: float,
    ) -> None:
        epochs = self._config.settings.epochs

        def embed_now() -> NDArray[np.float32]:
            trainable.finish()
            return self._embed(trainable)

        def after_epoch(record: EpochRecord) -> None:
            tell_epoch(progress, record, epochs)
            if on_epoch is not None:
                on_epoch(record, embed_now)

        def on_start(history: list[EpochRecord]) -> None:
            self.history_ = history
            self.resumed_epochs_ = len(history)

        try:
            run_training(
                trainable,
                epochs,
                files,
                after_epoch=after_epoch,
                on_start=on_start,
                checkpoint_seconds=checkpoint_seconds,
                explained=explained,
            )
        except NonFiniteLossError as error:
            message = ". ".join([str(error), *self.stability_notes_])
            raise NonFiniteLossError(message) from None

    def _refuse_diverged(self, files: RunFolder) -> None:
        """Refuse a finished run that ended before its last epoch.

        Raises:
            NonFiniteLossError: It diverged.
        """
        if len(self.history_) < self._config.settings.epochs:
            message = (
                f"the run in {files.folder} diverged after epoch {len(self.history_)}; "
                "its last good weights are there; train with a smaller lr or step, in "
                "another folder"
            )
            raise NonFiniteLossError(message)

    def _embed(self, trainable: Trainable[Any]) -> NDArray[np.float32]:
        blocks = [block.float().cpu() for block in trainable.blocks()]
        embedding = (blocks[0] if len(blocks) == 1 else torch.cat(blocks)).numpy()
        if not np.isfinite(embedding).all():
            notes = ["the embedding has values that are not finite"]
            raise NonFiniteLossError("; ".join([*notes, *self.stability_notes_]))
        return np.asarray(embedding)
