"""What `fdgcl bench` was asked for: its graph and settings, its record, its files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fdgcl._checks import InputError
from fdgcl._files import atomic_path, write_json
from fdgcl.benchmark import Order, compare
from fdgcl.benchmark.problems import bench_settings, check_edges, generate
from fdgcl.benchmark.scaling import LADDERS, Ladder, Scaling, scale
from fdgcl.benchmark.scaling_page import scaling_page
from fdgcl.benchmark.solver_in_loop import check_can_be_stepped
from fdgcl.cli.bench_output import show_comparison
from fdgcl.cli.pages import show_page
from fdgcl.cli.terminal import Terminal
from fdgcl.experiments.machine import environment
from fdgcl.graphs import Graph
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.presets import preset_settings
from fdgcl.report.html import write_page
from fdgcl.report.page import Page
from fdgcl.report.static import need_matplotlib, write_figures
from fdgcl.workflows.source import Reading, find_source, read

FORMAT = "fdgcl-bench-1"
GENERATED = {"nodes": 10_000, "edges": 100_000}
FEATURES = 128


@dataclass(frozen=True)
class Job:
    """What was asked for.

    Attributes:
        sizes: Of nodes, edges, features and dim, those given.
        settings: Settings of the model that were given.
        seed: Of everything random.
        device: Where.
        precision: Of dense products on CUDA.
        repeats: Trainings to take medians of.
        command: As typed.
        output: Where the record goes, if anywhere.
    """

    sizes: Mapping[str, int]
    settings: Mapping[str, Any]
    seed: int
    device: str
    precision: str
    repeats: int
    command: str
    output: Path | None

    @property
    def place(self) -> dict[str, Any]:
        """Settings that say where and how precisely."""
        return {"seed": self.seed, "device": self.device, "precision": self.precision}


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


def carry_out(
    job: Job,
    *,
    dataset: str | None,
    data_root: Path | None,
    preset: tuple[str, str] | None,
    loop_epochs: int,
    plain: bool,
    probe: bool,
    terminal: Terminal,
) -> None:
    """Compare both ways to train, and show and keep what came out."""
    settings = _settings(job, preset, stepped=loop_epochs > 0)
    order = Order(settings.epochs, job.repeats, loop_epochs, plain, probe)
    with Terminal(terminal.quiet, terminal.json).bars() as bars:
        bars("read", 0, None)
        graph = _graph(job, dataset, data_root)
        if probe and graph.y is None:
            message = f"leave --probe out: {graph.name} has no labels"
            raise InputError(message)
        found = compare(graph, settings, order, lambda stage: bars(stage, 0, None))
    record = {
        **_record(job, settings.torch_device.type),
        "graph": {
            "name": graph.name,
            "source": graph.source,
            "nodes": graph.num_nodes,
            "stored_edges": graph.num_edges,
            "features": graph.num_features,
        },
        "settings": settings.to_dict(),
        "order": asdict(order),
        **found.to_dict(),
    }
    show_comparison(found, graph, settings, order, terminal)
    if job.output is not None:
        write_json(job.output, record)
        terminal.say(f"record      {job.output}")
    terminal.emit(record)


def carry_out_scaling(job: Job, quick: bool, terminal: Terminal) -> None:
    """Measure how time and memory grow, and show and keep it."""
    place = bench_settings(**job.place).torch_device.type
    ladder = LADDERS["quick" if quick else place]
    ladder = Ladder(replace(ladder.base, **job.sizes), ladder.factors)
    with Terminal(terminal.quiet, terminal.json).bars() as bars:
        found = scale(
            ladder,
            device=job.device,
            precision=job.precision,
            repeats=1 if quick else job.repeats,
            seed=job.seed,
            progress=lambda done, total: bars("measuring", done, total),
        )
    head = {**_record(job, place), "base": asdict(found.base)}
    head |= {"repeats": found.repeats, "fixed": dict(found.fixed)}
    page = scaling_page(found, _facts(head))
    show_page(replace(page, sections=page.sections[:1]), Terminal(json=terminal.json))
    if job.output is not None:
        for path in _write_scaling(job.output, found, head, page):
            terminal.say(f"written     {path}")
    terminal.emit({**head, "records": list(found.records())})


def _settings(job: Job, preset: tuple[str, str] | None, *, stepped: bool) -> Settings:
    if preset is None:
        return bench_settings(**job.settings, **job.place)
    name, variant = preset
    from fdgcl.model import FDGCL

    chosen = {**preset_settings(name, variant), **job.settings, **job.place}
    settings = FDGCL(**chosen).check()
    if not settings.is_fixed_linear:
        message = (
            f"--preset {name} has dynamics {settings.dynamics!r}, which nothing can "
            "diffuse before training"
        )
        raise InputError(message)
    if stepped:
        try:
            check_can_be_stepped(settings)
        except InputError as error:
            message = f"--preset {name}: {error} (--no-loop leaves it out)"
            raise InputError(message) from None
    return settings


def _graph(job: Job, dataset: str | None, data_root: Path | None) -> Graph:
    asked = job.sizes.get("features")
    if dataset is None:
        nodes, edges = (job.sizes.get(name, GENERATED[name]) for name in GENERATED)
        check_edges(nodes, edges, "--edges")
        return generate(nodes, edges, asked or FEATURES, job.seed)
    graph = read(find_source(dataset), Reading(data_root=data_root))
    if graph.features is None:
        rng = np.random.default_rng(job.seed)
        shape = (graph.num_nodes, asked or FEATURES)
        return graph.with_features(rng.standard_normal(shape, dtype=np.float32))
    if asked is not None:
        message = (
            f"leave --features out: {graph.name} has {graph.num_features:,} features "
            "of its own"
        )
        raise InputError(message)
    return graph


def _record(job: Job, device: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "command": job.command,
        "seed": job.seed,
        "precision": job.precision,
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


def _write_scaling(
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
