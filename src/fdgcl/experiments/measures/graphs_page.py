"""The table of graph classification: published methods, ours, and no training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.accuracy_cells import (
    NO_RESULT,
    UNIT,
    bars,
    cost_cells,
    validation,
)
from fdgcl.experiments.measures.accuracy_notes import absences, notes
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.published import PUBLISHED
from fdgcl.experiments.measures.scores import Scores
from fdgcl.report.page import Block, Figure, Section, Table

PAPER = "FD-GCL in the paper"
_PARTS = {
    "untrained": "{label}, untrained",
    "smoothed": "A²X, mean over the nodes",
    "features": "node labels, mean over the nodes",
    "smoothed-alike": "A²X, readout of {label}",
    "features-alike": "node labels, readout of {label}",
}
_CAPTION = (
    "Test accuracy in %: ten folds, a support vector machine whose cost and "
    "normalisation are chosen inside the training folds; mean ± standard deviation "
    "over the seeds of the mean over the folds. The best measured one of a column is "
    "stressed. Published numbers are as the paper prints them, with folds and "
    "choices of their own."
)


@dataclass(frozen=True)
class _Folds(Scores):
    """Accuracies of one embedding, seed by seed: each the mean over the folds.

    Attributes:
        within: Mean standard deviation over the folds of a seed, in percent.
    """

    within: float

    @classmethod
    def of(cls, records: Sequence[Record]) -> _Folds:
        seeds = sorted({record["seed"] for record in records})
        by_seed = [[r for r in records if r["seed"] == seed] for seed in seeds]
        means = {
            part: tuple(fmean(r[part] for r in group) for group in by_seed)
            for part in ("test", "val")
        }
        within = 100 * fmean(pstdev(r["test"] for r in group) for group in by_seed)
        return cls(**{**vars(Scores.of(records)), **means}, within=within)


def graph_sections(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """All tables and figures from the records found so far."""
    datasets = list(dict.fromkeys(one.dataset for one in experiments))
    lines = {name: _lines(name, experiments, records) for name in datasets}
    blocks: list[Block] = [_accuracy(lines, experiments, absent), *absences(absent)]
    blocks += [
        _figure(name, found, _paper(name, experiments))
        for name, found in lines.items()
        if found
    ]
    present = [one for one in experiments if one.dataset not in absent]
    return [
        Section("Accuracy", blocks),
        Section("Validation, time and memory", [_details(lines)]),
        *notes(present),
    ]


def _lines(
    dataset: str, experiments: Sequence[Experiment], records: Sequence[Record]
) -> dict[str, _Folds]:
    """The measured lines of a dataset, by their names; parts they share come once."""
    found: dict[str, _Folds] = {}
    for part in ("trained", *_PARTS):
        for one in experiments:
            named = [r for r in records if r["experiment"] == one.name]
            group = [r for r in named if r["part"] == part]
            name = _PARTS.get(part, "{label}").format(label=one.label)
            if one.dataset == dataset and group and name not in found:
                found[name] = _Folds.of(group)
    return found


def _accuracy(
    lines: Mapping[str, Mapping[str, _Folds]],
    experiments: Sequence[Experiment],
    absent: Mapping[str, str],
) -> Table:
    known = {name: PUBLISHED.get(name, {}) for name in lines}
    methods = dict.fromkeys(m for numbers in known.values() for m in numbers)
    rows = [
        [f"{method}, published", *(_pair(known[name].get(method)) for name in lines)]
        for method in methods
    ]
    rows.append([PAPER, *(_pair(_paper(name, experiments)) for name in lines)])
    strong = set()
    for label in dict.fromkeys(label for found in lines.values() for label in found):
        cells = []
        for column, (name, found) in enumerate(lines.items(), start=1):
            scores = found.get(label)
            cells.append(str(scores) if scores else _missing(name, absent))
            best = max((one.mean for one in found.values()), default=0.0)
            if scores is not None and scores.mean == best:
                strong.add((len(rows), column))
        rows.append([label, *cells])
    return Table(["embedding", *lines], rows, _CAPTION, frozenset(strong))


def _pair(number: tuple[float, float] | None) -> str:
    return "" if number is None else f"{number[0]:.2f} ± {number[1]:.2f}"


def _paper(
    dataset: str, experiments: Sequence[Experiment]
) -> tuple[float, float] | None:
    numbers = [one.paper for one in experiments if one.dataset == dataset and one.paper]
    return (numbers[0].value, numbers[0].std or 0.0) if numbers else None


def _missing(dataset: str, absent: Mapping[str, str]) -> str:
    return "not here" if dataset in absent else NO_RESULT


def _details(lines: Mapping[str, Mapping[str, _Folds]]) -> Table:
    rows = [
        [
            name,
            label,
            validation(one),
            f"{one.within:.2f}",
            *cost_cells(one),
        ]
        for name, found in lines.items()
        for label, one in found.items()
    ]
    columns = ["dataset", "embedding", "validation", "spread over folds"]
    return Table(
        [*columns, "embedding took", "machine took", "peak memory"],
        rows,
        "Validation: accuracy in %, inside the training folds, of what was chosen "
        "there. Spread: standard deviation over the ten folds of a seed.",
    )


def _figure(
    dataset: str, found: Mapping[str, _Folds], paper: tuple[float, float] | None
) -> Figure:
    published = {**PUBLISHED.get(dataset, {}), **({PAPER: paper} if paper else {})}
    ours = [(name, one.mean, one.std) for name, one in found.items()]
    theirs = [(name, *pair) for name, pair in published.items()]
    # Points: differences of a few points would be lost on bars that start at zero.
    series = [
        bars("published", theirs, mark="points"),
        bars("measured", ours, mark="points"),
    ]
    return Figure(
        name=f"graphs-{dataset}",
        title=f"Graph classification on {dataset}",
        series=[one for one in series if len(one.x)],
        y_label=UNIT,
        caption="Points are means, whiskers standard deviations over seeds.",
    )
