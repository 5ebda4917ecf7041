"""`fdgcl bench`: our precomputed diffusion beside the solver in the training loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fdgcl._checks import InputError, check_count
from fdgcl.cli import options
from fdgcl.cli.options import RUN, option
from fdgcl.cli.talk import Talk

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.cli.bench_runs import Comparison


def _count(name: str, text: str) -> Any:
    return option(name, kind=int, panel=RUN, text=text)


def bench(
    nodes: Annotated[int, _count("--nodes", "Nodes of the graph.")] = 10_000,
    edges: Annotated[int, _count("--edges", "Edges, each counted once.")] = 100_000,
    features: Annotated[int, _count("--features", "Features per node.")] = 64,
    dim: Annotated[int, _count("--dim", "Length of an embedding.")] = 64,
    epochs: Annotated[int, _count("--epochs", "Epochs to time.")] = 5,
    steps: Annotated[int, _count("--steps", "Steps of the solver.")] = 10,
    seed: Annotated[int, _count("--seed", "Seed of graph and weights.")] = 0,
    device: Annotated[
        str, option("--device", kind=str, panel=RUN, text="auto, cpu or cuda.")
    ] = "auto",
    quiet: Annotated[
        bool, option("--quiet", "-q", text="Show the result only.")
    ] = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Time training on a generated graph: diffuse once, or step in every epoch.

    Both train the same weights by the same loss; the solver in the loop is how
    fractional graph networks are usually trained, gradients through every step.
    """
    sizes = {
        "--nodes": nodes,
        "--edges": edges,
        "--features": features,
        "--dim": dim,
        "--epochs": epochs,
        "--steps": steps,
    }
    for name, value in sizes.items():
        check_count(name, value, minimum=2 if name == "--nodes" else 1)
    if edges > nodes * (nodes - 1) // 4:
        message = f"--edges {edges} is too many for a sparse graph of {nodes} nodes"
        raise InputError(message)

    from fdgcl.cli.bench_runs import Sizes, compare

    talk = Talk(json=json)
    with Talk(quiet=quiet, json=json).bars() as bars, bars.waiting("bench"):
        found = compare(Sizes(nodes, edges, features, dim, epochs, steps), seed, device)
    talk.show(_table(found))
    talk.emit(found.to_dict())


def _table(found: Comparison) -> Table:
    from rich.table import Table

    sizes = found.sizes
    caption = (
        f"{sizes.nodes:,} nodes, {sizes.edges:,} edges, {sizes.features} features, "
        f"dim {sizes.dim}, {sizes.steps} steps, {sizes.epochs} epochs on "
        f"{found.device}. Embeddings differ by at most "
        f"{found.difference_untrained:.0e} of their largest entry before training, "
        f"{found.difference_trained:.0e} after."
    )
    table = Table(caption=caption, caption_justify="left", caption_style="dim")
    table.add_column("")
    for heading in ("once, before training", "per epoch", "peak memory"):
        table.add_column(heading, justify="right")
    for name, run in (
        ("solver in the loop", found.in_loop),
        ("fdgcl: diffuse once", found.ours),
    ):
        table.add_row(
            name,
            _seconds(run.precompute_seconds),
            _seconds(run.epoch_seconds),
            f"{run.peak_bytes / 2**20:,.0f} MiB",
        )
    table.add_row(
        "ratio",
        "",
        f"{found.speed_ratio:.1f} x faster",
        f"{found.memory_ratio:.1f} x less",
        style="bold",
    )
    return table


def _seconds(value: float) -> str:
    if value == 0:
        return "-"
    return f"{value:.2f} s" if value >= 0.1 else f"{1e3 * value:.1f} ms"
