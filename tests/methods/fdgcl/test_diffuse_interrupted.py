"""`fdgcl diffuse` ended in the middle, by its user or by the system: it goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fdgcl.cli import app
from fdgcl.methods.fdgcl.diffused import Diffusion
from helpers.accidents import kill, partial_files, wait_for
from helpers.papers_method import PAPERS_SETTINGS
from helpers.stores import make_store
from helpers.tasks import begun, contents, diffused_here, is_alive

SIZES: dict[str, Any] = {"nodes": 30_000, "edges": 150_000, "features": 20}
# Those of `begun`.
GIVEN = ("--settings", PAPERS_SETTINGS, "--time", "4", "--step", "1")


def start(store: Path, *options: str) -> subprocess.Popen[str]:
    """Run the command as a terminal does: with its own group of processes."""
    words = [sys.executable, "-m", "fdgcl", "diffuse", str(store), *GIVEN, *options]
    return subprocess.Popen(
        words,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finished(diffusion: Diffusion) -> dict[Path, tuple[int, int]]:
    """The files of slices that are done, and what changes if they are written anew."""
    slices = set(range(diffusion.recipe.num_slices)) - set(diffusion.missing)
    paths = [diffusion.path(order, n) for order in (0, 1) for n in slices]
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def group(process: subprocess.Popen[str]) -> list[int]:
    """The processes that are left of a command."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if _session(pid) == process.pid and is_alive(pid)]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return -1


def interrupt(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)


def terminate(process: subprocess.Popen[str]) -> None:
    """As batch systems do: the command alone, which has to see to its workers."""
    process.terminate()


def terminate_all(process: subprocess.Popen[str]) -> None:
    """As others of them do."""
    os.killpg(process.pid, signal.SIGTERM)


def kill_it(process: subprocess.Popen[str]) -> None:
    kill(process.pid)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What comes of it without an accident."""
    folder = tmp_path_factory.mktemp("whole")
    return diffused_here(begun(make_store(folder / "b", **SIZES)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "accident", "code"),
    [
        ((), interrupt, 130),
        ((), kill_it, -signal.SIGKILL),
        (("--workers", "2"), interrupt, 130),
        (("--dask", "local", "--workers", "2"), interrupt, 130),
        ((), terminate, 143),
        (("--workers", "2"), terminate, 143),
        (("--workers", "2"), terminate_all, 143),
        (("--dask", "local", "--workers", "2"), terminate, 143),
    ],
    ids=[
        "Ctrl-C",
        "killed",
        "Ctrl-C of processes",
        "Ctrl-C of Dask",
        "SIGTERM",
        "SIGTERM of processes",
        "SIGTERM of all processes",
        "SIGTERM of Dask",
    ],
)
def test_it_goes_on_where_it_stopped(
    tmp_path: Path,
    expected: dict[str, bytes],
    options: tuple[str, ...],
    accident: Callable[[subprocess.Popen[str]], None],
    code: int,
) -> None:
    diffusion = begun(make_store(tmp_path / "b", **SIZES))
    with start(tmp_path / "b", *options) as process:
        wait_for(lambda: finished(diffusion))
        accident(process)
        _, told = process.communicate(timeout=60)
    assert process.returncode == code, told
    wait_for(lambda: not group(process), seconds=20)
    assert diffusion.missing, "it was too quick"
    if code > 0:
        by = "" if code == 130 else " by SIGTERM"
        said = f"interrupted{by}; what is done is kept: the same command goes on"
        assert said in told
        assert "Traceback" not in told
    if options == () and code > 0:
        assert not partial_files(diffusion.folder)
    before = finished(diffusion)
    again = CliRunner().invoke(app, ["diffuse", str(tmp_path / "b"), *GIVEN])
    assert again.exit_code == 0, again.output
    assert "slices were there already" in again.stderr
    after = finished(diffusion)
    assert {path: after[path] for path in before} == before
    assert contents(diffusion) == expected


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--dask", "local")], ids=["pool", "Dask"])
@pytest.mark.parametrize(
    ("accident", "code"), [(interrupt, 130), (terminate, 143)], ids=["Ctrl-C", "TERM"]
)
def test_interrupted_while_workers_start(
    tmp_path: Path,
    options: tuple[str, ...],
    accident: Callable[[subprocess.Popen[str]], None],
    code: int,
) -> None:
    diffusion = begun(make_store(tmp_path / "b", **SIZES))
    with start(tmp_path / "b", "--workers", "2", *options) as process:
        # The command itself, what tracks its resources, and the first worker.
        wait_for(lambda: len(group(process)) >= 3)
        accident(process)
        _, told = process.communicate(timeout=60)
    assert process.returncode == code, told
    assert "error: interrupted" in told
    assert "Traceback" not in told
    wait_for(lambda: not group(process), seconds=20)
    assert not finished(diffusion), "it was too late"
