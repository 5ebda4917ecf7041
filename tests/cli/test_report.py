"""`fdgcl report`: a run as a page, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from smallgraph import SMALL, Command, everything

from fdgcl.embeddings import read_embeddings, write_embeddings
from fdgcl.experiments import pages
from fdgcl.graphs.files.options import TableOptions
from fdgcl.report.page import Page, Section, Text
from fdgcl.workflows.reading import Reading
from fdgcl.workflows.records import FILE, read_record, write_record
from fdgcl.workflows.scores import Row
from fdgcl.workflows.source import Source

FILES = ("edges.csv", "--features", "x.parquet")


@pytest.fixture
def run(fdgcl: Command, folder: Path) -> Path:
    """A finished run that left no record of how it came about."""
    result = fdgcl("embed", *FILES, *SMALL, "--run", "run")
    assert result.exit_code == 0, result.output
    (folder / "run" / FILE).unlink(missing_ok=True)
    return folder / "run"


def remember(run: Path, **changes: Any) -> None:
    """Write the record that `fdgcl embed` leaves of such a run."""
    facts: dict[str, Any] = {
        "command": "fdgcl embed edges.csv",
        "source": Source("edges", Path("edges.csv")),
        "reading": Reading(features=("x.parquet",), labels=Path("y.csv")),
        "embedding": run / "z.parquet",
        "seconds": 1.25,
        "notices": ["something was decided"],
    }
    write_record(run, **{**facts, **changes})


def told(fdgcl: Command, *arguments: object) -> dict[str, Any]:
    result = fdgcl("report", *arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def text_of(path: Path) -> str:
    """The page without its scripts, the last of which is Plotly."""
    return path.read_text(encoding="utf-8").partition('id="palettes"')[0]


def components_in(text: str) -> str:
    """The section on principal components: of the views, where the graph is there."""
    _, found, section = text.partition("<h2>Principal components")
    assert found
    return section.partition("<h2>")[0]


def test_a_run_alone(fdgcl: Command, run: Path) -> None:
    result = fdgcl("report", "run")
    assert result.exit_code == 0, result.output
    assert "run/report.html" in result.stdout
    text = text_of(run / "report.html")
    for name in ("map", "loss", "alignment", "effective-ranks", "frequencies"):
        assert f'id="figure-{name}"' in text
    assert "k-means clusters" in text
    assert "drawn over [0, 2]" in text
    assert 'id="figure-accuracy"' not in text
    assert "view of order" not in components_in(text)


def test_a_run_with_its_graph_and_labels(fdgcl: Command, run: Path) -> None:
    remember(run)
    found = told(fdgcl, "run", "-o", "out/page.html", "--figures", "figures")
    assert found["report"] == "out/page.html"
    assert found["sections"] == [
        "At a glance",
        "Accuracy",
        "The embedding",
        "The parts of the embedding",
        "Training",
        "Frequencies",
        "Principal components",
        "Settings",
    ]
    assert "a linear probe scores" in found["summary"]
    assert found["notices"] == []
    text = text_of(Path("out/page.html"))
    assert "Coloured by label" in text
    assert "10 splits" in text
    assert "eigenvalues of the graph, all computed" in text
    assert "view of order 0.01" in components_in(text)
    assert "something was decided" in text
    assert "fdgcl embed edges.csv" in text
    written = {Path(path).name for path in found["figures"]}
    assert {"map.png", "map.pdf", "loss.png", "frequencies.pdf"} <= written
    assert all(Path(path).stat().st_size > 1000 for path in found["figures"])


def test_recorded_scores_are_shown(fdgcl: Command, run: Path) -> None:
    rows = [
        Row("trained embedding", (0.75, 0.85), (0.5, 0.7)).to_dict(),
        Row("the untrained encoder", (0.625,), (0.5,)).to_dict(),
    ]
    remember(run, scores=rows, scored="on two splits")
    assert "80.00 ± 5.00 % on test" in told(fdgcl, "run")["summary"]
    text = text_of(run / "report.html")
    assert "62.50" in text
    assert "On two splits." in text
    assert 'id="figure-accuracy"' in text


def test_labels_of_a_file(fdgcl: Command, run: Path) -> None:
    found = told(fdgcl, "run", "--labels", "y.csv")
    assert "Accuracy" in found["sections"]
    assert "Coloured by label, of y.csv" in text_of(run / "report.html")


def test_rows_in_another_order(fdgcl: Command, run: Path) -> None:
    """Ids are what counts, so a shuffled file gives the same scores."""
    remember(run)
    expected = told(fdgcl, "run")["summary"]
    ids, z = read_embeddings(run / "z.parquet")
    write_embeddings("shuffled.parquet", ids[::-1], z[::-1])
    assert told(fdgcl, "run", "--embedding", "shuffled.parquet")["summary"] == expected


def test_a_directed_graph(fdgcl: Command, folder: Path) -> None:
    words = ("--direction", "out", "--run", "run")
    assert fdgcl("embed", *FILES, *SMALL, *words).exit_code == 0
    remember(folder / "run")
    told(fdgcl, "run")
    text = text_of(folder / "run" / "report.html")
    assert "The edges are directed" in text
    assert "edges used both ways, all computed" in text


def test_made_features(fdgcl: Command, folder: Path) -> None:
    words = ("--features", "degree", *SMALL, "--run", "run")
    assert fdgcl("embed", "edges.csv", *words).exit_code == 0
    remember(folder / "run", reading=Reading(features=("degree",)))
    assert told(fdgcl, "run")["notices"] == []
    assert "view of order" in text_of(folder / "run" / "report.html")


def test_an_untrained_and_an_unfinished_run(fdgcl: Command, run: Path) -> None:
    assert (
        fdgcl("embed", *FILES, *SMALL, "--epochs", "0", "--run", "none").exit_code == 0
    )
    told(fdgcl, "none")
    assert "was not trained" in text_of(Path("none/report.html"))
    remember(run)
    (run / "model.safetensors").unlink()
    (run / "z.parquet").unlink()
    found = told(fdgcl, "run")
    assert "unfinished" in found["summary"]
    assert "The embedding" not in found["sections"]
    assert any("--embedding" in notice for notice in found["notices"])


def test_a_graph_that_changed_is_left_out(fdgcl: Command, run: Path) -> None:
    remember(run)
    edges = Path("edges.csv")
    edges.write_text("\n".join(edges.read_text().splitlines()[:-1]) + "\n")
    found = told(fdgcl, "run")
    assert any("has changed since" in notice for notice in found["notices"])
    assert "Accuracy" not in found["sections"]
    edges.unlink()
    found = told(fdgcl, "run")
    assert any("not at hand any more" in notice for notice in found["notices"])
    assert "drawn over [0, 2]" in text_of(run / "report.html")


@pytest.mark.dataset
def test_the_paper_is_named_beside_its_own_datasets(
    fdgcl: Command, run: Path, data_root: Path
) -> None:
    words = ("--data-root", data_root, "--run", "texas", "--epochs", "2")
    assert fdgcl("embed", "texas", *words).exit_code == 0
    told(fdgcl, "texas", "--dataset", "texas", "--data-root", data_root)
    text = text_of(Path("texas/report.html"))
    assert "FD-GCL in the paper" in text
    assert "<td" in text.partition("FD-GCL in the paper")[2].partition("</tr>")[0]
    # A graph of one's own is not the dataset, whatever its name.
    Path("edges.csv").rename("texas.csv")
    remember(run, source=Source("texas", Path("texas.csv")))
    told(fdgcl, "run")
    assert "in the paper" not in text_of(run / "report.html")


TABLES = TableOptions(header=True, drop=["f1"], missing="mean")


def test_a_record_is_read_as_it_was_written(run: Path, folder: Path) -> None:
    assert read_record(run) is None
    remember(
        run, reading=Reading(features=("x.parquet",), tables=TABLES, data_root=folder)
    )
    found = read_record(run)
    assert found is not None
    assert found.source == Source("edges", folder / "edges.csv")
    assert found.reading == Reading(
        features=(f"x={folder / 'x.parquet'}",), tables=TABLES, data_root=folder
    )
    assert found.embedding == run / "z.parquet"
    assert set(found.versions) >= {"python", "fdgcl", "torch"}
    remember(run, reading=Reading(features=("degree",)))
    again = read_record(run)
    assert again is not None
    assert again.reading.made == "degree"


def test_a_run_of_reproduce(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tables").mkdir()
    (folder / "tables" / "records.jsonl").write_text("")
    page = Page("Table 1", "Found.", [Section("One", [Text("Two.")])])
    monkeypatch.setattr(pages, "page_of_file", lambda _: page)
    assert told(fdgcl, "tables")["title"] == "Table 1"
    assert "Table 1" in (folder / "tables" / "report.html").read_text()
    result = fdgcl("report", "tables", "--labels", "y.csv")
    assert result.exit_code == 2
    assert "reproduce" in result.stderr


BAD: list[tuple[tuple[str, ...], str]] = [
    (("nowhere",), "nowhere is not a folder"),
    (("edges.csv",), "edges.csv is not a folder"),
    ((".",), "is not a run folder"),
    (("run", "-o", "page.pdf"), "must end so"),
    (("run", "-o", "edges.csv/page.html"), "edges.csv is a file"),
    (("run", "--figures", "edges.csv"), "is a file"),
    (("run", "--labels", "none.csv"), "none.csv is not there"),
    (("run", "--labels", "y.csv", "--dataset", "cora"), "not both"),
    (("run", "--dataset", "coar"), 'did you mean "cora"'),
    (("run", "--dataset", "cora"), "the embedding is not one of cora"),
    (("run", "--embedding", "none.parquet"), "none.parquet is not a file"),
    (("run", "--embedding", "x.parquet"), "not a table of embeddings"),
    (("run", "--embedding", "short.parquet"), "another graph"),
    (("run", "--embedding", "infinite.parquet"), "not finite"),
    (("run", "--labels", "other.csv"), "such as"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=[message for _, message in BAD]
)
def test_bad_input(
    fdgcl: Command, run: Path, arguments: tuple[str, ...], message: str
) -> None:
    ids, z = read_embeddings(run / "z.parquet")
    write_embeddings("short.parquet", ids[:3], z[:3])
    write_embeddings("infinite.parquet", ids, z * float("inf"))
    Path("other.csv").write_text("id,label\nstranger,a\n")
    before = everything(run.parent)
    result = fdgcl("report", *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert everything(run.parent) == before


def test_ids_of_another_graph(fdgcl: Command, run: Path) -> None:
    remember(run)
    ids, z = read_embeddings(run / "z.parquet")
    write_embeddings("other.parquet", [f"other {i}" for i in range(len(ids))], z)
    result = fdgcl("report", "run", "--embedding", "other.parquet")
    assert result.exit_code == 2
    assert "the embedding is not one of edges" in result.stderr
    write_embeddings("numbers.parquet", list(range(len(ids))), z)
    result = fdgcl("report", "run", "--embedding", "numbers.parquet")
    assert result.exit_code == 2
    assert "int64" in result.stderr


def test_a_damaged_record(fdgcl: Command, run: Path) -> None:
    (run / FILE).write_text('{"format": "fdgcl-job-2"}')
    result = fdgcl("report", "run")
    assert result.exit_code == 2
    assert "damaged" in result.stderr


def test_dimensions_without_the_embedding_count_what_is_kept(
    fdgcl: Command, folder: Path
) -> None:
    words = ("--combine", "concat", "--keep", "features,global", "--beta", 0.5)
    files = ("embed", "edges.csv", "--features", "x.parquet", *SMALL)
    assert fdgcl(*files, *words, "--run", "r", "-o", "z.parquet").exit_code == 0
    _, z = read_embeddings(folder / "z.parquet")
    (folder / "z.parquet").unlink()
    assert fdgcl("report", "r").exit_code == 0
    text = (folder / "r" / "report.html").read_text(encoding="utf-8")
    assert f"nodes embedded in {z.shape[1]} dimensions" in text
