"""What the accuracy grids come to, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from fdgcl.experiments.measures.accuracy_grid import Grid
from fdgcl.report.page import Text


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


def dynamics_in_words(grid: Grid) -> Iterator[Text]:
    """The paper's word or number beside ours, dynamics by dynamics."""
    for dataset in grid.here:
        parts = []
        for (name, variant), one in grid.cells.items():
            paper, scores = grid.find(name, variant)
            if name == dataset and paper and scores is not None:
                untrained = grid.untrained(name, variant)
                rest = f", untrained {untrained.mean:.2f}" if untrained else ""
                parts.append(f"{one.label} {scores.mean:.2f} (paper {paper}{rest})")
        if parts:
            yield Text(f"{dataset}: {'; '.join(parts)}.")
