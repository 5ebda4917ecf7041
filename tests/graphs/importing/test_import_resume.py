"""Killed at any moment, or out of disk: the same import goes on, to the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdgcl._checks import InputError
from fdgcl._memory import resident_bytes
from fdgcl.graphs.importing import Request
from fdgcl.graphs.importing.request import claimed
from fdgcl.graphs.store.arrays import DamagedError
from fdgcl.graphs.store.store import Store
from helpers.importing_twin import SMALL, check, import_graph, import_in_pieces

NODES, EDGES, WIDTH = 300, 700, 20
PLENTY = 10**9

# One process that forks: what is imported at its start need not be for every death.
WORKER = textwrap.dedent(
    """
    import json, os, signal, sys
    sys.path.insert(0, sys.argv[1])
    from dataclasses import replace
    from pathlib import Path
    from helpers.importing_twin import SMALL, import_in_pieces
    from fdgcl.graphs.importing import Request

    folder = Path(sys.argv[2])
    limits = replace(
        SMALL, run_entries=100, feature_columns=16, feature_inputs=16
    )
    request = Request(folder / "e.parquet", folder / "x.parquet")

    def work(stage, count):
        seen = 0

        def progress(now, done, total):
            nonlocal seen
            seen += now == stage
            if seen == count:
                os.kill(os.getpid(), signal.SIGKILL)

        import_in_pieces(folder / "store", request, limits, progress)

    for stage, count in json.loads(sys.argv[3]):
        child = os.fork()
        if child == 0:
            try:
                work(stage, count)
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        store = folder / "store"
        notes = [*store.rglob("*-*.json"), *store.glob("features/[0-9]*.json")]
        print(json.dumps({
            "end": os.waitstatus_to_exitcode(status),
            "written": {str(n): n.stat().st_mtime_ns for n in notes},
            "manifest": (store / "manifest.json").exists(),
        }))
    """
)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here pulls the plug: what is written need not reach the disk."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture
def files(tmp_path: Path) -> Request:
    rng = np.random.default_rng(0)
    names = np.array([f"node-{i}" for i in range(NODES)])
    edges = {
        "source": names[rng.integers(0, NODES, EDGES)],
        "target": names[rng.integers(0, NODES, EDGES)],
        "weight": rng.random(EDGES).astype(np.float32),
    }
    pq.write_table(pa.table(edges), tmp_path / "e.parquet")
    x = rng.standard_normal((NODES, WIDTH)).astype(np.float32)
    columns = {"id": names, **{f"f{j}": x[:, j] for j in range(WIDTH)}}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    return Request(tmp_path / "e.parquet", tmp_path / "x.parquet")


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        # A note whose writer was killed may be left, under a name nobody reads.
        if path.is_file() and path.suffix != ".tmp"
    }


def finished(store: Path) -> dict[Path, int]:
    """The arrays that are done, and when they were written."""
    notes = [*store.rglob("*-*.json"), *store.glob("features/[0-9]*.json")]
    return {path: path.stat().st_mtime_ns for path in notes}


def test_killed_in_every_stage(files: Request, tmp_path: Path) -> None:
    stages = (
        ("reading ids", 1),
        ("sorting edges", 3),
        ("merging edges", 4),
        ("copying features", 3),
        ("copying features", 9),
        ("none", 1),
    )
    words = [str(Path(__file__).parents[2]), str(tmp_path), json.dumps(stages)]
    result = subprocess.run(
        [sys.executable, "-c", WORKER, *words],
        check=True,
        timeout=100,
        stdout=subprocess.PIPE,
        text=True,
    )
    *deaths, last = map(json.loads, result.stdout.splitlines())
    kept: dict[str, int] = {}
    for death in deaths:
        assert death["end"] == -signal.SIGKILL
        assert not death["manifest"]
        # What was done before the last death is as it was.
        assert kept.items() <= death["written"].items()
        kept = death["written"]
    assert sum("run-" in path for path in kept) > 5
    assert sum("features" in path for path in kept) == 2
    assert last["end"] == 0
    check(Store.open(tmp_path / "store"), files)
    undisturbed = import_in_pieces(tmp_path / "other", files, SMALL)
    assert contents(tmp_path / "store") == contents(undisturbed.folder)


def test_an_unfinished_store_is_none(files: Request, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_in_pieces(tmp_path / "store", files, SMALL, stop)
    with pytest.raises(InputError, match="goes on where it stopped"):
        Store.open(tmp_path / "store")


def test_what_is_done_is_not_done_again(files: Request, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def told(stop: tuple[str, int] | None) -> list[tuple[str, int]]:
        calls: list[tuple[str, int]] = []

        def progress(stage: str, done: int, total: int) -> None:
            calls.append((stage, done))
            if stop is not None and stage == stop[0] and done >= stop[1]:
                raise StopError

        if stop is None:
            import_in_pieces(tmp_path / "store", files, SMALL, progress)
        else:
            with pytest.raises(StopError):
                import_in_pieces(tmp_path / "store", files, SMALL, progress)
        return calls

    first = told(("sorting edges", 300))
    second = told(("merging edges", 150))
    third = told(("copying features", 200))
    last = told(None)
    rows = [done for stage, done in second if stage == "sorting edges"]
    assert min(rows) > max(done for stage, done in first if stage == "sorting edges")
    assert "sorting edges" not in dict(third)
    nodes = [done for stage, done in third if stage == "merging edges"]
    assert min(nodes) > 150
    assert "merging edges" not in dict(last)
    assert min(done for _, done in last) > 100
    check(Store.open(tmp_path / "store"), files)


def test_other_memory_goes_on_too(files: Request, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if stage == "merging edges":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_in_pieces(tmp_path / "store", files, SMALL, stop)
    before = finished(tmp_path / "store")
    memory = resident_bytes() + PLENTY
    import_graph(files.edges, tmp_path / "store", files.features, memory=memory)
    assert before
    check(Store.open(tmp_path / "store"), files)


def test_a_finished_store_is_left_alone(files: Request, tmp_path: Path) -> None:
    memory = resident_bytes() + PLENTY
    store = import_graph(files.edges, tmp_path / "g", files.features, memory=memory)
    before = {p: p.stat().st_mtime_ns for p in store.folder.rglob("*")}
    again = import_graph(files.edges, tmp_path / "g", files.features, memory=1)
    assert again.manifest == store.manifest
    assert before == {p: p.stat().st_mtime_ns for p in store.folder.rglob("*")}


@pytest.mark.parametrize("finish", [False, True])
def test_other_input_is_refused(files: Request, tmp_path: Path, finish: bool) -> None:
    memory = resident_bytes() + PLENTY
    folder = tmp_path / "g"

    def stop(stage: str, done: int, total: int) -> None:
        if not finish:
            raise KeyboardInterrupt

    try:
        import_graph(files.edges, folder, files.features, memory=memory, progress=stop)
    except KeyboardInterrupt:
        assert not finish
    with pytest.raises(InputError, match="other input: direction was 'symmetric'"):
        import_graph(files.edges, folder, files.features, direction="in", memory=memory)
    with pytest.raises(InputError, match=r"other input: features was .*x\.parquet"):
        import_graph(files.edges, folder, memory=memory)
    os.utime(files.edges, ns=(1, 1))
    with pytest.raises(InputError, match="other input: edges was"):
        import_graph(files.edges, folder, files.features, memory=memory)


def test_two_at_once_are_refused(files: Request, tmp_path: Path) -> None:
    with (
        claimed(tmp_path / "store"),
        pytest.raises(InputError, match="another import is at work"),
    ):
        import_in_pieces(tmp_path / "store", files, SMALL)


def test_a_folder_with_other_files_is_refused(files: Request, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="must be a new or empty folder"):
        import_in_pieces(tmp_path / "mine", files)
    with pytest.raises(InputError, match="is a file"):
        import_in_pieces(tmp_path / "mine" / "thesis.txt", files)


FULL_DISK = textwrap.dedent(
    """
    import resource, signal, sys
    from pathlib import Path
    from fdgcl.cli import main

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
    main()
    """
)


def test_a_full_disk_is_explained_and_left_resumable(
    files: Request, tmp_path: Path
) -> None:
    """A limit on the size of files stands in for a disk that is full."""
    words = ["data", "import", str(files.edges), "--features", str(files.features)]
    words += ["--store", str(tmp_path / "store"), "--memory", "2GB", "--quiet"]

    # Room for the ids, but not for a run.
    result = subprocess.run(
        [sys.executable, "-c", FULL_DISK, "9000", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 3, result.stderr
    assert "the disk is full" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "store" / "manifest.json").exists()
    assert (tmp_path / "store" / "ids" / "ids.json").exists()
    memory = resident_bytes() + PLENTY
    import_graph(files.edges, tmp_path / "store", files.features, memory=memory)
    check(Store.open(tmp_path / "store"), files)


@pytest.mark.parametrize("where", ["graph", "features"])
def test_a_disk_that_fills_up_later(
    files: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    from fdgcl.graphs.store.arrays import ArrayWriter

    append, written = ArrayWriter.append, 0

    def full(writer: ArrayWriter, rows: Any) -> None:
        nonlocal written
        written += writer.path.parent.name == where
        if written > 6:
            raise InputError("the disk is full: as `explain` says it")
        append(writer, rows)

    monkeypatch.setattr(ArrayWriter, "append", full)
    with pytest.raises(InputError, match="the disk is full"):
        import_in_pieces(tmp_path / "store", files, SMALL)
    monkeypatch.setattr(ArrayWriter, "append", append)
    check(import_in_pieces(tmp_path / "store", files, SMALL), files)


def test_too_little_disk_is_said_before(
    files: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 10_000

    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage)
    with pytest.raises(InputError, match=r"has 10 kB of free disk, and the graph.* kB"):
        import_in_pieces(tmp_path / "store", files, SMALL)
    monkeypatch.undo()
    check(import_in_pieces(tmp_path / "store", files, SMALL), files)


@pytest.mark.parametrize("name", ["neighbours", "starts", "weights"])
def test_damage_is_found_and_named(files: Request, tmp_path: Path, name: str) -> None:
    store = import_in_pieces(tmp_path / "store", files, SMALL)
    path = store.folder / "graph" / f"{name}.npy"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedError, match=f"{name}.npy is damaged"):
        [array.verify() for array in Store.open(store.folder).arrays()]
    path.write_bytes(data[:-8])
    with pytest.raises(DamagedError, match=f"{name}.npy is damaged"):
        list(Store.open(store.folder).arrays())


def test_the_note_says_what_it_was_made_from(files: Request, tmp_path: Path) -> None:
    store = import_in_pieces(tmp_path / "store", files, SMALL)
    note = json.loads((store.folder / "import.json").read_text())
    assert note["edges"]["path"] == str(files.edges)
    assert note["edges"]["bytes"] == files.edges.stat().st_size
