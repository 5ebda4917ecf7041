"""The lines of a run: whole units only, whatever a kill left behind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toys import Toy, toy

from fdgcl._checks import InputError
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.experiments.records import Journal, Lines, read_lines
from fdgcl.model import FDGCL

PLACE = {"device": "cpu", "commit": "abc", "versions": {"fdgcl": "1"}}
FIRST, SECOND = toy("quick"), toy("quick", variant="other")


def _unit(experiment: Experiment, seed: int) -> Unit:
    return Unit(experiment.name, "quick", seed)


def _records(seed: int, count: int = 3) -> list[Record]:
    return [{"split": split, "value": seed + split / 10} for split in range(count)]


def _write(path: Path, *work: tuple[Experiment, int]) -> None:
    with Journal(path, Toy()) as journal:
        for experiment, seed in work:
            unit = _unit(experiment, seed)
            if journal.find(experiment, unit) is None:
                journal.add(experiment, unit, _records(seed), PLACE)


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


WORK = [(FIRST, 0), (SECOND, 0), (FIRST, 1)]


def test_a_line_holds_what_was_measured_and_names_what_it_shares(
    tmp_path: Path,
) -> None:
    path = tmp_path / "records.jsonl"
    _write(path, *WORK)
    lines = _lines(path)
    kinds = [line.get("kind") for line in lines]
    assert kinds == ["settings", "environment", *[None] * 3, "settings", *[None] * 6]
    settings = FDGCL().get_params()
    del settings["seed"], settings["device"]
    assert lines[0]["settings"] == json.loads(json.dumps(settings))
    found = read_lines(path).find(FIRST, Toy(), _unit(FIRST, 1))
    assert found is not None
    assert [record["value"] for record in found] == [1.0, 1.1, 1.2]
    assert found[0]["commit"] == "abc"
    assert found[0]["dataset"] == "cora-bundled"
    assert found[0]["settings"] == {
        **lines[0]["settings"],
        "seed": 1,
        "device": "cpu",
    }
    assert found[0]["options"] == dict(FIRST.options)
    assert {"table", "variant", "versions", "date"} <= set(found[0])


def test_cut_anywhere_it_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    _write(whole, *WORK)
    content = whole.read_bytes()
    path = tmp_path / "cut.jsonl"
    for end in range(0, len(content), 13):
        path.write_bytes(content[:end])
        kept = read_lines(path)
        start = content[: kept.end]
        _write(path, *WORK)
        after = path.read_bytes()
        assert after.startswith(start)
        assert _contents(path) == _contents(whole)
        assert len(_lines(path)) == len(_lines(whole))


def _contents(path: Path) -> list[Any]:
    return [{**line, "date": ""} for line in _lines(path)]


def test_a_torn_line_is_dropped_and_the_rest_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    _write(path, *WORK[:2])
    before = path.read_bytes()
    path.write_bytes(before + b'{"experiment": "toys/cora-bun')
    _write(path, *WORK[:2])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: [*lines[:3], b"{broken\n", *lines[3:]],
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: lines[1:],
        lambda lines: [*lines, *lines[2:5], *lines[2:5]],
        lambda lines: [b"[1, 2]\n", *lines],
        lambda lines: [b'{"kind": "poem"}\n', *lines],
    ],
    ids=["broken", "line missing", "head missing", "twice", "no object", "unknown"],
)
def test_damage_elsewhere_is_refused(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "records.jsonl"
    _write(path, *WORK)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"records\.jsonl: line \d+ is damaged"):
        Journal(path, Toy())
    assert path.read_bytes() == before


def test_edited_settings_or_options_are_other_work(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    _write(path, *WORK)
    lines = read_lines(path)
    for other in (
        replace(FIRST, settings={**FIRST.settings, "time": 61.0}),
        replace(FIRST, options={**FIRST.options, "seconds": 1.0}),
        replace(FIRST, variant="renamed"),
    ):
        assert lines.find(other, Toy(), _unit(other, 0)) is None
    assert lines.find(FIRST, Toy(), Unit(FIRST.name, "slow", 0)) is None
    relabelled = replace(FIRST, label="x", note="y")
    assert lines.find(relabelled, Toy(), _unit(FIRST, 0)) is not None


def test_the_window_may_have_its_old_name(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    _write(path, WORK[0])
    path.write_text(path.read_text().replace('"window": null', '"memory": null'))
    found = read_lines(path).find(FIRST, Toy(), _unit(FIRST, 0))
    assert found is not None
    assert "memory" not in found[0]["settings"]
    assert found[0]["settings"]["window"] is None
    path.write_text(path.read_text().replace('"memory": null', '"memory": 3'))
    assert read_lines(path).find(FIRST, Toy(), _unit(FIRST, 0)) is None


def test_a_setting_that_came_later_had_its_default(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    _write(path, WORK[0])
    text = path.read_text()
    assert '"eta": 0.1, ' in text
    path.write_text(text.replace('"eta": 0.1, ', "").replace('"pids": ""', '"a": 1'))
    lines = read_lines(path)
    assert _found(lines, FIRST) is False  # an option that is no more
    path.write_text(text.replace('"eta": 0.1, ', ""))
    lines = read_lines(path)
    assert _found(lines, FIRST) is True
    assert _found(lines, replace(FIRST, settings={**FIRST.settings, "eta": 0.2})) is (
        False
    )


def _found(lines: Lines, experiment: Experiment) -> bool:
    return lines.find(experiment, Toy(), _unit(experiment, 0)) is not None


def test_text_of_any_kind_survives(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    odd = '± \u2028 \x85 \r\n \\ " é'
    with Journal(path, Toy()) as journal:
        journal.add(FIRST, _unit(FIRST, 0), [{"text": odd}], PLACE)
    found = read_lines(path).find(FIRST, Toy(), _unit(FIRST, 0))
    assert found is not None
    assert found[0]["text"] == odd


def test_only_one_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    with (
        Journal(path, Toy()),
        pytest.raises(InputError, match="being written by another process"),
    ):
        Journal(path, Toy())
    with Journal(path, Toy()):
        pass
