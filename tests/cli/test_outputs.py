"""Files that are there already are never replaced unasked, by any command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from smallgraph import SMALL, Command, everything, write_graph

from fdgcl._files import LEDGER
from fdgcl.embeddings import read_embeddings, write_embeddings
from fdgcl.workflows.outputs import Ledger, checksum, refuse_existing
from fdgcl.workflows.records import FILE, is_own, read_record

FILES = ("edges.csv", "--features", "x.parquet")
OTHER = b"another run's"
EDGES = "edges.parquet"


def changed(fdgcl: Command, *words: object) -> dict[str, Any]:
    result = fdgcl(*words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("embed", *FILES, *SMALL, "-o", "z.parquet"), "z.parquet"),
        (("transform", "run", *FILES, "-o", "z.parquet"), "z.parquet"),
        (("transform", "run", *FILES), "run/z-edges.parquet"),
        (("report", "run", "-o", "page.html"), "page.html"),
        (("report", "run", "--figures", "plots"), "plots/map.png"),
        (("data", "convert", *FILES, "-o", "g.npz"), "g.npz"),
        (("data", "generate", "--nodes", 50, "--edges", 60, "-o", "big"), "big/e"),
        (("tune", *FILES, "--labels", "y.csv", "-o", "best.toml"), "best.toml"),
        (("reproduce", "homophilic", "--json", "all.json"), "all.json"),
        (("reproduce", "--list", "--json", "all.json"), "all.json"),
        (("bench", "--nodes", 50, "--edges", 60, "-o", "b.json"), "b.json"),
        (("bench", "--scaling", "--quick", "-o", "b"), "b/records.jsonl"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_what_is_there_is_refused_before_anything_is_computed(
    fdgcl: Command, folder: Path, words: tuple[object, ...], name: str
) -> None:
    if "run" in words:
        assert fdgcl("embed", *FILES, *SMALL, "--run", "run").exit_code == 0
    path = folder / (name + "dges.parquet" if name.endswith("/e") else name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(OTHER)
    before = everything(folder)
    result = fdgcl(*words)
    assert result.exit_code == 2, result.output
    [line] = result.stderr.strip().splitlines()
    assert "is there already: add --overwrite to replace it, or name another" in line
    assert path.read_bytes() == OTHER
    assert everything(folder) == before


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("embed", *FILES, *SMALL, "-o", "z.parquet"), "z.parquet"),
        (("data", "convert", *FILES, "-o", "g.npz"), "g.npz"),
        (
            ("data", "generate", "--nodes", 50, "--edges", 60, "-o", "."),
            "edges.parquet",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_overwrite_replaces_it(
    fdgcl: Command, folder: Path, words: tuple[object, ...], name: str
) -> None:
    (folder / name).write_bytes(OTHER)
    result = fdgcl(*words, "--overwrite")
    assert result.exit_code == 0, result.output
    assert (folder / name).read_bytes() != OTHER


def test_a_resumed_run_writes_its_own_file_again(fdgcl: Command, folder: Path) -> None:
    words = ("embed", *FILES, *SMALL, "-o", "z.parquet", "--run", "run")
    assert fdgcl(*words).exit_code == 0
    first = (folder / "z.parquet").read_bytes()
    assert is_own(folder / "run", folder / "z.parquet")
    assert fdgcl(*words, "--resume").exit_code == 0
    assert (folder / "z.parquet").read_bytes() == first
    (folder / "z.parquet").write_bytes(OTHER)
    refused = fdgcl(*words, "--resume")
    assert refused.exit_code == 2
    assert "--overwrite" in refused.stderr
    assert (folder / "z.parquet").read_bytes() == OTHER


def test_a_run_that_is_stopped_while_scoring_knows_its_file(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    words = ("embed", *FILES, *SMALL, "--labels", "y.csv", "--evaluate")
    words = (*words, "-o", "z.parquet", "--run", "run")
    with monkeypatch.context() as patch:
        patch.setattr("fdgcl.workflows.scores.score", stop)
        assert fdgcl(*words).exit_code == 130
    assert fdgcl(*words, "--resume").exit_code == 0
    record = read_record(folder / "run")
    assert record is not None
    assert record.scores


def test_a_report_may_be_made_again(fdgcl: Command, folder: Path) -> None:
    fdgcl("embed", *FILES, *SMALL, "--run", "run")
    words = ("report", "run", "-o", "page.html")
    for _ in range(2):
        assert fdgcl(*words).exit_code == 0
        assert fdgcl("report", "run").exit_code == 0
    (folder / "page.html").write_bytes(OTHER)
    assert "--overwrite" in fdgcl(*words).stderr


def test_a_ledger_knows_files_as_they_were_left(tmp_path: Path) -> None:
    ledger, path = Ledger(tmp_path / "run"), tmp_path / "a.json"
    path.write_text("1")
    assert not ledger.owns(path)
    ledger.note([path])
    assert ledger.owns(path)
    assert ledger.owns(tmp_path / "run" / "any")
    path.write_text("2")
    assert not ledger.owns(path)
    (tmp_path / "run" / LEDGER).write_text("{")
    assert not ledger.owns(path)
    refuse_existing(tmp_path / "new", overwrite=False)


# The embedding of a report.


@pytest.fixture
def runs(fdgcl: Command, folder: Path) -> Path:
    """Two runs, `one` and `two`; the file of the first was replaced by the second's."""
    labelled = (*FILES, "--labels", "y.csv", *SMALL)
    assert fdgcl("embed", *labelled, "-o", "z.parquet", "--run", "one").exit_code == 0
    (folder / "kept.parquet").write_bytes((folder / "z.parquet").read_bytes())
    more = ("--seed", 7, "--overwrite")
    words = (*labelled, "-o", "z.parquet", "--run", "two", *more)
    assert fdgcl("embed", *words).exit_code == 0
    return folder


def test_a_replaced_embedding_is_computed_anew(fdgcl: Command, runs: Path) -> None:
    expected = changed(fdgcl, "report", "one", "--embedding", "kept.parquet")
    assert expected["notices"] == []
    found = changed(fdgcl, "report", "one", "--overwrite")
    assert found["summary"] == expected["summary"]
    [notice] = found["notices"]
    assert notice.startswith("z.parquet is not as this run wrote it: it was changed")
    assert notice.endswith("the embedding was computed anew by its model")
    assert changed(fdgcl, "report", "two")["notices"] == []


def test_a_lost_embedding_is_computed_anew(fdgcl: Command, runs: Path) -> None:
    (runs / "z.parquet").unlink()
    [notice] = changed(fdgcl, "report", "two")["notices"]
    assert "is not there any more; the embedding was computed anew" in notice


def test_without_the_graph_another_embedding_is_refused(
    fdgcl: Command, runs: Path
) -> None:
    (runs / "edges.csv").unlink()
    result = fdgcl("report", "one")
    assert result.exit_code == 2
    assert "z.parquet is not as this run wrote it" in result.stderr
    assert "name the right file by --embedding" in result.stderr
    assert not (runs / "one" / "report.html").exists()
    # What was lost altogether is left out, and said.
    (runs / "z.parquet").unlink()
    found = changed(fdgcl, "report", "one")
    assert "The embedding" not in found["sections"]
    assert any("is not there any more" in one for one in found["notices"])


def test_an_embedding_that_is_named_is_shown_and_told(
    fdgcl: Command, runs: Path
) -> None:
    found = changed(fdgcl, "report", "one", "--embedding", "z.parquet")
    assert found["notices"] == ["z.parquet is not as this run wrote its embedding"]


def test_a_run_that_noted_no_checksum_is_told_so(fdgcl: Command, runs: Path) -> None:
    record = runs / "two" / FILE
    value = json.loads(record.read_text())
    assert value.pop("checksum") == checksum(runs / "z.parquet")
    record.write_text(json.dumps(value))
    [notice] = changed(fdgcl, "report", "two")["notices"]
    assert notice.startswith("that z.parquet is this run's own was not checked")


def test_a_moved_run_finds_its_embedding(fdgcl: Command, folder: Path) -> None:
    assert fdgcl("embed", *FILES, *SMALL, "--run", "run").exit_code == 0
    (folder / "run").rename(folder / "moved")
    assert changed(fdgcl, "report", "moved")["notices"] == []


def test_a_report_holds_no_folder_of_this_machine(
    fdgcl: Command, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    away = tmp_path_factory.mktemp("some where")
    write_graph(away)
    words = (away / "edges.csv", "--features", away / "x.parquet")
    labels = ("--labels", away / "y.csv")
    target = ("-o", away / "z.parquet", "--run", folder / "run")
    assert fdgcl("embed", *words, *labels, *SMALL, *target).exit_code == 0
    assert fdgcl("report", folder / "run").exit_code == 0
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    text = page.partition('id="palettes"')[0]
    assert "edges.csv" in text
    for place in (str(away), str(folder), away.name):
        assert place not in text


def test_checksums_tell_files_apart(tmp_path: Path) -> None:
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_embeddings(a, [1, 2], [[1.0], [2.0]])
    b.write_bytes(a.read_bytes())
    assert checksum(a) == checksum(b)
    ids, z = read_embeddings(a)
    write_embeddings(b, ids, -z)
    assert checksum(a) != checksum(b)
    assert checksum(tmp_path / "c.parquet") is None
    assert checksum(tmp_path) is None
