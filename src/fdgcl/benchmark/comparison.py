"""Ours and the solver in the loop: one process, one graph, the same initial weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError, check_count
from fdgcl.benchmark.memory import freed_at_once, give_back_free_memory
from fdgcl.benchmark.probing import Probed, time_probe
from fdgcl.benchmark.problems import generate
from fdgcl.benchmark.roofline import Floor, floor_of
from fdgcl.benchmark.solver_in_loop import check_can_be_stepped
from fdgcl.benchmark.trainings import Training, train_ours, train_theirs
from fdgcl.graphs import Graph
from fdgcl.methods.fdgcl.settings import Settings

WARMUP_EPOCHS = 2
LOOP_WARMUP = 1

#: Called with what is measured now.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Order:
    """What to measure.

    Attributes:
        epochs: Of a whole training.
        repeats: How often ours is trained, after a warm-up run.
        loop_epochs: Epochs of the solver in the loop to time, after one that warms
            up; 0 leaves it out.
        plain: Also ours without fused steps.
        probe: Also the linear probe on the embedding.
    """

    epochs: int = 55
    repeats: int = 3
    loop_epochs: int = 2
    plain: bool = False
    probe: bool = False

    def __post_init__(self) -> None:
        for name in ("epochs", "repeats"):
            check_count(name, getattr(self, name))
        check_count("loop_epochs", self.loop_epochs, minimum=0)

    @property
    def shared_epochs(self) -> int:
        """Epochs after which ours and the solver in the loop are compared."""
        return LOOP_WARMUP + self.loop_epochs if self.loop_epochs else WARMUP_EPOCHS


@dataclass(frozen=True)
class Way:
    """What one way to train takes.

    Attributes:
        precompute_seconds: From the loaded graph to the first epoch.
        precompute_parts: What that consists of.
        epoch_seconds: Of an epoch, the median.
        training_seconds: From the loaded graph to the last epoch of a whole training.
        peak_bytes: The most memory that it added to graph and features.
        timed_epochs: How many epochs the median is of.
        extrapolated: Whether the whole training is a sum of such epochs rather than
            timed itself.
    """

    precompute_seconds: float
    precompute_parts: dict[str, float]
    epoch_seconds: float
    training_seconds: float
    peak_bytes: int
    timed_epochs: int
    extrapolated: bool


@dataclass(frozen=True)
class Differences:
    """How far ours and the solver in the loop are apart.

    Attributes:
        epochs: That both ran, from the same weights.
        loss: The largest difference of the losses of an epoch.
        untrained: The largest difference of the embeddings before training, relative
            to the largest entry.
        embedding: The same after these epochs. Adam's first steps move every weight
            by about as much, however small its gradient: where that is rounding
            alone, the two may go different ways.
    """

    epochs: int
    loss: float
    untrained: float
    embedding: float


@dataclass(frozen=True)
class Comparison:
    """All that was measured.

    Attributes:
        ours: Diffusion before training.
        plain: The same without fused steps, where asked for.
        loop: The solver in the loop, where asked for.
        differences: Between ours and the loop.
        floor: What an epoch of ours takes at least.
        probe: The linear probe, where asked for.
    """

    ours: Way
    plain: Way | None
    loop: Way | None
    differences: Differences | None
    floor: Floor
    probe: Probed | None

    @property
    def ratios(self) -> dict[str, float] | None:
        """How many times more the solver in the loop takes."""
        if self.loop is None:
            return None
        return {
            "epoch": self.loop.epoch_seconds / self.ours.epoch_seconds,
            "training": self.loop.training_seconds / self.ours.training_seconds,
            "memory": self.loop.peak_bytes / max(self.ours.peak_bytes, 1),
        }

    @property
    def distance(self) -> float:
        """An epoch of ours, in floors."""
        return self.ours.epoch_seconds / self.floor.seconds

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        floor = {**self.floor.to_dict(), "distance": self.distance}
        return {**asdict(self), "floor": floor, "ratios": self.ratios}


def compare(
    graph: Graph, settings: Settings, order: Order, progress: Progress | None = None
) -> Comparison:
    """Train ours, then with the solver in the loop, and compare.

    Memory comes first, in runs that are not timed; before each of them all memory of
    the earlier ones is given back, so that no run uses or is charged for another's.
    Times follow.

    Args:
        graph: The graph, with features.
        settings: The model's; all rows are trained on at once, whatever its batches.
        order: What to measure.
        progress: Called with what is measured now.
    """
    if graph.features is None:
        message = "a graph without features cannot be timed: give it some first"
        raise InputError(message)
    tell = progress or (lambda _: None)
    ours = replace(settings, strategy="precompute", batch_size=graph.num_nodes)
    theirs = replace(ours, fast=False, precision="float32")
    if order.loop_epochs:
        check_can_be_stepped(theirs)
    tell("watching the memory")
    peaks = _peaks(graph, ours, theirs, order)
    tell("rehearsing")
    # On the very shapes, so that no later run meets a kernel for the first time.
    rehearsal = train_ours(graph, ours, order.shared_epochs, embed=True)
    tell("training ours")
    ours_way = _repeated(graph, ours, order, peaks["ours"])
    plain_way = None
    if order.plain:
        tell("training ours without fused steps")
        plain_way = _repeated(graph, theirs, order, peaks["plain"])
    tell("measuring the floor")
    give_back_free_memory()
    floor = floor_of(
        graph.num_nodes,
        graph.num_features,
        ours.dim,
        device=ours.torch_device,
        dtype=ours.torch_dtype,
        precision=ours.precision,
    )
    probe = None
    if order.probe:
        tell("probing")
        probe = time_probe(rehearsal.embedding, graph, ours)
    loop_way, differences = None, None
    if order.loop_epochs:
        tell("training with the solver in the loop")
        found = train_theirs(graph, theirs, order.shared_epochs, embed=True)
        loop_way = _extrapolated(found, order, peaks["loop"])
        differences = differ(rehearsal, found)
    return Comparison(ours_way, plain_way, loop_way, differences, floor, probe)


def differ(ours: Training, theirs: Training) -> Differences:
    """How far two trainings of the same epochs are apart."""
    losses = np.abs(np.subtract(ours.losses, theirs.losses))
    return Differences(
        len(ours.losses),
        float(losses.max()),
        _apart(ours.untrained, theirs.untrained),
        _apart(ours.embedding, theirs.embedding),
    )


def _peaks(
    graph: Graph, ours: Settings, theirs: Settings, order: Order
) -> dict[str, int]:
    """The peak memory of each way, in bytes, before the heap has grown by any run."""
    small = generate(64, 128, graph.num_features, seed=0)
    bare = replace(theirs, feature_scaling="none")
    ways = [("ours", train_ours, ours, WARMUP_EPOCHS)]
    if order.plain:
        ways.append(("plain", train_ours, theirs, WARMUP_EPOCHS))
    if order.loop_epochs:
        ways.append(("loop", train_theirs, theirs, 1))
    found = {}
    with freed_at_once():
        # Libraries take memory for themselves once, which counts for none of the ways.
        for _, train, _, epochs in ways:
            train(small, bare, epochs)
        for name, train, settings, epochs in ways:
            run = train(graph, settings, epochs, watch_memory=True)
            found[name] = run.peak_bytes
    return found


def _repeated(graph: Graph, settings: Settings, order: Order, peak_bytes: int) -> Way:
    """A whole training several times over, and the median of everything."""
    runs = [train_ours(graph, settings, order.epochs) for _ in range(order.repeats)]
    parts = {name: median(run.parts[name] for run in runs) for name in runs[0].parts}
    # The first epoch of a run starts what the others find running.
    epochs = [seconds for run in runs for seconds in _awake(run.epochs)]
    return Way(
        precompute_seconds=median(sum(run.parts.values()) for run in runs),
        precompute_parts=parts,
        epoch_seconds=median(epochs),
        training_seconds=median(run.total_seconds for run in runs),
        peak_bytes=peak_bytes,
        timed_epochs=len(epochs),
        extrapolated=False,
    )


def _extrapolated(run: Training, order: Order, peak_bytes: int) -> Way:
    epochs = run.epochs[LOOP_WARMUP:]
    once = sum(run.parts.values())
    return Way(
        precompute_seconds=once,
        precompute_parts=run.parts,
        epoch_seconds=median(epochs),
        training_seconds=once + order.epochs * median(epochs),
        peak_bytes=peak_bytes,
        timed_epochs=len(epochs),
        extrapolated=True,
    )


def _awake(epochs: Sequence[float]) -> Sequence[float]:
    return epochs[1:] if len(epochs) > 1 else epochs


def _apart(a: NDArray[np.float32] | None, b: NDArray[np.float32] | None) -> float:
    assert a is not None
    assert b is not None
    return float(np.abs(a - b).max() / max(float(np.abs(b).max()), 1e-30))
