"""`fdgcl embed` and `fdgcl transform` on a small graph in files."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from smallgraph import FEATURES, NODES, SMALL, Command, everything, write_graph

from fdgcl import _bars
from fdgcl.embeddings import read_embeddings
from tolerances import assert_agree

EMBED = ("embed", "edges.csv", "--features", "x.parquet", *SMALL)


def test_ids_survive_in_the_order_of_the_features(fdgcl: Command, folder: Path) -> None:
    result = fdgcl(*EMBED, "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    ids, z = read_embeddings(folder / "z.parquet")
    assert ids.tolist() == pq.read_table(folder / "x.parquet")["id"].to_pylist()
    assert z.shape == (NODES, 8)
    assert np.isfinite(z).all()


def test_tells_where_things_are_and_what_is_next(fdgcl: Command, folder: Path) -> None:
    result = fdgcl(*EMBED)
    [run] = (folder / "runs").iterdir()
    assert run.name.startswith("edges-")
    files = {"config.json", "model.safetensors", "metrics.jsonl", "z.parquet"}
    assert {file.name for file in run.iterdir()} == {*files, "job.json"}
    for words in (
        f"runs/{run.name}/z.parquet  ({NODES} nodes x 8",
        "3 epochs",
        "loss",
        "effective ranks",
        f"fdgcl transform runs/{run.name} NEW_EDGES",
    ):
        assert words in result.stdout
    assert "direction" in result.stderr


def test_a_new_run_never_takes_the_place_of_another(
    fdgcl: Command, folder: Path
) -> None:
    for _ in range(3):
        assert fdgcl(*EMBED, "--epochs", 0).exit_code == 0
    assert len(list((folder / "runs").iterdir())) == 3


def test_quiet_is_silent(fdgcl: Command) -> None:
    result = fdgcl(*EMBED, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_json_is_one_object(fdgcl: Command, folder: Path) -> None:
    result = fdgcl(*EMBED, "--labels", "y.csv", "--evaluate", "--seeds", 2, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert (folder / told["embedding"]).is_file()
    assert (told["nodes"], told["dim"], told["epochs"]) == (NODES, 8, 3)
    assert told["settings"]["time"] == 2
    names = [row["name"] for row in told["evaluation"]]
    assert len(names) == 4
    assert len(told["evaluation"][0]["test"]) == 2 * 10
    assert any("directed" in notice for notice in told["notices"])


def test_evaluate_shows_every_row(fdgcl: Command) -> None:
    result = fdgcl(*EMBED, "--labels", "y.csv", "--evaluate")
    assert result.exit_code == 0, result.output
    for words in ("trained", "untrained encoder", "A²X", "the features", "validation"):
        assert words in result.stdout
    assert "random splits" in result.stderr
    assert "±" in result.stdout


def test_seeds_write_the_first(fdgcl: Command, folder: Path) -> None:
    assert fdgcl(*EMBED, "-o", "one.parquet", "--run", "one").exit_code == 0
    many = fdgcl(*EMBED, "-o", "many.parquet", "--run", "many", "--seeds", 2)
    assert many.exit_code == 0, many.output
    assert _bytes(folder, "one.parquet") == _bytes(folder, "many.parquet")
    assert (folder / "many" / "seed-1" / "model.safetensors").is_file()


def test_dry_run_writes_nothing(fdgcl: Command, folder: Path) -> None:
    before = everything(folder)
    result = fdgcl(*EMBED, "-o", "z.parquet", "--dry-run")
    assert result.exit_code == 0, result.output
    assert everything(folder) == before
    for words in ("precompute", "memory", "stable", "nothing written"):
        assert words in result.stdout
    told = json.loads(fdgcl(*EMBED, "--dry-run", "--json").stdout)
    assert {"graph", "plan", "stability", "settings", "notices"} == set(told)


def test_a_dataset_brings_its_preset(fdgcl: Command, folder: Path) -> None:
    result = fdgcl("embed", "cora-bundled", "--dry-run", "--dim", 32, "--json")
    told = json.loads(result.stdout)
    assert told["settings"]["dim"] == 32
    assert "settings: the preset for cora-bundled, with dim as given" in told["notices"]
    other = fdgcl("embed", "cora-bundled", "--preset", "texas", "--dry-run", "--json")
    assert "preset for texas" in other.stdout


def test_cora_says_where_it_comes_from(fdgcl: Command) -> None:
    result = fdgcl("embed", "cora", "--dry-run")
    assert "bundled copy" in result.stderr


@pytest.mark.parametrize("kind", ["degree", "spectral", "random"])
def test_works_without_features(kind: str, fdgcl: Command) -> None:
    result = fdgcl("embed", "edges.csv", "--features", kind, "-o", "z.parquet", *SMALL)
    assert result.exit_code == 0, result.output
    assert kind in result.stderr


def test_says_what_it_did_without_features(fdgcl: Command) -> None:
    result = fdgcl("embed", "edges.csv", *SMALL)
    assert "no features" in result.stderr
    assert "z.parquet --labels LABELS" in result.stdout
    assert "NEW_EDGES --features NEW_FEATURES -o" in fdgcl(*EMBED).stdout


def test_ctrl_c_keeps_the_run_and_resume_ends_the_same(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = (*EMBED, "--epochs", 6)
    assert fdgcl(*long, "--run", "whole").exit_code == 0
    with monkeypatch.context() as patch:
        patch.setattr(_bars.Bars, "__call__", _ctrl_c_after(2))
        stopped = fdgcl(*long, "--run", "broken")
    assert stopped.exit_code == 130
    assert stopped.stderr.splitlines()[-1].startswith("error: interrupted")
    assert "--epochs 6 --run broken --resume" in stopped.stderr
    assert not (folder / "broken" / "z.parquet").exists()
    again = fdgcl(*long, "--run", "broken", "--resume")
    assert again.exit_code == 0, again.output
    for name in ("z.parquet", "model.safetensors"):
        assert _bytes(folder, "broken", name) == _bytes(folder, "whole", name)
    assert not list(folder.rglob("*.tmp"))


def test_lines_tell_the_progress_where_no_bar_can_be_drawn(
    fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_bars, "LINE_SECONDS", 0.0)
    told = fdgcl(*EMBED, "--run", "told")
    assert re.search(r"^reading: 0:\d\d:\d\d elapsed$", told.stderr, re.MULTILINE)
    assert re.search(
        r"^training: 2 of \d+ epochs, loss \d.*elapsed, about .* left$",
        told.stderr,
        re.MULTILINE,
    )
    assert "elapsed" not in told.stdout
    for option in ("--quiet", "--json"):
        assert fdgcl(*EMBED, "--run", f"run{option}", option).stderr == ""


def test_ctrl_c_before_training_leaves_nothing(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    before = everything(folder)
    monkeypatch.setattr("fdgcl.graphs.read_graph", stop)
    result = fdgcl(*EMBED)
    assert result.exit_code == 130
    assert everything(folder) == before


def test_finished_runs_are_not_overwritten(fdgcl: Command, folder: Path) -> None:
    assert fdgcl(*EMBED, "--run", "done").exit_code == 0
    kept = _bytes(folder, "done", "model.safetensors")
    result = fdgcl(*EMBED, "--run", "done", "--seed", 9)
    assert result.exit_code == 2
    assert "done" in result.stderr
    assert _bytes(folder, "done", "model.safetensors") == kept


def test_transform_embeds_the_same_and_another_graph(
    fdgcl: Command, folder: Path
) -> None:
    assert fdgcl(*EMBED, "--run", "run").exit_code == 0
    again = fdgcl(
        "transform", "run", "edges.csv", "--features", "x.parquet", "-o", "a.parquet"
    )
    assert again.exit_code == 0, again.output
    first, second = (
        read_embeddings(folder / name)[1] for name in ("run/z.parquet", "a.parquet")
    )
    assert_agree(first, second)
    write_graph(folder, seed=5, prefix="other-")
    told = fdgcl(
        "transform", "run", "edges.csv", "--features", "x.parquet", "--json"
    ).stdout
    ids, z = read_embeddings(folder / json.loads(told)["embedding"])
    assert z.shape == first.shape
    assert all(name.startswith("other-") for name in ids)
    assert not np.allclose(z, first)


def test_training_warnings_are_one_line(
    fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdgcl.training.records.COLLAPSED_RANK", 1e9)
    monkeypatch.setattr("fdgcl.training.records.COLLAPSED_COSINE", -1.0)
    result = fdgcl(*EMBED, "--quiet", "--seeds", 2)
    assert result.exit_code == 0
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines
    assert len(set(lines)) == len(lines)
    assert all(line.startswith("warning: the views have collapsed") for line in lines)


def test_failures_that_are_not_the_users(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("fdgcl.model.FDGCL.fit_transform", fail)
    before = everything(folder)
    result = fdgcl(*EMBED)
    assert result.exit_code == 1
    assert "--debug" in result.stderr
    assert everything(folder) == before


def test_features_in_the_file_are_those_in_the_model(
    fdgcl: Command, folder: Path
) -> None:
    told = json.loads(fdgcl(*EMBED, "--json").stdout)
    config = json.loads((folder / told["run"] / "config.json").read_text())
    assert config["schema"]["feature_names"] == [f"f{i}" for i in range(FEATURES)]


def _ctrl_c_after(epoch: int) -> Any:
    def call(self: object, stage: str, done: int, *_: object) -> None:
        if stage == "train" and done == epoch:
            signal.raise_signal(signal.SIGINT)

    return call


def _bytes(folder: Path, *parts: str) -> bytes:
    return folder.joinpath(*parts).read_bytes()
