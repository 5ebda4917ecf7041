"""Embedding, transforming and reporting from Python: paths, names, graphs in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fdgcl import Graph, GraphDataset
from fdgcl._checks import InputError
from fdgcl.embeddings import read_embeddings
from fdgcl.presets import paper_defaults
from fdgcl.workflows import embed, plan_embedding, report, transform
from fdgcl.workflows.feedback import Interrupted
from fdgcl.workflows.records import FILE, read_record
from tolerances import assert_agree

SMALL = {"dim": 8, "epochs": 3, "time": 2.0, "step": 1.0}


def test_a_graph_in_memory_and_its_files_give_the_same(graph: Graph) -> None:
    # By the paper's method: what the defaults ask of a sample of nodes depends on which
    # these are, and so on the order of the rows.
    same = {**paper_defaults(), **SMALL}
    held = embed(graph, settings=same, run="held")
    files = embed("edges.csv", features="x.csv", settings=same, run="files")
    order = np.argsort(files.ids)
    assert files.ids[order].tolist() == held.ids.tolist()
    # The files are read in the order of their edges, and sums round in theirs.
    assert_agree(files.z[order], held.z)
    ids, z = read_embeddings(held.embedding)
    assert ids.tolist() == held.ids.tolist()
    assert np.array_equal(z, held.z)
    assert (held.level, held.epochs, held.run) == ("node", 3, Path("held"))


def test_nothing_is_printed(graph: Graph, capfd: pytest.CaptureFixture[str]) -> None:
    made = embed(graph, settings=SMALL, run="r", evaluate=True)
    transform("r", graph)
    report("r", dataset=graph)
    assert made.scores is not None
    assert capfd.readouterr() == ("", "")


def test_progress_and_notices_are_told_as_they_come(graph: Graph) -> None:
    told: list[tuple[str, int, int]] = []
    notices: list[str] = []
    made = embed(
        graph,
        settings=SMALL,
        run="r",
        progress=lambda *step: told.append(step),
        on_notice=notices.append,
    )
    assert ("read", 0, 0) in told
    assert [step for step in told if step[0] == "train"][-1] == ("train", 3, 3)
    assert tuple(notices) == made.notices
    assert notices[0].startswith(f"{graph.name}: 60 nodes")


def test_seeds_and_scores(graph: Graph) -> None:
    made = embed(graph, settings=SMALL, run="r", seeds=2, evaluate=True)
    assert made.scores is not None
    first, untrained, *_ = made.scores.rows
    assert first.name == "trained embedding"
    assert untrained.name == "the untrained encoder"
    assert len(first.test) == 2 * len(graph.splits or ())
    assert "2 seeds and 2 splits" in made.scores.caption
    assert made.to_dict()["evaluation"][0] == first.to_dict()
    assert json.dumps(made.to_dict())


def test_a_plan_writes_nothing(graph: Graph, folder: Path) -> None:
    before = sorted(folder.iterdir())
    plan = plan_embedding(graph, settings=SMALL)
    assert plan.stability is not None
    assert plan.settings["dim"] == 8
    assert plan.describe()
    assert json.dumps(plan.to_dict())
    assert sorted(folder.iterdir()) == before


def test_a_run_goes_on(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fdgcl.run_folder.RunFolder.write_model", stop)
        with pytest.raises(Interrupted, match="kept in r") as stopped:
            embed(graph, settings=SMALL, run="r")
    assert stopped.value.kept
    assert isinstance(stopped.value, KeyboardInterrupt)
    again = embed(graph, settings=SMALL, run=stopped.value.run, resume=True)
    assert np.array_equal(again.z, embed(graph, settings=SMALL, run="whole").z)


def test_stopped_before_there_was_anything(
    graph: Graph, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fdgcl.FDGCL.fit_transform", stop)
    with pytest.raises(Interrupted) as stopped:
        embed(graph, settings=SMALL)
    assert not stopped.value.kept
    assert not (folder / "runs").exists()


def test_the_record_says_that_no_file_can_be_read(graph: Graph) -> None:
    embed(graph, settings=SMALL, run="r")
    record = read_record(Path("r"))
    assert record is not None
    assert record.in_memory
    assert record.command == "fdgcl.workflows.embed"
    # Without the graph, a report says so and leaves it out; given, it is used.
    alone = report("r")
    assert "Accuracy" not in [one.title for one in alone.page.sections]
    held = report("r", dataset=graph, overwrite=True)
    assert "Accuracy" in [one.title for one in held.page.sections]
    assert held.notices == ()
    value = json.loads(Path("r", FILE).read_text())
    del value["graph"]["in_memory"]
    Path("r", FILE).write_text(json.dumps(value))
    with pytest.raises(InputError, match="damaged"):
        read_record(Path("r"))


def test_many_graphs_in_memory(graph: Graph) -> None:
    many = GraphDataset.from_graphs([graph, graph, graph])
    graphs = embed(many, settings=SMALL, run="r")
    assert (graphs.level, len(graphs.z)) == ("graph", 3)
    nodes = transform("r", many, level="node")
    assert (nodes.level, len(nodes.z)) == ("node", 180)
    assert_agree(nodes.z[:60].mean(axis=0), graphs.z[0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"graph": 7},
            "`graph` must be a file, the name of a dataset, a Graph, a GraphD",
        ),
        ({"graph": ""}, "`graph` is empty"),
        ({"features": "no.csv"}, "`features`: no.csv is not there"),
        ({"features": "x.csv"}, "a graph in memory with its own"),
        ({"graph": "edges.csv", "evaluate": True}, "`evaluate` needs labels, and"),
        ({"level": "graph"}, "`level='graph'` needs many graphs"),
        ({"seeds": 0}, "`seeds` must be a whole number of at least 1, got 0"),
        ({"resume": True}, "`resume` needs `run=DIR`"),
        ({"output": "y.csv"}, "its name must end so"),
        ({"variant": "paper"}, "`variant` needs `preset=NAME`"),
        ({"settings": {"dims": 3}}, "dims"),
    ],
)
def test_what_is_refused_names_the_argument(
    graph: Graph, folder: Path, arguments: dict[str, object], sentence: str
) -> None:
    before = sorted(folder.iterdir())
    given = {"graph": graph, "settings": SMALL, **arguments}
    with pytest.raises((InputError, TypeError), match=sentence.replace("`", "`")):
        embed(**given)  # type: ignore[arg-type]
    assert sorted(folder.iterdir()) == before


def test_an_output_is_not_replaced_unasked(graph: Graph) -> None:
    Path("z.parquet").write_text("another's")
    with pytest.raises(InputError, match="add `overwrite=True` to replace it"):
        embed(graph, settings=SMALL, output="z.parquet")
    assert embed(graph, settings=SMALL, output="z.parquet", overwrite=True).z.any()
