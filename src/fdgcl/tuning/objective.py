"""What settings are worth: train, embed, and probe on validation nodes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._memory import available_bytes
from fdgcl.choosing.problem import Problem
from fdgcl.embedder import GraphEmbedder
from fdgcl.estimators import estimator_of
from fdgcl.evaluation import validation_scores
from fdgcl.methods.resources import Resources
from fdgcl.training import NonFiniteLossError, TrainingWarning, warn_of_collapse

# Copies of the embedding that the probe holds: as it is, under each normalisation, and
# what is multiplied with them.
_PROBE_COPIES = 5
_USABLE = 0.9  # of the memory that is free

# Settings drawn at random go wrong in these ways; anything else is a fault of ours.
_WENT_WRONG = (
    InputError,
    NonFiniteLossError,
    ArithmeticError,
    MemoryError,
    np.linalg.LinAlgError,
    torch.linalg.LinAlgError,  # type: ignore[attr-defined]
    torch.cuda.OutOfMemoryError,
)


class HopelessError(Exception):
    """These settings give no embedding that could be scored; the text says why."""


@dataclass(frozen=True)
class Objective:
    """Scores settings on one problem.

    Attributes:
        problem: The graph and the labels that may be seen.
        device: Where to compute.
        method: Name of the method whose settings are scored.
    """

    problem: Problem
    device: str = "auto"
    method: str = "fdgcl"

    def scores(
        self, settings: Mapping[str, Any], seed: int, tick: Callable[[], None]
    ) -> Iterator[tuple[float, ...]]:
        """Train once and yield validation accuracies, one group of splits at a time.

        Args:
            settings: Of the model.
            seed: In place of the settings' own.
            tick: Called every so often; what it raises ends the training.

        Raises:
            HopelessError: The settings do not fit together or into memory, training
                diverged, or the views collapsed.
        """
        problem = self.problem
        model = estimator_of(self.method)(
            **{**settings, "seed": seed, "device": self.device}
        )
        with _hopeless():
            z = self._embed(model, tick)
            place = model.check().torch_device
        for group in problem.groups():
            with _hopeless():
                found = validation_scores(
                    z,
                    problem.labels[group],
                    problem.train[group],
                    problem.val[group],
                    device=place,
                )
            tick()
            yield found

    def _embed(
        self, model: GraphEmbedder, tick: Callable[[], None]
    ) -> NDArray[np.float32]:
        with warnings.catch_warnings():
            # Instability and collapse are what scores are for; overflows come with it.
            warnings.simplefilter("ignore", TrainingWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            self._check_memory(model)
            z = model.fit_transform(self.problem.graph, progress=lambda *_: tick())
            if model.history_ and warn_of_collapse(model.history_[-1]):
                message = "the views collapsed"
                raise HopelessError(message)
        return z

    def _check_memory(self, model: GraphEmbedder) -> None:
        settings = model.check()
        free = free_memory(settings.torch_device)
        prepared = model.prepare(self.problem.graph, Resources())
        rows = self.problem.graph.num_nodes
        probe = _PROBE_COPIES * 4 * rows * prepared.width
        needed = max(prepared.plan.peak_bytes, probe)
        if needed > _USABLE * free:
            message = (
                f"needs about {needed / 2**30:.1f} GiB of memory, and "
                f"{free / 2**30:.1f} GiB are free"
            )
            raise HopelessError(message)


@contextmanager
def _hopeless() -> Iterator[None]:
    """Turn what settings at random may cause into `HopelessError`."""
    try:
        yield
    except _WENT_WRONG as error:
        text = str(error) or type(error).__name__
        raise HopelessError(text.splitlines()[0]) from error


def free_memory(device: torch.device) -> int:
    """The bytes that are free on a device.

    Args:
        device: A processor or a GPU.

    Example:
        >>> free_memory(torch.device("cpu")) > 0
        True
    """
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return available_bytes()
