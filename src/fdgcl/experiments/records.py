"""The lines of a run: `records.jsonl`, which one process appends to.

A measurement is one line. What many of them share stands once, in a line of its own
before the first that needs it: `kind` is then `settings` (an experiment's settings and
options) or `environment` (versions, commit, hardware), and measurements name them by
their fingerprints. `of` says how many lines a unit has, so that half a unit is known
as such.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias

from fdgcl._checks import InputError
from fdgcl._files import explain
from fdgcl.estimators import estimator_of
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.model import FDGCL
from fdgcl.presets import paper_defaults

SETTINGS, ENVIRONMENT = "settings", "environment"
_OF_THE_UNIT = ("seed", "device")  # settings that a unit or the machine decides
_SHARED = ("experiment", "table", "dataset", "variant")

UnitKey: TypeAlias = tuple[str, str, int]  # fingerprint, part, seed


@dataclass
class Lines:
    """What a file holds.

    Attributes:
        settings: Lines about experiments, by fingerprint.
        environments: Lines about machines, by fingerprint.
        units: The measurements of whole units.
        end: Bytes up to the end of the last whole unit; what follows was torn.
    """

    settings: dict[str, Record] = field(default_factory=dict)
    environments: dict[str, Record] = field(default_factory=dict)
    units: dict[UnitKey, list[Record]] = field(default_factory=dict)
    end: int = 0

    def find(
        self, experiment: Experiment, measure: Measure, unit: Unit
    ) -> list[Record] | None:
        """The measurements of a unit under the settings as they are now, in full."""
        for fingerprint, line in self.settings.items():
            key = (fingerprint, unit.part, unit.seed)
            if key in self.units and _is_current(line, experiment, measure):
                return [self._expand(record) for record in self.units[key]]
        return None

    def _expand(self, record: Record) -> Record:
        about = self.settings[record["fingerprint"]]
        place = dict(self.environments[record["environment"]])
        del place["kind"]
        settings = {
            **about["settings"],
            "seed": record["seed"],
            "device": place["device"],
        }
        shared = {name: about[name] for name in (*_SHARED, "options")}
        return {**record, **shared, "settings": settings, **place}


def read_lines(path: Path) -> Lines:
    """Read a file of measurements; what a kill tore off at its end is left out.

    Raises:
        InputError: It is damaged elsewhere, or a unit is in it twice.
    """
    found = Lines()
    open_unit: list[Record] = []
    position = 0
    lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
    for number, raw in enumerate(lines, start=1):
        try:
            line = _parse(raw)
            position += len(raw)
            _take(found, open_unit, line)
        except (ValueError, KeyError, TypeError):
            if number < len(lines):
                raise InputError(_damaged(path, number)) from None
            break
        if not open_unit:
            found.end = position
    return found


def _parse(raw: bytes) -> Record:
    if not raw.endswith(b"\n"):
        raise ValueError
    line = json.loads(raw)
    if not isinstance(line, dict):
        raise TypeError
    return line


def _take(found: Lines, open_unit: list[Record], line: Record) -> None:
    kind = line.get("kind")
    if kind is not None:
        if open_unit:
            raise ValueError
        target = {SETTINGS: found.settings, ENVIRONMENT: found.environments}[kind]
        if kind == SETTINGS:
            line = {**line, "settings": _by_new_names(line["settings"])}
        target[line["fingerprint" if kind == SETTINGS else "environment"]] = line
        return
    key = _key(line)
    if key[0] not in found.settings or line["environment"] not in found.environments:
        raise ValueError
    if key in found.units or (open_unit and _key(open_unit[0]) != key):
        raise ValueError
    open_unit.append(line)
    if len(open_unit) == line["of"]:
        found.units[key] = list(open_unit)
        open_unit.clear()


def _by_new_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a file that may be older than the name of the solver's window."""
    return {"window" if k == "memory" else k: v for k, v in dict(settings).items()}


def _key(line: Record) -> UnitKey:
    return str(line["fingerprint"]), str(line["part"]), int(line["seed"])


def _damaged(path: Path, number: int) -> str:
    return (
        f"{path}: line {number} is damaged, belongs to no whole unit, or repeats one; "
        "remove the file, or name another run folder"
    )


class Journal:
    """The file of a run, open to be appended to by this process alone.

    Args:
        path: The file; made if needed. What was torn off its end is cut away.
        measure: Of the table.

    Raises:
        InputError: Another process has it open, or it is damaged.
    """

    def __init__(self, path: Path, measure: Measure) -> None:
        self.path, self._measure = path, measure
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream: BinaryIO = path.open("ab")
        try:
            self._lock()
            self.lines = read_lines(path)
        except BaseException:
            self._stream.close()
            raise
        self._stream.truncate(self.lines.end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def find(self, experiment: Experiment, unit: Unit) -> list[Record] | None:
        """The measurements of a unit, or None when it is still to be done."""
        return self.lines.find(experiment, self._measure, unit)

    def devices(self) -> set[str]:
        """Where the measurements were made."""
        return {str(place["device"]) for place in self.lines.environments.values()}

    def add(
        self,
        experiment: Experiment,
        unit: Unit,
        records: Sequence[Record],
        place: Mapping[str, Any],
    ) -> None:
        """Append a unit's measurements, all at once.

        Args:
            experiment: The experiment.
            unit: The unit of it.
            records: What was measured; at least one.
            place: What `environment` says of this machine.
        """
        about = _about(experiment)
        environment = _hash(place)
        lines: list[Record] = []
        if about["fingerprint"] not in self.lines.settings:
            lines.append(about)
        if environment not in self.lines.environments:
            lines.append({"kind": ENVIRONMENT, "environment": environment, **place})
        common = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "of": len(records),
            "fingerprint": about["fingerprint"],
            "environment": environment,
        }
        head = {
            "experiment": experiment.name,
            "part": unit.part,
            "seed": unit.seed,
        }
        lines += [{**head, **record, **common} for record in records]
        raw = [
            json.dumps(line, ensure_ascii=False, allow_nan=False).encode() + b"\n"
            for line in lines
        ]
        try:
            self._stream.write(b"".join(raw))
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise explain(error, self.path) from error
        open_unit: list[Record] = []
        for line in raw:
            _take(self.lines, open_unit, _parse(line))

    def _lock(self) -> None:
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            message = f"{self.path} is being written by another process"
            raise InputError(message) from None


def _about(experiment: Experiment) -> Record:
    content: Record = {
        "experiment": experiment.name,
        "method": experiment.method,
        "settings": _settings(experiment.settings),
        "options": _plain(experiment.options),
    }
    return {
        "kind": SETTINGS,
        "fingerprint": _hash(content),
        **{name: getattr(experiment, name) for name in _SHARED[1:]},
        **content,
    }


def _is_current(line: Record, experiment: Experiment, measure: Measure) -> bool:
    """Whether a line's settings are an experiment's as they are now.

    A setting or option that came later had its default then; FD-GCL's were the paper's.
    Options that change no measurement do not count.
    """
    if line["experiment"] != experiment.name:
        return False
    if line.get("method", "fdgcl") != experiment.method:
        return False
    defaults = estimator_of(experiment.method)().get_params()
    if experiment.method == FDGCL.method_name:
        defaults |= paper_defaults()
    settings = {**_settings(defaults), **line["settings"]}
    options = {**_plain(measure.options), **line["options"]}
    now = _plain(experiment.options)
    for either in (options, now):
        for name in measure.beside:
            either.pop(name, None)
    same = settings == _settings(experiment.settings)
    return options == now and (same or not measure.needs_settings(experiment))


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    return _plain({k: v for k, v in settings.items() if k not in _OF_THE_UNIT})


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives it back: lists for tuples."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(values)))
    return plain


def _hash(value: Mapping[str, Any]) -> str:
    text = json.dumps(dict(value), sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
