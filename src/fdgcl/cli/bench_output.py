"""What `fdgcl bench` shows."""

from __future__ import annotations

from rich.table import Table

from fdgcl._memory import describe_size
from fdgcl.benchmark import Comparison
from fdgcl.benchmark.comparison import Way
from fdgcl.benchmark.outofcore import GENERATE
from fdgcl.cli.terminal import Terminal
from fdgcl.report.numerals import plural
from fdgcl.workflows.bench_outofcore import OutOfCore
from fdgcl.workflows.bench_training import Benchmark


def show_comparison(made: Benchmark, terminal: Terminal) -> None:
    """Write the table, and what it does not say."""
    shown = terminal.for_all
    shown.show(_table(made.found))
    for name, text in _lines(made):
        shown.say(f"{name:<12}{text}")


def _table(found: Comparison) -> Table:
    table = Table()
    table.add_column("")
    for heading in ("before", "per epoch", "training", "peak memory"):
        table.add_column(heading, justify="right")
    rows = (
        ("solver in the loop", found.loop),
        ("fdgcl, plain steps", found.plain),
        ("fdgcl", found.ours),
    )
    for name, way in rows:
        if way is not None:
            table.add_row(name, *_cells(way))
    if found.ratios is not None:
        times = [found.ratios[key] for key in ("epoch", "training", "memory")]
        cells = [_compared(value) for value in times]
        table.add_row("ratio", "", *cells, style="bold")
    return table


def _compared(ratio: float) -> str:
    """How ours stands to the solver in the loop, by how much that takes of ours."""
    return f"{ratio:.1f} x less" if ratio >= 1 else f"{1 / max(ratio, 1e-9):.1f} x more"


def _cells(way: Way) -> list[str]:
    about = "~ " if way.extrapolated else ""
    return [
        seconds(way.precompute_seconds),
        seconds(way.epoch_seconds),
        f"{about}{seconds(way.training_seconds)}",
        f"{way.peak_bytes / 2**20:,.0f} MiB",
    ]


def _lines(made: Benchmark) -> list[tuple[str, str]]:
    found, graph, settings, order = made.found, made.graph, made.settings, made.order
    parts = found.ours.precompute_parts.items()
    floor = found.floor
    lines = [
        (
            "measured",
            f"{graph.num_nodes:,} nodes, {graph.num_edges:,} stored edges, "
            f"{graph.num_features:,} features, dim {settings.dim}, "
            f"{settings.schedule.steps} steps, {settings.torch_device.type}, "
            f"{settings.precision}; training is {plural(order.epochs, 'epoch')}; "
            f"medians of {plural(order.repeats, 'run')}",
        ),
        ("before", ", ".join(f"{name} {seconds(value)}" for name, value in parts)),
        (
            "floor",
            f"{seconds(floor.seconds)} an epoch: {floor.flop / 1e9:,.3g} GFLOP at "
            f"{floor.rates.flop_per_second / 1e9:,.0f} GFLOP/s, or "
            f"{floor.bytes / 1e6:,.3g} MB at "
            f"{floor.rates.bytes_per_second / 1e9:,.0f} GB/s; ours takes "
            f"{found.distance:.1f} times that",
        ),
    ]
    apart = found.differences
    if apart is not None:
        lines.append(
            (
                "difference",
                f"losses {apart.loss:.1e} over {plural(apart.epochs, 'epoch')}; "
                f"embeddings {apart.untrained:.1e} of their largest entry before "
                f"training, {apart.embedding:.1e} after it",
            )
        )
    if found.probe is not None:
        probe = found.probe
        lines.append(
            (
                "probe",
                f"{seconds(probe.seconds)} for {probe.splits} splits, "
                f"{probe.weight_decays} weight decays and {probe.normalizations} "
                f"normalisations; accuracy {100 * probe.accuracy:.1f} %",
            )
        )
    return lines


def seconds(value: float) -> str:
    """Seconds, or milliseconds where they say more."""
    if value >= 100:
        return f"{value:,.0f} s"
    return f"{value:.2f} s" if value >= 0.1 else f"{1e3 * value:.2f} ms"


def show_out_of_core(made: OutOfCore, terminal: Terminal) -> None:
    """Write what each command took, and whether the bound was kept."""
    found, shown = made.found, terminal.for_all
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
    if made.folder is not None:
        terminal.say(f"kept        {made.folder}")


def _line(name: str, taken: float, memory: int, disk: int) -> str:
    return (
        f"{name:<12}{seconds(taken):>9}, memory {describe_size(memory):>7}, "
        f"disk {describe_size(disk):>7}"
    )
