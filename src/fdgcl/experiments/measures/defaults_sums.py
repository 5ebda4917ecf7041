"""Sums over graphs: how far variants are from the best row without training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.scores import Scores, collect

Cell: TypeAlias = tuple[str, str]  # a dataset and a variant, or a row without training
Kind: TypeAlias = Literal["test", "val"]


@dataclass(frozen=True)
class Results:
    """The scores of everything, by dataset.

    Attributes:
        free: Of rows without training, by dataset and row.
        complete: Datasets that have all rows without training that their graph allows.
        trained: By dataset and variant.
        untrained: The same before the first epoch.
    """

    free: Mapping[Cell, Scores]
    complete: frozenset[str]
    trained: Mapping[Cell, Scores]
    untrained: Mapping[Cell, Scores]

    @classmethod
    def of(
        cls,
        experiments: Sequence[Experiment],
        records: Sequence[Record],
        rows: Iterable[str],
    ) -> Results:
        """Sort what was measured.

        Args:
            experiments: What was asked for.
            records: What was found.
            rows: Names of the parts that need no training.
        """
        scores = collect(record for record in records if "test" in record)
        answered = {(record["experiment"], record["part"]) for record in records}
        names, free = set(rows), dict[Cell, Scores]()
        parts: dict[str, dict[Cell, Scores]] = {"trained": {}, "untrained": {}}
        expected, missing = set[str](), set[str]()
        for one in experiments:
            for part in one.options["parts"]:
                found = scores.get((one.name, part))
                if part in names:
                    expected.add(one.dataset)
                    if (one.name, part) not in answered:
                        missing.add(one.dataset)
                if found is not None and part in names:
                    free[one.dataset, part] = found
                elif found is not None:
                    parts[part][one.dataset, one.variant] = found
        with_rows = {dataset for dataset, _ in free}
        complete = frozenset(expected & with_rows - missing)
        return cls(free, complete, parts["trained"], parts["untrained"])

    def best(self, dataset: str, kind: Kind = "test") -> float:
        """The highest mean of a dataset's rows without training, in percent."""
        rows = (one for (place, _), one in self.free.items() if place == dataset)
        return max(_mean(one, kind) for one in rows)

    def distance(self, dataset: str, variant: str, kind: Kind = "test") -> float | None:
        """Points by which a variant is above that row; None before both are known."""
        found = self.trained.get((dataset, variant))
        if found is None or dataset not in self.complete:
            return None
        return _mean(found, kind) - self.best(dataset, kind)


@dataclass(frozen=True)
class Standing:
    """A variant against the best row without training, over datasets.

    Attributes:
        datasets: How many there are.
        mean: Mean distance in points.
        worst: The lowest distance.
        worst_of: The dataset it is of.
        above: On how many datasets the variant is above that row.
        gain: Trained minus untrained, mean, in points; None where nothing has both.
    """

    datasets: int
    mean: float
    worst: float
    worst_of: str
    above: int
    gain: float | None


def standing(
    results: Results, variant: str, datasets: Iterable[str]
) -> Standing | None:
    """Sum up a variant over those of the datasets that are measured."""
    known = {
        dataset: distance
        for dataset in datasets
        if (distance := results.distance(dataset, variant)) is not None
    }
    if not known:
        return None
    worst = min(known, key=known.__getitem__)
    gains = [
        results.trained[dataset, variant].mean - before.mean
        for dataset in known
        if (before := results.untrained.get((dataset, variant))) is not None
    ]
    return Standing(
        datasets=len(known),
        mean=fmean(known.values()),
        worst=known[worst],
        worst_of=worst,
        above=sum(distance > 0 for distance in known.values()),
        gain=fmean(gains) if gains else None,
    )


def chosen_elsewhere(
    results: Results, variants: Sequence[str], datasets: Iterable[str]
) -> dict[str, str]:
    """Choose, for each dataset, the variant that is best on all the others.

    The best has the highest mean distance on validation nodes; of equal ones the first
    is taken. Only datasets count on which every variant is measured, and nothing is
    chosen from fewer than two.
    """
    distances = {
        dataset: [results.distance(dataset, variant, "val") for variant in variants]
        for dataset in datasets
    }
    known = {
        dataset: [value for value in values if value is not None]
        for dataset, values in distances.items()
        if None not in values
    }
    chosen = {}
    for dataset in known if len(known) > 1 else ():
        others = [values for name, values in known.items() if name != dataset]
        means = [fmean(column) for column in zip(*others, strict=True)]
        chosen[dataset] = variants[means.index(max(means))]
    return chosen


def _mean(scores: Scores, kind: Kind) -> float:
    return 100 * fmean(scores.test if kind == "test" else scores.val)
