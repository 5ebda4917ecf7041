"""stdout that is closed, full, not read or without accents: a clean end anyway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORDS = f"{sys.executable} -m fdgcl"
#: Commands that write to stdout, and do so at once.
TEXT, JSON, HELP = "data list", "data list --json", "embed --help"


def shell(
    line: str, folder: Path, buffered: bool = True, **more: str
) -> subprocess.CompletedProcess[str]:
    left_out = ("PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    if not buffered:
        env["PYTHONUNBUFFERED"] = "1"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env={**env, **more},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize("command", [TEXT, JSON, HELP])
@pytest.mark.parametrize("buffered", [True, False])
def test_full(tmp_path: Path, command: str, buffered: bool) -> None:
    done = shell(f"{WORDS} {command} > /dev/full", tmp_path, buffered)
    assert done.returncode == 3
    assert done.stderr == "error: the disk is full: stdout could not be written\n"


@pytest.mark.parametrize("command", [TEXT, JSON, HELP])
def test_nobody_reads(tmp_path: Path, command: str) -> None:
    done = shell(f"{WORDS} {command} | true", tmp_path)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed(tmp_path: Path, closed: str) -> None:
    done = shell(f"{WORDS} {JSON} {closed}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # What is opened next must not be taken for stdout.
    (tmp_path / "e.csv").write_text("a,b\nb,c\nc,a\n")
    done = shell(f"{WORDS} data convert e.csv -o g.npz {closed}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "g.npz").read_bytes()[:2] == b"PK"


@pytest.mark.parametrize("stderr", ["2>&-", "2> /dev/full"])
def test_stderr_that_cannot_be_written(tmp_path: Path, stderr: str) -> None:
    assert shell(f"{WORDS} data nothing {stderr}", tmp_path).returncode == 2


def test_without_accents(tmp_path: Path) -> None:
    name = "Zoë-李.csv"
    (tmp_path / name).write_text("a,b\nb,c\nc,a\n")
    for more in (
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C"},
        {"TERM": "dumb"},
    ):
        line = f"{WORDS} data convert {name} -o g.npz"
        done = shell(line, tmp_path, **more)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        (tmp_path / "g.npz").unlink()
        done = shell(f"{WORDS} data convert {name}x -o g.npz", tmp_path, **more)
        assert done.returncode == 2
        assert done.stderr.startswith("error: there is no file Zo")
        assert done.stderr.count("\n") == 1


def test_json_keeps_every_character(tmp_path: Path) -> None:
    name = "Zoë-李.csv"
    (tmp_path / name).write_text("a,b\nb,c\nc,a\n")
    line = f"{WORDS} embed {name} --dry-run --json"
    done = shell(line, tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["graph"]["name"] == "Zoë-李"


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    rows = "".join(f"{i},{(7 * i) % 5000}\n" for i in range(5000))
    (tmp_path / "e.csv").write_text("source,target\n" + rows)
    before = sorted(tmp_path.rglob("*"))
    done = shell(f"ulimit -f 10; {WORDS} data convert e.csv -o g.npz", tmp_path)
    assert done.returncode == 3
    assert "the disk is full: g.npz was not written" in done.stderr
    assert "ulimit -f" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
