"""Our times and memory beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fdgcl._checks import in_words
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.words import capital, missing, records_of
from fdgcl.report.page import Block, Figure, Section, Series, Table, Text

NAMES = {
    "stepping": "solver in the loop",
    "polynomial": "our polynomial in the loop",
    "precomputed": "diffused once",
}
PAPER = "paper (RTX A5000, 24 GB)"


def cost_page(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """One section: sentences, a table, and bars of time and of memory."""
    measured = [e for e in experiments if records_of(e, records)]
    blocks: list[Block] = []
    if measured:
        for experiment in measured:
            told = _sentence(experiment, _by_way(experiment, records))
            blocks.append(Text(f"{told} {experiment.note}".strip()))
        blocks += [
            _table(measured, records),
            _bars(
                measured,
                records,
                name="cost-seconds",
                title="Seconds of one epoch",
                y_label="seconds",
                value=lambda record: record["epoch_seconds"],
                paper=lambda e: None if e.paper is None else e.paper.value,
            ),
            _bars(
                measured,
                records,
                name="cost-memory",
                title="Peak memory of training",
                y_label="MiB",
                value=lambda record: record["peak_mib"],
                paper=lambda e: float(e.options.get("paper_mib", 0)) or None,
            ),
        ]
    blocks += missing(experiments, records, absent)
    return [Section("Time and memory of an epoch", blocks)]


def _by_way(experiment: Experiment, records: Sequence[Record]) -> dict[str, Record]:
    return {record["way"]: record for record in records_of(experiment, records)}


def _sentence(experiment: Experiment, found: Mapping[str, Record]) -> str:
    text = f"{experiment.label}: "
    loop, once = found.get("stepping"), found.get("precomputed")
    if loop is None or once is None:
        left = [NAMES[way] for way in NAMES if way not in found]
        return f"{text}not measured yet: {in_words(left)}."
    faster = loop["epoch_seconds"] / once["epoch_seconds"]
    saved = loop["epoch_seconds"] - once["epoch_seconds"]
    text += (
        f"an epoch takes {_seconds(loop['epoch_seconds'])} with the solver in the loop "
        f"and {_seconds(once['epoch_seconds'])} on features diffused once, "
        f"{_factor(faster, 'shorter', 'longer')}, and {loop['peak_mib']:,.0f} against "
        f"{once['peak_mib']:,.0f} MiB."
    )
    if saved > 0:
        epochs = once["once_seconds"] / saved
        text += (
            f" The diffusion before training, {_seconds(once['once_seconds'])}, is "
            f"paid back after {epochs:.1f} epochs; the paper trains "
            f"{experiment.settings['epochs']}."
        )
    losses = [record["loss"] for record in found.values() if _same_length(record, loop)]
    if len(losses) > 1 and max(map(abs, losses)) > 0:
        apart = (max(losses) - min(losses)) / max(map(abs, losses))
        text += f" The losses of the ways measured alike differ by {apart:.0e}."
    if loop.get("generated_features"):
        text += " Its features are random numbers: they cost what real ones would."
    return text


def _same_length(record: Record, other: Record) -> bool:
    """Whether both came to the same epoch, so that their losses compare."""
    lengths = [r["epochs"] + r["warmup"] for r in (record, other)]
    return bool(lengths[0] == lengths[1])


def _factor(value: float, more: str, less: str) -> str:
    word = more if value >= 1 else less
    return f"{value if value >= 1 else 1 / value:.3g} times {word}"


def _table(experiments: Sequence[Experiment], records: Sequence[Record]) -> Table:
    rows: list[tuple[str, ...]] = []
    strong = set()
    for experiment in experiments:
        found = _by_way(experiment, records)
        ours = [way for way in NAMES if way in found]
        fastest = min(ours, key=lambda way: float(found[way]["epoch_seconds"]))
        for way in ours:
            record = found[way]
            if way == fastest:
                strong.add((len(rows), 2))
            rows.append(
                (
                    f"{experiment.label}, {NAMES[way]}",
                    _seconds(record["once_seconds"]) if record["once_seconds"] else "-",
                    _seconds(record["epoch_seconds"]),
                    f"{record['peak_mib']:,.0f}",
                    _where(record),
                )
            )
        if experiment.paper is not None:
            mib = experiment.options.get("paper_mib", 0)
            rows.append(
                (
                    f"{experiment.label}, paper",
                    "",
                    f"{experiment.paper.value:g} s",
                    f"{mib:,.0f}" if mib else "",
                    "RTX A5000, 24 GB",
                )
            )
    columns = ("", "once", "per epoch", "peak, MiB", "on")
    caption = (
        "Both views, forward, backward and update, all nodes at once, with the paper's "
        "settings. Once: the graph's spectrum and, where diffused once, the diffusion. "
        "Per epoch: the median. Peak: what training adds to a process that holds graph "
        "and features (on a GPU all that is allocated there), each way in a process of "
        "its own. The paper's numbers are another machine's and say nothing about "
        "ours; the rows above them compare."
    )
    return Table(columns, rows, caption, frozenset(strong))


def _where(record: Record) -> str:
    cores = f"{record['cores_used']} cores"
    place = cores if record.get("device", "cpu") == "cpu" else str(record["device"])
    epochs = f"{record['epochs']} epoch{'s' if record['epochs'] > 1 else ''}"
    hardware = record.get("hardware")
    return f"{hardware}, {place}; {epochs}" if hardware else f"{place}; {epochs}"


def _bars(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    *,
    name: str,
    title: str,
    y_label: str,
    value: Callable[[Record], float],
    paper: Callable[[Experiment], float | None],
) -> Figure:
    series = []
    for way, label in NAMES.items():
        found = [(e.label, _by_way(e, records).get(way)) for e in experiments]
        here = [(text, value(record)) for text, record in found if record is not None]
        series.append(_series(label, here))
    told = [(e.label, number) for e in experiments if (number := paper(e)) is not None]
    series.append(_series(PAPER, told, dashed=True))
    return Figure(
        name=name,
        title=title,
        series=[entry for entry in series if entry.x],
        y_label=y_label,
        caption=(
            "Each way to diffuse, measured in a process of its own, beside the paper's "
            "number from its own machine; seed 0, see the table for epochs."
        ),
        log_y=True,
    )


def _series(
    name: str, points: Sequence[tuple[str, float]], *, dashed: bool = False
) -> Series:
    return Series(
        name,
        [capital(text) for text, _ in points],
        [number for _, number in points],
        mark="bar",
        dashed=dashed,
    )


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value >= 0.1 else f"{1e3 * value:.3g} ms"
