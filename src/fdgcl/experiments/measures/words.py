"""Sentences and small sums that the pages of several tables share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

from fdgcl._checks import in_words
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.report.page import Text


def records_of(experiment: Experiment, records: Sequence[Record]) -> list[Record]:
    """The records of one experiment."""
    return [record for record in records if record["experiment"] == experiment.name]


def missing(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Text]:
    """One sentence for each dataset that is not here or was not measured yet."""
    found = {record["experiment"] for record in records}
    sentences = []
    for dataset in dict.fromkeys(experiment.dataset for experiment in experiments):
        here = [e for e in experiments if e.dataset == dataset]
        left = [e.label for e in here if e.name not in found]
        if dataset in absent:
            sentences.append(f"{dataset} is not here: {absent[dataset]}.")
        elif len(left) == len(here):
            sentences.append(f"{dataset} is not measured yet.")
        elif left:
            sentences.append(f"{dataset}: not measured yet: {in_words(left)}.")
    return [Text(sentence.replace("..", ".")) for sentence in sentences]


def verdict(holds: bool) -> str:
    """`holds` or `does not hold`."""
    return "holds" if holds else "does not hold"


def seeds(records: Sequence[Record]) -> str:
    """Which seeds the records come from, in words."""
    found = sorted({int(record["seed"]) for record in records})
    if len(found) == 1:
        return f"seed {found[0]}"
    if found == list(range(found[0], found[-1] + 1)):
        return f"seeds {found[0]} to {found[-1]}"
    return f"seeds {in_words([str(seed) for seed in found])}"


def mean_std(values: Sequence[float]) -> str:
    """Mean and, with more than one value, standard deviation."""
    spread = f" ± {pstdev(values):.2f}" if len(values) > 1 else ""
    return f"{fmean(values):.2f}{spread}"


def capital(name: str) -> str:
    """A dataset's name at the start of a title."""
    return name[:1].upper() + name[1:]
