"""What `fdgcl tune` tells and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import MissingExtraError
from fdgcl._version import __version__
from fdgcl.cli.places import without_folders
from fdgcl.cli.talk import Talk

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.tuning import Problem, Tuned
    from fdgcl.tuning.ranking import Standing
    from fdgcl.tuning.records import Record

REPORT = "report.html"
_TOLD = 5  # dimensions that matter most


def changes(record: Record, start: Mapping[str, Any]) -> str:
    """Return what differs from the starting settings, in one line."""
    found = record.changes(dict(start))
    found.pop("device", None)
    told = ", ".join(f"{name} {shown(value)}" for name, value in found.items())
    return told or "the starting settings"


def shown(value: Any) -> str:
    """Return a setting's value, short."""
    if isinstance(value, tuple | list):
        return "/".join(shown(one) for one in value) or "nothing"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def plus_minus(mean: float, error: float) -> str:
    """Return mean and standard error in percent, as `83.76 ± 0.41`."""
    return f"{100 * mean:.2f} ± {100 * error:.2f}"


@dataclass(frozen=True)
class Outcome:
    """What was found, and where it goes.

    Attributes:
        found: What was found.
        problem: What it was tuned on.
        folder: Of the study.
        target: Of the best settings.
        following: The command to suggest next.
    """

    found: Tuned
    problem: Problem
    folder: Path
    target: Path
    following: str

    def write(self, talk: Talk) -> None:
        """Write the best settings and, where Plotly is, the report."""
        from fdgcl.tuning import write_settings

        best = self.found.best.record
        write_settings(self.target, best.settings, self.header())
        try:
            from fdgcl.cli.tune_page import page
            from fdgcl.report.html import write_page

            write_page(page(self.found, self.problem, self.facts()), self.report)
        except MissingExtraError as error:
            talk.notice(f"no report was written: {error}")

    @property
    def report(self) -> Path:
        """Where the report goes."""
        return self.folder / REPORT

    def header(self) -> list[str]:
        """Lines that say where the settings come from."""
        best, baseline = self.found.best, self.found.baseline
        before = ""
        if baseline is not None and baseline is not best:
            before = f"; {plus_minus(baseline.mean, baseline.error)} % before"
        return [
            f"Settings found by fdgcl tune, {datetime.now():%Y-%m-%d}.",
            f"Data: {self.data}.",
            f"Validation accuracy {plus_minus(best.mean, best.error)} %{before} "
            "(mean and standard error).",
            f"Measured on {self.units}; test nodes were not looked at.",
            f"Trial {best.record.number} of {self.counted()}.",
            ", ".join(f"{name} {text}" for name, text in self.versions().items()) + ".",
        ]

    @property
    def data(self) -> str:
        """The data, in a few words."""
        graph = self.problem.graph
        source = without_folders(graph.source)
        return f"{graph.name} ({graph.num_nodes:,} nodes, {source})"

    @property
    def units(self) -> str:
        """What the winner's score is a mean over."""
        seeds = len(self.found.best.scores)
        fresh = "fresh " if self.found.best.fresh else ""
        count = self.problem.num_splits
        return (
            f"{seeds} {fresh}seed{'s'[: seeds != 1]} and {count} "
            f"split{'s'[: count != 1]} ({self.problem.splits})"
        )

    def counts(self) -> dict[str, int]:
        """How many trials ended how."""
        states = [one.state for one in self.found.records]
        names = ("complete", "pruned", "failed", "running")
        return {name: states.count(name) for name in names if name in states}

    def counted(self) -> str:
        """How many trials ended how, in words."""
        words = {"pruned": "stopped early", "running": "of other processes running"}
        found = self.counts()
        parts = [f"{count} {words.get(name, name)}" for name, count in found.items()]
        total = sum(found.values())
        return f"{total} trial{'s'[: total != 1]} ({', '.join(parts)})"

    @staticmethod
    def versions() -> dict[str, str]:
        """Versions of what computed it."""
        return {
            "fdgcl": __version__,
            **{name: version(name) for name in ("torch", "optuna")},
        }

    def facts(self) -> dict[str, str]:
        """Names and values for the end of a report."""
        return {
            "data": self.data,
            "score": f"validation accuracy of a linear probe, {self.units}",
            "trials": self.counted(),
            **self.versions(),
        }

    def tell(self, talk: Talk) -> None:
        """Show it."""
        best = self.found.best
        score = plus_minus(best.mean, best.error)
        talk.show(self._table())
        talk.say(
            f"best       trial {best.record.number}, validation accuracy {score} %"
        )
        self._tell_of_start(talk)
        talk.say(f"settings   {self.target}")
        talk.say(f"study      {self.folder}  {self.counted()}")
        if self.report.is_file():
            talk.say(f"report     {self.report}")
        if self.found.importances:
            shares = list(self.found.importances.items())[:_TOLD]
            told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares)
            talk.say(f"matters    {told}")
        talk.say(f"next       {self.following}")
        talk.emit(self._summary(talk.notices))

    def _tell_of_start(self, talk: Talk) -> None:
        start = self.found.baseline
        if start is None or start is self.found.best:
            return
        verdict = "" if self.found.improves else ": not clearly worse than the best"
        score = plus_minus(start.mean, start.error)
        talk.say(f"start      validation accuracy {score} %{verdict}")

    def _table(self) -> Table:
        from rich.table import Table

        seeds = len(self.found.plan.seeds)
        caption = (
            "Validation accuracy of a linear probe in %, mean ± standard error over "
            f"{self.problem.num_splits} splits ({self.problem.splits}); {seeds} seeds "
            "in the search. Around: mean of the nearest trials. The first is taken."
        )
        table = Table(caption=caption, caption_justify="left", caption_style="dim")
        for heading in ("trial", "search", "fresh seeds", "around", "seconds"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("differs from the start by")
        for place, one in enumerate(self.found.standings):
            style = "bold" if place == 0 else None
            table.add_row(*self._row(one), style=style)
        return table

    def _row(self, one: Standing) -> tuple[str, ...]:
        record = one.record
        assert record.value is not None
        return (
            str(record.number),
            plus_minus(record.value, record.error),
            plus_minus(one.mean, one.error) if one.fresh else "",
            f"{100 * one.around:.1f}" if one.around is not None else "",
            f"{record.seconds:.1f}",
            changes(record, self.found.start),
        )

    def _summary(self, notices: list[str]) -> dict[str, object]:
        return {
            "settings_file": str(self.target),
            "study": str(self.folder),
            "report": str(self.report) if self.report.is_file() else None,
            "trials": self.counts(),
            "best": _plain(self.found.best, self.found.start),
            "improves_on_start": self.found.improves,
            "top": [_plain(one, self.found.start) for one in self.found.standings],
            "splits": self.problem.num_splits,
            "seeds": list(self.found.plan.seeds),
            "importances": self.found.importances,
            "interrupted": self.found.interrupted,
            "notices": notices,
            "next": self.following,
        }


def _plain(one: Standing, start: dict[str, Any]) -> dict[str, Any]:
    record = one.record
    return {
        "trial": record.number,
        "validation": one.mean,
        "standard_error": one.error,
        "search": [list(row) for row in record.scores],
        "fresh": [list(row) for row in one.fresh],
        "around": one.around,
        "seconds": record.seconds,
        "settings": record.settings,
        "changes": record.changes(start),
    }
