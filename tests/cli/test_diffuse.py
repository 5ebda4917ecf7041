"""`fdgcl diffuse`: what it does, tells, refuses, and goes on with."""

from __future__ import annotations

import json
import re
import shutil
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner, Result

from fdgcl._memory import parse_size
from fdgcl.cli import app
from fdgcl.diffusion.polynomial import PolynomialFilter
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import DiffusedRows, Diffusion
from fdgcl.methods.fdgcl.recipe import FORMAT
from fdgcl.operators.in_memory import build_operator
from helpers.accidents import everything, flip, full_disk
from helpers.papers_method import PAPER, write_paper
from helpers.stores import in_memory, make_store
from helpers.tasks import begun, contents, some_settings
from tolerances import assert_agree, half_digits

Command = Callable[..., Result]
# Those of `some_settings`.
GIVEN = (*PAPER, "--time", 4, "--step", 1)
FOLLOWING = "fdgcl train g -o Z{} --settings paper.toml --time 4 --step 1"


@pytest.fixture
def fdgcl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command line beside a store `g`; nothing may end in a traceback."""
    monkeypatch.chdir(tmp_path)
    write_paper(tmp_path)
    make_store(tmp_path / "g")

    def run(*arguments: object) -> Result:
        result = CliRunner().invoke(app, [*map(str, arguments)], prog_name="fdgcl")
        assert "Traceback" not in result.stderr
        return result

    return run


def diffusion(store: str = "g") -> Diffusion:
    return Diffusion.of(Store.open(store), some_settings())


def stamps() -> dict[str, tuple[int, int]]:
    """What changes with every file that is written anew."""
    return stamps_in(diffusion().folder)


def stamps_in(folder: Path) -> dict[str, tuple[int, int]]:
    files = {path: path.stat() for path in folder.rglob("*")}
    return {
        str(path): (state.st_ino, state.st_mtime_ns)
        for path, state in files.items()
        if path.is_file()
    }


def test_it_diffuses_and_tells(fdgcl: Command) -> None:
    first = fdgcl("diffuse", "g", *GIVEN, "--memory", "3GB")
    assert first.exit_code == 0, first.output
    lines = first.stdout.splitlines()
    assert lines[0] == f"diffused  {diffusion().folder}"
    assert re.fullmatch(r"slices    1 of 1, \d+\.\d s", lines[1])
    assert lines[2] == f"next      {FOLLOWING.format(' --memory 3GB')}"
    before = stamps()
    again = fdgcl("diffuse", "g", *GIVEN, "--memory", "3GB")
    assert again.exit_code == 0
    assert "1 of 1 slices were there already" in again.stderr
    assert "slices    0 of 1" in again.stdout
    assert stamps() == before


@pytest.mark.parametrize("directed", [False, True])
def test_the_result_is_that_of_the_library(
    tmp_path: Path, fdgcl: Command, directed: bool
) -> None:
    store = make_store(tmp_path / "h", directed=directed, weighted=True)
    direction = store.manifest.direction
    result = fdgcl("diffuse", "h", *GIVEN, "--direction", direction, "--json")
    assert result.exit_code == 0, result.output
    graph, settings = in_memory(store), some_settings()
    expected = PolynomialFilter.of(
        settings.new_dynamics(4),
        build_operator(graph.adjacency, direction=direction),
        settings.schedule,
        settings.orders,
    ).apply(torch.from_numpy(np.array(graph.features)))
    rows = DiffusedRows(Diffusion(store, Path(json.loads(result.stdout)["diffused"])))
    for order, values in enumerate(expected):
        found = np.empty((60, 8), np.float32)
        rows.read(order, 0, 60, found)
        assert_agree(found, values)


@pytest.mark.parametrize("features", [8, 1100])
def test_what_follows_needs_no_options(
    tmp_path: Path, fdgcl: Command, features: int
) -> None:
    store = make_store(tmp_path / "h", features=features)
    assert fdgcl("diffuse", "h").exit_code == 0
    (folder,) = (store.folder / "diffused").iterdir()
    before = stamps_in(folder)
    for command in ("train", "embed"):
        result = fdgcl(command, "h", "-o", command, "--epochs", 1, "--memory", "3GB")
        assert result.exit_code == 0, result.output
        assert [*(store.folder / "diffused").iterdir()] == [folder]
        after = stamps_in(folder)  # training adds statistics of what is there
        assert {name: after[name] for name in before} == before


def test_json(fdgcl: Command) -> None:
    result = fdgcl("diffuse", "g", *GIVEN, "--json")
    told = json.loads(result.stdout)
    assert result.stderr == ""
    assert told["diffused"] == str(diffusion().folder)
    assert (told["slices"], told["ran"], told["missing"]) == (1, 1, [])
    assert told["settings"]["time"] == 4
    assert told["next"] == FOLLOWING.format("")
    assert fdgcl("diffuse", "g", *GIVEN, "--quiet").output == ""


def test_a_dry_run_writes_nothing(tmp_path: Path, fdgcl: Command) -> None:
    before = everything(tmp_path)
    result = fdgcl("diffuse", "g", *GIVEN, "--dry-run", "--memory", "3GB")
    assert result.exit_code == 0, result.output
    for words in (
        "1 slice of up to 8 columns",
        "of 3 GB",
        "disk: 3.84 kB",
        "order 0.01: stable",
        "order 1: stable",
        "nothing written",
    ):
        assert words in result.stdout
    assert "after --prepare, by this graph's own" in result.stderr
    assert everything(tmp_path) == before
    fdgcl("diffuse", "g", *GIVEN, "--prepare")
    told = json.loads(fdgcl("diffuse", "g", *GIVEN, "--dry-run", "--json").stdout)
    assert told["slices_done"] == 0
    operator = build_operator(in_memory(Store.open("g")).adjacency)
    found = told["stability"]["lambda_max"]
    # A bound by a few steps of Lanczos' recurrence, not far from the truth.
    assert (
        operator.lambda_max - half_digits(np.float32)
        <= found
        < 1.1 * operator.lambda_max
    )
    assert told["plan"]["disk_bytes"] == 60 * 8 * 4 * 2


def test_slices_one_by_one(tmp_path: Path, fdgcl: Command) -> None:
    store = make_store(tmp_path / "h")
    begun(Store.open("g"), width=2)
    begun(store, width=2)
    prepared = fdgcl("diffuse", "g", *GIVEN, "--prepare")
    assert prepared.stdout.splitlines()[1] == "slices    4 (--only 0 to --only 3)"
    for number in (2, 0):
        result = fdgcl("diffuse", "g", *GIVEN, "--only", number)
        assert result.exit_code == 0, result.output
    assert diffusion().missing == [1, 3]
    assert "slices    1 of 4, 2 left" in result.stdout
    assert "next" not in result.stdout
    told = json.loads(fdgcl("diffuse", "g", *GIVEN, "--prepare", "--json").stdout)
    assert (told["slices"], told["missing"]) == (4, [1, 3])
    before = stamps()
    result = fdgcl("diffuse", "g", *GIVEN, "--only", 3, "--only", 1, "--only", 0)
    assert "next      fdgcl train g" in result.stdout
    after = stamps()
    assert {name: after[name] for name in before} == before
    assert fdgcl("diffuse", "h", *GIVEN).exit_code == 0
    assert contents(diffusion()) == contents(diffusion("h"))


def refused(result: Result, code: int = 2) -> str:
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("none",), "none is not a store"),
        (("g", "--workers", 0), "--workers must be a whole number of at least 1"),
        (("g", "--threads", -1), "--threads must be a whole number of at least 1"),
        (("g", "--memory", "much"), "memory must be a size such as 6GB"),
        (("g", "--only", 0), "--only 0: slices of g are not prepared"),
        (("g", "--only", 0, "--prepare"), "--prepare comes before --only"),
        (("g", "--dynamics", "cde"), "dynamics 'cde' steps all nodes"),
        (("g", "--direction", "in"), "was imported with direction 'symmetric'"),
        (("g", "--feature-scaling", "tf-idf"), "and there are negative features"),
        (("g", "--feature-scaling", "max"), "unknown feature_scaling 'max'"),
        (("g", "--settings", "s.toml"), "cannot read the settings in s.toml"),
        (("g", "--time", -1), "time must be positive, got -1"),
        (("g", "--dim", 8), "no such option: --dim"),
        (("g", "--dask", "nowhere"), "no Dask scheduler is at 'nowhere'"),
    ],
)
def test_bad_input_is_refused(
    tmp_path: Path, fdgcl: Command, words: tuple[object, ...], reason: str
) -> None:
    before = everything(tmp_path)
    assert reason in refused(fdgcl("diffuse", *words))
    assert everything(tmp_path) == before


def test_slices_that_are_none(fdgcl: Command) -> None:
    fdgcl("diffuse", "g", *GIVEN, "--prepare")
    for number in (1, -1):
        words = fdgcl("diffuse", "g", *GIVEN, "--only", number)
        assert f"--only must lie in 0 to 0, got {number}" in refused(words)


def test_the_least_memory_is_named(fdgcl: Command) -> None:
    told = refused(fdgcl("diffuse", "g", "--memory", "20MB"))
    match = re.search(r"memory must be at least ([\d.]+ [MG]B) for 60 nodes", told)
    assert match is not None
    # Other tests in this process may have let it grow a little since.
    enough = str(parse_size(match[1]) + 30_000_000)
    assert fdgcl("diffuse", "g", "--memory", enough).exit_code == 0


def test_too_little_disk_is_refused_before(
    tmp_path: Path, fdgcl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9000, 5200, 3800))
    before = everything(tmp_path)
    told = refused(fdgcl("diffuse", "g", *GIVEN), code=3)
    assert "g has 3.8 kB of free disk" in told
    assert "take 3.84 kB" in told
    assert everything(tmp_path) == before
    begun(Store.open("g"), width=2)  # a quarter is enough for one of four
    assert fdgcl("diffuse", "g", *GIVEN, "--only", 1).exit_code == 0
    assert fdgcl("diffuse", "g", *GIVEN).exit_code == 0


def test_a_disk_that_fills_up(tmp_path: Path, fdgcl: Command) -> None:
    make_store(tmp_path / "h", nodes=5000, edges=9000)
    begun(make_store(tmp_path / "g", nodes=5000, edges=9000), width=7)
    begun(Store.open("h"), width=7)
    with full_disk(100_000):
        told = refused(fdgcl("diffuse", "g", *GIVEN), code=3)
    assert "the disk is full: " in told
    assert "0/000.npy was not written" in told
    assert diffusion().missing == [0, 1]
    with full_disk(100_000):
        assert fdgcl("diffuse", "g", *GIVEN, "--only", 1).exit_code == 0  # a column
    assert fdgcl("diffuse", "g", *GIVEN).exit_code == 0
    assert fdgcl("diffuse", "h", *GIVEN).exit_code == 0
    assert contents(diffusion()) == contents(diffusion("h"))


def test_altered_files_are_named(fdgcl: Command) -> None:
    store = Store.open("g")
    flip(store.folder / "features" / "002.npy", 300)
    told = refused(fdgcl("diffuse", "g", *GIVEN))
    assert "g/features/002.npy is damaged: block 0 (rows 0 to 59)" in told
    flip(store.folder / "features" / "002.npy", 300)
    (store.folder / "graph" / "neighbours.npy").unlink()
    assert "neighbours.npy is damaged" in refused(fdgcl("diffuse", "g", *GIVEN))


def test_help_names_what_diffusion_depends_on(fdgcl: Command) -> None:
    text = fdgcl("diffuse", "--help-all").stdout
    for name in ("orders", "time", "step", "window", "dtype", "only", "dask", "seed"):
        assert f"--{name} " in text
    for name in ("dim", "epochs", "gradient", "device"):
        assert f"--{name} " not in text


def test_recipes_that_are_damaged(fdgcl: Command) -> None:
    fdgcl("diffuse", "g", *GIVEN, "--prepare")
    recipe = diffusion().folder / "recipe.json"
    older = recipe.read_text().replace(FORMAT, "fdgcl-diffused-1")
    for text in (older, "{"):
        recipe.write_text(text)
        told = refused(fdgcl("diffuse", "g", *GIVEN))
        assert "recipe.json was not written by this version of fdgcl" in told
