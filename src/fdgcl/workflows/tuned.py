"""What tuning settings returns, and how it is told of in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._version import __version__
from fdgcl.workflows.places import without_folders

if TYPE_CHECKING:
    from fdgcl.tuning import Problem, Tuned
    from fdgcl.tuning.ranking import Standing
    from fdgcl.tuning.records import Record
    from fdgcl.workflows.reading import Reading
    from fdgcl.workflows.source import Source


@dataclass(frozen=True, eq=False)
class TunedSettings:
    """The settings that validate best, and how they were found.

    Attributes:
        found: All trials, and the best of them.
        problem: What they were scored on.
        study: The folder of the study, which the same call goes on with.
        settings_file: The best settings, as TOML.
        source: Where the graph is.
        reading: How it was read.
        report: The page on the search; None where Plotly is not installed.
        notices: What was read and decided.
    """

    found: Tuned
    problem: Problem = field(repr=False)
    study: Path
    settings_file: Path
    source: Source = field(repr=False)
    reading: Reading = field(repr=False)
    report: Path | None = None
    notices: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """Name of the method that they are settings of."""
        return self.found.plan.space.method

    @property
    def settings(self) -> dict[str, Any]:
        """The best settings; the file of them has no word for an unset width."""
        from fdgcl.presets import with_hidden

        return with_hidden(self.found.best.record.settings)

    def header(self) -> list[str]:
        """Lines that say where the settings come from."""
        best, baseline = self.found.best, self.found.baseline
        before = ""
        if baseline is not None and baseline is not best:
            before = f"; {plus_minus(baseline.mean, baseline.error)} % before"
        return [
            f"Settings found by fdgcl tune, {datetime.now():%Y-%m-%d}.",
            f"Data: {self.data}.",
            f"Method: {self.title}.",
            f"Validation accuracy {plus_minus(best.mean, best.error)} %{before} "
            "(mean and standard error).",
            f"Measured on {self.units}; test nodes were not looked at.",
            f"Trial {best.record.number} of {self.counted()}.",
            ", ".join(f"{name} {text}" for name, text in versions().items()) + ".",
        ]

    @property
    def title(self) -> str:
        """What the method is called, for people."""
        from fdgcl.methods import find_method

        return find_method(self.method).title

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

    def facts(self) -> dict[str, str]:
        """Names and values for the end of a report."""
        return {
            "data": self.data,
            "method": self.title,
            "score": f"validation accuracy of a linear probe, {self.units}",
            "trials": self.counted(),
            **versions(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what was found, ready for JSON."""
        return {
            "settings_file": str(self.settings_file),
            "study": str(self.study),
            "method": self.method,
            "report": None if self.report is None else str(self.report),
            "trials": self.counts(),
            "best": _plain(self.found.best, self.found.start),
            "improves_on_start": self.found.improves,
            "top": [_plain(one, self.found.start) for one in self.found.standings],
            "splits": self.problem.num_splits,
            "seeds": list(self.found.plan.seeds),
            "importances": self.found.importances,
            "interrupted": self.found.interrupted,
            "notices": list(self.notices),
        }


def versions() -> dict[str, str]:
    """Versions of what computed it."""
    return {
        "fdgcl": __version__,
        **{name: version(name) for name in ("torch", "optuna")},
    }


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
