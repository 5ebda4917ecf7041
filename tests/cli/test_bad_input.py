"""Bad input: exit code 2, one sentence that names the culprit, nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from smallgraph import NODES, SMALL, Command, edit_features, everything

EMBED = ("embed", "edges.csv", "--features", "x.parquet", "-o", "z.parquet", *SMALL)


def _nothing(folder: Path) -> None:
    del folder


def _write(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: _discard((folder / name).write_text(text))


def _discard(value: object) -> None:
    del value


def _feature(row: int, value: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        def edit(columns: dict[str, list[object]]) -> None:
            columns["f2"][row] = value
            if isinstance(value, str):
                columns["f2"] = [str(cell) for cell in columns["f2"]]

        edit_features(folder, edit)

    return change


def _repeated_id(folder: Path) -> None:
    def edit(columns: dict[str, list[object]]) -> None:
        columns["id"][7] = columns["id"][3]

    edit_features(folder, edit)


def _numbered(nodes: int, rows: int) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        edges = "".join(f"{i},{(i + 1) % nodes}\n" for i in range(nodes))
        (folder / "numbered.csv").write_text("source,target\n" + edges)
        np.save(folder / "x.npy", np.arange(3.0 * rows).reshape(rows, 3))

    return write


def _weight(value: str) -> Callable[[Path], None]:
    return _write("w.csv", f"source,target,weight\na,b,1\nb,c,{value}\n")


@dataclass(frozen=True)
class Case:
    """What is wrong, how it is typed, and words that the sentence must have."""

    words: tuple[str, ...]
    arguments: tuple[str, ...] = EMBED
    prepare: Callable[[Path], None] = _nothing


def _with(*more: str) -> tuple[str, ...]:
    return (*EMBED, *more)


def _edges(name: str, *more: str) -> tuple[str, ...]:
    return ("embed", name, "-o", "z.parquet", *SMALL, *more)


CASES = {
    "missing edge list": Case(("nowhere.csv", "dataset"), _edges("nowhere.csv")),
    "missing feature file": Case(
        ("--features", "gone.parquet"),
        _edges("edges.csv", "--features", "gone.parquet"),
    ),
    "missing label file": Case(("--labels", "gone.csv"), _with("--labels", "gone.csv")),
    "empty edge list": Case(
        ("empty.csv", "empty"), _edges("empty.csv"), _write("empty.csv", "")
    ),
    "empty feature file": Case(
        ("x.csv", "empty"),
        _edges("edges.csv", "--features", "x.csv"),
        _write("x.csv", ""),
    ),
    "only a header": Case(
        ("header.csv",), _edges("header.csv"), _write("header.csv", "source,target\n")
    ),
    "wrong column name": Case(
        ("edges.csv", "sauce", "source", "target"), _with("--source-column", "sauce")
    ),
    "wrong id column": Case(
        ("x.parquet", "node", "id", "f0"), _with("--id-column", "node")
    ),
    "feature that is no number": Case(
        ("x.parquet", "'f2'", "row 6", "many"), prepare=_feature(5, "many")
    ),
    "infinite feature": Case(("inf", "f2"), prepare=_feature(5, float("inf"))),
    "NaN weight": Case(("w.csv", "nan"), _edges("w.csv"), _weight("nan")),
    "infinite weight": Case(("w.csv", "inf"), _edges("w.csv"), _weight("inf")),
    "negative weight": Case(("w.csv", "-2"), _edges("w.csv"), _weight("-2")),
    "edge to an unknown id": Case(
        ("2", "'ghost'", "'spook'"),
        _edges("g.csv", "--features", "x.parquet"),
        _write("g.csv", "source,target\nn1,ghost\nn2,spook\nn1,n2\n"),
    ),
    "repeated ids": Case(("x.parquet", "repeats"), prepare=_repeated_id),
    "features of the wrong length": Case(
        ("x.npy", "7"), _edges("numbered.csv", "--features", "x.npy"), _numbered(10, 7)
    ),
    "order of zero": Case(("order", "(0, 1]", "0"), _with("--orders", "0,1")),
    "order above one": Case(("order", "(0, 1]", "1.5"), _with("--orders", "0.5,1.5")),
    "order that is no number": Case(("--orders", "low"), _with("--orders", "low,1")),
    "step above time": Case(("step", "3", "2"), _with("--step", "3")),
    "step of zero": Case(("step", "0"), _with("--step", "0")),
    "negative step": Case(("step", "-1"), _with("--step", "-1")),
    "negative time": Case(("time", "-2"), _with("--time", "-2")),
    "no dimension": Case(("dim", "0"), _with("--dim", "0")),
    "dimension beyond bounds": Case(
        ("dim", "at most 1,048,576", "99999999999"), _with("--dim", "99999999999")
    ),
    "dimension beyond memory": Case(
        ("dim 1,048,576 takes about", "TB of memory", "this machine has"),
        _edges(
            *("numbered.csv", "--features", "x.npy"),
            *("--combine", "sum", "--dim", "1048576"),
        ),
        _numbered(1_000_000, 1_000_000),
    ),
    "seed beyond bounds": Case(
        ("seed", "at most 4,294,967,295"), _with("--seed", "100000000000000000000")
    ),
    "seed of a power": Case(("--seed", "1e20"), _with("--seed", "1e20")),
    "negative seed": Case(("seed", "-1"), _with("--seed", "-1")),
    "seeds beyond bounds": Case(
        ("last of the seeds", "at most"),
        _with("--seed", "4294967295", "--seeds", "2"),
    ),
    "epochs beyond bounds": Case(
        ("epochs", "at most 1,000,000,000"), _with("--epochs", "9" * 30)
    ),
    "batch beyond bounds": Case(
        ("batch_size", "at most"), _with("--batch-size", "9" * 400)
    ),
    "steps beyond bounds": Case(
        ("at most 1,000,000,000 steps",), _with("--time", "1e9", "--step", "1e-9")
    ),
    "steps beyond numbers": Case(
        ("at most 1,000,000,000 steps",), _with("--time", "1e300", "--step", "1e-300")
    ),
    "unknown solver": Case(
        ("solver", "predicter", "predictor"), _with("--solver", "predicter")
    ),
    "unknown loss": Case(("loss", "cosmaen", "cosmean"), _with("--loss", "cosmaen")),
    "unknown direction": Case(("direction", "left"), _with("--direction", "left")),
    "unknown device": Case(("device", "cdua"), _with("--device", "cdua")),
    "unknown preset": Case(("preset", "coral", "cora"), _with("--preset", "coral")),
    "unknown dataset": Case(("coraa", '"cora"'), ("embed", "coraa", "-o", "z.parquet")),
    "dataset that is not here": Case(
        ("texas.npz", "fdgcl data convert texas"), ("embed", "texas", "-o", "z.parquet")
    ),
    "batch larger than the graph": Case(
        ("batch", "41", str(NODES)), _with("--batch-size", "41")
    ),
    "no batch": Case(("batch", "0"), _with("--batch-size", "0")),
    "one node": Case(
        ("node",), _edges("one.csv"), _write("one.csv", "source,target\na,a\n")
    ),
    "no edges": Case(
        ("none.csv",),
        _edges("none.csv", "--features", "x.parquet"),
        _write("none.csv", "source,target\n"),
    ),
    "no edges of a weight": Case(
        ("zero.csv", "0 edges"),
        _edges("zero.csv"),
        _write("zero.csv", "source,target,weight\na,b,0\n"),
    ),
    "output below a file": Case(
        ("blocked",), (*EMBED, "-o", "blocked/z.parquet"), _write("blocked", "x")
    ),
    "output where nothing can be made": Case(
        ("/proc",), _with("-o", "/proc/z.parquet")
    ),
    "output that is a folder": Case(
        ("z.parquet", "folder"), prepare=lambda f: (f / "z.parquet").mkdir()
    ),
    "output of another kind": Case(("z.csv", "Parquet"), _with("-o", "z.csv")),
    "run folder below a file": Case(
        ("blocked",), _with("--run", "blocked/run"), _write("blocked", "x")
    ),
    "run folder that is taken": Case(
        ("taken", "--resume"), _with("--run", "taken"), lambda f: _taken(f)
    ),
    "nothing to resume": Case(("new", "--resume"), _with("--run", "new", "--resume")),
    "resume without a run": Case(("--resume", "--run"), _with("--resume")),
    "no seeds": Case(("--seeds", "0"), _with("--seeds", "0")),
    "evaluate without labels": Case(("--evaluate", "--labels"), _with("--evaluate")),
    "setting that is no number": Case(("--dim", "wide"), _with("--dim", "wide")),
    "unknown option": Case(("--dimm", "--dim"), _with("--dimm", "3")),
    "memory that will not do": Case(
        ("memory must be at least", "for a graph in memory", "got 5 bytes"),
        _with("--memory", "5"),
    ),
    "older name of the window": Case(
        ("the solver's memory is called --window now, not --short-memory (see",),
        _with("--short-memory=5"),
    ),
    "memory where there is no window": Case(
        ("no such option: --memory",), ("tune", "edges.csv", "--memory", "6GB")
    ),
    "unknown command": Case(("embedd", "embed"), ("embedd", "cora")),
    "empty name of a graph": Case(("GRAPH is empty",), _edges("")),
    "empty name of features": Case(
        ("--features is empty",), _edges("edges.csv", "--features", "")
    ),
    "folder for a graph": Case(
        ("the folder lot is no store",), _edges("lot"), lambda f: (f / "lot").mkdir()
    ),
}


def _taken(folder: Path) -> None:
    (folder / "taken").mkdir()
    (folder / "taken" / "config.json").write_text("{}")


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_one_sentence(name: str, fdgcl: Command, folder: Path) -> None:
    case = CASES[name]
    case.prepare(folder)
    before = everything(folder)
    result = fdgcl(*case.arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    for word in case.words:
        assert word in result.stderr
    assert everything(folder) == before
    assert result.stderr.splitlines()[-1].startswith("error: ")
    assert result.stderr.count("error: ") == 1
