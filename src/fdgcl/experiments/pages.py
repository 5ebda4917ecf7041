"""The page of a table: what its measure shows, what failed, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError
from fdgcl.experiments.discovery import of_datasets
from fdgcl.experiments.experiment import Experiment, with_splits
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures import TABLES, build_measure
from fdgcl.experiments.measures import Table as TableInfo
from fdgcl.experiments.measures.base import Measure, Record
from fdgcl.experiments.records import read_lines
from fdgcl.report.page import Page, Section, Table, Text


def build_page(
    measure: Measure,
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
    failures: Sequence[Record] = (),
    facts: Mapping[str, str] | None = None,
) -> Page:
    """Put a table's page together.

    Args:
        measure: The table's measure.
        experiments: Those to show, in reading order; at least one.
        records: Their measurements.
        absent: Why a dataset is not here, by its name.
        failures: Units that could not be done.
        facts: What else to say at the end: the command, say.
    """
    table = TABLES[experiments[0].table]
    sections = list(measure.show(experiments, records, absent))
    if failures:
        sections.insert(0, _failures(failures))
    return Page(
        title=table.title,
        summary=table.about + _of_the_paper(table),
        sections=sections,
        facts={**(facts or {}), **origin(records)},
    )


def _of_the_paper(table: TableInfo) -> str:
    return f" Regenerates {table.regenerates} of the paper." * bool(table.regenerates)


def page_of_file(path: Path) -> Page:
    """The page of all measurements in a file, under the settings as they are now.

    Raises:
        InputError: It is damaged, or holds measurements of no table or of several.
    """
    lines = read_lines(path)
    names = {str(line["table"]) for line in lines.settings.values()}
    if len(names) != 1 or not lines.units:
        several = f"measurements of several tables ({', '.join(sorted(names))})"
        message = f"{path} holds {several if lines.units else 'no measurements yet'}"
        raise InputError(message)
    (name,) = names
    abouts = lines.settings.values()
    experiments = of_datasets(
        load_experiments(name), dict.fromkeys(str(line["dataset"]) for line in abouts)
    )
    measure = build_measure(TABLES[name].measure)
    # Of how many splits is up to a run: the latest says it for all.
    splits = [line["options"].get("splits", 0) for line in abouts][-1]
    if splits:
        experiments = with_splits(experiments, splits)
    seeds = 1 + max(seed for _, _, seed in lines.units)
    units = [(one, unit) for one in experiments for unit in measure.units(one, seeds)]
    found = [lines.find(one, measure, unit) for one, unit in units]
    records = [record for unit in found for record in unit or ()]
    measured = {record["dataset"] for record in records}
    absent = {
        one.dataset: f"no measurements in {path.name}"
        for one in experiments
        if one.dataset not in measured
    }
    device = next((record["device"] for record in records), "cpu")
    command = f"fdgcl reproduce {name} --seeds {seeds} --device {device}"
    command += f" --splits {splits}" if splits else ""
    page = build_page(measure, experiments, records, absent, (), {"command": command})
    left = len(lines.units) - sum(unit is not None for unit in found)
    if not left:
        return page
    text = (
        f"{left} of {len(lines.units)} units in {path.name} were measured under other "
        "settings than today's and are not shown."
    )
    return replace(page, sections=[*page.sections, Section("Left out", [Text(text)])])


def origin(records: Sequence[Record]) -> dict[str, str]:
    """How, where and when the measurements were made."""
    if not records:
        return {}
    dates = sorted(str(record["date"])[:10] for record in records)
    seeds = {int(record["seed"]) for record in records}
    return {
        "seeds": f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else f"{min(seeds)}",
        "commit": _each(record["commit"] or "unknown" for record in records),
        "hardware": _each(_hardware(record) for record in records),
        "versions": _each(_versions(record["versions"]) for record in records),
        "measured": dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}",
    }


def _hardware(record: Record) -> str:
    if record["device"] == "cpu":
        threads = ", one thread a process" if record["threads"] == 1 else ""
        return f"{record['hardware']}, {record['cores']} cores{threads}"
    return str(record["hardware"])


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _each(values: Any) -> str:
    return "; ".join(dict.fromkeys(values))


def _failures(failures: Sequence[Record]) -> Section:
    rows = [
        [
            str(failure["experiment"]),
            str(failure["part"]),
            str(failure["seed"]),
            str(failure["error"]),
        ]
        for failure in failures
    ]
    columns = ("experiment", "part", "seed", "what went wrong")
    caption = "The same command tries these again; failures.jsonl has the tracebacks."
    return Section("Failed", [Table(columns, rows, caption)])
