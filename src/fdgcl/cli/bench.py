"""`fdgcl bench`: our training beside the solver in the training loop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl import workflows
from fdgcl._checks import InputError, check_count, check_positive
from fdgcl.cli import options
from fdgcl.cli.failures import FAILURE
from fdgcl.cli.options import DATA, DIFFUSION, RUN, TRAINING, option
from fdgcl.cli.pages import show_page
from fdgcl.cli.settings import flag_of, given_settings
from fdgcl.cli.terminal import Terminal

if TYPE_CHECKING:
    from fdgcl.workflows.bench_training import Benchmark

SCALE = "Out of core"
# What a run out of core does not take.
_IN_MEMORY = (
    *("dataset", "data_root", "preset", "variant", "repeats", "loop_epochs"),
    *("no_loop", "plain", "probe", "precision", "device", "scaling", "quick"),
)
# What belongs to a comparison alone.
_COMPARED = (
    *("dataset", "preset", "epochs", "time", "step", "orders"),
    *("loop_epochs", "no_loop", "plain", "probe"),
)


def _count(name: str, panel: str, text: str, default: str) -> Any:
    return option(name, kind=int, panel=panel, text=text, show_default=default)


def _number(name: str, text: str, default: str) -> Any:
    return option(name, kind=float, panel=DIFFUSION, text=text, show_default=default)


def bench(
    context: typer.Context,
    nodes: Annotated[
        int | None, _count("--nodes", DATA, "Nodes of a generated graph.", "10000")
    ] = None,
    edges: Annotated[
        int | None, _count("--edges", DATA, "Its edges, each counted once.", "100000")
    ] = None,
    features: Annotated[
        int | None,
        _count("--features", DATA, "Features per node, where there are none.", "128"),
    ] = None,
    dataset: Annotated[
        str | None,
        option("--dataset", kind=str, panel=DATA, text="A dataset instead."),
    ] = None,
    data_root: options.DataRoot = None,
    preset: Annotated[
        str | None,
        option(
            "--preset",
            kind=str,
            panel=RUN,
            text="The whole training of this dataset's settings, on the dataset.",
        ),
    ] = None,
    variant: Annotated[
        str,
        option("--variant", kind=str, panel=RUN, text="Of --preset: best, paper."),
    ] = "best",
    orders: Annotated[
        str | None,
        option(
            "--orders",
            panel=DIFFUSION,
            metavar="A,B",
            text="Fractional orders of the views.",
            show_default="0.01,1",
        ),
    ] = None,
    time: Annotated[float | None, _number("--time", "How long (T).", "10")] = None,
    step: Annotated[float | None, _number("--step", "Step (h).", "1")] = None,
    dim: Annotated[
        int | None,
        _count("--dim", TRAINING, "Columns of views and embedding.", "256"),
    ] = None,
    epochs: Annotated[
        int | None, _count("--epochs", TRAINING, "Of a whole training.", "55")
    ] = None,
    seed: Annotated[int, _count("--seed", RUN, "Seed of everything random.", "0")] = 0,
    repeats: Annotated[
        int, _count("--repeats", RUN, "Trainings of ours to take medians of.", "3")
    ] = 3,
    loop_epochs: Annotated[
        int | None,
        _count("--loop-epochs", RUN, "Epochs to time of the solver in the loop.", "2"),
    ] = None,
    no_loop: Annotated[
        bool, option("--no-loop", panel=RUN, text="Leave the solver in the loop out.")
    ] = False,
    plain: Annotated[
        bool, option("--plain", panel=RUN, text="Also ours without fused steps.")
    ] = False,
    probe: Annotated[
        bool, option("--probe", panel=RUN, text="Also the linear probe, on the labels.")
    ] = False,
    precision: Annotated[
        str,
        option(
            "--precision",
            kind=str,
            panel=RUN,
            text="Of our dense products on CUDA: float32, tf32 or float16.",
        ),
    ] = "float32",
    device: options.Device = "auto",
    threads: Annotated[
        int | None,
        _count("--threads", RUN, "Threads of a processor.", "what torch takes"),
    ] = None,
    scaling: Annotated[
        bool,
        option(
            "--scaling",
            panel=RUN,
            text="Instead: how time and memory grow with each size of the problem.",
        ),
    ] = False,
    quick: Annotated[
        bool, option("--quick", panel=RUN, text="With --scaling: small sizes only.")
    ] = False,
    out_of_core: Annotated[
        bool,
        option(
            "--out-of-core",
            panel=SCALE,
            text="Instead: a graph on disk from edge list to embedding, each command "
            "watched from outside. By default 200,000 nodes and ten times as many "
            "edges, 64 features, dim 128, 3 epochs.",
        ),
    ] = False,
    memory: Annotated[
        str | None,
        option(
            "--memory",
            panel=SCALE,
            metavar="SIZE",
            text="The bound that every command is given, and judged by.",
            show_default="6GB",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        option(
            "--folder",
            kind=Path,
            panel=SCALE,
            text="An empty folder for all of its files.",
            show_default="a temporary one",
        ),
    ] = None,
    keep: Annotated[
        bool, option("--keep", panel=SCALE, text="Leave the files in the folder.")
    ] = False,
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            kind=Path,
            text="Where the record goes: a JSON file; with --scaling, a folder.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.QuietResult = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Time training, ours beside the solver in the loop, on the same data.

    Both start from the same weights and train by the same loss; the solver in the
    loop is how fractional graph networks are usually trained, gradients through every
    step. The record says how far the results are apart, and how far ours is from what
    the machine could do at best.
    """
    sizes = {"--nodes": nodes, "--edges": edges, "--features": features, "--dim": dim}
    counts = {
        **sizes,
        "--epochs": epochs,
        "--repeats": repeats,
        "--loop-epochs": loop_epochs,
        "--threads": threads,
    }
    for name, value in counts.items():
        if value is not None:
            check_count(name, value, minimum=2 if name == "--nodes" else 1)
    for name, number in (("--time", time), ("--step", step)):
        if number is not None:
            check_positive(name, number)
    diffusion = {"time": time, "step": step, "orders": orders}
    terminal = Terminal(quiet=quiet, json=json)
    given: dict[str, Any] = {
        "output": output,
        "overwrite": overwrite,
        "command": options.typed(context),
    }
    named: dict[str, Any] = {name[2:]: value for name, value in sizes.items()}
    if out_of_core:
        why = "--out-of-core runs ours alone, on a graph that it makes"
        _refuse(context, _IN_MEMORY, why)
        named |= {**diffusion, "epochs": epochs, "seed": seed, "threads": threads}
        given |= {"sizes": named, "folder": folder, "keep": keep}
        _out_of_core(
            {**given, **({} if memory is None else {"memory": memory})}, terminal
        )
        return
    _refuse(context, ("memory", "folder", "keep"), "it goes with --out-of-core")
    _check_device(device, precision)
    given |= {"seed": seed, "device": device, "precision": precision}
    given |= {"repeats": repeats, "threads": threads}
    if scaling:
        why = "--scaling chooses what it trains on, and trains ours alone"
        _refuse(context, _COMPARED, why)
        known = {name: value for name, value in named.items() if value is not None}
        _scaling({**given, "sizes": known, "quick": quick}, terminal)
        return
    _refuse(context, ("quick",), "it goes with --scaling")
    if no_loop:
        _refuse(context, ("loop_epochs",), "--no-loop has none")
    if dataset is not None or preset is not None:
        brings = f"{'--dataset' if dataset else '--preset'} brings its own graph"
        _refuse(context, ("nodes", "edges"), brings)
    with terminal.bars() as bars:
        made = workflows.bench(
            dataset,
            nodes=nodes,
            edges=edges,
            features=features,
            data_root=data_root,
            preset=preset,
            variant=variant,
            settings=given_settings({**diffusion, "dim": dim, "epochs": epochs}),
            loop_epochs=0 if no_loop else (loop_epochs or 2),
            plain=plain,
            probe=probe,
            progress=bars,
            **given,
        )
    _show_comparison(made, output, terminal)


def _show_comparison(made: Benchmark, output: Path | None, terminal: Terminal) -> None:
    from fdgcl.cli.bench_output import show_comparison

    show_comparison(made, terminal)
    if output is not None:
        terminal.say(f"record      {output}")
    terminal.emit(made.record)


def _scaling(given: dict[str, Any], terminal: Terminal) -> None:
    with terminal.bars() as bars:
        made = workflows.bench_scaling(**given, progress=bars)
    page = replace(made.page, sections=made.page.sections[:1])
    show_page(page, terminal.for_all)
    for path in made.files:
        terminal.say(f"written     {path}")
    terminal.emit(made.record)


def _out_of_core(given: dict[str, Any], terminal: Terminal) -> None:
    with terminal.bars() as bars:
        made = workflows.bench_out_of_core(**given, progress=bars)
    from fdgcl.cli.bench_output import show_out_of_core

    show_out_of_core(made, terminal)
    if given["output"] is not None:
        terminal.say(f"record      {given['output']}")
    terminal.emit(made.record)
    if not made.found.is_bound_kept:
        raise typer.Exit(FAILURE)


def _refuse(context: typer.Context, names: Iterable[str], why: str) -> None:
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            message = f"leave {flag_of(name)} out: {why}"
            raise InputError(message)


def _check_device(device: str, precision: str) -> None:
    import torch

    here = torch.cuda.is_available()
    if device.startswith("cuda") and not here:
        message = f"--device {device} was asked for, and no CUDA device is here"
        raise InputError(message)
    if precision in ("tf32", "float16") and (device == "cpu" or not here):
        message = (
            f"--precision {precision} is for CUDA devices, and this is to run on a CPU"
        )
        raise InputError(message)
