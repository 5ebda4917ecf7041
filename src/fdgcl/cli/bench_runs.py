"""The two ways to train that `fdgcl bench` compares, each in a process of its own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.experiments.measures.fresh import in_fresh_process
from fdgcl.experiments.measures.timing import Run, time_training, untrained_views
from fdgcl.graphs import block_model
from fdgcl.model import FDGCL
from fdgcl.preparation import Preparation, prepare
from fdgcl.settings import Settings
from fdgcl.views import ViewPair, ViewSource


@dataclass(frozen=True)
class Sizes:
    """What is timed."""

    nodes: int
    edges: int
    features: int
    dim: int
    epochs: int
    steps: int


@dataclass(frozen=True)
class Comparison:
    """Both ways, on one graph from the same initial weights.

    Attributes:
        sizes: What was timed.
        device: Where.
        in_loop: The solver in the training loop.
        ours: Diffusion before training.
        difference_untrained: Largest difference of the embeddings before training,
            relative to the largest entry.
        difference_trained: The same after training, which amplifies rounding.
    """

    sizes: Sizes
    device: str
    in_loop: Run
    ours: Run
    difference_untrained: float
    difference_trained: float

    @property
    def speed_ratio(self) -> float:
        """How many times shorter our epochs are."""
        return self.in_loop.epoch_seconds / self.ours.epoch_seconds

    @property
    def memory_ratio(self) -> float:
        """How many times less memory ours takes."""
        return self.in_loop.peak_bytes / max(self.ours.peak_bytes, 1)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        ratios = {"speed_ratio": self.speed_ratio, "memory_ratio": self.memory_ratio}
        return {**asdict(self), **ratios}


@dataclass(frozen=True)
class Measured:
    """A run and the embeddings before and after it."""

    run: Run
    untrained: NDArray[np.float32]
    trained: NDArray[np.float32]


def compare(sizes: Sizes, seed: int, device: str) -> Comparison:
    """Train both ways on a generated graph and compare time, memory and result."""
    ours, theirs = (
        in_fresh_process(measure, None, way, sizes, seed, device)
        for way in ("precomputed", "stepping")
    )
    return Comparison(
        sizes=sizes,
        device=_settings(sizes, seed, device).torch_device.type,
        in_loop=theirs.run,
        ours=ours.run,
        difference_untrained=_difference(ours.untrained, theirs.untrained),
        difference_trained=_difference(ours.trained, theirs.trained),
    )


def measure(way: str, sizes: Sizes, seed: int, device: str) -> Measured:
    """Train one way, after a small rehearsal that wakes up threads and kernels."""
    small = Sizes(64, 128, sizes.features, sizes.dim, 1, sizes.steps)
    _run(way, small, seed, device)
    return _run(way, sizes, seed, device)


def _run(way: str, sizes: Sizes, seed: int, device: str) -> Measured:
    prepared = _prepare(sizes, seed, device)
    timed = time_training(prepared, way, epochs=sizes.epochs)
    return Measured(
        timed.run,
        untrained=_embed(untrained_views(prepared), timed.source),
        trained=_embed(timed.views, timed.source),
    )


def _prepare(sizes: Sizes, seed: int, device: str) -> Preparation:
    graph = block_model(
        sizes.nodes,
        num_classes=2,
        degree=2 * sizes.edges / sizes.nodes,
        num_features=sizes.features,
        num_splits=0,
        seed=seed,
    )
    prepared = prepare(graph, _settings(sizes, seed, device))
    # The graph's spectrum belongs to neither way.
    assert prepared.polynomial.products
    return prepared


def _settings(sizes: Sizes, seed: int, device: str) -> Settings:
    return FDGCL(
        time=float(sizes.steps),
        step=1.0,
        dim=sizes.dim,
        init_scale=1.0,
        activation="relu",
        beta=0.5,
        weight_decay=0.0,
        epochs=sizes.epochs,
        seed=seed,
        device=device,
    ).check()


def _embed(views: ViewPair, source: ViewSource) -> NDArray[np.float32]:
    views.freeze_statistics(source)
    return np.asarray(views.embed(source).cpu().numpy())


def _difference(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())
