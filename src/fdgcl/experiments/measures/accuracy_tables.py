"""The accuracy tables by dataset: the paper, its settings, ours, and no training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.accuracy_cells import (
    NO_RESULT,
    UNIT,
    bars,
    cost_cells,
    validation,
)
from fdgcl.experiments.measures.accuracy_notes import (
    absences,
    changes_table,
    choices_table,
    notes,
    other_splits,
    paper_number,
)
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.scores import Scores, collect
from fdgcl.report.page import Block, Figure, Section, Table, Text

FAITHFUL, OURS = "paper", "best"  # the variants that share a dataset's row
FREE_NAMES = {"untrained": "untrained", "smoothed": "A²X", "features": "X"}
FAITHFUL_NAME, OURS_NAME, FREE_NAME = "faithful", "ours", "no training"
_BELOW = " *"


@dataclass(frozen=True)
class Row:
    """One line: a dataset under the paper's settings and under ours.

    Attributes:
        name: The line's name.
        faithful: The experiment with the paper's settings, or another variant's.
        ours: The experiment with our settings; None where the line has none.
        scores: Of everything, by experiment and part.
        shared: The dataset's experiment whose rows without training serve all.
    """

    name: str
    faithful: Experiment | None
    ours: Experiment | None
    scores: Mapping[tuple[str, str], Scores]
    shared: Experiment | None

    @property
    def experiments(self) -> list[Experiment]:
        """Those of the line that there are."""
        return [one for one in (self.faithful, self.ours) if one is not None]

    def get(self, experiment: Experiment | None, part: str) -> Scores | None:
        """The scores of a part, if they are there."""
        return None if experiment is None else self.scores.get((experiment.name, part))

    def free(self, experiment: Experiment | None) -> dict[str, Scores]:
        """What needs no training and stands beside an experiment, by its name."""
        found = {}
        for part, name in FREE_NAMES.items():
            own = self.get(experiment, part)
            scores = own if part == "untrained" else own or self.get(self.shared, part)
            if scores is not None:
                found[name] = scores
        return found

    def best_free(self) -> tuple[str, Scores] | None:
        """The best of all that needs no training."""
        rivals = [pair for e in self.experiments for pair in self.free(e).items()]
        return max(rivals, key=lambda pair: pair[1].mean, default=None)

    def trained(self, experiment: Experiment | None) -> str:
        """The cell of a trained embedding, marked where no training is better."""
        found = self.get(experiment, "trained")
        if found is None:
            return "" if experiment is None else NO_RESULT
        return f"{found}{_BELOW}" if self.better(experiment) else str(found)

    def better(self, experiment: Experiment | None) -> dict[str, Scores]:
        """What needs no training and is ahead of the trained embedding."""
        found = self.get(experiment, "trained")
        if found is None:
            return {}
        rivals = self.free(experiment).items()
        return {name: rival for name, rival in rivals if rival.mean > found.mean}


def by_dataset(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """One line a dataset, and one for each further variant of it."""
    rows = list(_rows(experiments, collect(records)))
    table = experiments[0].table
    measured = [one for one in experiments if one.dataset not in absent]
    here = [row for row in rows if row.experiments[0].dataset not in absent]
    main: list[Block] = [_accuracy_table(rows, absent), *_words(here)]
    main += [*absences(absent), *other_splits(records)]
    main.append(_figure(table, here))
    return [
        Section("Accuracy", main),
        Section("Without training", [_free_table(here)]),
        Section("Time and memory", [_cost_table(here)]),
        Section(
            "What the paper leaves open",
            [choices_table({r.name: r.faithful for r in here if r.faithful})],
        ),
        Section("What our settings change", [changes_table(_pairs(here))]),
        *notes(measured),
    ]


def _rows(
    experiments: Sequence[Experiment], scores: Mapping[tuple[str, str], Scores]
) -> Iterator[Row]:
    for dataset in dict.fromkeys(one.dataset for one in experiments):
        variants = {one.variant: one for one in experiments if one.dataset == dataset}
        shared = variants.get(FAITHFUL)
        pair = variants.pop(FAITHFUL, None), variants.pop(OURS, None)
        if any(pair):
            yield Row(dataset, *pair, scores, shared)
        for one in variants.values():
            yield Row(f"{dataset}, {one.label}", one, None, scores, shared)


def _pairs(rows: Sequence[Row]) -> dict[str, tuple[Experiment, Experiment]]:
    return {
        row.name: (row.faithful, row.ours) for row in rows if row.faithful and row.ours
    }


def _accuracy_table(rows: Sequence[Row], absent: Mapping[str, str]) -> Table:
    lines, strong = [], set()
    for row in rows:
        first = row.experiments[0]
        paper = paper_number(first)
        if first.dataset in absent:
            lines.append([row.name, paper, "not here", *[""] * 5])
            continue
        free = row.best_free()
        lines.append(
            [
                row.name,
                paper,
                row.trained(row.faithful),
                validation(row.get(row.faithful, "trained")),
                row.trained(row.ours),
                validation(row.get(row.ours, "trained")),
                "" if free is None else f"{free[1]} ({free[0]})",
                _seeds(row),
            ]
        )
        strong |= {(len(lines) - 1, column) for column in _best_columns(row)}
    columns = (
        "dataset",
        "paper",
        FAITHFUL_NAME,
        "val.",
        OURS_NAME,
        "val.",
        FREE_NAME,
        "seeds",
    )
    caption = (
        "Test accuracy in %, mean ± standard deviation over seeds and splits: what the "
        "paper says, its settings, our settings, and the best that needs no training; "
        "the best measured one of a line stressed. val. is the validation accuracy of "
        "the column before, by which every choice is made; test nodes are scored "
        "once. * marks training that ends below what needs none."
    )
    return Table(columns, lines, caption, frozenset(strong))


def _best_columns(row: Row) -> set[int]:
    free = row.best_free()
    found = {
        2: row.get(row.faithful, "trained"),
        4: row.get(row.ours, "trained"),
        6: None if free is None else free[1],
    }
    means = {column: one.mean for column, one in found.items() if one is not None}
    return {k for k, mean in means.items() if mean == max(means.values())}


def _seeds(row: Row) -> str:
    found = [row.get(one, "trained") for one in row.experiments]
    counts = {scores.seeds for scores in found if scores is not None}
    return " and ".join(str(count) for count in sorted(counts)) or "0"


def _words(rows: Sequence[Row]) -> Iterator[Text]:
    for row in rows:
        for one, words in ((row.faithful, "the paper's"), (row.ours, "our")):
            better = row.better(one)
            if one is None or not better:
                continue
            trained = row.get(one, "trained")
            assert trained is not None
            rivals = ", ".join(f"{name} {s.mean:.2f}" for name, s in better.items())
            yield Text(
                f"{row.name}: training under {words} settings gives "
                f"{trained.mean:.2f}, below what needs no training ({rivals})."
            )


def _figure(table: str, rows: Sequence[Row]) -> Figure:
    shown: dict[str, list[tuple[str, float, float]]] = {
        "paper": [],
        FAITHFUL_NAME: [],
        OURS_NAME: [],
        FREE_NAME: [],
    }
    for row in rows:
        number = row.experiments[0].paper
        if number is not None:
            shown["paper"].append((row.name, number.value, number.std or 0.0))
        free = row.best_free()
        for name, scores in (
            (FAITHFUL_NAME, row.get(row.faithful, "trained")),
            (OURS_NAME, row.get(row.ours, "trained")),
            (FREE_NAME, None if free is None else free[1]),
        ):
            if scores is not None:
                shown[name].append((row.name, scores.mean, scores.std))
    return Figure(
        name=f"{table}-accuracy",
        title="Accuracy, paper beside ours",
        series=[bars(name, values) for name, values in shown.items() if values],
        y_label=UNIT,
        caption="Bars are means, whiskers standard deviations over seeds and splits.",
    )


def _free_table(rows: Sequence[Row]) -> Table:
    lines = []
    for row in rows:
        found = [
            row.get(row.faithful, "untrained"),
            row.get(row.ours, "untrained"),
            row.get(row.faithful, "smoothed"),
            row.get(row.faithful, "features"),
        ]
        cells = ["" if scores is None else str(scores) for scores in found]
        lines.append([row.name, *cells])
    columns = (
        "dataset",
        f"untrained, {FAITHFUL_NAME}",
        f"untrained, {OURS_NAME}",
        "A²X",
        "X",
    )
    return Table(
        columns,
        lines,
        "Test accuracy in % of the same probe: on the encoder before its first epoch, "
        "on the features smoothed twice by the operator of the paper's settings, and "
        "on the features themselves.",
    )


def _cost_table(rows: Sequence[Row]) -> Table:
    lines = []
    for row in rows:
        found = [row.get(one, "trained") for one in (row.faithful, row.ours)]
        lines.append([row.name, *(cell for one in found for cell in cost_cells(one))])
    names = ("training", "probe", "memory")
    return Table(
        ["dataset", *names, *(f"{name}, {OURS_NAME}" for name in names)],
        lines,
        "Seconds of one seed, mean, and the highest memory of its process, libraries "
        "and graph included (on a GPU: memory on the GPU).",
    )
