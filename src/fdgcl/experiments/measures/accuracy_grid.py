"""The accuracy table by encoder: one line a configuration, columns by dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
    notes,
    other_splits,
    paper_number,
)
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.scores import Scores, collect
from fdgcl.report.page import Block, Figure, Section, Table, Text


def by_encoder(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """One line an encoder, columns by dataset."""
    grid = _Grid(experiments, collect(records), absent)
    blocks: list[Block] = [grid.accuracy(), *grid.words()]
    blocks += [*absences(absent), *other_splits(records)]
    blocks += [grid.figure(dataset) for dataset in grid.here]
    return [
        Section("Accuracy", blocks),
        Section("Validation", [grid.validation_table()]),
        Section("Time and memory", [grid.cost()]),
        *notes([one for one in experiments if one.dataset not in absent]),
    ]


class _Grid:
    def __init__(
        self,
        experiments: Sequence[Experiment],
        scores: Mapping[tuple[str, str], Scores],
        absent: Mapping[str, str],
    ) -> None:
        self.labels = {one.variant: one.label for one in experiments}
        self.datasets = list(dict.fromkeys(one.dataset for one in experiments))
        self.here = [name for name in self.datasets if name not in absent]
        self._cells = {(one.dataset, one.variant): one for one in experiments}
        self._scores, self._absent = scores, absent
        self._table = experiments[0].table

    def find(self, dataset: str, variant: str) -> tuple[str, Scores | None]:
        """The paper's number and the scores of a cell."""
        experiment = self._cells.get((dataset, variant))
        if experiment is None:
            return "", None
        found = self._scores.get((experiment.name, "trained"))
        return paper_number(experiment), found

    def accuracy(self) -> Table:
        """The paper's numbers beside ours; the best of a column stressed."""
        columns, strong = ["encoder"], set()
        cells: dict[str, list[str]] = {variant: [] for variant in self.labels}
        for dataset in self.datasets:
            columns += [f"{dataset}, paper", dataset]
            found = {v: self.find(dataset, v) for v in self.labels}
            means = [one.mean for _, one in found.values() if one is not None]
            for line, (variant, (paper, scores)) in enumerate(found.items()):
                cells[variant] += [paper, self._cell(dataset, variant, scores)]
                if scores is not None and scores.mean == max(means):
                    strong.add((line, len(columns) - 1))
        rows = [[self.labels[v], *values] for v, values in cells.items()]
        seeds = {one.seeds for one in self._scores.values()}
        count = " or ".join(str(number) for number in sorted(seeds)) or "no"
        plural = "" if seeds == {1} else "s"
        caption = (
            f"Test accuracy in %, mean ± standard deviation over {count} seed{plural} "
            "and all splits; the best measured one of a column stressed."
        )
        return Table(columns, rows, caption, frozenset(strong))

    def words(self) -> Iterator[Text]:
        """Whether distinct orders beat equal ones, as the paper finds."""
        for dataset in self.here:
            kinds: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
            for (name, variant), one in self._cells.items():
                scores = self.find(name, variant)[1]
                if name == dataset and scores and one.options["encoder"] != "gcn":
                    equal = len(set(one.settings["orders"])) == 1
                    kinds[equal].append((scores.mean, one.label))
            if all(kinds.values()):
                distinct, equal_orders = max(kinds[False]), max(kinds[True])
                ahead = distinct[0] > equal_orders[0]
                yield Text(
                    f"{dataset}: the best distinct orders give {distinct[0]:.2f} "
                    f"({distinct[1]}), the best equal ones {equal_orders[0]:.2f} "
                    f"({equal_orders[1]}): distinct orders are "
                    f"{'' if ahead else 'not '}ahead."
                )

    def _cell(self, dataset: str, variant: str, scores: Scores | None) -> str:
        if scores is not None:
            return str(scores)
        if (dataset, variant) not in self._cells:
            return ""
        return "not here" if dataset in self._absent else NO_RESULT

    def validation_table(self) -> Table:
        """What the choices were made by."""
        rows = []
        for variant, label in self.labels.items():
            found = [self.find(dataset, variant)[1] for dataset in self.here]
            rows.append([label, *map(validation, found)])
        return Table(["encoder", *self.here], rows, "Validation accuracy in %.")

    def cost(self) -> Table:
        """Seconds and memory."""
        rows = []
        for variant, label in self.labels.items():
            found = [self.find(dataset, variant)[1] for dataset in self.here]
            cells = [cost_cells(scores) for scores in found]
            rows.append([label, *(", ".join(filter(None, cell)) for cell in cells)])
        return Table(
            ["encoder", *self.here], rows, "Training, probe, peak memory; one seed."
        )

    def figure(self, dataset: str) -> Figure:
        """The paper's numbers beside ours on one dataset."""
        paper, ours = [], []
        for variant, label in self.labels.items():
            experiment = self._cells.get((dataset, variant))
            if experiment is None:
                continue
            if experiment.paper is not None:
                number = experiment.paper
                paper.append((label, number.value, number.std or 0.0))
            scores = self.find(dataset, variant)[1]
            if scores is not None:
                ours.append((label, scores.mean, scores.std))
        both = {"paper": paper, "measured": ours}
        return Figure(
            name=f"{self._table}-{dataset}",
            title=f"Encoders on {dataset}",
            series=[bars(name, values) for name, values in both.items() if values],
            y_label=UNIT,
            caption="Bars are means, whiskers standard deviations.",
        )
