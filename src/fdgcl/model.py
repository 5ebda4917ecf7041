"""FDGCL: the estimator. Graph in, embedding out, no labels."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fdgcl._bars import watched
from fdgcl._estimator import takes
from fdgcl._notices import notice
from fdgcl._progress import Progress
from fdgcl.fitted import Fitted
from fdgcl.graphs import Graph, GraphDataset
from fdgcl.levels import as_graph, choose_level, rows_of, settings_for
from fdgcl.methods.fdgcl import ViewSource
from fdgcl.methods.fdgcl.fitting import (
    OnEpoch,
    announce,
    check_memory,
    conclude,
    fit_views,
    of_stage,
    start_log,
    tell_epoch,
    views_for,
)
from fdgcl.methods.fdgcl.plan import Plan
from fdgcl.methods.fdgcl.preparation import Preparation, prepare_training
from fdgcl.methods.fdgcl.reuse import prepare_other
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.presets import preset_settings
from fdgcl.run_folder import Config, RunFolder, TrainingLog
from fdgcl.training import EpochRecord, NonFiniteLossError


class FDGCL(Fitted):
    """Embeddings without labels, by contrasting orders of diffusion.

    The defaults amplify no frequency on any graph and are meant for a graph nobody has
    seen; `FDGCL.preset(name)` gives the settings for a known dataset.

    Attributes:
        history_: One record an epoch.
        notices_: What was decided for the user.
        plan_: How the diffusion was done, and what it was expected to cost.
        stability_: What it does to each frequency; None where it is not linear.
        stability_notes_: The same in words.
        fit_seconds_: Seconds spent diffusing and training.
    """

    @takes(Settings)
    def __init__(self) -> None:
        """Keep the settings; they are checked when fitting."""

    @classmethod
    def preset(cls, name: str, *, variant: str = "best", **overrides: Any) -> Self:
        """Return a model with the settings for a known dataset, some overridden.

        Args:
            name: The dataset.
            variant: `best` for ours, `paper` for the paper's method and settings.
            overrides: Settings to use instead.
        """
        return cls(**{**preset_settings(name, variant), **overrides})

    def plan(self, graph: Graph | GraphDataset) -> Plan:
        """Say how `fit` would go about a graph and what it would cost."""
        data = as_graph(graph)
        prepared = prepare_training(data, settings_for(graph, self.check()))
        self._take_notes(prepared)
        return prepared.plan

    def fit(
        self,
        graph: Graph | GraphDataset,
        y: None = None,  # noqa: ARG002
        *,
        run: str | Path | None = None,
        resume: bool = False,
        progress: bool | Progress | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> Self:
        """Train on a graph; labels, if it has any, are not looked at.

        Args:
            graph: The graph, or a dataset of graphs: all of their nodes are trained on.
            y: Ignored, for scikit-learn's sake.
            run: Folder for settings, metrics and weights; made if needed.
            resume: Go on with the unfinished run in that folder.
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
            self._fit(graph, run, resume, tell, on_epoch)
        return self

    def fit_transform(
        self,
        graph: Graph | GraphDataset,
        y: None = None,  # noqa: ARG002
        *,
        level: str | None = None,
        run: str | Path | None = None,
        resume: bool = False,
        progress: bool | Progress | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> NDArray[np.float32]:
        """Train as `fit` does, with its arguments, and return the embedding.

        A row stands for a node or, in a dataset of graphs, for a graph; level `node`
        or `graph` says which, where that is to be otherwise.
        """
        chosen = choose_level(graph, level)
        with watched(progress) as tell:
            source = self._fit(graph, run, resume, tell, on_epoch)
            return rows_of(self._embed(source), graph, chosen, self.readout)

    def transform(
        self,
        graph: Graph | GraphDataset,
        *,
        level: str | None = None,
        progress: bool | Progress | None = None,
    ) -> NDArray[np.float32]:
        """Embed a graph or graphs, seen or not, by the trained encoders.

        Level is as in `fit_transform`, progress as in `fit`.
        """
        chosen = choose_level(graph, level)
        with watched(progress) as tell:
            source = self._source_of_other(graph, of_stage(tell, "diffuse"))
            return rows_of(self._embed(source), graph, chosen, self.readout)

    def views(self, graph: Graph | GraphDataset) -> tuple[NDArray[np.float32], ...]:
        """The views of a graph by the trained encoders, each (nodes x dim)."""
        found = self._views_of_fitted().each(self._source_of_other(graph, None))
        return tuple(view.float().cpu().numpy() for view in found)

    def _source_of_other(
        self,
        graph: Graph | GraphDataset,
        progress: Callable[[int, int], None] | None,
    ) -> ViewSource:
        views = self._views_of_fitted()
        prepared = prepare_other(
            as_graph(graph), self.check(), self._config.schema, views.columns
        )
        self.notices_ = [*prepared.notices]
        notice(*self.notices_)
        self._note_stability(prepared)
        return prepared.source(views.mean.device, views.dynamics, progress)

    def _take_notes(self, prepared: Preparation) -> None:
        self._note_stability(prepared)
        self.plan_: Plan = prepared.plan
        self.notices_ = announce(prepared)

    def _note_stability(self, prepared: Preparation) -> None:
        self.stability_ = prepared.stability
        self.stability_notes_ = prepared.describe_stability()

    def _fit(
        self,
        graph: Graph | GraphDataset,
        run: str | Path | None,
        resume: bool,
        progress: Progress | None,
        on_epoch: OnEpoch | None = None,
    ) -> ViewSource:
        started = time.perf_counter()
        settings = settings_for(graph, self.check())
        prepared = prepare_training(as_graph(graph), settings)
        self._take_notes(prepared)
        check_memory(prepared.plan, settings.torch_device)
        self._config = Config.of(prepared)
        # Before anything is written: they may be too large for the memory.
        self._views = views_for(self._config)
        files = None if run is None else RunFolder(run)
        if files is not None:
            files.begin(self._config, resume=resume)
        source = prepared.source(
            settings.torch_device, self._views.dynamics, of_stage(progress, "diffuse")
        )
        if prepared.columns is not None:
            self._views.keep_columns(prepared.columns)
        self.history_ = []
        if files is not None and files.is_finished:
            files.read_model(self._views)
            self.history_ = files.read_metrics()
        else:
            explained = prepared.findings.cause is not None
            log = start_log(self._views, self._config, files, explained=explained)
            self._train(source, log, progress, on_epoch)
        self.fit_seconds_ = time.perf_counter() - started
        conclude(settings, self.history_, prepared.findings, self.fit_seconds_)
        return source

    def _train(
        self,
        source: ViewSource,
        log: TrainingLog,
        progress: Progress | None,
        on_epoch: OnEpoch | None,
    ) -> None:
        views, epochs = self._views, self.epochs

        def embed_now() -> NDArray[np.float32]:
            views.freeze_statistics(source)
            return self._embed(source)

        def after_epoch(record: EpochRecord) -> None:
            tell_epoch(progress, record, epochs)
            if on_epoch is not None:
                on_epoch(record, embed_now)

        self.history_ = log.history
        try:
            fit_views(views, source, self._config, log, after_epoch)
        except NonFiniteLossError as error:
            message = ". ".join([str(error), *self.stability_notes_])
            raise NonFiniteLossError(message) from None

    def _embed(self, source: ViewSource) -> NDArray[np.float32]:
        embedding = self._views.embed(source).float().cpu().numpy()
        if not np.isfinite(embedding).all():
            notes = ["the embedding has values that are not finite"]
            raise NonFiniteLossError("; ".join([*notes, *self.stability_notes_]))
        return np.asarray(embedding)
