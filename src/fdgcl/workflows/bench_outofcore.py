"""A graph on disk from edge list to embedding, each command watched from outside."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdgcl._files import write_json
from fdgcl._memory import parse_size
from fdgcl.benchmark.outofcore import (
    FORMAT,
    GENERATE,
    PLACEHOLDER,
    Measured,
    Order,
    run_out_of_core,
)
from fdgcl.benchmark.workplace import work_folder
from fdgcl.experiments.machine import environment
from fdgcl.workflows.bench_training import check_output
from fdgcl.workflows.feedback import ProgressArgument, feedback
from fdgcl.workflows.reading import as_path

MEMORY = "6GB"
_STAGES = {
    GENERATE: "generating the graph",
    "import": "importing",
    "diffuse": "diffusing",
    "train": "training",
}


@dataclass(frozen=True, eq=False)
class OutOfCore:
    """What work on a graph larger than memory took, command by command.

    Attributes:
        found: Seconds, memory and disk of each command.
        folder: The folder of its files, where they were kept.
        record: All of it, ready for JSON.
    """

    found: Measured
    folder: Path | None
    record: Mapping[str, Any] = field(repr=False)


def bench_out_of_core(
    *,
    sizes: Mapping[str, Any] | None = None,
    memory: int | str = MEMORY,
    folder: str | Path | None = None,
    keep: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    command: str = "fdgcl.workflows.bench_out_of_core",
    progress: ProgressArgument = None,
) -> OutOfCore:
    """Take a random graph on disk from edge list to embedding, within a memory bound.

    Args:
        sizes: Of graph and training, those to change: `nodes`, `edges`, `features`,
            `dim`, `epochs`, `time`, `step`, `orders`, `seed`, `threads`.
        memory: The bound that every command is given, and judged by.
        folder: An empty folder for all files; None for a temporary one.
        keep: Leave the files in the folder.
        output: The record, as JSON.
        overwrite: Replace an output that is there.
        command: What the record says that it was made by.
        progress: Whether to show a bar, or a function of stage, done and total.

    Raises:
        InputError: Sizes, bound or folder will not do.

    Example:
        >>> from fdgcl.workflows import bench_out_of_core
        >>> sizes = {"nodes": 60, "edges": 120, "features": 4, "dim": 4, "epochs": 1}
        >>> made = bench_out_of_core(sizes=sizes, memory="2GB")
        >>> [one.stage for one in made.found.stages]
        ['generate', 'import', 'diffuse', 'train']
    """
    place, target = as_path(folder), check_output(output, overwrite=overwrite)
    known = {name: one for name, one in (sizes or {}).items() if one is not None}
    order = Order(memory=parse_size(memory, "`memory`"), **known)
    with work_folder(place, keep=keep) as work, feedback(progress) as told:
        found = run_out_of_core(
            order,
            work,
            progress=lambda stage, done, total: told.bars(_STAGES[stage], done, total),
        )
    record = {
        "format": FORMAT,
        "command": command if place is None else _without(command, place),
        **found.to_dict(),
        "machine": environment("cpu", order.threads),
    }
    if target is not None:
        write_json(target, record)
    return OutOfCore(found, work if keep else None, record)


def _without(command: str, folder: Path) -> str:
    """The command with WORK where the folder stands, which means nothing elsewhere."""
    words = shlex.split(command)
    return shlex.join(PLACEHOLDER if word == str(folder) else word for word in words)
