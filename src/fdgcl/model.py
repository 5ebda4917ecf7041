"""FDGCL: the estimator. Graph in, embedding out, no labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fdgcl._bars import watched
from fdgcl._estimator import answers_old_names
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
from fdgcl.methods.fdgcl.plan import FittingPlan
from fdgcl.methods.fdgcl.preparation import Preparation, prepare_training
from fdgcl.methods.fdgcl.reuse import prepare_other
from fdgcl.presets import preset_settings
from fdgcl.run_folder import Config, RunFolder, TrainingLog
from fdgcl.training import EpochRecord, NonFiniteLossError

if TYPE_CHECKING:
    from fdgcl.losses import Loss


class FDGCL(Fitted):
    """Embeddings without labels, by contrasting orders of diffusion.

    The defaults amplify no frequency on any graph and are meant for a graph nobody has
    seen; `FDGCL.preset(name)` gives the settings for a known dataset.

    Args:
        orders: Two orders in (0, 1], or any number, each of a view: a small one keeps
            local detail, a large one summarises.
        time: T, how long features diffuse.
        step: h, the step of the solver; there are ceil(T / h) steps.
        solver: `predictor`, `corrector`, `l1`, `gl` or `exact`.
        rate: Factor in front of the equation's right-hand side.
        dynamics: The right-hand side: `grand` (heat), `grand-attention`,
            `grand-nonlinear`, `graphcon`, `cde` or `gread`. Linear ones with fixed
            weights are applied once, before training; others are stepped and trained.
        dynamics_options: The dynamics' own options, such as `{"reaction": "fisher"}`.
        skip: When the initial features are added again: `none`, `end`, `every-step`,
            or a number of equal segments.
        direction: Whom a node gathers from: `out` (whom it points to), `in`,
            `symmetric`; None is symmetric, with a notice where edges are directed.
        edge_types: `separate` diffuses features along the edges of each type by
            itself, side by side; `merge` takes all edges as of one type.
        self_loops: Weight of each node's self-loop.
        normalization: Of the adjacency: `symmetric`, `row` or `column`.
        window: The newest history entries that a step of the solver sums over (its
            short memory); None takes all.
        gradient: Through the steps, where there are any: `adjoint` keeps the states
            alone, `checkpoint` fewer of them, `autograd` all that is computed.
        feature_scaling: Before anything else: `none`, `row` (rows of length 1),
            `tf-idf` (columns weighted by how rare they are, then `row`) or `columns`
            (each to mean 0 and variance 1; sparse ones keep their zeros).
        dim: Columns of each view, and of the embedding unless it keeps more.
        init_scale: Factor on the initial weights. Standardised columns do not see it;
            what it sets is how far training can move away from a random encoder.
        activation: `relu`, `elu`, `gelu`, `tanh` or `linear`.
        standardize: Bring every hidden column to mean 0 and variance 1 over all nodes
            before the activation; False is the paper's text to the letter.
        loss: `regularized-cosmean`, `cosmean`, `euclidean`, `barlow-twins`, `vicreg`, a
            `Loss`, or the import path of one of yours: `package.module:Class`.
        loss_options: The loss's own options, such as `{"variance": 10}`.
        pairs: Which views the loss compares: `all` pairs, or `consecutive` ones.
        beta: Weight of the first view in the embedding, of which the others share the
            rest, or weights of all. None lets the graph decide, without labels: all
            alike, or the first alone where neighbours' features tell nothing.
        combine: `sum` is the paper's `beta * Z1 + (1 - beta) * Z2`; `concat` puts the
            views side by side, weighted so.
        keep: Columns beside the views that training does not touch: some of `features`,
            `local` and `global` (as the first and the last order diffuse them).
        keep_weight: Weight of each block kept; 1 is as much as the views have.
        eta: Weight of the regulariser of `regularized-cosmean`.
        lr: Learning rate of Adam.
        weight_decay: Weight decay of Adam.
        epochs: Passes over the nodes; 0 leaves the encoder untrained.
        batch_size: Rows of a mini-batch. None takes all rows up to 16 million numbers a
            view; above, batches of 4 million, which share one step's length (lr).
        strategy: `precompute` diffuses the features once, `in-loop` the encoded
            features in every epoch, `auto` takes the cheaper.
        readout: How a graph's row is made of its nodes' in a dataset of graphs: some
            of `mean`, `sum` and `max`, side by side.
        structural: Features made where there are none: `spectral` (for a dataset of
            graphs `degree` instead), `degree` or `random`.
        seed: Of the initial weights and the batches.
        device: `auto`, `cpu` or `cuda`.
        dtype: `float32` or `float64`.
        precision: Of dense products in training on CUDA: `float32`; `tf32` rounds
            factors to 11 bits (a relative 5e-4) and sums in float32; `float16` also
            keeps the views so, which takes half the memory.
        fast: Fused training steps where there are such; False takes the plain ones,
            which give the same up to rounding.

    Attributes:
        history_: One record an epoch.
        notices_: What was decided for the user.
        plan_: How the diffusion was done, and what it was expected to cost.
        stability_: What it does to each frequency; None where it is not linear.
        stability_notes_: The same in words.
        fit_seconds_: Seconds spent diffusing and training.
    """

    @answers_old_names
    def __init__(
        self,
        *,
        orders: Sequence[float] = (0.01, 1.0),
        time: float = 60.0,
        step: float = 20.0,
        solver: str = "predictor",
        rate: float = 0.05,
        dynamics: str = "grand",
        dynamics_options: Mapping[str, Any] | None = None,
        skip: str | int = "none",
        direction: str | None = None,
        edge_types: str = "separate",
        self_loops: float = 1.0,
        normalization: str = "symmetric",
        window: int | None = None,
        gradient: str = "adjoint",
        feature_scaling: str = "none",
        dim: int = 512,
        init_scale: float = 10.0,
        activation: str = "linear",
        standardize: bool = True,
        loss: str | Loss = "regularized-cosmean",
        loss_options: Mapping[str, Any] | None = None,
        pairs: str = "all",
        beta: float | Sequence[float] | None = None,
        combine: str = "sum",
        keep: tuple[str, ...] = (),
        keep_weight: float = 1.0,
        eta: float = 0.1,
        lr: float = 0.01,
        weight_decay: float = 5e-4,
        epochs: int = 20,
        batch_size: int | None = None,
        strategy: str = "auto",
        readout: tuple[str, ...] = ("mean",),
        structural: str = "spectral",
        seed: int = 0,
        device: str = "auto",
        dtype: str = "float32",
        precision: str = "float32",
        fast: bool = True,
    ) -> None:
        self.orders = orders
        self.time = time
        self.step = step
        self.solver = solver
        self.rate = rate
        self.dynamics = dynamics
        self.dynamics_options = dynamics_options
        self.skip = skip
        self.direction = direction
        self.edge_types = edge_types
        self.self_loops = self_loops
        self.normalization = normalization
        self.window = window
        self.gradient = gradient
        self.feature_scaling = feature_scaling
        self.dim = dim
        self.init_scale = init_scale
        self.activation = activation
        self.standardize = standardize
        self.loss = loss
        self.loss_options = loss_options
        self.pairs = pairs
        self.beta = beta
        self.combine = combine
        self.keep = keep
        self.keep_weight = keep_weight
        self.eta = eta
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch_size = batch_size
        self.strategy = strategy
        self.readout = readout
        self.structural = structural
        self.seed = seed
        self.device = device
        self.dtype = dtype
        self.precision = precision
        self.fast = fast

    @classmethod
    def preset(cls, name: str, *, variant: str = "best", **overrides: Any) -> Self:
        """Return a model with the settings for a known dataset, some overridden.

        Args:
            name: The dataset.
            variant: `best` for ours, `paper` for the paper's method and settings.
            overrides: Settings to use instead.
        """
        return cls(**{**preset_settings(name, variant), **overrides})

    def plan(self, graph: Graph | GraphDataset) -> FittingPlan:
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
        self.plan_: FittingPlan = prepared.plan
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
