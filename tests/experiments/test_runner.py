"""Runs in real processes: failures, kills, going on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toys
from toys import LINES, TOY, slow_run, toy

from fdgcl._checks import InputError
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.runner import RECORDS, Run, State, start_afresh
from fdgcl.experiments.unit_task import UnitTask


def _run(folder: Path, *experiments: Experiment, **changes: Any) -> Run:
    arguments = {"seeds": 1, "device": "cpu", "data_root": None, "processes": 2}
    return Run(folder, experiments, TOY, **{**arguments, **changes})


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _measured(folder: Path) -> list[dict[str, Any]]:
    return [line for line in _read(folder / RECORDS) if "kind" not in line]


def test_failures_of_every_kind_spoil_nothing_else(tmp_path: Path) -> None:
    told: list[State] = []
    experiment = toy("bad", "deadly", "nan", "nothing", "warns", "threads")
    run = _run(tmp_path / "run", experiment, processes=1)
    result = run.go(told.append)
    errors = {failure["part"]: failure["error"] for failure in result.failures}
    assert errors["bad"] == "RuntimeError: this toy is broken"
    assert "SIGKILL" in errors["deadly"]
    assert "ValueError" in errors["nan"]
    assert "no records" in errors["nothing"]
    assert {record["part"] for record in result.records} == {"warns", "threads"}
    assert [r["value"] for r in result.records if r["part"] == "threads"] == [1.0] * 3
    assert result.warnings == ["a toy is not a tool"]
    assert (told[0].done, told[-1].done, told[-1].total) == (0, 6, 6)
    lines = _read(tmp_path / "run" / "failures.jsonl")
    assert {line["part"] for line in lines} == set(errors)
    assert any("in two lines" in line["traceback"] for line in lines)
    record = result.records[0]
    assert record["seconds"] >= 0
    assert record["peak_memory_mib"] > 10
    assert record["device"] == "cpu"
    assert record["threads"] == 1


def _start(folder: Path, pids: Path, processes: int = 1) -> subprocess.Popen[str]:
    pids.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, toys.__file__, str(folder), str(pids), str(processes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _wait(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def _units(folder: Path) -> int:
    path = folder / RECORDS
    content = path.read_bytes() if path.is_file() else b""
    return content.count(b'"split": 0')


def _is_alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/status")
    return state.is_file() and "zombie" not in state.read_text()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks processes up in /proc")
def test_killed_and_interrupted_it_goes_on_without_a_unit_twice(
    tmp_path: Path,
) -> None:
    folder, pids = tmp_path / "run", tmp_path / "pids"
    pids.with_name("nap").touch()
    killed = _start(folder, pids, processes=2)
    # The sixth unit sleeps, and the other process goes on.
    _wait(lambda: _units(folder) >= 7)
    killed.kill()
    assert killed.wait(10) == -signal.SIGKILL
    workers = [int(file.name) for file in pids.iterdir()]
    assert len(workers) == 2
    # They end although nobody told them to, and one of them is busy.
    pids.with_name("nap").unlink()
    _wait(lambda: not any(map(_is_alive, workers)), 10)
    killed.communicate()
    after_kill = (folder / RECORDS).read_bytes()
    # As if the kill had come in the middle of a write.
    line = re.sub(rb'"seed": \d', b'"seed": 5', after_kill.splitlines(True)[-1])
    (folder / RECORDS).write_bytes(after_kill + line + line[: len(line) // 2])

    stopped = _start(folder, pids)
    _wait(lambda: _units(folder) >= 9)
    stopped.send_signal(signal.SIGINT)
    out, err = stopped.communicate(timeout=60)
    assert (out.strip(), stopped.returncode) == ("stopped", 0), err
    workers = [int(file.name) for file in pids.iterdir()]
    assert not any(map(_is_alive, workers))
    after_stop = (folder / RECORDS).read_bytes()
    assert after_stop.startswith(after_kill)

    finished = _start(folder, pids)
    _, err = finished.communicate(timeout=120)
    assert finished.returncode == 0, err
    whole = (folder / RECORDS).read_bytes()
    assert whole.startswith(after_stop)

    other = tmp_path / "uninterrupted"
    slow_run(other, pids, 1).go()
    assert _keys(folder) == _keys(other)
    keys = [key[:4] for key in _keys(folder)]
    assert len(set(keys)) == len(keys) == 2 * 6 * LINES
    result = slow_run(folder, pids, 1).go()
    assert (result.done_before, result.done_now) == (12, 0)
    assert (folder / RECORDS).read_bytes() == whole


def _keys(folder: Path) -> list[tuple[Any, ...]]:
    names = ("experiment", "part", "seed", "split", "value", "fingerprint", "of")
    return sorted(tuple(line[name] for name in names) for line in _measured(folder))


def test_another_device_or_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert _task(folder).run().error is None
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}")
    with pytest.raises(InputError, match="holds something else"):
        _run(tmp_path / "other", toy("quick")).go()
    _settle(folder, "cuda")
    with pytest.raises(InputError, match="was made on 'cuda'"):
        _run(folder, toy("quick")).go()


def test_starting_afresh_leaves_other_files_alone(tmp_path: Path) -> None:
    for name in ("records.jsonl", "failures.jsonl", "report.html", "mine.txt"):
        (tmp_path / name).write_text("")
    start_afresh(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
    start_afresh(tmp_path / "nowhere")


def test_fewer_seeds_show_fewer_records(tmp_path: Path) -> None:
    _settle(tmp_path, "cpu", seeds=3)
    run = _run(tmp_path, toy("quick"), seeds=2)
    before = (tmp_path / RECORDS).read_bytes()
    result = run.go()
    assert (result.done_before, result.done_now) == (2, 0)
    assert {record["seed"] for record in result.records} == {0, 1}
    assert (tmp_path / RECORDS).read_bytes() == before


def _task(folder: Path) -> UnitTask:
    run = _run(folder, toy("quick"))
    return UnitTask(*run.units[0], TOY, "cpu", None)


def _settle(folder: Path, device: str, seeds: int = 1) -> None:
    from toys import Toy

    from fdgcl.experiments.records import Journal

    with Journal(folder / RECORDS, Toy()) as journal:
        for experiment, unit in _run(folder, toy("quick"), seeds=seeds).units:
            records = [{"split": 0, "seconds": 1.0}]
            journal.add(experiment, unit, records, {"device": device})
