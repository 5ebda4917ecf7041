"""The run out of core: its commands, its record, its folder, its refusals."""

from __future__ import annotations

import json
import shutil
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from fdgcl._checks import InputError
from fdgcl.benchmark.outofcore import (
    GENERATE,
    Order,
    StageError,
    commands,
    needed_disk,
    refuse_full_disk,
    run_out_of_core,
)
from fdgcl.benchmark.workplace import disk_rates, work_folder
from fdgcl.cli import app
from fdgcl.diffusion.basis import Basis
from fdgcl.graphs.diagnosis import FeatureFindings
from fdgcl.graphs.store.store import Manifest, Store, write_manifest
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.recipe import Recipe
from fdgcl.operators.neighbour_information import NeighbourInformation
from scale.calibration import STAGES

STANDIN = Path(__file__).with_name("standin.py")
SMALL = Order(nodes=50, edges=120, features=14, dim=8, memory=10**9)
WORDS = [
    "--out-of-core",
    "--nodes",
    "50",
    "--edges",
    "120",
    "--features",
    "14",
    "--dim",
    "8",
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """A stand-in for the commands, and the store that they leave."""
    folder = tmp_path_factory.mktemp("template")
    manifest = Manifest(
        name="none",
        source="none",
        nodes=50,
        entries=239,
        edges=120,
        direction="symmetric",
        weighted=False,
        ids="numbers",
        features=14,
        block_columns=8,
    )
    write_manifest(folder, manifest)
    steps = np.ones(4)
    recipe = Recipe(
        settings={"dtype": "float32"},
        columns=(0, 6, 12, 14),
        coefficients=np.ones((2, 5)),
        basis=Basis(steps, steps, steps, False),
        wide=False,
        lambda_max=2.0,
        informative=True,
        findings=FeatureFindings(14, 14, 0, 1 / 14, None),
        neighbours=NeighbourInformation(0.5, {"neighbours": 0.5}),
    )
    Diffusion(Store.open(folder), folder / "diffused" / "key").begin(recipe)
    return sys.executable, str(STANDIN), str(folder)


@pytest.fixture
def bench(
    program: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """`fdgcl bench` with the stand-in for the commands that it starts."""
    run = partial(run_out_of_core, program=program)
    monkeypatch.setattr("fdgcl.workflows.bench_outofcore.run_out_of_core", run)

    def call(*words: object) -> Result:
        texts = ["bench", *map(str, words)]
        result = CliRunner().invoke(app, texts, prog_name="fdgcl")
        assert "Traceback" not in result.stderr
        return result

    return call


def test_the_commands_are_those_of_the_product(tmp_path: Path) -> None:
    found = commands(replace(SMALL, orders="0.5,1"), tmp_path)
    assert tuple(found) == (GENERATE, *STAGES)
    told = {stage: " ".join(words) for stage, words in found.items()}
    assert told["generate"].startswith("data generate --nodes 50 --edges 120")
    assert "--memory" not in told["generate"]
    assert told["import"].endswith(f"--store {tmp_path}/store --memory 1000000000")
    for stage in ("diffuse", "train"):
        assert told[stage].startswith(f"{stage} {tmp_path}/store")
        assert "--time 10.0 --step 1.0 --orders 0.5,1" in told[stage]
        assert "--memory 1000000000" in told[stage]
        assert f"--settings {tmp_path}/paper.toml" in told[stage]
    assert "--dim 8 --hidden 8 --epochs 3 --seed 0" in told["train"]


def test_everything_is_in_the_record(
    bench: Callable[..., Result], tmp_path: Path
) -> None:
    place, record = tmp_path / "work", tmp_path / "r.json"
    words = ("--memory", "1GB", "--folder", place, "-o", record, "--json")
    result = bench(*WORDS, *words, "--seed", 5, "--orders", "0.5,1")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == json.loads(record.read_text())
    assert not place.exists()
    assert told["format"] == "fdgcl-out-of-core-1"
    assert told["command"].startswith("fdgcl bench --out-of-core")
    assert "--folder WORK -o" in told["command"]
    assert told["machine"]["cores"] >= 1
    assert told["problem"] == {
        "nodes": 50,
        "edges": 120,
        "entries": 239,
        "features": 14,
        "dim": 8,
        "epochs": 3,
        "columns": 5,  # in three slices
        "products": 4,
        "orders": 2,
    }
    assert [stage["stage"] for stage in told["stages"]] == [GENERATE, *STAGES]
    for stage in told["stages"]:
        assert stage["command"].startswith("fdgcl ")
        assert "WORK/" in stage["command"]
        assert str(tmp_path) not in stage["command"]
        assert stage["exit_code"] == 0
        assert stage["peak_bytes"] > 1e6  # it ends before it is seen again
        assert stage["peak_disk_bytes"] >= stage["disk_bytes"] > 0
    counted = told["stages"][1:]
    total = told["total"]
    assert total["of"] == list(STAGES)
    assert total["seconds"] == pytest.approx(sum(s["seconds"] for s in counted))
    assert total["peak_bytes"] == max(s["peak_bytes"] for s in counted)
    assert total["bound_kept"] is True
    assert told["sizes"]["z"] == 1000
    assert told["sizes"]["diffused"] > 0
    assert told["disk"]["read_bytes_per_second"] > 1e6
    assert told["order"]["seed"] == 5


def test_people_get_a_line_a_stage(
    bench: Callable[..., Result], tmp_path: Path
) -> None:
    place = tmp_path / "work"
    result = bench(*WORDS, "--folder", place, "--keep")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [
        "measured",
        GENERATE,
        *STAGES,
        "total",
        "bound",
        "kept",
    ]
    assert lines[1].endswith("not counted")
    assert lines[6].startswith("bound kept: yes, peak ")
    assert lines[6].endswith(" of 6 GB")
    assert (place / "z" / "part-00000.parquet").is_file()
    assert (place / "logs" / "diffuse.out").read_text().startswith("command diffuse")


def test_a_broken_bound_is_a_failure(
    bench: Callable[..., Result], tmp_path: Path
) -> None:
    record = tmp_path / "r.json"
    result = bench(*WORDS, "--memory", "100kB", "-o", record, "--quiet")
    assert result.exit_code == 1
    assert "bound kept: no, peak " in result.stdout
    assert json.loads(record.read_text())["total"]["bound_kept"] is False


def test_a_command_that_fails_is_told_with_its_words(
    bench: Callable[..., Result], program: tuple[str, ...], tmp_path: Path
) -> None:
    place, unlucky = tmp_path / "work", replace(SMALL, seed=13)
    place.mkdir()
    with pytest.raises(StageError, match="generate ended with exit code 1: error: th"):
        run_out_of_core(unlucky, place, program=program)
    shutil.rmtree(place)
    result = bench(*WORDS, "--seed", 13, "--folder", place)
    assert result.exit_code == 1
    assert "thirteen is not a number" in " ".join(result.stderr.split())
    assert not place.exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--memory", "1GB"), "leave --memory out: it goes with --out-of-core"),
        (("--folder", "x"), "leave --folder out: it goes with --out-of-core"),
        (("--keep",), "leave --keep out: it goes with --out-of-core"),
        (("--scaling", "--keep"), "leave --keep out: it goes with --out-of-core"),
        ((*WORDS, "--scaling"), "leave --scaling out: --out-of-core runs ours alone"),
        ((*WORDS, "--device", "cpu"), "leave --device out"),
        ((*WORDS, "--dataset", "cora"), "leave --dataset out"),
        ((*WORDS, "--no-loop"), "leave --no-loop out"),
        ((*WORDS, "--repeats", "3"), "leave --repeats out"),
        ((*WORDS, "--memory", "much"), "--memory must be a size such as 6GB"),
        ((*WORDS, "--epochs", "0"), "--epochs must be a whole number of at least 1"),
        (("--out-of-core", "--nodes", "9"), "--edges must be at most 18"),
    ],
)
def test_what_does_not_go_together_is_refused(
    words: tuple[str, ...],
    sentence: str,
    bench: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = bench(*words)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_a_folder_in_use_is_left_alone(
    bench: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    result = bench(*WORDS, "--folder", tmp_path)
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    with (
        pytest.raises(InputError, match="cannot be used"),
        work_folder(tmp_path / "thesis.txt" / "x", keep=False),
    ):
        pass


def test_an_empty_folder_of_the_user_stays_one(tmp_path: Path) -> None:
    with work_folder(tmp_path, keep=False) as place:
        (place / "deep").mkdir()
        (place / "deep" / "x").touch()
        (place / "y").touch()
    assert list(tmp_path.iterdir()) == []
    with work_folder(None, keep=False) as place:
        assert place.is_dir()
    assert not place.exists()


def test_a_disk_too_small_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    order = Order(nodes=10**7, edges=10**8)
    # Parts that are written and stay, counted by hand.
    graph, features = 2 * 10**8 * 4 + 8 * 10**7, 4 * 64 * 10**7
    kept = graph + 3 * features + 10**7 * 4 * 128
    assert kept < needed_disk(order) < 2 * kept
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(0, 0, kept))
    with pytest.raises(InputError, match=r"of free disk, and 10,000,000 nodes and 100"):
        refuse_full_disk(order, tmp_path)
    refuse_full_disk(SMALL, tmp_path)


def test_the_disk_is_timed_and_nothing_stays(tmp_path: Path) -> None:
    found = disk_rates(tmp_path, 2**25)
    assert found["bytes"] == 2**25
    assert min(found.values()) > 0
    assert list(tmp_path.iterdir()) == []
