"""`fdgcl bench --out-of-core`: what it was asked for, what it shows and keeps."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer

from fdgcl._files import write_json
from fdgcl._memory import describe_size
from fdgcl.benchmark.outofcore import (
    GENERATE,
    PLACEHOLDER,
    Measured,
    Order,
    run_out_of_core,
)
from fdgcl.benchmark.outofcore_page import FORMAT
from fdgcl.benchmark.workplace import work_folder
from fdgcl.cli.bench_output import seconds
from fdgcl.cli.failures import FAILURE
from fdgcl.cli.terminal import Terminal
from fdgcl.experiments.machine import environment
from fdgcl.planning.memory import parse_size

MEMORY = "6GB"
_STAGES = {
    GENERATE: "generating the graph",
    "import": "importing",
    "diffuse": "diffusing",
    "train": "training",
}


def new_order(given: dict[str, Any], memory: str | None) -> Order:
    """What to run: what was given, the rest by default.

    Args:
        given: By name of `Order`, None for what was not given.
        memory: The bound, as a text.
    """
    bound = parse_size(MEMORY if memory is None else memory, "--memory")
    known = {name: value for name, value in given.items() if value is not None}
    return Order(memory=bound, **known)


def carry_out_of_core(
    order: Order,
    *,
    command: str,
    folder: Path | None,
    keep: bool,
    output: Path | None,
    terminal: Terminal,
) -> None:
    """Run and measure the commands, show and keep what came out.

    Raises:
        typer.Exit: The bound on memory was broken.
    """
    with (
        work_folder(folder, keep=keep) as place,
        Terminal(terminal.quiet, terminal.json).bars() as bars,
    ):
        found = run_out_of_core(
            order,
            place,
            progress=lambda stage, done, total: bars(_STAGES[stage], done, total),
        )
    record = {
        "format": FORMAT,
        "command": command if folder is None else _without(command, folder),
        **found.to_dict(),
        "machine": environment("cpu", order.threads),
    }
    _show(found, Terminal(json=terminal.json))  # the result is shown to the quiet, too
    if keep:
        terminal.say(f"kept        {place}")
    if output is not None:
        write_json(output, record)
        terminal.say(f"record      {output}")
    terminal.emit(record)
    if not found.is_bound_kept:
        raise typer.Exit(FAILURE)


def _without(command: str, folder: Path) -> str:
    """The command with WORK where the folder stands, which means nothing elsewhere."""
    words = shlex.split(command)
    return shlex.join(PLACEHOLDER if word == str(folder) else word for word in words)


def _show(found: Measured, shown: Talk) -> None:
    problem, order = found.problem, found.order
    shown.say(
        f"measured    {problem.nodes:,} nodes, {problem.edges:,} edges, "
        f"{problem.features:,} features, dim {problem.dim}, {problem.epochs} epochs, "
        f"{problem.products} products in slices of {problem.columns} columns"
    )
    for stage in found.stages:
        shown.say(
            _line(stage.stage, stage.seconds, stage.peak_bytes, stage.disk_bytes)
            + (", not counted" if stage.stage == GENERATE else "")
        )
    disk = max(stage.peak_disk_bytes for stage in found.counted)
    shown.say(_line("total", found.seconds, found.peak_bytes, disk))
    kept = "yes" if found.is_bound_kept else "no"
    shown.say(
        f"bound kept: {kept}, peak {describe_size(found.peak_bytes)} of "
        f"{describe_size(order.memory)}"
    )


def _line(name: str, taken: float, memory: int, disk: int) -> str:
    return (
        f"{name:<12}{seconds(taken):>9}, memory {describe_size(memory):>7}, "
        f"disk {describe_size(disk):>7}"
    )
