"""What the curves of the losses say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from fdgcl._checks import in_words
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.words import (
    capital,
    missing,
    records_of,
    seeds,
    verdict,
)
from fdgcl.report.page import Block, Figure, Section, Series, Table, Text

OURS = "regularized-cosmean"
Group = tuple[str, bool]  # dataset, and whether columns are standardised
# A loss degrades when its last accuracy lies this many points below its best.
FALL = 1.0


@dataclass(frozen=True)
class Curve:
    """Test accuracy of one loss on one dataset, in percent.

    Attributes:
        loss: The loss's name.
        label: The same for people.
        epochs: Where it was measured.
        mean: Over seeds and splits.
        std: Over seeds and splits.
        rank: Effective rank of the embedding, mean over seeds.
        failures: Error messages of trainings that did not finish.
    """

    loss: str
    label: str
    epochs: tuple[int, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    rank: tuple[float, ...]
    failures: tuple[str, ...]

    @property
    def best(self) -> int:
        """Index of the highest accuracy."""
        return max(range(len(self.mean)), key=self.mean.__getitem__)

    @property
    def fall(self) -> float:
        """How far the last accuracy lies below the best."""
        return self.mean[self.best] - self.mean[-1]


def curves_page(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """A section on what holds, and one for each dataset and kind of columns."""
    sections: list[Section] = []
    sentences: list[str] = []
    for group in dict.fromkeys(_group(experiment) for experiment in experiments):
        here = [e for e in experiments if _group(e) == group]
        found = [r for e in here for r in records_of(e, records)]
        curves = [_curve(e, records_of(e, records)) for e in here]
        drawn = [curve for curve in curves if curve is not None]
        if not drawn:
            continue
        sentences.append(_claim(_title(group), drawn))
        note = next((e.note for e in here if e.note), "")
        sections.append(_section(group, drawn, found, note))
    blocks: list[Block] = [Text(sentence) for sentence in sentences]
    blocks += missing(experiments, records, absent)
    return [Section("Is regularised cosmean the most stable loss?", blocks), *sections]


def _group(experiment: Experiment) -> Group:
    return experiment.dataset, bool(experiment.settings["standardize"])


def _title(group: Group) -> str:
    dataset, standardized = group
    return capital(dataset) + ("" if standardized else ", columns as they are")


def _curve(experiment: Experiment, records: Sequence[Record]) -> Curve | None:
    scored = [record for record in records if "test" in record]
    if not scored:
        return None
    epochs = sorted({int(record["epoch"]) for record in scored})
    at = [[r for r in scored if r["epoch"] == epoch] for epoch in epochs]
    values = [[100 * v for record in group for v in record["test"]] for group in at]
    return Curve(
        loss=str(experiment.settings["loss"]),
        label=experiment.label,
        epochs=tuple(epochs),
        mean=tuple(fmean(group) for group in values),
        std=tuple(pstdev(group) for group in values),
        rank=tuple(fmean(record["rank"] for record in group) for group in at),
        failures=tuple(r["failure"] for r in records if "failure" in r),
    )


def _claim(title: str, curves: Sequence[Curve]) -> str:
    """Say, from the numbers, whether the paper's claim holds there."""
    ordered = sorted(curves, key=lambda curve: curve.fall)
    falls = ", ".join(f"{curve.label} {curve.fall:.1f}" for curve in ordered)
    text = (
        f"{title}: from the best to the last measured epoch the accuracy "
        f"falls by, in points: {falls}."
    )
    ours = next((curve for curve in curves if curve.loss == OURS), None)
    others = [curve for curve in curves if curve.loss != OURS]
    if ours is None or not others:
        return text
    rival = min(others, key=lambda curve: curve.fall)
    falling = [curve.label for curve in others if curve.fall > FALL]
    text += (
        f" That {ours.label} is the most stable {verdict(ours.fall <= rival.fall)} "
        f"here{_certainty(ours, rival)}; of the {len(others)} others {len(falling)} "
        f"{'loses' if len(falling) == 1 else 'lose'} more than {FALL:g} point"
    )
    text += f" ({in_words(falling)})." if falling else "."
    top = max(curves, key=lambda curve: curve.mean[-1])
    own = "it is the same" if top is ours else f"{ours.label} has {ours.mean[-1]:.1f}"
    return (
        f"{text} The highest last accuracy is that of {top.label}, "
        f"{top.mean[-1]:.1f} %; {own}."
    )


def _certainty(ours: Curve, rival: Curve) -> str:
    """How far apart the two falls are, against what seeds and splits make of them."""
    apart = abs(ours.fall - rival.fall)
    spread = max(ours.std[-1], rival.std[-1])
    if spread == 0:
        return " (one measurement each: how much of it is chance is not known)"
    size = "less" if apart < spread else "more"
    return (
        f" (by {apart:.1f} points from {rival.label}, {size} than the deviation of "
        f"{spread:.1f} over seeds and splits)"
    )


def _section(
    group: Group, curves: Sequence[Curve], records: Sequence[Record], note: str
) -> Section:
    title = _title(group)
    name = f"losses-{group[0]}" + ("" if group[1] else "-plain")
    splits = max(len(record["test"]) for record in records if "test" in record)
    made = (
        f"Linear probe on the embedding after each of the epochs marked, {splits} "
        f"split{'s' if splits > 1 else ''}, {seeds(records)}; all settings but the "
        "loss and the number of epochs are the paper's."
    )
    accuracy = Figure(
        name=name,
        title=f"{title}: accuracy against epochs",
        series=[
            Series(
                curve.label,
                curve.epochs,
                curve.mean,
                error=curve.std if any(curve.std) else None,
            )
            for curve in curves
        ],
        x_label="epoch",
        y_label="test accuracy, %",
        caption=f"{made} Bars are one standard deviation over seeds and splits. {note}",
    )
    rank = Figure(
        name=f"{name}-rank",
        title=f"{title}: effective rank of the embedding",
        series=[Series(curve.label, curve.epochs, curve.rank) for curve in curves],
        x_label="epoch",
        y_label="effective rank",
        caption=(
            "How many directions share the energy of the embedding's rows; 1 is a "
            f"collapse, 0 an embedding of zeros. {seeds(records).capitalize()}, mean."
        ),
    )
    failures = [
        Text(f"{curve.label}: {failure}")
        for curve in curves
        for failure in curve.failures
    ]
    return Section(title, [accuracy, _table(curves), *failures, rank])


def _table(curves: Sequence[Curve]) -> Table:
    rows = [
        (
            curve.label,
            f"{curve.mean[0]:.2f}" if curve.epochs[0] == 0 else "",
            f"{curve.mean[curve.best]:.2f} (epoch {curve.epochs[curve.best]})",
            f"{curve.mean[-1]:.2f} ± {curve.std[-1]:.2f} (epoch {curve.epochs[-1]})",
            f"{-curve.fall:.2f}",
            f"{curve.rank[-1]:.1f}",
        )
        for curve in curves
    ]
    least = min(range(len(curves)), key=lambda i: curves[i].fall)
    return Table(
        columns=("loss", "untrained", "best", "last", "last - best", "rank, last"),
        rows=rows,
        caption="Test accuracy in percent; the smallest fall is stressed.",
        strong=frozenset({(least, 4)}),
    )
