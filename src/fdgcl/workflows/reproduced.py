"""What reproducing a table of the paper returns, and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fdgcl._checks import MissingExtraError
from fdgcl._files import write_json
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.runner import REPORT
from fdgcl.report.page import Page
from fdgcl.workflows.outputs import Ledger


@dataclass(frozen=True, eq=False)
class Reproduced:
    """A table of the paper, measured again.

    Attributes:
        table: Its name.
        page: The paper's numbers beside ours.
        run: The run folder, with all measurements.
        seeds: How many.
        units: All that there is to measure of the datasets that are here.
        experiments: What was asked for.
        records: The measurements.
        failures: Units that could not be measured, with the reason.
        absent: Why some datasets are not here, by name.
        warnings: What was warned of.
        command: What made it.
        report: The page as HTML; None where Plotly is not installed.
        figures: Files of single figures.
        notices: What was decided.
    """

    table: str
    page: Page = field(repr=False)
    run: Path
    seeds: int
    units: int
    experiments: tuple[Experiment, ...] = field(repr=False)
    records: tuple[Mapping[str, Any], ...] = field(repr=False)
    failures: tuple[Mapping[str, Any], ...]
    absent: Mapping[str, str]
    warnings: tuple[str, ...]
    command: str
    report: Path | None = None
    figures: tuple[Path, ...] = ()
    notices: tuple[str, ...] = ()

    def written(
        self,
        json: Path | None,
        figures: Path | None,
        ledger: Ledger,
        notices: Sequence[str],
    ) -> Reproduced:
        """The same, written.

        Args:
            json: Where the result goes as JSON, if anywhere.
            figures: Where figures go, if anywhere.
            ledger: Notes what is written outside of the run folder.
            notices: What was decided.
        """
        from fdgcl.report.html import write_page

        report: Path | None = self.run / REPORT
        warnings = self.warnings
        try:
            write_page(self.page, self.run / REPORT)
        except MissingExtraError as error:
            report, warnings = None, (*warnings, str(error))
        if json is not None:
            write_json(json, self.to_dict())
            ledger.note([json])
        drawn: list[Path] = []
        if figures is not None:
            from fdgcl.report.static import write_figures

            drawn = write_figures(self.page, figures)
            ledger.note(drawn)
        return replace(
            self,
            warnings=warnings,
            report=report,
            figures=tuple(drawn),
            notices=tuple(notices),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return experiments, measurements and tables, ready for JSON."""
        shared = ("settings", "options", "versions")
        return {
            "table": self.table,
            "title": self.page.title,
            "command": self.command,
            "run": str(self.run),
            "seeds": self.seeds,
            "facts": self.page.facts,
            "not_here": dict(self.absent),
            "failures": list(self.failures),
            "experiments": [_experiment(one) for one in self.experiments],
            "records": [
                {name: value for name, value in record.items() if name not in shared}
                for record in self.records
            ],
            "sections": [_plain(asdict(section)) for section in self.page.sections],
        }


def _experiment(one: Experiment) -> dict[str, Any]:
    return {
        "name": one.name,
        "dataset": one.dataset,
        "variant": one.variant,
        "label": one.label,
        "paper": None if one.paper is None else asdict(one.paper),
        "paper_word": one.paper_word,
        "note": one.note,
        "settings": dict(one.settings),
        "options": dict(one.options),
    }


def _plain(value: Any) -> Any:
    """As JSON has it: sets and tuples are lists."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(list, value))
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
