"""Scores of the embedding for known labels, beside the paper's number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fdgcl.report.numerals import PLAIN, score
from fdgcl.report.page import Figure, Section, Series, Table


@dataclass(frozen=True)
class Score:
    """An accuracy in [0, 1], or another measure.

    Attributes:
        name: Of what.
        mean: Over the splits.
        std: Over the splits; None where there is one.
        validation: The mean on validation nodes; None where it is not known.
        measure: `accuracy`, `ROC-AUC` or `R²`.
    """

    name: str
    mean: float
    std: float | None = None
    validation: float | None = None
    measure: str = "accuracy"


def accuracy_section(
    scores: Sequence[Score],
    caption: str,
    paper: Score | None = None,
    judge: str = "linear probe",
) -> Section:
    """A table and a figure of test accuracies, or of another measure.

    Args:
        scores: Ours, the embedding's first.
        caption: Says whose labels, which splits.
        paper: What the paper reports for this dataset.
        judge: What was fitted to the embedding.
    """
    best = max(range(len(scores)), key=lambda row: scores[row].mean)
    rows = [*scores, *([paper] if paper else [])]
    measure = scores[0].measure
    unit = "" if measure in PLAIN else ", %"
    table = Table(
        (f"{judge} on", f"test {measure}{unit}", f"validation{unit}"),
        [
            (
                one.name,
                score(measure, one.mean, one.std),
                "" if one.validation is None else score(measure, one.validation),
            )
            for one in rows
        ],
        caption,
        frozenset({(best, 1)}),
    )
    series = [_bars("here", scores, dashed=False)]
    if paper is not None:
        series.append(_bars("in the paper", [paper], dashed=True))
    figure = Figure(
        "accuracy",
        f"Test {measure} of a {judge}",
        series,
        y_label=f"test {measure}{unit}",
        caption="Bars show the mean, whiskers one standard deviation over the splits.",
    )
    title = "Accuracy" if measure == "accuracy" else measure
    return Section(title, [table, figure] if len(rows) > 1 else [table])


def _bars(name: str, scores: Sequence[Score], *, dashed: bool) -> Series:
    factor = 1 if scores[0].measure in PLAIN else 100
    spread = [factor * (one.std or 0.0) for one in scores]
    return Series(
        name,
        [one.name for one in scores],
        [factor * one.mean for one in scores],
        mark="bar",
        error=spread if any(spread) else None,
        dashed=dashed,
    )
