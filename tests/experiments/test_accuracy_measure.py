"""Accuracy measured against the parts it is made of; its tables against arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL, Graph, linear_probe
from fdgcl._checks import InputError
from fdgcl.embedder import GraphEmbedder
from fdgcl.estimators import GCN
from fdgcl.experiments.experiment import Experiment, PaperNumber
from fdgcl.experiments.measures.accuracy import Accuracy, OrderAccuracy
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.graphs import block_model
from fdgcl.report.page import Figure, Section, Table, Text

SMALL = {"dim": 8, "epochs": 3, "time": 2.0, "step": 1.0, "self_loops": 2.0}


def _experiment(
    dataset: str = "texas",
    variant: str = "paper",
    parts: Sequence[str] = ("trained", "untrained", "smoothed", "features"),
    **changes: Any,
) -> Experiment:
    base = Experiment(
        table="heterophilic",
        dataset=dataset,
        variant=variant,
        label=f"the {variant} one",
        settings={**FDGCL().get_params(), **SMALL},
        options={"encoder": "diffusion", "parts": list(parts)},
        paper=PaperNumber(70.0, 1.5),
    )
    return replace(base, **changes)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(60, num_classes=2, degree=4, num_features=6, seed=1)


def test_what_is_random_is_a_unit_a_seed() -> None:
    units = Accuracy().units(_experiment(), 3)
    name = "heterophilic/texas-paper"
    random = [Unit(name, p, s) for p in ("trained", "untrained") for s in range(3)]
    assert units == [*random, Unit(name, "smoothed", 0), Unit(name, "features", 0)]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("parts", ["trainde"], r"unknown part 'trainde'; did you mean \"trained\"\?"),
        ("encoder", "gnc", r"unknown encoder 'gnc'; did you mean \"gcn\"\?"),
    ],
)
def test_unknown_parts_are_refused(option: str, value: Any, message: str) -> None:
    experiment = _experiment()
    wrong = replace(experiment, options={**experiment.options, option: value})
    with pytest.raises(InputError, match=message):
        Accuracy().units(wrong, 1)


def _smoothed(graph: Graph) -> np.ndarray:
    a = graph.adjacency.toarray()
    a = np.maximum(a, a.T)
    np.fill_diagonal(a, 2.0)
    roots = a.sum(1) ** -0.5
    a = roots[:, None] * a * roots
    return np.asarray(a @ a @ np.asarray(graph.features))


def _gcn(model: FDGCL) -> GraphEmbedder:
    """The same settings for the GCN encoders, written out."""
    given = model.get_params()
    names = {
        *("dim", "epochs", "lr", "weight_decay", "seed", "device", "dtype", "beta"),
        *("activation", "standardize", "loss", "loss_options", "pairs", "eta"),
        *("init_scale", "self_loops", "normalization", "direction", "batch_size"),
        *("feature_scaling", "structural", "readout"),
    }
    return GCN(encoders=len(given["orders"]), **{name: given[name] for name in names})


@pytest.mark.parametrize(
    "part", ["trained", "untrained", "smoothed", "features", "gcn"]
)
def test_each_part_probes_its_embedding(part: str, graph: Graph) -> None:
    experiment = _experiment()
    model = FDGCL(**{**experiment.settings, "seed": 2, "device": "cpu"})
    expected = {
        "trained": lambda: model.fit_transform(graph),
        "untrained": lambda: FDGCL(**{**model.get_params(), "epochs": 0}).fit_transform(
            graph
        ),
        "smoothed": lambda: _smoothed(graph),
        "features": lambda: np.array(graph.features),
        "gcn": lambda: _gcn(model).fit_transform(graph),
    }[part]()
    if part == "gcn":
        options = {**experiment.options, "encoder": "gcn"}
        experiment, part = replace(experiment, options=options), "trained"
    unit = Unit(experiment.name, part, 2)
    records = Accuracy().run(experiment, unit, graph, "cpu")
    assert graph.splits is not None
    found = linear_probe(expected, graph.y, graph.splits)
    assert [record["split"] for record in records] == list(range(len(graph.splits)))
    for name in ("test", "val", "weight_decay", "normalization", "step"):
        assert tuple(record[name] for record in records) == getattr(found, name)
    assert all(record["train_seconds"] >= 0 for record in records)
    assert {record["splits"] for record in records} == {graph.splits.name}


def test_a_graph_without_labels_is_refused(graph: Graph) -> None:
    blank = replace(graph, y=None, splits=None)
    with pytest.raises(InputError, match="has no labels and splits"):
        Accuracy().run(_experiment(), Unit("x", "trained", 0), blank, "cpu")


def _records(
    experiment: Experiment, part: str, tests: Sequence[float], seeds: int = 2
) -> list[Record]:
    """Half of the values to each seed; validation is a tenth above."""
    per_seed = len(tests) // seeds
    return [
        {
            "experiment": experiment.name,
            "dataset": experiment.dataset,
            "part": part,
            "seed": i // per_seed,
            "split": i % per_seed,
            "test": test,
            "val": test + 0.1,
            "splits": "geom-gcn",
            "train_seconds": 2.0,
            "probe_seconds": 0.5,
            "peak_memory_mib": 100.0 + i,
        }
        for i, test in enumerate(tests)
    ]


def _table(sections: Sequence[Section], title: str) -> Table:
    (section,) = [s for s in sections if s.title == title]
    return next(block for block in section.blocks if isinstance(block, Table))


def _texts(sections: Sequence[Section]) -> list[str]:
    return [b.text for s in sections for b in s.blocks if isinstance(b, Text)]


PAPER = _experiment()
BEST = _experiment(
    variant="best",
    parts=["trained", "untrained"],
    settings={**PAPER.settings, "dim": 16, "orders": (0.2, 1.0)},
)
OTHER = _experiment(variant="paper-x", parts=["trained", "smoothed"])
GONE = _experiment("arxiv-year")
WORDS = "below what needs no training (untrained 65.00, X 80.00)."


def test_table_by_dataset() -> None:
    records = [
        *_records(PAPER, "trained", [0.5, 0.7]),
        *_records(PAPER, "untrained", [0.6, 0.7]),
        *_records(PAPER, "smoothed", [0.4], seeds=1),
        *_records(PAPER, "features", [0.8], seeds=1),
        *_records(BEST, "trained", [0.8, 0.9]),
        *_records(OTHER, "trained", [0.3, 0.3]),
    ]
    sections = Accuracy().show(
        [PAPER, BEST, OTHER, GONE], records, {"arxiv-year": "it is far away"}
    )
    table = _table(sections, "Accuracy")
    assert [list(row) for row in table.rows] == [
        [
            "texas",
            "70.00 ± 1.50",
            "60.00 ± 10.00 *",
            "70.00",
            "85.00 ± 5.00",
            "95.00",
            "80.00 (X)",
            "2",
        ],
        [
            "texas, the paper-x one",
            "70.00 ± 1.50",
            "30.00 ± 0.00 *",
            "40.00",
            "",
            "",
            "80.00 (X)",
            "2",
        ],
        ["arxiv-year", "70.00 ± 1.50", "not here", "", "", "", "", ""],
    ]
    assert table.strong == {(0, 4), (1, 6)}
    texts = _texts(sections)
    assert f"texas: training under the paper's settings gives 60.00, {WORDS}" in texts
    assert "Not here: arxiv-year (it is far away)." in texts
    assert not any("our settings gives" in text for text in texts)
    free = _table(sections, "Without training")
    assert list(free.rows[0]) == ["texas", "65.00 ± 5.00", "", "40.00", "80.00"]
    cost = _table(sections, "Time and memory")
    assert list(cost.rows[0][:4]) == ["texas", "2.0 s", "0.5 s", "101 MiB"]
    changes = _table(sections, "What our settings change")
    assert [list(row) for row in changes.rows] == [
        ["texas", "dim 16 (was 8); orders 0.2, 1 (was 0.01, 1)"]
    ]
    choices = _table(sections, "What the paper leaves open")
    assert list(choices.rows[0][:3]) == ["texas", "0.05", "2"]
    for part in (section.blocks for section in sections):
        for block in part:
            if isinstance(block, Table):
                assert {len(row) for row in block.rows} <= {len(block.columns)}


def test_figure_by_dataset() -> None:
    records = [
        *_records(PAPER, "trained", [0.5, 0.7]),
        *_records(BEST, "trained", [0.8, 0.9]),
    ]
    sections = Accuracy().show([PAPER, BEST], records, {})
    (figure,) = [b for s in sections for b in s.blocks if isinstance(b, Figure)]
    bars = {series.name: series for series in figure.series}
    assert set(bars) == {"paper", "faithful", "ours"}
    assert bars["paper"].dashed
    assert list(bars["paper"].y) == [70.0]
    assert bars["faithful"].y == pytest.approx([60.0])
    assert bars["faithful"].error == pytest.approx([10.0])
    assert bars["ours"].y == pytest.approx([85.0])


def test_nothing_measured_yet_is_said() -> None:
    sections = Accuracy().show([PAPER, BEST], [], {})
    assert list(_table(sections, "Accuracy").rows[0]) == [
        "texas",
        "70.00 ± 1.50",
        "no result",
        "",
        "no result",
        "",
        "",
        "0",
    ]


def test_other_splits_than_the_benchmarks_are_named() -> None:
    records = _records(PAPER, "trained", [0.5, 0.7])
    for record in records:
        record["splits"] = "mine"
    texts = _texts(Accuracy().show([PAPER], records, {}))
    assert any("'mine'" in text and "do not compare" in text for text in texts)
    assert not any("mine" in t for t in _texts(Accuracy().show([PAPER], [], {})))


def _orders(dataset: str, variant: str, *orders: float) -> Experiment:
    return _experiment(
        dataset,
        variant,
        table="orders",
        settings={**PAPER.settings, "orders": orders},
        note="a note" if variant == "near" else "",
    )


def test_table_by_encoder() -> None:
    equal, near = _orders("cora", "equal", 1.0, 1.0), _orders("cora", "near", 0.1, 0.2)
    far = _orders("wisconsin", "near", 0.1, 0.2)
    absent = _orders("crocodile", "near", 0.1, 0.2)
    records = [
        *_records(equal, "trained", [0.5, 0.5]),
        *_records(near, "trained", [0.6, 0.7]),
    ]
    for record in records:
        record["splits"] = "public"
    sections = OrderAccuracy().show(
        [equal, near, far, absent], records, {"crocodile": "gone"}
    )
    table = _table(sections, "Accuracy")
    assert table.columns[:3] == ["encoder", "cora, paper", "cora"]
    assert [list(row) for row in table.rows] == [
        ["the equal one", "70.00 ± 1.50", "50.00 ± 0.00", "", "", "", ""],
        [
            "the near one",
            "70.00 ± 1.50",
            "65.00 ± 5.00",
            "70.00 ± 1.50",
            "no result",
            "70.00 ± 1.50",
            "not here",
        ],
    ]
    assert table.strong == {(1, 2)}
    texts = _texts(sections)
    assert "Not here: crocodile (gone)." in texts
    assert any(text.endswith("distinct orders are ahead.") for text in texts)
    assert any(
        text == "cora (the near one), wisconsin (the near one): a note"
        for text in texts
    )
    names = [b.name for s in sections for b in s.blocks if isinstance(b, Figure)]
    assert names == ["orders-cora", "orders-wisconsin"]
