"""The page of runs out of core: measured, fitted, and taken further."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from statistics import median
from typing import Any

from fdgcl._checks import InputError
from fdgcl._memory import describe_size
from fdgcl.benchmark.outofcore import FORMAT
from fdgcl.planning import Plan
from fdgcl.planning.cost import Problem, Rates
from fdgcl.report.numerals import number
from fdgcl.report.page import Page, Section, Table, Text
from scale.calibration import STAGES, Measurement, fit_rates, residuals
from scale.forecast import (
    Machines,
    fitting_columns,
    forecast,
    graph_bytes,
    limits,
    source_bytes,
)

#: ogbn-papers100M by its published sizes; both ways of every edge are stored at most.
PAPERS = {"nodes": 111_059_956, "edges": 1_615_685_872, "features": 128}
MEMORY, BOUND = 24e9, 20e9
_KINDS = {
    "import_start": "an import of nothing",
    "diffuse_start": "a diffusion of nothing",
    "train_start": "training on nothing",
    "edge": "an edge imported",
    "feature": "a feature of a node imported",
    "spectrum": "a stored entry, once, before the first slice",
    "entry": "a stored entry, each product and slice",
    "entry_column": "a stored entry and a column, each product",
    "term": "a node and a column, each product, for the recurrence and each order",
    "diffused": "a diffused number written",
    "multiply_add": "a multiply-add of training or embedding",
    "row": "a number of a row, each epoch",
    "embedded": "a number of the embedding written",
}


def read_records(folder: Path) -> list[dict[str, Any]]:
    """All records in a folder, the smallest graph first.

    Raises:
        InputError: There is none, or a file is something else.
    """
    records = []
    for path in sorted(folder.glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["format"] != FORMAT:
                raise ValueError
            measurement_of(record)
        except (ValueError, KeyError, TypeError):
            message = f"{path} is no record of `fdgcl bench --out-of-core`"
            raise InputError(message) from None
        records.append(record)
    if not records:
        message = (
            f"{folder} holds no records: `fdgcl bench --out-of-core -o FILE.json` "
            "makes one"
        )
        raise InputError(message)

    def size(record: Mapping[str, Any]) -> tuple[float, ...]:
        return record["problem"]["nodes"], record["total"]["seconds"]

    return sorted(records, key=size)


def measurement_of(record: Mapping[str, Any]) -> Measurement:
    """What a fit needs of a record."""
    seconds = {part["stage"]: float(part["seconds"]) for part in record["stages"]}
    problem = Problem(**record["problem"])
    return Measurement(problem, {stage: seconds[stage] for stage in STAGES})


def out_of_core_page(records: Sequence[Mapping[str, Any]]) -> Page:
    """Describe measured runs, and what follows from them."""
    found = [measurement_of(record) for record in records]
    rates = fit_rates(found)
    largest = max(found, key=lambda one: one.problem.nodes).problem
    papers = Problem(
        **PAPERS,
        entries=2 * PAPERS["edges"],
        dim=128,
        epochs=3,
        columns=1,
        products=largest.products,
    )
    disk = _disk(records)
    return Page(
        title="Measured",
        summary=(
            "Each row is one `fdgcl bench --out-of-core`: the product's own commands, "
            "each a process whose memory, with that of all that it starts, was added "
            "up every 50 ms. Making the graph is not counted."
        ),
        sections=[
            Section("Runs", [_measured(records)]),
            Section("Rates", [_rates(rates), _fit(found, rates)]),
            Section("A hundred million nodes", _extrapolated(papers, disk, rates)),
            Section("What breaks first", _breaking(papers, disk)),
        ],
        facts=_facts(records),
    )


def _disk(records: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    kinds = ("read_bytes_per_second", "write_bytes_per_second")
    read, write = (median(record["disk"][kind] for record in records) for kind in kinds)
    return read, write


def _measured(records: Sequence[Mapping[str, Any]]) -> Table:
    rows = []
    for record in records:
        problem, total = record["problem"], record["total"]
        seconds = {part["stage"]: part["seconds"] for part in record["stages"]}
        sizes = ("nodes", "edges", "features", "dim", "epochs", "products", "columns")
        rows.append(
            (
                *(f"{problem[name]:,}" for name in sizes),
                *(f"{seconds[stage]:,.1f}" for stage in STAGES),
                f"{total['seconds']:,.1f}",
                f"{describe_size(total['peak_bytes'])} of "
                f"{describe_size(total['memory'])}",
                describe_size(total["peak_disk_bytes"]),
            )
        )
    columns = ("nodes", "edges", "features", "dim", "epochs", "products", "slice")
    measured = ("import, s", "diffuse, s", "train, s", "all, s", "memory", "disk")
    return Table(
        (*columns, *measured),
        rows,
        caption=(
            "Slice: columns that are diffused together. Memory: the most that a "
            "command and its descendants held together, of the bound given. Disk: the "
            "most in use, the edge list and features included."
        ),
    )


def _rates(rates: Rates) -> Table:
    rows = [
        (_KINDS[field.name], _short(getattr(rates, field.name)))
        for field in fields(rates)
    ]
    return Table(
        ("work", "time"),
        rows,
        caption=(
            "By non-negative least squares of the relative errors; where the runs do "
            "not tell rates apart, the nearest to first guesses. They are the "
            "defaults of `fdgcl.planning.cost`, by which `--dry-run` predicts."
        ),
    )


def _short(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-12:.3g} ps"


def _fit(found: Sequence[Measurement], rates: Rates) -> Table:
    rows = [
        (
            f"{one.problem.nodes:,}",
            f"{one.problem.edges:,}",
            *(f"{100 * apart[stage]:+.0f} %" for stage in STAGES),
        )
        for one, apart in zip(found, residuals(found, rates), strict=True)
    ]
    caption = "How far the rates' prediction is from what was measured."
    return Table(("nodes", "edges", *STAGES), rows, caption=caption)


def _extrapolated(
    papers: Problem, disk: tuple[float, float], rates: Rates
) -> list[Text | Table]:
    columns = max(1, fitting_columns(papers, BOUND))
    text = (
        f"ogbn-papers100M's sizes: {papers.nodes:,} nodes, {papers.edges:,} edges, "
        f"at most {papers.entries:,} stored entries, {papers.features} features; "
        f"dim {papers.dim}, {papers.epochs} epochs, {papers.products} products. "
        f"Machines of two cores and {describe_size(MEMORY)}, each command given "
        f"{describe_size(BOUND)}: {columns} columns fit a slice, "
        f"{-(-papers.features // columns)} slices. "
        f"The disk reads {describe_size(disk[0])} and writes {describe_size(disk[1])} "
        "a second, as measured here for one file, and holds "
        f"{describe_size(source_bytes(papers))} of input. None of this was run: it "
        "is the rates above times the work, and bytes over the disk's rate for what "
        f"{describe_size(MEMORY - BOUND)} of page cache cannot hold."
    )
    return [
        Text(text),
        _forecasts(papers, disk, rates),
    ]


def _forecasts(papers: Problem, disk: tuple[float, float], rates: Rates) -> Table:
    rows = []
    for count in (1, 10):
        stages = forecast(papers, Machines(count, MEMORY, BOUND, *disk), rates)
        name = "one machine" if count == 1 else f"{count} machines"
        rows += [
            (
                name,
                stage.stage,
                _hours(stage.computed_seconds),
                _hours(stage.disk_seconds),
                _hours(stage.computed_seconds + stage.disk_seconds),
                describe_size(stage.peak_bytes) if stage.peak_bytes else "a window",
                describe_size(added) if (added := _added(stage)) else "-",
            )
            for stage in stages
        ]
        total = [sum(stage.computed_seconds for stage in stages)]
        total += [sum(stage.disk_seconds for stage in stages)]
        memory = max(stage.peak_bytes for stage in stages)
        kept = source_bytes(papers) + sum(map(_added, stages))
        hours = (_hours(total[0]), _hours(total[1]), _hours(sum(total)))
        rows.append((name, "all", *hours, describe_size(memory), describe_size(kept)))
    return Table(
        ("", "stage", "computing, h", "disk, h", "both, h", "memory", "disk"),
        rows,
        caption=(
            "Memory: of each machine; a window of rows, where all else is on disk, is "
            "the same for any number of nodes. Disk: what a stage adds, temporary "
            "files included; all: with the input. On ten machines the slices of the "
            "diffusion and the rows of training are shared; import, spectrum and "
            "statistics are done by one. That each reads the shared files at the "
            "disk's full rate is assumed, not measured."
        ),
    )


def _added(stage: Plan) -> int:
    """What a stage adds to the disk, temporary files included."""
    return stage.disk_bytes + stage.temporary_bytes


def _breaking(papers: Problem, disk: tuple[float, float]) -> list[Text | Table]:
    one = Machines(1, MEMORY, BOUND, *disk)
    rows = [(limit.what, _millions(limit.nodes)) for limit in limits(papers, one)]
    each = graph_bytes(papers)
    text = (
        "On one such machine, a graph growing with "
        f"{papers.entries / papers.nodes:.1f} stored entries a node. At "
        f"ogbn-papers100M's size a product reads {describe_size(each)}, "
        f"{each / disk[0]:,.0f} s at the disk's rate."
    )
    return [Text(text), Table(("what", "from, million nodes"), rows)]


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2f}"


def _millions(nodes: float) -> str:
    return number(float(f"{nodes / 1e6:.3g}"))


def _facts(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    last = records[-1]["machine"]
    commits = sorted({str(record["machine"]["commit"]) for record in records})
    return {
        "hardware": f"{last['hardware']}, {last['cores']} cores",
        "torch": str(last["versions"]["torch"]),
        "commit": ", ".join(commits),
    }
