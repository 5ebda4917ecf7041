"""`fdgcl train`, alone and under torchrun; killed, and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fdgcl.cli import app
from fdgcl.embeddings import read_embeddings
from fdgcl.graphs.store.store import Store
from helpers.papers_method import as_words
from helpers.stores import make_store
from helpers.teams import LOCAL, run_team
from helpers.trainings import SMALL, diffused_store

QUICK = [*as_words(SMALL)]
# Epochs that last long enough to be interrupted.
LONG = {"epochs": 12, "batch_size": 25}
LONG_WORDS = [*QUICK, "--epochs", "12", "--batch-size", "25"]


def fdgcl(*words: object) -> int:
    """Run the command line here, and return its exit code."""
    try:
        app([str(word) for word in words], prog_name="fdgcl")
    except SystemExit as done:
        return int(done.code or 0)
    return 0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Not diffused yet."""
    return make_store(tmp_path / "G", nodes=90, edges=400, features=6)


def test_features_are_diffused_first_and_nothing_is_done_twice(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", store.folder, "-o", tmp_path / "Z", *QUICK, "--memory", "3GB"]
    assert fdgcl(*command, "--dry-run") == 0
    text = capsys.readouterr().out
    assert "diffusing  1 slice" in text
    assert "training   memory: up to" in text
    assert "nothing written" in text
    assert not (tmp_path / "Z").exists()
    assert not (store.folder / "diffused").exists()
    assert fdgcl(*command, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["nodes"], told["dim"], told["parts"]) == (90, 16, 1)
    assert told["resumed_epochs"] == 0
    assert Path(told["run"]).parent == store.folder / "runs"
    assert read_embeddings(tmp_path / "Z")[1].shape == (90, 16)
    assert fdgcl(*command) == 0
    out, err = capsys.readouterr()
    assert "4 of 4 epochs were done before" in err
    assert f"next       fdgcl evaluate {tmp_path / 'Z'} --labels LABELS" in out
    # Another run does not take the place of this one, unless it is told to.
    other = [*command, "--run", tmp_path / "R"]
    assert fdgcl(*other, "--seed", 1) == 2
    assert "Z holds another embedding: add --overwrite" in capsys.readouterr().err
    assert not (tmp_path / "R").exists()
    assert fdgcl(*other, "--seed", 1, "--overwrite", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert fdgcl(*command) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert (tmp_path / "R" / "model.safetensors").is_file()


def test_memory_is_in_bytes_and_the_window_in_steps(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", store.folder, "-o", tmp_path / "Z", *QUICK, "--dry-run"]
    assert fdgcl(*command, "--window", "2", "--memory", "3GB", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["window"] == 2
    assert told["training"]["memory"] == 3_000_000_000
    assert fdgcl(*command, "--memory", "lots") == 2
    assert "must be a size such as 6GB" in capsys.readouterr().err
    assert fdgcl(*command, "--short-memory", "2") == 2
    told = capsys.readouterr().err
    assert "the solver's memory is called --window now, not --short-memory (" in told


def test_settings_of_a_file_serve_both_commands(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    text = '[settings]\nfeature_scaling = "row"\norders = [0.2, 0.9]\ntime = 3.0\n'
    Path("s.toml").write_text(f"{text}step = 1.0\ndim = 8\nepochs = 2\n")
    assert fdgcl("diffuse", "G", "--settings", "s.toml", "--memory", "3GB") == 0
    out = capsys.readouterr().out
    following = "fdgcl train G -o Z --memory 3GB --settings s.toml"
    assert f"next      {following}\n" in out
    assert fdgcl(*following.split()[1:], "--epochs", "3", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["dim"], told["epochs"]) == (8, 3)
    assert told["settings"]["orders"] == [0.2, 0.9]
    assert told["settings"]["feature_scaling"] == "row"
    assert len([*(store.folder / "diffused").iterdir()]) == 1, "nothing was done twice"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["G", "-o", "Z", "--settings", "no.toml"], "cannot read the settings in no"),
        (["nowhere", "-o", "Z"], "nowhere is not a store"),
        (["G", "-o", "z.parquet"], "--output must name a folder, got z.parquet"),
        (["G", "-o", "Z", "--memory", "20MB"], "memory must be at least"),
        (["G", "-o", "Z", "--strategy", "in-loop"], "strategy 'in-loop'"),
        (["G", "-o", "Z", "--dim", "0"], "dim must be"),
        (["G", "-o", "Z", "--device", "tpu"], "unknown device 'tpu'"),
        (["G", "-o", "Z", "--epochs", "2", "--run", "G/manifest.json"], "cannot write"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_sentence(
    store: Store,
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fdgcl("train", *words) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["G"]


def test_only_the_first_process_speaks_of_bad_input(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert fdgcl("train", store.folder, "-o", "z.parquet") == 1
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("RANK", "x")
    assert fdgcl("train", store.folder, "-o", "Z") == 2
    assert "RANK in the environment must be" in capsys.readouterr().err


def until(ready: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something to happen."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store whose epochs last."""
    folder = tmp_path_factory.mktemp("long") / "G"
    return diffused_store(folder, nodes=1500, edges=3000, features=8)[0]


def train_words(store: Store, folder: Path) -> list[str]:
    places = [str(store.folder), "-o", str(folder / "Z"), "--run-folder"]
    return ["-m", "fdgcl", "train", *places, str(folder / "run"), *LONG_WORDS]


def model_of(folder: Path) -> bytes:
    return (folder / "run" / "model.safetensors").read_bytes()


def test_a_killed_process_goes_on_where_it_was(long: Store, tmp_path: Path) -> None:
    environment = {**os.environ, **LOCAL}
    words = [sys.executable, *train_words(long, tmp_path)]
    started = subprocess.Popen(words, env=environment)
    try:
        until((tmp_path / "run" / "checkpoint.safetensors").exists)
    finally:
        started.kill()
        started.wait()
    assert not (tmp_path / "run" / "model.safetensors").exists()
    again = subprocess.run([*words, "--json"], env=environment, capture_output=True)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["resumed_epochs"] >= 1
    run_team(1, orders(long, tmp_path / "whole"), tmp_path)
    assert model_of(tmp_path) == model_of(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("members", [1, 2])
def test_sigterm_keeps_what_is_done(long: Store, tmp_path: Path, members: int) -> None:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words = [sys.executable, *torchrun[: 5 * (members > 1)]]
    words += train_words(long, tmp_path)
    environment = {**os.environ, **LOCAL}
    started = subprocess.Popen(
        words, env=environment, stderr=subprocess.PIPE, text=True
    )
    metrics = tmp_path / "run" / "metrics.jsonl"
    until(lambda: metrics.is_file() and metrics.read_text().count("\n") >= 2)
    started.terminate()
    _, told = started.communicate(timeout=60)
    said = "interrupted by SIGTERM; the same command goes on where it stopped"
    assert said in told
    assert told.count(said) == 1
    assert (tmp_path / "run" / "checkpoint.safetensors").is_file()
    assert not (tmp_path / "run" / "model.safetensors").exists()
    if members == 1:
        assert started.returncode == 143
    again = subprocess.run([*words, "--json"], env=environment, capture_output=True)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["resumed_epochs"] >= 1
    run_team(members, orders(long, tmp_path / "whole"), tmp_path)
    assert model_of(tmp_path) == model_of(tmp_path / "whole")


def orders(store: Store, folder: Path) -> dict[str, object]:
    job = {"settings": LONG, "folder": str(folder)}
    return {"store": str(store.folder), "jobs": [job], "window_rows": 131_072}


def children(parent: int) -> list[int]:
    """The processes that one has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return sorted(found)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in Linux's /proc")
def test_torchrun_starts_again_what_was_killed(long: Store, tmp_path: Path) -> None:
    words = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
        *("--nproc-per-node", "2", "--max-restarts", "3"),
        *("--monitor-interval", "0.1", *train_words(long, tmp_path), "--json"),
    ]
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        started = subprocess.Popen(
            words, env={**os.environ, **LOCAL}, stdout=out, stderr=err
        )
        try:
            until((tmp_path / "run" / "checkpoint.safetensors").exists)
            members = children(started.pid)
            os.kill(members[-1], signal.SIGKILL)
            assert not (tmp_path / "run" / "model.safetensors").exists()
            assert started.wait(90) == 0, (tmp_path / "err").read_text()
        finally:
            if started.poll() is None:
                started.terminate()
                started.wait()
    text = (tmp_path / "out").read_text()
    assert json.loads(text)["resumed_epochs"] >= 1
    assert json.loads(text)["processes"] == 2
    run_team(2, orders(long, tmp_path / "whole"), tmp_path)
    assert model_of(tmp_path) == model_of(tmp_path / "whole")
    np.testing.assert_array_equal(
        read_embeddings(tmp_path / "Z")[1], read_embeddings(tmp_path / "whole" / "Z")[1]
    )


def test_a_report_of_a_store_run_shows_its_own_embedding(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", store.folder, *QUICK, "--memory", "3GB", "--quiet"]
    folders = {name: ("-o", tmp_path / "Z", "--run", tmp_path / name) for name in "AB"}
    assert fdgcl(*command, *folders["A"]) == 0
    assert fdgcl("report", tmp_path / "A", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert "The embedding" in told["sections"]
    assert told["notices"] == []
    assert fdgcl(*command, *folders["B"], "--seed", 1, "--overwrite") == 0
    assert fdgcl("report", tmp_path / "A", "--overwrite") == 0
    told_anew = capsys.readouterr().err
    assert "Z is not as this run wrote it" in told_anew
    assert "the embedding was computed anew by its model" in told_anew
