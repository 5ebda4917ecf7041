"""Slices in processes of this machine: the same bytes, whatever happens to them."""

from __future__ import annotations

import json
import os
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from fdgcl._checks import InputError
from fdgcl.executors import InProcess, Processes
from fdgcl.methods.fdgcl.running import SliceTask
from helpers.accidents import flip
from helpers.stores import make_store
from helpers.tasks import Refused, Slow, Telling, begun, tasks_of


def test_in_process_runs_one_after_the_other(tmp_path: Path) -> None:
    diffusion = begun(make_store(tmp_path / "g"), width=3)
    seen: list[tuple[int, list[int]]] = []
    InProcess().run(
        tasks_of(diffusion), lambda number: seen.append((number, diffusion.missing))
    )
    assert seen == [(0, [1, 2]), (1, [2]), (2, [])]


def test_threads_are_as_before(tmp_path: Path) -> None:
    import torch

    before = torch.get_num_threads()
    diffusion = begun(make_store(tmp_path / "g"), width=8)
    InProcess(before + 1).run(tasks_of(diffusion, before + 1), lambda _: None)
    assert torch.get_num_threads() == before


def test_bad_input_ends_the_others_at_once(tmp_path: Path) -> None:
    folder = str(tmp_path)
    tasks = [
        Slow(folder, "", 0, 1),
        Refused(folder, "", 1, 1),
        *[SliceTask("", "", 2, 1)] * 9,
    ]
    start = time.monotonic()
    with pytest.raises(InputError, match=r"^slice 1 is no good$"):
        Processes(2, threads=1).run(tasks, lambda _: None)
    assert time.monotonic() - start < 30
    assert (tmp_path / "cleared").exists()
    assert not active_children()


def test_an_altered_block_of_features_is_named(tmp_path: Path) -> None:
    store = make_store(tmp_path / "g", features=6, block_columns=2)
    diffusion = begun(store, width=2)
    flip(store.folder / "features" / "001.npy", 300)
    seen: list[int] = []
    with pytest.raises(InputError, match=r"features/001\.npy is damaged: block 0"):
        InProcess(1).run(tasks_of(diffusion), seen.append)
    assert seen == [0]
    assert diffusion.missing == [1, 2]


def test_processes_have_the_threads_they_are_told(tmp_path: Path) -> None:
    before = dict(os.environ)
    task = Telling(str(tmp_path), "", 0, 1)
    Processes(1, threads=1).run([task], lambda _: None)
    found = json.loads((tmp_path / "told-0").read_text())
    assert found.pop("pid") != os.getpid()
    assert found.pop("torch") == 1
    assert found == dict.fromkeys(found, "1")
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0,), "workers must be a whole number of at least 1, got 0"),
        ((-2,), "workers must be a whole number of at least 1, got -2"),
        ((1, 0), "threads must be a whole number of at least 1, got 0"),
    ],
)
def test_counts_are_checked(given: tuple[int, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Processes(*given)


def test_cores_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdgcl.executors.base.cores", lambda: 8)
    assert InProcess().threads == 8
    assert Processes(3).threads == 2
    assert Processes(20).threads == 1


def test_nothing_to_do_starts_nothing() -> None:
    Processes(2).run([], lambda _: None)
    assert not active_children()
