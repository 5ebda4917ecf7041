"""Our training beside the solver in the training loop, and how training grows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from fdgcl._checks import InputError, check_count
from fdgcl._files import atomic_path, write_json
from fdgcl.benchmark import Comparison, Order, compare
from fdgcl.benchmark.problems import bench_settings, check_edges
from fdgcl.benchmark.problems import generate as random_graph
from fdgcl.benchmark.scaling import LADDERS, Ladder, Scaling, scale
from fdgcl.benchmark.scaling_page import scaling_page
from fdgcl.benchmark.solver_in_loop import check_can_be_stepped
from fdgcl.experiments.machine import environment
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.presets import preset_settings
from fdgcl.report.html import write_page
from fdgcl.report.page import Page
from fdgcl.report.static import need_matplotlib, write_figures
from fdgcl.workflows.feedback import ProgressArgument, feedback
from fdgcl.workflows.models import new_model
from fdgcl.workflows.outputs import refuse_existing
from fdgcl.workflows.reading import Reading, as_path
from fdgcl.workflows.run_folders import check_writable
from fdgcl.workflows.source import find_source, read

if TYPE_CHECKING:
    from fdgcl.graphs import Graph

FORMAT = "fdgcl-bench-1"
NODES, EDGES, FEATURES = 10_000, 100_000, 128


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Training by ours and by the solver in the loop, on the same data.

    Attributes:
        found: Times, memory and differences.
        graph: What was trained on.
        settings: Of both.
        order: What was measured.
        record: All of it, ready for JSON.
    """

    found: Comparison
    graph: Graph = field(repr=False)
    settings: Settings = field(repr=False)
    order: Order
    record: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, eq=False)
class ScalingBenchmark:
    """How time and memory of training grow with each size of the problem.

    Attributes:
        found: What was measured.
        page: Tables and figures of it.
        record: All of it, ready for JSON.
        files: What was written.
    """

    found: Scaling
    page: Page = field(repr=False)
    record: Mapping[str, Any] = field(repr=False)
    files: tuple[Path, ...] = ()


def bench(
    dataset: str | Path | Graph | None = None,
    *,
    nodes: int | None = None,
    edges: int | None = None,
    features: int | None = None,
    data_root: str | Path | None = None,
    preset: str | None = None,
    variant: str = "best",
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str = "auto",
    precision: str = "float32",
    repeats: int = 3,
    loop_epochs: int = 2,
    plain: bool = False,
    probe: bool = False,
    threads: int | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    command: str = "fdgcl.workflows.bench",
    progress: ProgressArgument = None,
) -> Benchmark:
    """Time training, ours beside the solver in the loop, on the same data.

    Args:
        dataset: What to train on; None for the preset's, or else a random graph.
        nodes: Of a random graph; None for 10,000.
        edges: Of a random graph; None for 100,000.
        features: Per node, where the graph has none; None for 128.
        data_root: The folder of datasets.
        preset: The settings of this dataset, and a whole training by them.
        variant: Of the preset: `best` or `paper`.
        settings: Of the model.
        seed: Of everything random.
        device: `auto`, `cpu` or `cuda`.
        precision: Of our dense products on CUDA.
        repeats: Trainings of ours to take medians of.
        loop_epochs: Epochs of the solver in the loop to time; 0 leaves it out.
        plain: Also ours without fused steps.
        probe: Also the linear probe, on the graph's labels.
        threads: Of a processor; None for as many as torch takes.
        output: The record, as JSON.
        overwrite: Replace an output that is there.
        command: What the record says that it was made by.
        progress: Whether to show a bar, or a function of stage, done and total.

    Raises:
        InputError: Sizes, settings and graph do not go together.

    Example:
        >>> from fdgcl.workflows import bench
        >>> small = {"dim": 8, "time": 4.0, "epochs": 1}
        >>> made = bench(nodes=100, edges=300, features=4, settings=small, repeats=1)
        >>> made.found.loop is not None
        True
    """
    target = check_output(output, overwrite=overwrite)
    place = {"seed": seed, "device": device, "precision": precision}
    chosen = _settings(preset, variant, {**(settings or {}), **place}, loop_epochs > 0)
    order = Order(chosen.epochs, repeats, loop_epochs, plain, probe)
    with threads_set(threads), feedback(progress) as told:
        told.bars("read", 0, None)
        graph = _graph(dataset or preset, nodes, edges, features, data_root, seed)
        if probe and graph.y is None:
            message = f"leave `probe` out: {graph.name} has no labels"
            raise InputError(message)
        found = compare(graph, chosen, order, lambda stage: told.bars(stage, 0, None))
        record = {
            **_head(command, seed, precision, chosen.torch_device.type),
            "graph": {
                "name": graph.name,
                "source": graph.source,
                "nodes": graph.num_nodes,
                "stored_edges": graph.num_edges,
                "features": graph.num_features,
            },
            "settings": chosen.to_dict(),
            "order": asdict(order),
            **found.to_dict(),
        }
    if target is not None:
        write_json(target, record)
    return Benchmark(found, graph, chosen, order, record)


def bench_scaling(
    *,
    sizes: Mapping[str, int] | None = None,
    quick: bool = False,
    seed: int = 0,
    device: str = "auto",
    precision: str = "float32",
    repeats: int = 3,
    threads: int | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    command: str = "fdgcl.workflows.bench_scaling",
    progress: ProgressArgument = None,
) -> ScalingBenchmark:
    """Measure how time and memory of training grow with each size of the problem.

    Args:
        sizes: Of the base: `nodes`, `edges`, `features`, `dim`, those to change.
        quick: Small sizes only, each once.
        seed: Of everything random.
        device: `auto`, `cpu` or `cuda`.
        precision: Of dense products on CUDA.
        repeats: Trainings to take medians of.
        threads: Of a processor; None for as many as torch takes.
        output: A folder for record, page and figures.
        overwrite: Write into one that has files.
        command: What the record says that it was made by.
        progress: Whether to show a bar, or a function of stage, done and total.

    Raises:
        InputError: Sizes do not go together.

    Example:
        >>> from fdgcl.workflows import bench_scaling
        >>> sizes = {"nodes": 400, "edges": 800, "features": 4, "dim": 4}
        >>> bench_scaling(sizes=sizes, quick=True).page.title
        'How time and memory grow'
    """
    target = check_output(output, overwrite=overwrite)
    settings = bench_settings(seed=seed, device=device, precision=precision)
    place = settings.torch_device.type
    ladder = LADDERS["quick" if quick else place]
    ladder = Ladder(replace(ladder.base, **(sizes or {})), ladder.factors)
    with threads_set(threads), feedback(progress) as told:
        found = scale(
            ladder,
            device=device,
            precision=precision,
            repeats=1 if quick else repeats,
            seed=seed,
            progress=lambda done, total: told.bars("measuring", done, total),
        )
        head = {**_head(command, seed, precision, place), "base": asdict(found.base)}
    head |= {"repeats": found.repeats, "fixed": dict(found.fixed)}
    page = scaling_page(found, _facts(head))
    files = () if target is None else tuple(_write(target, found, head, page))
    record = {**head, "records": list(found.records())}
    return ScalingBenchmark(found, page, record, files)


@contextmanager
def threads_set(count: int | None) -> Iterator[None]:
    """Let torch use so many threads while the block runs."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def check_output(output: str | Path | None, *, overwrite: bool) -> Path | None:
    """Refuse a file, or a folder with files, that is there already."""
    target = as_path(output)
    if target is not None:
        check_writable(target if target.is_dir() else target.parent)
        if not target.is_dir() or any(target.iterdir()):
            refuse_existing(target, overwrite=overwrite)
    return target


def _settings(
    preset: str | None, variant: str, given: Mapping[str, Any], stepped: bool
) -> Settings:
    if preset is None:
        return bench_settings(**given)
    settings: Settings = new_model(
        {**preset_settings(preset, variant), **given}
    ).check()
    if not settings.is_fixed_linear:
        message = (
            f"`preset={preset}` has dynamics {settings.dynamics!r}, which nothing can "
            "diffuse before training"
        )
        raise InputError(message)
    if stepped:
        try:
            check_can_be_stepped(settings)
        except InputError as error:
            message = f"`preset={preset}`: {error} (`loop_epochs=0` leaves it out)"
            raise InputError(message) from None
    return settings


def _graph(
    dataset: str | Path | Graph | None,
    nodes: int | None,
    edges: int | None,
    features: int | None,
    data_root: str | Path | None,
    seed: int,
) -> Graph:
    if features is not None:
        check_count("`features`", features)
    if dataset is None:
        nodes = check_count("`nodes`", NODES if nodes is None else nodes, minimum=2)
        edges = check_count("`edges`", EDGES if edges is None else edges)
        check_edges(nodes, edges, "`edges`")
        return random_graph(nodes, edges, features or FEATURES, seed)
    graph = read(find_source(dataset), Reading(data_root=as_path(data_root)))
    if graph.features is None:
        rng = np.random.default_rng(seed)
        shape = (graph.num_nodes, features or FEATURES)
        return graph.with_features(rng.standard_normal(shape, dtype=np.float32))
    if features is not None:
        message = (
            f"leave `features` out: {graph.name} has {graph.num_features:,} features "
            "of its own"
        )
        raise InputError(message)
    return graph


def _head(command: str, seed: int, precision: str, device: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "command": command,
        "seed": seed,
        "precision": precision,
        "machine": environment(device, torch.get_num_threads()),
    }


def _facts(head: Mapping[str, Any]) -> dict[str, str]:
    machine = head["machine"]
    return {
        "command": head["command"],
        "hardware": f"{machine['hardware']}, {machine['threads']} threads",
        "precision": head["precision"],
        "torch": machine["versions"]["torch"],
        "commit": machine["commit"] or "not known",
    }


def _write(
    folder: Path, found: Scaling, head: Mapping[str, Any], page: Page
) -> Iterator[Path]:
    lines = [{"kind": "run", **head}, *found.records()]
    with atomic_path(folder / "scaling.jsonl") as temporary:
        text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        temporary.write_text(text, encoding="utf-8")
    yield folder / "scaling.jsonl"
    write_page(page, folder / "scaling.html")
    yield folder / "scaling.html"
    try:
        need_matplotlib()
    except ImportError:
        return  # the page has the figures too
    yield from write_figures(page, folder, ("png", "svg"))
