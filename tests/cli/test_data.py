"""`fdgcl data`: what the commands show, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fdgcl._checks import InputError
from fdgcl.cli.data import app
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.graphs.compact import read_compact
from fdgcl.graphs.datasets import load_dataset


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FDGCL_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "160")


def run(*arguments: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def run_json(*arguments: str | Path, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code))


def test_list_shows_every_dataset_that_can_be_had() -> None:
    text = run("list")
    for name in set(CATALOGUE) - {"ogbn-arxiv-nofeat"}:
        assert f"{name} " in text
    assert "ogbn-arxiv-nofeat" not in text
    assert "set FDGCL_DATA" in text
    assert "split of its own" in text


def test_list_says_what_is_here(tmp_path: Path) -> None:
    (tmp_path / "ogbn-arxiv-nofeat.npz").touch()
    (tmp_path / "cora.npz").touch()
    text = run("list", "--data-root", tmp_path)
    assert "ogbn-arxiv-nofeat" in text
    assert f"data root: {tmp_path}" in text
    assert "split of its own" not in text
    here = {row["name"]: row["here"] for row in run_json("list", "--root", tmp_path)}
    assert here["cora"] == str(tmp_path / "cora.npz")
    assert here["cora-bundled"] == "bundled copy"
    assert here["texas"] is None


def test_the_variable_names_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FDGCL_DATA", str(tmp_path))
    assert f"data root: {tmp_path}" in run("list")
    monkeypatch.setenv("FDGCL_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="from FDGCL_DATA"):
        run("list")


def test_info_shows_sizes_source_and_licence() -> None:
    text = run("info", "cora")
    for part in ("2,708", "10,556", "5,429", "Planetoid", "MIT", "bundled copy"):
        assert part in text
    facts = run_json("info", "cora")
    assert facts["paper"]["edges"] == 5429
    assert facts["measured"]["splits"] == "20 per class / 500 / 1000, seed 0"
    assert facts["measured"]["homophily"] == pytest.approx(0.81, abs=0.002)


def test_info_of_what_is_not_here() -> None:
    facts = run_json("info", "texas")
    assert facts["here"] is None
    assert "measured" not in facts
    assert "1793 features" in facts["note"]


def test_info_of_an_unknown_name() -> None:
    with pytest.raises(InputError, match='did you mean "texas"'):
        run("info", "texsa")


def test_verify_passes_and_fails(tmp_path: Path) -> None:
    run("convert", "cora-bundled", "-o", tmp_path / "cora-bundled.npz")
    (row,) = run_json("verify", tmp_path)
    assert row["problem"] is None
    assert row["summary"]["nodes"] == 2708
    assert len(row["sha256"]) == 64
    assert " ok " in run("verify", tmp_path)
    (tmp_path / "texas.npz").write_bytes(b"broken")
    text = run("verify", tmp_path, code=1)
    assert "PROBLEM" in text
    assert f"texas: {tmp_path / 'texas.npz'} is not a compact .npz file" in text
    rows = run_json("verify", tmp_path, code=1)
    assert [row["name"] for row in rows if row["problem"]] == ["texas"]


def test_verify_of_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file of a known dataset"):
        run("verify", tmp_path)


def test_convert_a_dataset_and_a_compact_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    assert f"wrote {first}" in run("convert", "cora-bundled", "-o", first)
    report = run_json("convert", first, "-o", second)
    assert report["nodes"] == 2708
    assert report["output"] == str(second)
    original, copy = load_dataset("cora-bundled"), read_compact(second)
    assert (copy.adjacency != original.adjacency).nnz == 0
    assert np.array_equal(copy.ids, original.ids)
    assert copy.class_names == original.class_names
    assert first.read_bytes() == second.read_bytes()


def test_convert_an_edge_list(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "x.csv").write_text("id,f,g\nc,1,2\na,3,4\nb,5,6\nlonely,7,8\n")
    (tmp_path / "y.csv").write_text("id,label\na,red\nb,blue\nc,red\n")
    arguments = ["--features", tmp_path / "x.csv", "--labels", tmp_path / "y.csv"]
    output = tmp_path / "out" / "mine.npz"
    run("convert", tmp_path / "edges.csv", *arguments, "-o", output)
    graph = read_compact(output)
    names = graph.ids.tolist()
    assert sorted(names) == ["a", "b", "c", "lonely"]
    assert graph.adjacency[names.index("a"), names.index("b")] == 1
    assert graph.num_edges == 2
    x: Any = graph.features
    x = x.toarray() if hasattr(x, "toarray") else x
    assert x[names.index("b")].tolist() == [5, 6]
    assert graph.y is not None
    assert graph.class_names is not None
    colours = [graph.class_names[graph.y[names.index(n)]] for n in "abc"]
    assert colours == ["red", "blue", "red"]
    assert graph.y[names.index("lonely")] == -1


def test_convert_does_not_pass_the_bundled_copy_for_planetoids(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cora-bundled"):
        run("convert", "cora", "-o", tmp_path / "cora.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["cora-bundled", "-o", "out.csv"], "`output` must end in .npz, got out.csv"),
        (["nothing.csv", "-o", "o.npz"], "nothing.csv"),
        (["texas", "-o", "o.npz"], "texas is not there"),
        (["texas", "-o", "o.npz", "--root", "gone"], "data root gone is not a folder"),
        (["texas", "-o", "o.npz", "--labels", "y.csv"], "dataset with its own"),
        (["texas", "-o", "o.npz", "--features", "degree"], "must be a file"),
    ],
)
def test_convert_refuses(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=sentence):
        run("convert", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_convert_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        run("convert", "cora-bundled", "-o", tmp_path / "file" / "cora.npz")


def test_download_is_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fetch(entry: Any) -> Any:
        asked.append(entry.name)
        return load_dataset("cora-bundled")

    monkeypatch.setattr("fdgcl.graphs.datasets.fetch", fetch)
    run("convert", "cora", "--download", "-o", tmp_path / "cora.npz")
    assert asked == ["cora"]
    assert (tmp_path / "cora.npz").is_file()


@pytest.mark.dataset
def test_the_benchmark_data_is_right(data_root: Path) -> None:
    rows = run_json("verify", data_root)
    assert len(rows) >= 12
    assert [row["name"] for row in rows if row["problem"]] == []
