"""What a command and its children take is seen from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fdgcl._checks import InputError
from fdgcl.benchmark.processes import Tree, Watched, folder_bytes, watch

MB = 10**6
# Bytes that are written to are resident, whatever else Python holds.
HOLD = "import time; x = bytearray({size}); time.sleep({seconds})"


def _watch(folder: Path, *words: str, **more: object) -> Watched:
    place = {"output": folder / "out", "errors": folder / "err", "folder": folder}
    return watch([sys.executable, *words], **place, **more)  # type: ignore[arg-type]


def test_memory_of_one_process_is_seen(tmp_path: Path) -> None:
    small = _watch(tmp_path, "-c", HOLD.format(size=1, seconds=0.2))
    large = _watch(tmp_path, "-c", HOLD.format(size=100 * MB, seconds=0.2))
    assert small.exit_code == large.exit_code == 0
    assert 5 * MB < small.peak_bytes < 60 * MB
    assert large.peak_bytes - small.peak_bytes == pytest.approx(100 * MB, abs=5 * MB)
    assert 0.2 <= large.seconds < 10


def test_what_is_held_between_two_looks_is_seen_too(tmp_path: Path) -> None:
    code = "x = bytearray(100_000_000); del x; import time; time.sleep(0.4)"
    found = _watch(tmp_path, "-c", code, sample_seconds=0.3)
    assert found.peak_bytes > 100 * MB


def test_children_are_added_up(tmp_path: Path) -> None:
    child = HOLD.format(size=60 * MB, seconds=1.5)
    code = (
        "import subprocess, sys\n"
        f"both = [subprocess.Popen([sys.executable, '-c', {child!r}]) for _ in '12']\n"
        "for one in both: one.wait()\n"
    )
    found = _watch(tmp_path, "-c", code)
    assert 120 * MB < found.peak_bytes < 220 * MB


def test_a_grandchild_in_a_session_of_its_own_whose_parent_ended_stays(
    tmp_path: Path,
) -> None:
    grandchild = HOLD.format(size=80 * MB, seconds=30)
    middle = (
        "import subprocess, sys, time\n"
        f"one = subprocess.Popen([sys.executable, '-c', {grandchild!r}],"
        " start_new_session=True)\n"
        "print(one.pid, flush=True); time.sleep(0.5)\n"
    )
    root = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess, sys, time\n{_root(middle)}"],
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert root.stdout is not None
    tree, last = Tree(root.pid), int(root.stdout.readline())
    try:
        tree.resident_bytes()  # seen once, while its parent lives
        _until(lambda: _parent(last) not in (None, root.pid) and not _middle(root.pid))
        assert tree.resident_bytes() > 80 * MB
    finally:
        os.kill(last, signal.SIGKILL)
        root.kill()
        root.wait()
        root.stdout.close()


def _root(middle: str) -> str:
    return f"subprocess.run([sys.executable, '-c', {middle!r}])\ntime.sleep(30)\n"


def _parent(process: int) -> int | None:
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])


def _middle(root: int) -> bool:
    return any(
        _parent(int(name.name)) == root
        for name in Path("/proc").iterdir()
        if name.name.isdigit()
    )


def _until(happened: object) -> None:
    assert callable(happened)
    end = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_output_and_exit_code_are_kept(tmp_path: Path) -> None:
    code = "import sys; print('said'); print('failed', file=sys.stderr); sys.exit(3)"
    assert _watch(tmp_path, "-c", code).exit_code == 3
    assert (tmp_path / "out").read_text() == "said\n"
    assert (tmp_path / "err").read_text() == "failed\n"


def test_files_that_are_gone_at_the_end_count_in_the_peak(tmp_path: Path) -> None:
    code = (
        "import pathlib, time\n"
        f"p = pathlib.Path({str(tmp_path)!r}) / 'deep' / 'x'\n"
        "p.parent.mkdir(); p.write_bytes(bytes(1_000_000)); time.sleep(1.5)\n"
        "p.unlink()"
    )
    found = _watch(tmp_path, "-c", code)
    assert found.peak_disk_bytes == 1_000_000
    assert folder_bytes(tmp_path) == 0


def test_an_error_here_ends_the_command(tmp_path: Path) -> None:
    seen: list[int] = []

    def stop(seconds: float, held: int) -> None:
        children = Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}")
        seen.extend(map(int, (children / "children").read_text().split()))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _watch(tmp_path, "-c", HOLD.format(size=1, seconds=60), on_sample=stop)
    assert seen
    assert not any(Path(f"/proc/{child}").exists() for child in seen)


def test_other_systems_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(InputError, match=r"only Linux has, and this is darwin"):
        _watch(tmp_path, "-c", "")
