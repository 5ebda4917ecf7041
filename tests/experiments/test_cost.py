"""Time and memory: what is measured, where, and the words that follow from it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdgcl import FDGCL, Graph
from fdgcl._checks import InputError
from fdgcl.benchmark import timing
from fdgcl.benchmark.fresh import ChildError, in_fresh_process
from fdgcl.benchmark.memory import peak_memory
from fdgcl.benchmark.timing import WAYS, time_training
from fdgcl.experiments.experiment import Experiment, PaperNumber
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.cost import Cost
from fdgcl.graphs import block_model
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.report.page import Figure, Section, Table, Text
from tolerances import half_digits


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(80, num_classes=2, degree=6, num_features=5, seed=0)


def _settings(**changes: Any) -> dict[str, Any]:
    chosen = {"time": 4.0, "step": 1.0, "dim": 6, "beta": 0.5, "epochs": 30}
    return FDGCL(**{**chosen, **changes}).get_params()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("skip", ["none", "every-step"])
def test_all_ways_train_the_same(graph: Graph, sparse: bool, skip: str) -> None:
    if sparse:
        graph = graph.with_features(csr_array(graph.features))
    settings = FDGCL(**_settings(skip=skip, dtype="float64")).check()
    found = {
        way: time_training(prepare(graph, settings), way, epochs=3, warmup=1)
        for way in WAYS
    }
    expected = FDGCL(**_settings(skip=skip, dtype="float64", epochs=4)).fit(graph)
    for way, timed in found.items():
        allowed = half_digits(np.float64)
        wanted = expected.history_[-1].loss
        assert timed.loss == pytest.approx(wanted, rel=allowed), way
        assert timed.epoch_seconds > 0
    assert found["stepping"].precompute_seconds == 0
    assert found["precomputed"].precompute_seconds > 0


def test_epochs_of_the_warmup_are_not_timed(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The clock jumps by 100 s in the first epoch and by 1, 5, 2 s in the others.
    stamps = iter([0.0, 7.0, 107.0, 108.0, 113.0, 115.0])
    monkeypatch.setattr(timing, "now", lambda _: next(stamps))
    prepared = prepare(graph, FDGCL(**_settings()).check())
    run = time_training(prepared, "precomputed", epochs=3, warmup=1)
    assert run.precompute_seconds == 7
    assert run.epoch_seconds == 2


def test_unknown_ways_are_refused(graph: Graph) -> None:
    prepared = prepare(graph, FDGCL(**_settings()).check())
    with pytest.raises(InputError, match=r"way 'steping'.*stepping"):
        time_training(prepared, "steping", epochs=1)


def test_peak_memory_sees_what_is_freed_again() -> None:
    with peak_memory(torch.device("cpu")) as peak:
        block = np.ones(2**24)  # 128 MiB
        time.sleep(0.05)
        del block
    assert 2**26 < peak[0] < 2**28


def test_a_fresh_process_is_another_one() -> None:
    assert in_fresh_process(os.getppid, None) == os.getpid()
    with pytest.raises(ValueError, match="math domain"):
        in_fresh_process(math.sqrt, None, -1.0)
    with pytest.raises(ChildError, match="exit code 3"):
        in_fresh_process(os._exit, None, 3)


def _ask(pipe: Any) -> None:
    pipe.send(in_fresh_process(os.getppid, None))


@pytest.mark.slow
def test_workers_that_may_have_no_children_can_use_it() -> None:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    worker = context.Process(target=_ask, args=(theirs,), daemon=True)
    worker.start()
    assert ours.recv() == worker.pid
    worker.join()


@pytest.mark.slow
def test_a_fresh_process_ends_with_its_parent(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    code = (
        "import os; from fdgcl.benchmark.fresh import in_fresh_process; "
        f"in_fresh_process(os.system, None, 'echo $PPID > {told}; sleep 30')"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    _wait(lambda: told.is_file() and told.read_text().strip() != "")
    pid = int(told.read_text())
    os.kill(pid, 0)
    parent.kill()
    parent.wait()
    _wait(lambda: not _is_running(pid))


def _is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def _wait(done: Any, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_only_one_measures_at_a_time(tmp_path: Path) -> None:
    code = (
        "import time; from fdgcl.benchmark.timing import alone\n"
        f"with alone(): open({str(tmp_path / 'in')!r}, 'w').close(); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code])
    try:
        _wait((tmp_path / "in").is_file)
        waiting = subprocess.Popen(
            [sys.executable, "-c", code.replace("sleep(60)", "sleep(0)")]
        )
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(5)
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert waiting.wait(30) == 0


def _experiment(**options: Any) -> Experiment:
    return Experiment(
        "cost",
        "texas",
        "epoch",
        "Texas",
        _settings(batch_size=80),
        {"epochs": 2, "warmup": 0, "loop_epochs": 1, "loop_warmup": 0, **options},
        PaperNumber(0.3),
    )


def test_a_unit_is_measured_in_a_process_of_its_own(graph: Graph) -> None:
    experiment = _experiment()
    units = Cost().units(experiment, seeds=10)
    assert [unit.part for unit in units] == list(WAYS)
    [record] = Cost().run(experiment, units[-1], graph, "cpu")
    json.dumps(record, allow_nan=False)
    assert record["way"] == "precomputed"
    assert record["epochs"] == 2
    assert record["torch_threads"] == record["cores_used"] >= 1
    assert record["epoch_seconds"] > 0
    assert not record["generated_features"]


def test_graphs_without_features_get_random_ones(graph: Graph) -> None:
    bare = replace(graph, features=None)
    experiment = _experiment(features=7)
    unit = Cost().units(experiment, 1)[0]
    [record] = Cost().run(experiment, unit, bare, "cpu")
    assert record["generated_features"]
    assert record["epochs"] == 1
    assert record["once_seconds"] == 0


def _record(way: str, seconds: float, mib: float, **more: Any) -> Record:
    return {
        "experiment": _experiment().name,
        "seed": 0,
        "way": way,
        "once_seconds": 0.0 if way == "stepping" else 3.0,
        "epoch_seconds": seconds,
        "peak_mib": mib,
        "loss": 0.5,
        "epochs": 2,
        "warmup": 1,
        "cores_used": 2,
        "torch_threads": 2,
        "generated_features": False,
        **more,
    }


def _told(sections: list[Section]) -> str:
    return " ".join(b.text for b in sections[0].blocks if isinstance(b, Text))


def test_the_words_follow_the_numbers() -> None:
    experiment = _experiment(paper_mib=556)
    fast = [_record("stepping", 2.0, 900), _record("precomputed", 0.5, 100)]
    slow = [
        _record("stepping", 0.5, 100, generated_features=True),
        _record("precomputed", 2.0, 900, loss=0.4),
    ]
    good, bad = (_told(Cost().show([experiment], found, {})) for found in (fast, slow))
    assert "4 times shorter, and 900 against 100 MiB" in good
    assert "paid back after 2.0 epochs; the paper trains 30" in good
    assert "differ by 0e+00" in good
    assert "4 times longer, and 100 against 900 MiB" in bad
    assert "paid back" not in bad
    assert "differ by 2e-01" in bad
    assert "random numbers" in bad


def test_the_paper_stands_beside_ours() -> None:
    experiment = _experiment(paper_mib=556)
    records = [_record("stepping", 2.0, 900), _record("precomputed", 0.0123, 100)]
    [section] = Cost().show([experiment], records, {})
    [table] = (b for b in section.blocks if isinstance(b, Table))
    assert [row[0] for row in table.rows] == [
        "Texas, solver in the loop",
        "Texas, diffused once",
        "Texas, paper",
    ]
    assert [row[1:4] for row in table.rows] == [
        ("-", "2 s", "900"),
        ("3 s", "12.3 ms", "100"),
        ("", "0.3 s", "556"),
    ]
    assert table.strong == {(1, 2)}
    figures = [b for b in section.blocks if isinstance(b, Figure)]
    for figure, number in zip(figures, (0.3, 556), strict=True):
        assert figure.series[-1].dashed
        assert list(figure.series[-1].y) == [number]


def test_what_is_not_here_is_said() -> None:
    experiment = _experiment()
    other = replace(experiment, dataset="cora")
    found = Cost().show([experiment, other], [], {"cora": "no cora.npz"})
    told = _told(found)
    assert "texas is not measured yet." in told
    assert "cora is not here: no cora.npz." in told
    half = Cost().show([experiment], [_record("stepping", 2.0, 900)], {})
    assert "not measured yet: our polynomial in the loop and diffused once" in _told(
        half
    )


def test_the_table_is_whole() -> None:
    experiments = {e.dataset: e for e in load_experiments("cost")}
    assert set(experiments) == {"cora", "wisconsin", "ogbn-arxiv-nofeat"}
    numbers = {
        name: (e.paper and e.paper.value, e.options["paper_mib"])
        for name, e in experiments.items()
    }
    assert numbers == {
        "cora": (0.28, 1020),
        "wisconsin": (0.30, 556),
        "ogbn-arxiv-nofeat": (3.16, 18192),
    }
