"""The two ways to train that `fdgcl bench` compares."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from fdgcl.cli.progress import Bars
from fdgcl.diffusion.stepping import run_segments
from fdgcl.graphs import block_model
from fdgcl.losses import build_loss
from fdgcl.model import FDGCL
from fdgcl.preparation import Preparation, prepare
from fdgcl.training import EpochRecord, train
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
    """Both ways, on one graph from the same initial weights."""

    sizes: Sizes
    device: str
    in_loop: Run
    ours: Run
    difference: float

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


def compare(sizes: Sizes, seed: int, device: str, bars: Bars) -> Comparison:
    """Train both ways on a generated graph and compare time, memory and result."""
    graph = block_model(
        sizes.nodes,
        num_classes=2,
        degree=2 * sizes.edges / sizes.nodes,
        num_features=sizes.features,
        num_splits=0,
        seed=seed,
    )
    settings = FDGCL(
        time=float(sizes.steps), dim=sizes.dim, epochs=sizes.epochs, device=device
    ).check()
    prepared = prepare(graph, settings)
    place = settings.torch_device

    def once() -> ViewSource:
        return prepared.source(place, "precompute")

    def in_loop() -> ViewSource:
        return Stepped(prepared, place)

    _ = prepared.polynomial  # the operator's spectrum is not part of either way
    for make in (once, in_loop):  # threads, kernels and caches wake up
        _train(make(), prepared, 1, seed, None)
    ours, first = _measure(once, prepared, seed, partial(bars, "diffuse once"))
    theirs, second = _measure(
        in_loop, prepared, seed, partial(bars, "step in the loop")
    )
    difference = (first - second).abs().max() / second.abs().max()
    return Comparison(sizes, place.type, theirs, ours, float(difference))


def _measure(
    make: Callable[[], ViewSource],
    prepared: Preparation,
    seed: int,
    progress: Callable[[int, int], None],
) -> tuple[Run, Tensor]:
    epochs = prepared.settings.epochs
    with _peak_memory(prepared.settings.torch_device) as peak:
        start = time.perf_counter()
        source = make()
        _synchronize(prepared)
        ready = time.perf_counter()
        views = _train(source, prepared, epochs, seed, progress)
        _synchronize(prepared)
        done = time.perf_counter()
    is_stepped = isinstance(source, Stepped)
    run = Run(
        precompute_seconds=0.0 if is_stepped else ready - start,
        epoch_seconds=(done - ready) / epochs,
        peak_bytes=peak[0],
    )
    views.freeze_statistics(source)
    return run, views.embed(source).cpu()


def _train(
    source: ViewSource,
    prepared: Preparation,
    epochs: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> ViewPair:
    settings = prepared.settings
    views = ViewPair(prepared.graph.num_features, settings.dim, seed=seed)
    views = views.to(settings.torch_device)

    def on_epoch(record: EpochRecord) -> None:
        if progress is not None:
            progress(record.epoch, epochs)

    train(
        views,
        source,
        build_loss(settings.loss, settings.eta),
        torch.optim.Adam(views.parameters(), lr=settings.lr),
        epochs=epochs,
        on_epoch=on_epoch,
    )
    return views


def _synchronize(prepared: Preparation) -> None:
    device = prepared.settings.torch_device
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@contextmanager
def _peak_memory(device: torch.device) -> Iterator[list[int]]:
    """Yield a list whose one entry will be the most memory the block added, in bytes."""
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
