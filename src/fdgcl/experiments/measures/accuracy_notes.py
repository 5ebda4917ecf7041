"""What stands below the accuracy tables: choices, notes, warnings about splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.presets import with_hidden
from fdgcl.report.page import Section, Table, Text

_OPEN = {
    "rate": "rate",
    "self_loops": "self-loops",
    "direction": "direction",
    "skip": "skip",
    "standardize": "standardised",
    "init_scale": "initial scale",
    "feature_scaling": "feature scaling",
}


def paper_number(experiment: Experiment) -> str:
    """The paper's number as the paper writes it."""
    number = experiment.paper
    if number is None:
        return experiment.paper_word
    spread = "" if number.std is None else f" ± {number.std:.2f}"
    return f"{number.value:.2f}{spread}"


def choices_table(experiments: Mapping[str, Experiment]) -> Table:
    """What was chosen where the paper says nothing, by the lines' names."""
    rows = [
        [name, *(_word(experiment.settings[key]) for key in _OPEN)]
        for name, experiment in experiments.items()
    ]
    return Table(
        ["dataset", *_OPEN.values()],
        rows,
        "The probe's weight decay, normalisation and stopping step, of which the paper "
        "says nothing either, are chosen on validation, for every embedding alike.",
    )


def changes_table(pairs: Mapping[str, tuple[Experiment, Experiment]]) -> Table:
    """What our settings change of the paper's, by the lines' names."""
    rows = [
        [name, _changes(faithful.settings, ours.settings) or "nothing"]
        for name, (faithful, ours) in pairs.items()
    ]
    return Table(["dataset", "settings that differ from the paper's"], rows)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    if before.get("hidden") != after.get("hidden"):
        before, after = with_hidden(before), with_hidden(after)
    return "; ".join(
        f"{name} {_word(value)} (was {_word(before[name])})"
        for name, value in after.items()
        if _word(value) != _word(before[name])
    )


def notes(experiments: Sequence[Experiment]) -> list[Section]:
    """The experiments' notes, each once."""
    texts: dict[str, list[str]] = {}
    for experiment in experiments:
        if experiment.note:
            names = texts.setdefault(experiment.note, [])
            names.append(f"{experiment.dataset} ({experiment.label})")
    found = [Text(f"{', '.join(names)}: {note}") for note, names in texts.items()]
    return [Section("Notes", found)] if found else []


def absences(absent: Mapping[str, str], word: str = "Not here") -> list[Text]:
    """A sentence for each reason why datasets are not here."""
    reasons: dict[str, list[str]] = {}
    for name, reason in absent.items():
        reasons.setdefault(reason, []).append(name)
    return [
        Text(f"{word}: {', '.join(names)} ({reason}).")
        for reason, names in reasons.items()
    ]


def other_splits(records: Sequence[Record]) -> list[Text]:
    """A sentence for each dataset whose splits are not the benchmark's."""
    found = {record["dataset"]: str(record["splits"]) for record in records}
    return [
        Text(
            f"{name} was split as {splits!r}, not as the benchmark is "
            f"({CATALOGUE[name].split.name!r}): do not compare it with the paper."
        )
        for name, splits in found.items()
        if name in CATALOGUE and splits != CATALOGUE[name].split.name
    ]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_word, value)) or "none"
    if value is None:
        return "auto"
    return f"{value:g}" if isinstance(value, float) else str(value)
