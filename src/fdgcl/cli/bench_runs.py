"""The two ways to train that `fdgcl bench` compares, each in a process of its own."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.diffusion.stepping import run_segments
from fdgcl.graphs import block_model
from fdgcl.losses import build_loss
from fdgcl.model import FDGCL
from fdgcl.preparation import Preparation, prepare
from fdgcl.settings import Settings
from fdgcl.training import train
from fdgcl.views import ViewPair, ViewSource

_SAMPLE_SECONDS = 0.002


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
class Run:
    """What one way to train took; memory is what it added to what was there."""

    precompute_seconds: float
    epoch_seconds: float
    peak_bytes: int


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


@final
class Stepped(ViewSource):
    """The solver in the loop: autograd goes back through every step."""

    def __init__(self, prepared: Preparation, device: torch.device) -> None:
        settings = prepared.settings
        self.num_rows = prepared.graph.num_nodes
        self._x = torch.tensor(prepared.features, device=device)
        self._matrix = prepared.operator.matrix
        self._orders, self._rate = settings.orders, settings.rate
        self._schedule = settings.schedule

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        order = self._orders[view]
        result = run_segments(self._slope, self._x @ weight, order, self._schedule)
        return result if rows is None else result[rows]

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """See the base class."""
        hidden = self.hidden(view, weight)
        return hidden.mean(0), hidden.var(0, unbiased=False)

    def _slope(self, t: float, state: Tensor) -> Tensor:  # noqa: ARG002
        return (self._matrix.multiply(state) - state) * self._rate


@dataclass(frozen=True)
class Measured:
    """A run and the embeddings before and after it."""

    run: Run
    untrained: NDArray[np.float32]
    trained: NDArray[np.float32]


def compare(sizes: Sizes, seed: int, device: str) -> Comparison:
    """Train both ways on a generated graph and compare time, memory and result."""
    ours, theirs = (
        _in_own_process(way, sizes, seed, device) for way in ("once", "in-loop")
    )
    return Comparison(
        sizes=sizes,
        device=_settings(sizes, device).torch_device.type,
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


def _in_own_process(way: str, sizes: Sizes, seed: int, device: str) -> Measured:
    # Memory that one way has freed would otherwise hide what the other one takes.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, way, sizes, seed, device).result()


def _run(way: str, sizes: Sizes, seed: int, device: str) -> Measured:
    prepared = _prepare(sizes, seed, device)
    settings = prepared.settings
    place = settings.torch_device
    views = ViewPair(sizes.features, sizes.dim, seed=seed).to(place)
    optimizer = torch.optim.Adam(views.parameters(), lr=settings.lr)
    with _peak_memory(place) as peak:
        start = _now(place)
        source = prepared.source(place) if way == "once" else Stepped(prepared, place)
        ready = _now(place)
        untrained = _embed(views, source)
        begun = _now(place)
        train(
            views,
            source,
            build_loss(settings.loss, settings.eta),
            optimizer,
            epochs=sizes.epochs,
            on_epoch=lambda _: None,
        )
        done = _now(place)
    run = Run(ready - start, (done - begun) / sizes.epochs, peak[0])
    if way != "once":
        run = replace(run, precompute_seconds=0.0)
    return Measured(run, untrained, _embed(views, source))


def _prepare(sizes: Sizes, seed: int, device: str) -> Preparation:
    graph = block_model(
        sizes.nodes,
        num_classes=2,
        degree=2 * sizes.edges / sizes.nodes,
        num_features=sizes.features,
        num_splits=0,
        seed=seed,
    )
    prepared = prepare(graph, _settings(sizes, device))
    # The graph's spectrum and its transpose belong to neither way.
    assert prepared.polynomial.products
    assert prepared.operator.matrix.transposed.nnz
    return prepared


def _settings(sizes: Sizes, device: str) -> Settings:
    return FDGCL(
        time=float(sizes.steps),
        step=1.0,
        dim=sizes.dim,
        epochs=sizes.epochs,
        strategy="precompute",
        device=device,
    ).check()


def _embed(views: ViewPair, source: ViewSource) -> NDArray[np.float32]:
    views.freeze_statistics(source)
    return np.asarray(views.embed(source).cpu().numpy())


def _difference(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def _now(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


@contextmanager
def _peak_memory(device: torch.device) -> Iterator[list[int]]:
    """Yield a list of one entry: the most memory that the block added, in bytes."""
    peak = [0]
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        yield peak
        peak[0] = torch.cuda.max_memory_allocated(device) - before
        return
    before, done = _resident_bytes(), threading.Event()

    def watch() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            peak[0] = max(peak[0], _resident_bytes() - before)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def _resident_bytes() -> int:
    statm = Path("/proc/self/statm")
    if statm.is_file():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    # Elsewhere only the peak is known; macOS counts it in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
