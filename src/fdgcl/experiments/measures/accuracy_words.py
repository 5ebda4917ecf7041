"""What the accuracy grids come to."""

from __future__ import annotations

from collections.abc import Iterator

from fdgcl.experiments.measures.accuracy_grid import Grid
from fdgcl.report.page import Table, Text


def orders_in_words(grid: Grid) -> Iterator[Text]:
    """Whether distinct orders beat equal ones, as the paper finds."""
    for dataset in grid.here:
        kinds: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
        for (name, variant), one in grid.cells.items():
            scores = grid.find(name, variant)[1]
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


def worth_of_training(grid: Grid) -> Iterator[Table]:
    """The same encoders before training, beside what training made of them."""
    rows = []
    for variant, label in grid.labels.items():
        cells = []
        for dataset in grid.here:
            trained = grid.find(dataset, variant)[1]
            before = grid.untrained(dataset, variant)
            if trained is None or before is None:
                cells.append("")
            else:
                cells.append(f"{before} ({trained.mean - before.mean:+.2f})")
        rows.append([label, *cells])
    yield Table(
        [f"{grid.kind}, untrained", *grid.here],
        rows,
        "The same before training; in brackets what training adds.",
    )
