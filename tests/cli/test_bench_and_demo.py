"""`fdgcl bench` compares like with like; `fdgcl demo` shows what it promises."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from smallgraph import Command

SMALL = ("--nodes", 200, "--edges", 600, "--features", 8, "--dim", 8, "--epochs", 2)


def test_both_ways_give_the_same_embedding() -> None:
    from fdgcl.cli.bench_runs import Sizes, measure

    sizes = Sizes(nodes=120, edges=400, features=8, dim=8, epochs=2, steps=4)
    ours, theirs = (
        measure(way, sizes, 0, "cpu") for way in ("precomputed", "stepping")
    )
    largest = abs(theirs.untrained).max()
    assert abs(ours.untrained - theirs.untrained).max() < 1e-5 * largest
    assert abs(ours.trained - theirs.trained).max() < 1e-3 * largest
    assert abs(ours.trained - ours.untrained).max() > 1e-2 * largest
    assert ours.run.precompute_seconds > 0
    assert theirs.run.precompute_seconds == 0


@pytest.mark.slow
def test_bench_reports_both(fdgcl: Command) -> None:
    result = fdgcl("bench", *SMALL, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["sizes"]["nodes"] == 200
    ratio = told["in_loop"]["epoch_seconds"] / told["ours"]["epoch_seconds"]
    assert told["speed_ratio"] == pytest.approx(ratio)
    assert told["difference_untrained"] < 1e-5


@pytest.mark.parametrize(
    ("option", "value"), [("--nodes", 1), ("--epochs", 0), ("--edges", 50_000)]
)
def test_bench_refuses_sizes(option: str, value: int, fdgcl: Command) -> None:
    result = fdgcl("bench", *SMALL, option, value)
    assert result.exit_code == 2
    assert option in result.stderr


@pytest.mark.slow
def test_demo_beats_what_needs_no_training(fdgcl: Command, folder: Path) -> None:
    result = fdgcl("demo")
    assert result.exit_code == 0, result.output
    [run] = (folder / "runs").iterdir()
    text = " ".join(result.stdout.split())
    for words in (
        "3 seeds",
        f"run {run.relative_to(folder)}",
        "fdgcl embed edges.csv --features x.parquet",
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
