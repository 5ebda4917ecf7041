"""Training on a store: as in memory, from where it stopped, within its bounds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.embedding_folder import default_run
from fdgcl.embeddings import read_embeddings
from fdgcl.graphs.store.arrays import write_array
from fdgcl.graphs.store.store import Store
from fdgcl.losses import LOSSES
from fdgcl.methods.fdgcl import shuffling
from fdgcl.methods.fdgcl.running import diffuse_store
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.training_plan import plan_training
from fdgcl.run_folder import RunFolder
from fdgcl.training import EpochRecord, NonFiniteLossError
from helpers.stores import in_memory, make_store
from helpers.trainings import MEMORY, SMALL, Trained, diffused_store, small, train_store
from tolerances import assert_agree


def trained(
    store: Store, settings: Settings, folder: Path, name: str = "", **more: Any
) -> Trained:
    run, out = folder / f"run{name}", folder / f"Z{name}"
    return train_store(store, settings, run, out, **{"memory": MEMORY, **more})


CASES: list[dict[str, Any]] = [
    *({"loss": name} for name in LOSSES),
    {"standardize": False},
    {"activation": "relu"},
    {"keep": ("features", "local", "global")},
    {"combine": "concat", "keep": ("local",), "beta": 0.3},
    {"combine": "concat", "keep": ("local",), "hidden": 12, "dim": 34},
    {"dtype": "float64"},
    {"fast": False},
    {"dim": 600, "epochs": 2},
    {"epochs": 0},
]
BATCHES: list[dict[str, Any]] = [
    {"batch_size": 50},
    {"batch_size": 50, "fast": False, "activation": "relu"},
    {"batch_size": 70, "loss": "vicreg", "keep": ("features", "local")},
    {"batch_size": 20, "dtype": "float64"},
    {"batch_size": 30, "standardize": False, "epochs": 2},
]
THREE: list[dict[str, Any]] = [
    *({"loss": name} for name in LOSSES),
    {"pairs": "consecutive", "keep": ("features", "global")},
    {"combine": "concat", "beta": (0.5, 0.2, 0.3)},
    {"beta": None, "batch_size": 60},
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Diffused by the settings of all these tests, in both types."""
    folder = tmp_path_factory.mktemp("train") / "G"
    diffused_store(folder)
    return diffused_store(folder, small(dtype="float64"))[0]


@pytest.fixture(scope="module")
def of_three(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Diffused by three orders."""
    folder = tmp_path_factory.mktemp("three") / "G"
    return diffused_store(folder, small(orders=(0.1, 0.5, 1.0)))[0]


@pytest.mark.parametrize("case", THREE, ids=str)
def test_three_orders(of_three: Store, case: dict[str, Any], tmp_path: Path) -> None:
    case = {"orders": (0.1, 0.5, 1.0), **case}
    found = trained(of_three, small(**case), tmp_path)
    model = FDGCL(**{**SMALL, **case})
    expected = model.fit_transform(in_memory(of_three))
    z = read_embeddings(tmp_path / "Z")[1]
    assert z.shape == expected.shape
    assert {len(record.effective_ranks) for record in found.history} == {3}
    assert_agree(z, expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_rows_at_once_are_trained_as_in_memory(
    store: Store, case: dict[str, Any], tmp_path: Path
) -> None:
    check_as_in_memory(store, case, tmp_path)


def check_as_in_memory(store: Store, case: dict[str, Any], tmp_path: Path) -> None:
    found = trained(store, small(**case), tmp_path)
    ids, z = read_embeddings(tmp_path / "Z")
    graph = in_memory(store)
    model = FDGCL(**{**SMALL, **case})
    expected = model.fit_transform(graph)
    for ours, theirs in zip(found.history, model.history_, strict=True):
        assert_agree(ours.loss, theirs.loss, np.float32, size=max(1, theirs.loss))
        assert_agree(ours.alignment, theirs.alignment, np.float32, size=1)
        assert_agree(ours.effective_ranks, theirs.effective_ranks, np.float32)
    assert_agree(z, expected)
    np.testing.assert_array_equal(ids, np.arange(300))
    loaded = FDGCL.load(tmp_path / "run")
    assert len(loaded.history_) == found.resumed + len(found.history)
    assert_agree(loaded.transform(graph), z)


def test_a_directed_store_is_loaded_as_such(tmp_path: Path) -> None:
    store, _ = diffused_store(tmp_path / "G", directed=True, ids="text")
    trained(store, small(), tmp_path)
    ids, z = read_embeddings(tmp_path / "Z")
    model = FDGCL.load(tmp_path / "run")
    assert model.direction == "out"
    graph = in_memory(store)
    assert_agree(model.transform(graph), z)
    assert ids.tolist() == graph.ids.tolist()


@pytest.mark.parametrize("window", [300, 100, 6])
@pytest.mark.parametrize("case", BATCHES, ids=str)
def test_batches_are_trained_as_in_memory(
    store: Store,
    case: dict[str, Any],
    window: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same batches in the same order, however many rows are held at a time."""
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", window)
    check_as_in_memory(store, case, tmp_path)


def test_decisions_are_those_of_memory(tmp_path: Path) -> None:
    store, diffusion = diffused_store(tmp_path / "G", small(beta=None))
    trained(store, small(beta=None), tmp_path)
    config = RunFolder(tmp_path / "run").read_config()
    model = FDGCL(**{**SMALL, "beta": None}).fit(in_memory(store))
    assert config.decisions == model._config.decisions
    assert config.decisions["beta"] == (0.5 if diffusion.recipe.informative else 1.0)
    assert config.graph["fingerprint"] == store.fingerprint


class Stop(Exception):
    """The power fails."""


@pytest.mark.parametrize("batch_size", [None, 64])
def test_a_checkpoint_after_every_epoch_from_which_it_goes_on(
    store: Store, tmp_path: Path, batch_size: int | None
) -> None:
    settings = small(batch_size=batch_size)
    whole = trained(store, settings, tmp_path, "whole")

    def stop(record: EpochRecord) -> None:
        # The epochs before this one are on disk, by themselves.
        files = RunFolder(tmp_path / "run")
        assert files.checkpoint.exists() == (record.epoch > 1)
        if record.epoch == 3:
            raise Stop

    with pytest.raises(Stop):
        trained(store, settings, tmp_path, on_epoch=stop)
    seen: list[int] = []
    found = trained(
        store, settings, tmp_path, on_epoch=lambda record: seen.append(record.epoch)
    )
    assert seen == [3, 4]
    assert found.resumed == 2
    assert [one.loss for one in found.history] == [one.loss for one in whole.history]
    for name in ("model.safetensors",):
        ours, theirs = (tmp_path / run / name for run in ("run", "runwhole"))
        assert ours.read_bytes() == theirs.read_bytes()
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2, 3, 4]
    for ours, theirs in zip(
        read_embeddings(tmp_path / "Z"),
        read_embeddings(tmp_path / "Zwhole"),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_done_is_done_and_others_are_refused(store: Store, tmp_path: Path) -> None:
    trained(store, small(), tmp_path)
    part = tmp_path / "Z" / "part-00000.parquet"
    before = part.stat().st_mtime_ns, (tmp_path / "run" / "model.safetensors").stat()
    again = trained(store, small(), tmp_path)
    assert (again.resumed, again.written) == (4, 0)
    assert part.stat().st_mtime_ns == before[0]
    with pytest.raises(InputError, match="was started with seed=0, not 1"):
        trained(store, small(seed=1), tmp_path)
    with pytest.raises(InputError, match="holds a run already"):
        trained(store, small(), tmp_path, resume=False)
    other, _ = diffused_store(tmp_path / "other", seed=5)
    with pytest.raises(InputError, match="another graph"):
        trained(other, small(), tmp_path)


def test_a_run_that_diverged_stays_so(tmp_path: Path) -> None:
    store, diffusion = diffused_store(tmp_path / "G", nodes=60)
    path = diffusion.path(1, 0)
    write_array(path, np.float32(1e30) * np.load(path))
    for words in ("not finite in epoch 1", "diverged after epoch 0"):
        with pytest.raises(NonFiniteLossError, match=words):
            trained(store, small(standardize=False), tmp_path)
    assert not (tmp_path / "Z").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"dynamics": "gread"}, "dynamics 'gread'"),
        ({"strategy": "in-loop"}, "strategy 'in-loop'"),
        ({"direction": "out"}, "imported with direction 'symmetric', not 'out'"),
        ({"batch_size": 301}, "batch_size must not exceed the graph's 300 nodes"),
        ({"readout": ("sum",)}, "readout is for datasets of graphs, got sum"),
    ],
    ids=str,
)
def test_what_a_store_cannot_do_is_refused(
    store: Store, settings: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        trained(store, small(**settings), tmp_path)
    assert not list(tmp_path.iterdir())


def test_too_little_memory_or_disk_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        InputError, match=r"memory must be at least [\d.]+ [MG]B .* 1 MB"
    ):
        trained(store, small(), tmp_path, memory=10**6)
    few = shutil_usage(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: few)
    with pytest.raises(InputError, match=r"1 kB of free disk, and the embedding"):
        trained(store, small(), tmp_path)
    assert not list(tmp_path.iterdir())


def shutil_usage(free: int) -> Any:
    import shutil

    return shutil._ntuple_diskusage(10**9, 10**9 - free, free)  # type: ignore[attr-defined]


def test_the_run_folder_follows_from_the_settings(store: Store) -> None:
    assert default_run(store, small()) == default_run(store, small())
    assert default_run(store, small()).parent == store.folder / "runs"
    assert default_run(store, small(seed=3)) != default_run(store, small())


def test_the_plan_counts_processes_and_columns(store: Store) -> None:
    one = plan_training(store, small(), memory=MEMORY)
    two = plan_training(store, small(), memory=MEMORY, members=2)
    spread = plan_training(store, small(), memory=MEMORY, members=2, here=1)
    assert two.peak_bytes > 1.5 * one.peak_bytes
    assert spread.peak_bytes <= one.peak_bytes
    parts = {"hidden": 16, "combine": "concat", "keep": ("local",)}
    wide = plan_training(store, small(**parts, dim=100), memory=MEMORY)
    narrow = plan_training(store, small(**parts, dim=20), memory=MEMORY)
    assert (one.width, wide.width, narrow.width) == (16, 42, 20)
    assert any("memory: up to" in line for line in one.describe())


MEASURED = """
import re, sys
from pathlib import Path
import torch
sys.path.insert(0, {tests!r})
from helpers.trainings import small, train_store
from fdgcl.methods.fdgcl.stored import prepare_store
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.training_plan import plan_training
store = Store.open({store!r})
settings = small(**{settings!r})
plan = plan_training(store, prepare_store(store, settings).settings, memory=10**10)
bound = int(1.02 * plan.peak_bytes)
train_store(store, settings, Path({out!r}, "run"), Path({out!r}, "Z"), memory=bound)
status = Path("/proc/self/status").read_text()
print(bound, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's peak memory")
@pytest.mark.parametrize(
    "case",
    [
        {"loss": "regularized-cosmean"},
        {"loss": "vicreg"},
        {"hidden": 1024, "combine": "concat", "keep": ("local",)},
    ],
    ids=str,
)
def test_memory_stays_within_the_plan(case: dict[str, Any], tmp_path: Path) -> None:
    """200,000 rows of 32 features: 51 MB a window pair, 51 MB each order."""
    settings = {"dim": 128, "epochs": 2, "time": 1.0, **case}
    store = make_store(
        tmp_path / "G", nodes=200_000, edges=10, features=32, block_columns=32
    )
    diffuse_store(store, small(**settings), memory=MEMORY)
    code = MEASURED.format(
        tests=str(Path(__file__).parents[2]),
        store=str(store.folder),
        settings=settings,
        out=str(tmp_path),
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    bound, peak = map(int, done.stdout.split())
    assert peak <= bound
    assert peak >= 0.6 * bound


def test_threads_are_left_as_they_were(store: Store, tmp_path: Path) -> None:
    before = torch.get_num_threads()
    trained(store, small(batch_size=40), tmp_path)
    assert torch.get_num_threads() == before
