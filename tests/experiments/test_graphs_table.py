"""Graph classification, measured, against the parts that it is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL, Graph, GraphDataset, graph_svm
from fdgcl._checks import InputError
from fdgcl.experiments import unit_task
from fdgcl.experiments.experiment import Experiment, PaperNumber
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures import TABLES, graphs
from fdgcl.experiments.measures.base import Unit
from fdgcl.experiments.measures.graphs import GraphAccuracy
from fdgcl.experiments.unit_task import UnitTask
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.graphs.compact_graphs import write_compact_graphs
from fdgcl.presets import preset_settings
from tolerances import assert_agree

NUMBERS = {"proteins": PaperNumber(75.40, 0.28), "dd": PaperNumber(78.53, 0.36)}
ENCODED, FREE = ["trained", "untrained"], ["smoothed", "features"]
ALIKE = ["smoothed-alike", "features-alike"]
FOLDS = 10
COSTS = (0.1, 10.0)
SMALL = {
    **{"dim": 6, "epochs": 2, "time": 2.0, "step": 1.0, "self_loops": 2.0},
    **{"direction": "symmetric", "readout": ("mean", "max")},
}


def _experiment(
    dataset: str = "proteins",
    variant: str = "paper",
    parts: Sequence[str] = (*ENCODED, *FREE),
    **changes: Any,
) -> Experiment:
    base = Experiment(
        table="graphs",
        dataset=dataset,
        variant=variant,
        label=f"the {variant} one",
        settings={**FDGCL().get_params(), **SMALL},
        options={"parts": list(parts), "kernel": "rbf"},
        paper=NUMBERS.get(dataset),
    )
    return replace(base, **changes)


def _made() -> GraphDataset:
    """Rings and stars of five to eight nodes, told apart by their features, badly."""
    rng = np.random.default_rng(5)
    found = []
    for at in range(24):
        nodes = np.arange(rng.integers(5, 9))
        ends = np.roll(nodes, 1) if at % 2 else np.zeros_like(nodes)
        pairs = np.array([nodes[1:], ends[1:]])
        x = rng.standard_normal((len(nodes), 3)) + 0.4 * (at % 2)
        edges = np.concatenate([pairs, pairs[::-1]], axis=1)
        found.append(Graph.from_edges(edges, x.astype("f4"), num_nodes=len(nodes)))
    return GraphDataset.from_graphs(found, [at % 2 for at in range(24)])


@pytest.fixture(scope="module")
def made() -> GraphDataset:
    return _made()


def test_shipped_experiments_are_the_presets_and_the_papers_numbers() -> None:
    experiments = load_experiments("graphs")
    assert [one.name for one in experiments] == [
        "graphs/proteins-paper",
        "graphs/proteins-best",
        "graphs/dd-paper",
        "graphs/dd-best",
    ]
    for one in experiments:
        assert one.paper == NUMBERS[one.dataset]
        expected = FDGCL(**preset_settings(one.dataset, one.variant)).get_params()
        assert one.settings == expected
        free = FREE if one.variant == "paper" else ALIKE
        assert one.options["parts"] == [*ENCODED, *free]
        assert one.options["kernel"] == "rbf"


def test_every_part_is_a_unit_a_seed() -> None:
    # Nothing is random in two of them, but the folds are.
    parts = [*ENCODED, *FREE, *ALIKE]
    assert GraphAccuracy().units(_experiment(parts=parts), 3) == [
        Unit("graphs/proteins-paper", part, seed) for part in parts for seed in range(3)
    ]


def test_an_unknown_part_is_refused() -> None:
    message = r"unknown part 'smooth'; did you mean \"smoothed\"\?"
    with pytest.raises(InputError, match=message):
        GraphAccuracy().units(_experiment(parts=["smooth"]), 1)


def _pooled(dataset: GraphDataset, rows: np.ndarray) -> np.ndarray:
    """Mean, then maximum over the nodes of each graph."""
    own = [rows[dataset.graph_of_node == at] for at in range(dataset.num_graphs)]
    return np.array([np.r_[part.mean(0), part.max(0)] for part in own])


def _smoothed(dataset: GraphDataset) -> np.ndarray:
    a = dataset.graph.adjacency.toarray()
    np.fill_diagonal(a, 2.0)
    a /= np.sqrt(np.outer(a.sum(1), a.sum(1)))
    return np.asarray(a @ a @ np.asarray(dataset.graph.features))


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """The embeddings that are scored, and with which options; few costs are tried."""
    found: list[tuple[Any, Any]] = []

    def noted(z: Any, y: Any, **options: Any) -> Any:
        found.append((z, options))
        return graph_svm(z, y, costs=COSTS, **options)

    monkeypatch.setattr(graphs, "graph_svm", noted)
    return found


@pytest.mark.parametrize(
    ("part", "seed"),
    [*product(ENCODED, [1]), *product(FREE, [0]), *product(ALIKE, [2])],
)
def test_each_part_is_scored_on_the_folds_of_its_seed(
    part: str, seed: int, made: GraphDataset, scored: list[tuple[Any, Any]]
) -> None:
    experiment = _experiment()
    model = FDGCL(**{**experiment.settings, "seed": seed, "device": "cpu"})
    first = FDGCL(**{**model.get_params(), "epochs": 0})
    x = np.asarray(made.graph.features)
    columns = x.shape[1]
    embedding = {
        "trained": lambda: model.fit_transform(made),
        "untrained": lambda: first.fit_transform(made),
        # By the mean alone, or by the readout of the model.
        "smoothed": lambda: _pooled(made, _smoothed(made))[:, :columns],
        "features": lambda: _pooled(made, x)[:, :columns],
        "smoothed-alike": lambda: _pooled(made, _smoothed(made)),
        "features-alike": lambda: _pooled(made, x),
    }[part]()
    assert len(embedding) == made.num_graphs
    unit = Unit(experiment.name, part, seed)
    records = GraphAccuracy().run(experiment, unit, made, "cpu")
    ((given, options),) = scored
    assert options == {"kernel": "rbf", "seeds": [seed]}
    assert_agree(given, embedding, np.float32)
    # Not of `embedding`: rounding may turn a close choice.
    found = graph_svm(given, made.y, seeds=[seed], costs=COSTS)
    assert [record["fold"] for record in records] == list(range(FOLDS))
    for name in ("test", "val", "cost", "normalization"):
        assert tuple(r[name] for r in records) == tuple(getattr(found, name)[0])
    # What chooses is not what is tested.
    assert any(record["val"] != record["test"] for record in records)
    assert {record["graphs"] for record in records} == {24}
    assert all(record["train_seconds"] >= 0 for record in records)
    assert all(record["probe_seconds"] > 0 for record in records)
    assert json.loads(json.dumps(records, allow_nan=False)) == records


def test_the_kernel_is_that_of_the_options(
    made: GraphDataset, scored: list[tuple[Any, Any]]
) -> None:
    experiment = _experiment(options={"parts": ["features"], "kernel": "linear"})
    GraphAccuracy().run(experiment, Unit("x", "features", 3), made, "cpu")
    ((_, options),) = scored
    assert options == {"kernel": "linear", "seeds": [3]}


def test_graphs_without_labels_are_refused(made: GraphDataset) -> None:
    with pytest.raises(InputError, match="has no labels to score by"):
        GraphAccuracy().run(
            _experiment(), Unit("x", "trained", 0), replace(made, y=None), "cpu"
        )


@pytest.fixture
def nothing_kept() -> Iterator[None]:
    """A process keeps the dataset it read last; tests of this one must not."""
    unit_task._graph.cache_clear()
    yield
    unit_task._graph.cache_clear()


@pytest.mark.usefixtures("nothing_kept", "scored")
def test_a_process_reads_many_graphs_where_there_are_many(
    made: GraphDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = CATALOGUE["proteins"]
    sizes = replace(
        known.sizes,
        nodes=made.graph.num_nodes,
        features=3,
        classes=2,
        edges=made.graph.adjacency.nnz,
    )
    entry = replace(known, name="toy", sizes=sizes, graphs=24, attributes=0)
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    write_compact_graphs(tmp_path / "toy.npz", made)
    experiment = _experiment("toy", parts=["features"])
    unit = Unit(experiment.name, "features", 0)
    task = UnitTask(experiment, unit, TABLES["graphs"].measure, "cpu", str(tmp_path))
    answer = task.run()
    assert answer.error is None, answer.trace
    assert len(answer.records) == FOLDS
    expected = GraphAccuracy().run(experiment, unit, made, "cpu")
    assert [r["test"] for r in answer.records] == [r["test"] for r in expected]
    assert all(record["peak_memory_mib"] > 0 for record in answer.records)
    assert isinstance(unit_task._graph("cora-bundled", None), Graph)


@pytest.mark.dataset
@pytest.mark.usefixtures("nothing_kept")
def test_a_process_reads_the_real_ones(data_root: Path) -> None:
    found = unit_task._graph("proteins", str(data_root))
    assert isinstance(found, GraphDataset)
    assert found.num_graphs == 1113
    assert isinstance(unit_task._graph("texas", str(data_root)), Graph)
