"""A graph on disk from edge list to embedding by the product's own commands, measured.

Each command runs as a process of its own and is watched from outside: seconds, memory
of it and all that it starts, and disk. Making the graph is measured too, but belongs
neither to the total nor to the bound on memory: a user has a graph.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fdgcl.benchmark.problems import check_edges
from fdgcl.benchmark.processes import Watched, check_linux, folder_bytes, watch
from fdgcl.benchmark.workplace import disk_rates
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.planning import check_disk
from fdgcl.planning.cost import (
    Problem,
    diffused_bytes,
    embedding_bytes,
    import_temporary_bytes,
    store_bytes,
)
from fdgcl.presets import paper_defaults
from fdgcl.tuning.files import write_settings

FORMAT = "fdgcl-out-of-core-1"
GENERATE = "generate"
PROGRAM = (sys.executable, "-m", "fdgcl")
#: Where a record speaks of the folder that all of it happens in.
PLACEHOLDER = "WORK"
_SETTINGS = "paper.toml"
_LEAST_PROBE_BYTES, _MOST_PROBE_BYTES = 2**24, 2**30
_LAST_LINES = 3

Progress = Callable[[str, int, int | None], None]


class StageError(RuntimeError):
    """A command ended with an error."""


@dataclass(frozen=True)
class Order:
    """What to run.

    Attributes:
        nodes: Of the generated graph.
        edges: Its edges.
        features: Its features.
        dim: Columns of each view.
        epochs: Of training.
        time: How long to diffuse.
        step: Of the solver.
        memory: The bound, in bytes, that each command is given.
        seed: Of the graph and of training.
        orders: Fractional orders, as an option has them; None for the paper's.
        threads: Of every command; None for as many as it takes.
    """

    nodes: int = 200_000
    edges: int = 2_000_000
    features: int = 64
    dim: int = 128
    epochs: int = 3
    time: float = 10.0
    step: float = 1.0
    memory: int = 6_000_000_000
    seed: int = 0
    orders: str | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Stage:
    """One command, and what it took.

    Attributes:
        stage: `generate`, `import`, `diffuse` or `train`.
        command: With WORK in place of the folder.
        exit_code: 0; a command that fails ends the whole.
        seconds: From its start to its end.
        peak_bytes: The most that it and its descendants held.
        disk_bytes: All that there is on disk after it.
        peak_disk_bytes: The most that there was meanwhile.
    """

    stage: str
    command: str
    exit_code: int
    seconds: float
    peak_bytes: int
    disk_bytes: int
    peak_disk_bytes: int


@dataclass(frozen=True)
class Measured:
    """All stages, and what came out.

    Attributes:
        order: What was asked for.
        problem: The sizes that it came to.
        stages: In the order run.
        sizes: Bytes on disk at the end, by what they are for.
        disk: Bytes a second of writing and reading one file after the other.
    """

    order: Order
    problem: Problem
    stages: tuple[Stage, ...]
    sizes: Mapping[str, int]
    disk: Mapping[str, float]

    @property
    def counted(self) -> list[Stage]:
        """The stages of the total and of the bound."""
        return [stage for stage in self.stages if stage.stage != GENERATE]

    @property
    def seconds(self) -> float:
        """Of all that counts."""
        return sum(stage.seconds for stage in self.counted)

    @property
    def peak_bytes(self) -> int:
        """The most memory of all that counts."""
        return max(stage.peak_bytes for stage in self.counted)

    @property
    def is_bound_kept(self) -> bool:
        """Whether no command held more than it was allowed to."""
        return self.peak_bytes <= self.order.memory

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "order": asdict(self.order),
            "problem": asdict(self.problem),
            "stages": [asdict(stage) for stage in self.stages],
            "total": {
                "of": [stage.stage for stage in self.counted],
                "seconds": self.seconds,
                "peak_bytes": self.peak_bytes,
                "peak_disk_bytes": max(s.peak_disk_bytes for s in self.counted),
                "memory": self.order.memory,
                "bound_kept": self.is_bound_kept,
            },
            "sizes": dict(self.sizes),
            "disk": dict(self.disk),
        }


def run_out_of_core(
    order: Order,
    folder: Path,
    *,
    progress: Progress | None = None,
    program: tuple[str, ...] = PROGRAM,
) -> Measured:
    """Run all commands in an empty folder, and measure them.

    Args:
        order: What to run.
        folder: Where everything goes; it is there, and empty.
        progress: Called with a stage, how many were done before it, and of how many.
        program: How `fdgcl` is started.

    Raises:
        InputError: The disk is too small, or this is not Linux.
        StageError: A command failed.
    """
    check_linux()
    check_edges(order.nodes, order.edges, "--edges")
    refuse_full_disk(order, folder)
    disk = disk_rates(folder, _probe_bytes(order))
    stages = []
    _write_paper(folder)
    wanted = commands(order, folder)
    for done, (name, words) in enumerate(wanted.items()):
        if progress is not None:
            progress(name, done, len(wanted))
        found = _watched(name, [*program, *words], order, folder)
        shown = shlex.join(["fdgcl", *words]).replace(str(folder), PLACEHOLDER)
        stages.append(_stage(name, shown, found, folder))
    sizes = {name: folder_bytes(folder / name) for name in ("store", "run", "z")}
    sizes["diffused"] = folder_bytes(folder / "store" / "diffused")
    sizes["store"] -= sizes["diffused"]
    return Measured(order, _problem(order, folder), tuple(stages), sizes, disk)


def _write_paper(folder: Path) -> None:
    """What is measured is the paper's method, whatever the defaults are."""
    write_settings(
        folder / _SETTINGS, paper_defaults(), ["The paper's method, and its loss."]
    )


def commands(order: Order, folder: Path) -> dict[str, list[str]]:
    """The words after `fdgcl` of every command, by stage."""
    source, store = folder / "source", str(folder / "store")
    bound = ["--memory", str(order.memory)]
    diffusion = ["--settings", str(folder / _SETTINGS)]
    diffusion += ["--time", str(order.time), "--step", str(order.step)]
    if order.orders is not None:
        diffusion += ["--orders", order.orders]
    sizes = ["--nodes", str(order.nodes), "--edges", str(order.edges)]
    sizes += ["--features", str(order.features), "--seed", str(order.seed)]
    edges, features = source / "edges.parquet", source / "features.parquet"
    training = ["--dim", str(order.dim), "--hidden", str(order.dim)]
    training += ["--epochs", str(order.epochs)]
    training += ["--seed", str(order.seed), "--run", str(folder / "run")]
    return {
        GENERATE: ["data", "generate", *sizes, "-o", str(source)],
        "import": [
            *("data", "import", str(edges), "--features", str(features)),
            *("--store", store, *bound),
        ],
        "diffuse": ["diffuse", store, *bound, *diffusion],
        "train": [
            *("train", store, "-o", str(folder / "z")),
            *(*bound, *diffusion, *training),
        ],
    }


def needed_disk(order: Order) -> int:
    """Bytes that all stages together leave and need in between, with some to spare."""
    entries = 2 * order.edges
    source = 16 * order.edges + (4 * order.features + 8) * order.nodes
    needed = (
        source
        + store_bytes(order.nodes, entries, order.features)
        + import_temporary_bytes(order.edges)
        + diffused_bytes(order.nodes, order.features)
        + embedding_bytes(order.nodes, order.dim)
    )
    return int(1.05 * needed)


def refuse_full_disk(order: Order, folder: Path) -> None:
    """Refuse to begin what the disk cannot hold."""
    purpose = f"{order.nodes:,} nodes and {order.edges:,} edges need"
    remedy = "choose another --folder or a smaller graph"
    check_disk(folder, needed_disk(order), purpose, remedy)


def _probe_bytes(order: Order) -> int:
    """A part of what the run will write, so that small runs are not held up."""
    return min(max(needed_disk(order) // 16, _LEAST_PROBE_BYTES), _MOST_PROBE_BYTES)


def _watched(name: str, words: list[str], order: Order, folder: Path) -> Watched:
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    environment = dict(os.environ)
    if order.threads is not None:
        environment["OMP_NUM_THREADS"] = str(order.threads)
    errors = logs / f"{name}.err"
    found = watch(
        words,
        output=logs / f"{name}.out",
        errors=errors,
        folder=folder,
        environment=environment,
    )
    if found.exit_code != 0:
        lines = errors.read_text(encoding="utf-8", errors="replace").splitlines()
        said = " ".join(line.strip() for line in lines[-_LAST_LINES:])
        message = (
            f"the stage {name} ended with exit code {found.exit_code}: "
            f"{said or 'it said nothing'}"
        )
        raise StageError(message)
    return replace(found, seconds=round(found.seconds, 3))


def _stage(name: str, command: str, found: Watched, folder: Path) -> Stage:
    return Stage(
        name,
        command,
        found.exit_code,
        found.seconds,
        found.peak_bytes,
        folder_bytes(folder),
        found.peak_disk_bytes,
    )


def _problem(order: Order, folder: Path) -> Problem:
    store = Store.open(folder / "store")
    [place] = (folder / "store" / "diffused").iterdir()
    recipe = Diffusion(store, place).recipe
    orders, terms = recipe.coefficients.shape
    return Problem(
        nodes=store.manifest.nodes,
        edges=store.manifest.edges,
        entries=store.manifest.entries,
        features=store.manifest.features,
        dim=order.dim,
        epochs=order.epochs,
        columns=-(-store.manifest.features // recipe.num_slices),
        products=terms - 1,
        orders=orders,
    )
