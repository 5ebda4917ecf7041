"""The accuracy table by encoder: one line a configuration, columns by dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

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
from fdgcl.report.page import Block, Figure, Section, Table


def by_encoder(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
    findings: Callable[[Grid], Iterable[Block]],
    kind: str = "encoder",
) -> list[Section]:
    """One line an encoder, or a method; columns by dataset.

    Args:
        experiments: Those of the table, in reading order.
        records: Their lines.
        absent: Why a dataset is not here, by its name.
        findings: What the table comes to.
        kind: What a line stands for.
    """
    grid = Grid(experiments, collect(records), absent, kind)
    blocks: list[Block] = [grid.accuracy(), *findings(grid)]
    blocks += [*absences(absent), *other_splits(records)]
    blocks += [grid.figure(dataset) for dataset in grid.here]
    return [
        Section("Accuracy", blocks),
        Section("Validation", [grid.validation_table()]),
        Section("Time and memory", [grid.cost()]),
        *notes([one for one in experiments if one.dataset not in absent]),
    ]


class Grid:
    """Configurations by datasets, with the paper's numbers and the scores found."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        scores: Mapping[tuple[str, str], Scores],
        absent: Mapping[str, str],
        kind: str,
    ) -> None:
        self.kind = kind
        self.labels = {one.variant: one.label for one in experiments}
        self.datasets = list(dict.fromkeys(one.dataset for one in experiments))
        self.here = [name for name in self.datasets if name not in absent]
        self.cells = {(one.dataset, one.variant): one for one in experiments}
        self._scores, self._absent = scores, absent
        self._table = experiments[0].table

    def find(self, dataset: str, variant: str) -> tuple[str, Scores | None]:
        """The paper's number and the scores of a cell."""
        experiment = self.cells.get((dataset, variant))
        if experiment is None:
            return "", None
        found = self._scores.get((experiment.name, "trained"))
        return paper_number(experiment), found

    def untrained(self, dataset: str, variant: str) -> Scores | None:
        """The scores of the same encoder before training, where they were asked for."""
        experiment = self.cells.get((dataset, variant))
        name = "" if experiment is None else experiment.name
        return self._scores.get((name, "untrained"))

    def accuracy(self) -> Table:
        """The paper's numbers beside ours; the best of a column stressed."""
        columns, strong = [self.kind], set()
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

    def _cell(self, dataset: str, variant: str, scores: Scores | None) -> str:
        if scores is not None:
            return str(scores)
        if (dataset, variant) not in self.cells:
            return ""
        return "not here" if dataset in self._absent else NO_RESULT

    def validation_table(self) -> Table:
        """What the choices were made by."""
        rows = []
        for variant, label in self.labels.items():
            found = [self.find(dataset, variant)[1] for dataset in self.here]
            rows.append([label, *map(validation, found)])
        return Table([self.kind, *self.here], rows, "Validation accuracy in %.")

    def cost(self) -> Table:
        """Seconds and memory."""
        rows = []
        for variant, label in self.labels.items():
            found = [self.find(dataset, variant)[1] for dataset in self.here]
            cells = [cost_cells(scores) for scores in found]
            rows.append([label, *(", ".join(filter(None, cell)) for cell in cells)])
        return Table(
            [self.kind, *self.here], rows, "Training, probe, peak memory; one seed."
        )

    def figure(self, dataset: str) -> Figure:
        """The paper's numbers beside ours on one dataset."""
        paper, ours = [], []
        for variant, label in self.labels.items():
            experiment = self.cells.get((dataset, variant))
            if experiment is None:
                continue
            number = experiment.paper
            if number is not None:
                paper.append((label, number.value, number.std or 0.0))
            scores = self.find(dataset, variant)[1]
            if scores is not None:
                ours.append((label, scores.mean, scores.std))
        # Measured first: the paper may have no number for some, and keeps its colour.
        both = {"measured": (ours, 1), "paper": (paper, 0)}
        return Figure(
            name=f"{self._table}-{dataset}",
            title=f"{self.kind.capitalize()}s on {dataset}",
            series=[
                bars(name, values, color=color)
                for name, (values, color) in both.items()
                if values
            ],
            y_label=UNIT,
            caption="Bars are means, whiskers standard deviations.",
        )
