"""`fdgcl bench` compares like with like; `fdgcl demo` shows what it promises."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from smallgraph import Command

from fdgcl.cli.bench_output import _compared
from tolerances import half_digits

SIZES = ("--nodes", 200, "--edges", 600, "--features", 8, "--dim", 8)
SMALL = (*SIZES, "--time", 4, "--epochs", 2, "--repeats", 1, "--device", "cpu")


def test_bench_reports_both(fdgcl: Command, folder: Path) -> None:
    result = fdgcl("bench", *SMALL, "--threads", 1, "-o", "b.json", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == json.loads((folder / "b.json").read_text())
    assert told["format"] == "fdgcl-bench-1"
    assert told["command"].startswith("fdgcl bench --nodes 200")
    assert told["graph"]["nodes"] == 200
    assert told["settings"]["epochs"] == told["order"]["epochs"] == 2
    assert told["machine"]["threads"] == 1
    assert told["machine"]["hardware"]
    assert told["seed"] == 0
    ratio = told["loop"]["epoch_seconds"] / told["ours"]["epoch_seconds"]
    assert told["ratios"]["epoch"] == pytest.approx(ratio)
    assert told["differences"]["loss"] < half_digits("float32")
    assert told["plain"] is None


def test_bench_shows_a_table_to_the_quiet_too(fdgcl: Command) -> None:
    result = fdgcl("bench", *SMALL, "--no-loop", "--plain", "--probe", "--quiet")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    for words in ("fdgcl, plain", "per epoch", "floor", "GFLOP/s", "10 splits"):
        assert words in text
    assert "loop" not in text


def test_bench_runs_a_preset_on_its_dataset(fdgcl: Command) -> None:
    words = ("--epochs", 1, "--loop-epochs", 1, "--repeats", 1, "--dim", 8)
    result = fdgcl("bench", "--preset", "cora", *words, "--device", "cpu", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["graph"]["nodes"] == 2708
    assert told["settings"]["loss"] == "vicreg"
    assert told["settings"]["dim"] == 8
    assert told["differences"]["epochs"] == 1 + 1
    assert told["differences"]["untrained"] < half_digits("float32")


@pytest.mark.dataset
@pytest.mark.slow
def test_bench_gives_features_to_a_dataset_without(
    fdgcl: Command, data_root: Path
) -> None:
    words = ("--features", 2, "--dim", 2, "--time", 1, "--epochs", 1, "--repeats", 1)
    place = ("--dataset", "ogbn-arxiv-nofeat", "--data-root", data_root)
    result = fdgcl("bench", *place, *words, "--device", "cpu", "--no-loop", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["graph"]["nodes"], told["graph"]["features"]) == (169_343, 2)


@pytest.mark.slow
def test_scaling_is_quick_and_leaves_a_page(fdgcl: Command, folder: Path) -> None:
    words = ("--scaling", "--quick", "--device", "cpu", "-o", "out", "--json")
    result = fdgcl("bench", *words, "--nodes", 400, "--edges", 800)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["base"]["nodes"] == 400
    lines = (folder / "out" / "scaling.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert records[0]["kind"] == "run"
    assert records[1:] == told["records"]
    points = [r for r in records if r["kind"] == "point" and r["axis"] == "dim"]
    sizes = {point["sizes"]["dim"] for point in points}
    assert len(sizes) >= 5
    assert "How time and memory grow" in (folder / "out" / "scaling.html").read_text()
    assert (folder / "out" / "epoch-seconds.png").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--nodes", 1), "--nodes must be a whole number of at least 2, got 1"),
        (("--epochs", 0), "--epochs must be a whole number"),
        (("--time", -1), "--time must be positive"),
        (("--step", 9), "step must not exceed time"),
        (("--orders", "0.5"), "there is one, 0.5"),
        (("--edges", 50_000), "--edges must be at most 9,950"),
        (("--device", "gpu"), "unknown device 'gpu'"),
        (("--precision", "tf32"), "--precision tf32 is for CUDA devices"),
        (("--precision", "tf16"), "unknown precision 'tf16'"),
        (("--dataset", "cora"), "leave --nodes out: --dataset brings its own graph"),
        (("--preset", "cora"), "leave --nodes out: --preset brings its own graph"),
        (("--no-loop", "--loop-epochs", 1), "leave --loop-epochs out: --no-loop"),
        (("--quick",), "leave --quick out: it goes with --scaling"),
        (("--scaling", "--probe"), "leave --epochs out: --scaling chooses"),
        (("-o", "edges.csv/b.json"), "is a file, not a folder"),
    ],
)
def test_bench_refuses(
    words: tuple[object, ...], sentence: str, fdgcl: Command
) -> None:
    result = fdgcl("bench", *SMALL, *words)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--dataset", "coral"), "no dataset of that name"),
        (("--dataset", "cora", "--features", 7), "cora has 1,433 features"),
        (("--preset", "coral"), "unknown preset 'coral'"),
        (("--scaling", "--dataset", "cora"), "leave --dataset out: --scaling"),
        (("--scaling", "--nodes", 20), "edges must be at most"),
    ],
)
def test_bench_refuses_data(
    words: tuple[object, ...], sentence: str, fdgcl: Command
) -> None:
    result = fdgcl("bench", *words, "--device", "cpu")
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_bench_on_a_gpu_needs_one(
    fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    result = fdgcl("bench", "--device", "cuda")
    assert result.exit_code == 2
    assert "--device cuda was asked for, and no CUDA device is here" in result.stderr


@pytest.mark.slow
def test_demo_beats_what_needs_no_training(fdgcl: Command, folder: Path) -> None:
    result = fdgcl("demo")
    assert result.exit_code == 0, result.output
    [run] = (folder / "runs").iterdir()
    text = " ".join(result.stdout.split())
    for words in (
        "3 seeds",
        f"run {run.relative_to(folder)}",
        "fdgcl embed EDGES.csv --features FEATURES.parquet",
    ):
        assert words in text
    names = ("trained embedding", "untrained encoder", "A²X", "the features themselves")
    scores = [
        float(found[1])
        for name in names
        if (found := re.search(rf"{name}[^│]*│ *([\d.]+)", result.stdout))
    ]
    assert len(scores) == len(names)
    assert scores[0] >= 81
    assert scores[0] >= max(scores[1:]) + 1


def test_what_takes_more_is_not_called_less() -> None:
    assert _compared(2.5) == "2.5 x less"
    assert _compared(0.4) == "2.5 x more"
