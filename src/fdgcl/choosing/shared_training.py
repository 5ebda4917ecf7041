"""Embeddings by several settings of one diffusion; what they share is done once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.graphs import Graph
from fdgcl.methods.base import Config
from fdgcl.methods.fdgcl.combination import view_weights
from fdgcl.methods.fdgcl.decisions import ViewPreparation
from fdgcl.methods.fdgcl.encoder import Encoders
from fdgcl.methods.fdgcl.feature_columns import reduces_views
from fdgcl.methods.fdgcl.kept_blocks import KEPT, NEIGHBOURS, kept_blocks
from fdgcl.methods.fdgcl.method import FdgclMethod, options_of
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.sources import ViewSource
from fdgcl.methods.fdgcl.training import ViewTraining
from fdgcl.methods.resources import Resources
from fdgcl.training import NonFiniteLossError, TrainingWarning
from fdgcl.training.loop import train

#: Settings of the embedding that training knows nothing of; `dim` is told by `hidden`.
_AFTERWARDS = {"beta", "combine", "keep", "keep_weight", "dim", "readout"}
#: Settings that do nothing where nothing is trained.
_OF_TRAINING = {"loss", "loss_options", "pairs", "eta", "lr", "weight_decay"}
# More digits of a weight than make a difference.
_DIGITS = 5

_DIVERGED = (
    NonFiniteLossError,
    ArithmeticError,
    np.linalg.LinAlgError,
    torch.linalg.LinAlgError,  # type: ignore[attr-defined]
)

Key: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Planned:
    """Settings to try on a graph.

    Attributes:
        name: What they are called.
        prepared: The graph under them.
    """

    name: str
    prepared: ViewPreparation

    @property
    def settings(self) -> Settings:
        """The settings themselves."""
        return self.prepared.settings

    @property
    def training(self) -> Key:
        """What the training depends on, but for its length."""
        settings = replace(self.settings, hidden=self.settings.hidden_columns)
        left_out = {*_AFTERWARDS, "epochs"}
        return tuple(
            repr(getattr(settings, one.name))
            for one in fields(settings)
            if one.name not in left_out
        )

    @cached_property
    def embedding(self) -> Key:
        """What the embedding depends on: of two alike, one need not be tried."""
        settings, prepared = self.settings, self.prepared
        bare = (
            replace(settings, **_plain(settings)) if not settings.epochs else settings
        )
        weights = view_weights(prepared.beta, len(settings.orders))
        length = np.linalg.norm(weights)
        blocks = zip(prepared.kept, prepared.keep_weight, strict=True)
        parts = prepared.parts
        return (
            replace(self, prepared=replace(prepared, settings=bare)).training,
            settings.epochs,
            settings.combine,
            tuple(round(float(one / length), _DIGITS) for one in weights),
            tuple(sorted((name, round(one, _DIGITS)) for name, one in blocks)),
            settings.dim if parts.is_compressed else None,
        )


def _plain(settings: Settings) -> dict[str, Any]:
    """The defaults of what does nothing without training."""
    return {
        one.name: one.default for one in fields(settings) if one.name in _OF_TRAINING
    }


class SharedTraining:
    """A graph that is diffused once and embedded by several settings.

    Args:
        graph: The graph, in memory.
        settings: Those that all have in common.
        resources: What may be used.
        progress: Called while features are diffused.
    """

    def __init__(
        self,
        graph: Graph,
        settings: Settings,
        resources: Resources,
        progress: Progress | None = None,
    ) -> None:
        if not settings.is_fixed_linear:
            message = (
                f"dynamics {settings.dynamics!r} is stepped in every epoch, and a "
                "quick choice needs one diffusion for all that it tries: search by "
                "fdgcl tune without --quick"
            )
            raise InputError(message)
        method = FdgclMethod()
        everything = replace(
            settings,
            combine="concat",
            keep=KEPT,
            keep_weight=None,
            beta=None,
            dim=max(settings.dim, len(KEPT) + len(settings.orders)),
            hidden=settings.hidden_columns,
            reduce_views=reduces_views(settings, graph.num_nodes),
        )
        prepared = method.prepare(graph, everything).within(resources)
        assert isinstance(prepared, DiffusionPreparation), "the graph is in memory"
        method.check_training(prepared)
        prepared.check_memory()
        self._method, self._base = method, prepared
        self._schema, self._progress = prepared.schema(), progress

    @property
    def device(self) -> torch.device:
        """Where it is computed."""
        return self._base.settings.torch_device

    @cached_property
    def source(self) -> ViewSource:
        """The diffused features, made when first asked for."""
        return self._base.source(self.device, progress=self._progress)

    def plan(self, name: str, settings: Settings) -> Planned:
        """Look at settings on the graph; those of the diffusion are the common ones.

        Raises:
            InputError: They do not fit it.
        """
        base = self._base
        _ = base.features, base.weighing  # once, for all
        settings = replace(
            settings,
            feature_scaling=base.settings.feature_scaling,
            strategy=base.plan.strategy,
            reduce_views=base.settings.reduce_views,
        )
        direction = "symmetric" if NEIGHBOURS in base.kept else None
        kept = kept_blocks(settings.keep, direction)
        return Planned(name, base.trained_otherwise(settings, kept))

    def embeddings(
        self, planned: Sequence[Planned]
    ) -> Iterator[tuple[Planned, Tensor | str]]:
        """Yield the embedding by each, or why there is none; not in their order."""
        groups: dict[Key, list[Planned]] = {}
        for one in planned:
            groups.setdefault(one.training, []).append(one)
        for group in groups.values():
            yield from self._trained(sorted(group, key=lambda one: one.settings.epochs))

    def _trained(
        self, group: Sequence[Planned]
    ) -> Iterator[tuple[Planned, Tensor | str]]:
        """Train once for all of a group, as long as the longest of them asks for."""
        training, done, failed = self._training(group[0]), 0, ""
        for one in group:
            epochs = one.settings.epochs
            if epochs > done and not failed:
                failed = _attempt(lambda: _train(training, done, epochs))  # noqa: B023
                done = epochs
            if failed:
                yield one, failed
                continue
            found: list[Tensor] = []
            wrong = _attempt(lambda: found.append(self._embed(one, training.model)))  # noqa: B023
            yield one, wrong or found[0]
        training.release()

    def _embed(self, one: Planned, trained: Encoders) -> Tensor:
        training = self._training(one)
        with torch.no_grad():
            for mine, theirs in zip(
                training.model.weights, trained.weights, strict=True
            ):
                mine.copy_(theirs)
        training.finish()
        embedding = training.model.embed(self.source)
        if not torch.isfinite(embedding).all():
            message = "the embedding has values that are not finite"
            raise NonFiniteLossError(message)
        return embedding

    def _training(self, one: Planned) -> ViewTraining:
        config = Config(
            self._method.name, one.settings, self._schema, {}, one.prepared.decisions()
        )
        model = self._method.new_model(config)
        return ViewTraining(model, self.source, options_of(config))


def _train(training: ViewTraining, done: int, epochs: int) -> None:
    train(training, epochs=epochs, first_epoch=done + 1, on_epoch=lambda _: None)


def _attempt(what: Callable[[], None]) -> str:
    """Do something, and return why it went wrong; nothing if it did not."""
    try:
        with quiet():
            what()
    except _DIVERGED as error:
        return (str(error) or type(error).__name__).splitlines()[0]
    return ""


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out warnings of what a score will show: instability and overflows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
