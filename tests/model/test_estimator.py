"""The estimator: conventions, results, other graphs, files."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fdgcl import FDGCL, Graph, block_model, linear_probe, read_graph
from fdgcl._checks import InputError
from fdgcl.diffusion import Grand, Schedule
from fdgcl.diffusion.stepping import diffuse_stepped
from fdgcl.losses import build_loss
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree

from .conftest import QUICK, quick_model


def permuted(graph: Graph, order: np.ndarray) -> Graph:
    adjacency = sparse.csr_array(graph.adjacency[order][:, order])
    return Graph(adjacency, features=np.array(graph.features)[order])


def test_scikit_learn_conventions(quick: FDGCL) -> None:
    params = quick.get_params()
    assert params["dim"] == 12
    assert clone(quick).get_params() == params
    assert quick.set_params(dim=5) is quick
    assert quick.dim == 5
    assert repr(FDGCL(dim=5, loss="vicreg")) == "FDGCL(dim=5, loss='vicreg')"
    assert repr(FDGCL()) == "FDGCL()"
    with pytest.raises(InputError, match="unknown parameter 'dims'; did you mean"):
        quick.set_params(dims=5)


def test_the_old_name_of_the_window_is_answered(quick: FDGCL) -> None:
    message = "^the solver's memory is called window now, not memory$"
    old: Any = {"memory": 5}
    for use in (FDGCL, quick.set_params, partial(FDGCL.preset, "cora")):
        with pytest.raises(InputError, match=message):
            use(**old)
    with pytest.raises(TypeError, match="memries"):
        FDGCL(**{"memries": 5})  # type: ignore[arg-type]
    assert FDGCL(window=5).check().schedule.window == 5


def test_it_stands_in_a_scikit_learn_pipeline(graph: Graph) -> None:
    steps = Pipeline([("embed", quick_model()), ("scale", StandardScaler())])
    steps.set_params(embed__dim=5)
    z = steps.fit_transform(graph)
    assert z.shape == (80, 5)
    assert_agree(z.mean(0), np.zeros(5), np.float32, size=1)
    assert "dim=5" in repr(steps)


def test_same_seed_same_bytes_and_other_seed_other_bytes(graph: Graph) -> None:
    first = quick_model(seed=3).fit_transform(graph)
    again = quick_model(seed=3).fit_transform(graph)
    other = quick_model(seed=4).fit_transform(graph)
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize("batch_size", [None, 20])
def test_fit_then_transform_is_fit_transform(
    graph: Graph, batch_size: int | None
) -> None:
    model = quick_model(batch_size=batch_size)
    together = model.fit_transform(graph)
    assert together.shape == (80, 12)
    assert together.dtype == np.float32
    assert model.transform(graph).tobytes() == together.tobytes()


def test_training_changes_the_encoder_and_lowers_the_loss(graph: Graph) -> None:
    model = quick_model(epochs=30, init_scale=1.0).fit(graph)
    untrained = quick_model(epochs=0, init_scale=1.0).fit_transform(graph)
    assert model.history_[-1].loss < 0.8 * model.history_[0].loss
    assert [record.epoch for record in model.history_] == list(range(1, 31))
    assert np.abs(model.transform(graph) - untrained).max() > 0.1


def test_training_equals_stepping_inside_the_loop(graph: Graph) -> None:
    """The whole method, written as the literature does it, gives the same numbers."""
    settings = {
        **QUICK,
        "dtype": "float64",
        "orders": (0.3, 1.0),
        "skip": "end",
        "rate": 0.5,
        "activation": "relu",
    }
    model = quick_model(**settings, time=3, step=1, beta=0.4, eta=0.2).fit(graph)

    operator = build_operator(graph.adjacency)
    dynamics, schedule = Grand(rate=0.5), Schedule(3, 1, skip="end")
    x = torch.from_numpy(np.array(graph.features, dtype=np.float64))
    start = quick_model(**{**settings, "epochs": 0}, time=3, step=1).fit(graph)._model
    weights = [weight.detach().clone().requires_grad_() for weight in start.weights]
    optimizer = torch.optim.Adam(weights, lr=0.01, weight_decay=5e-4)

    def views() -> list[torch.Tensor]:
        result = []
        for weight, order in zip(weights, (0.3, 1.0), strict=True):
            hidden = diffuse_stepped(dynamics, operator, x @ weight, order, schedule)
            spread = hidden.std(0, unbiased=False)
            result.append(torch.relu((hidden - hidden.mean(0)) / spread))
        return result

    loss = build_loss("regularized-cosmean", 0.2)
    for record in model.history_:
        value = loss(*views())
        assert_agree(value, record.loss, size=1)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    first, second = views()
    expected = (0.4 * first + 0.6 * second).detach().numpy()
    assert_agree(model.transform(graph), expected)


def test_both_strategies_agree(graph: Graph) -> None:
    settings = {**QUICK, "dtype": "float64"}
    sparse_graph = graph.with_features(sparse.csr_array(np.array(graph.features)))
    once = quick_model(**settings, strategy="precompute").fit_transform(graph)
    for given in (graph, sparse_graph):
        model = quick_model(**settings, strategy="in-loop")
        assert_agree(model.fit_transform(given), once)
        assert model.plan_.strategy == "in-loop"


def test_without_standardisation_it_is_the_papers_text(graph: Graph) -> None:
    papers = {"standardize": False, "activation": "relu", "rate": 0.5}
    model = quick_model(epochs=0, **papers, beta=0.25, time=2, step=1)
    found = model.fit_transform(graph)
    dense = build_operator(graph.adjacency).matrix.matrix.toarray()
    one_step = np.eye(80) - 0.5 * (np.eye(80) - dense)
    x = np.array(graph.features)
    weights = [weight.detach().numpy() for weight in model._model.weights]
    second = np.maximum(one_step @ one_step @ x @ weights[1], 0)
    model.set_params(beta=0.0)
    only_second = model.fit_transform(graph)
    assert_agree(only_second, second)
    assert not np.allclose(found, only_second)


def test_node_permutation_equivariance(graph: Graph, quick: FDGCL) -> None:
    embedding = quick.set_params(dtype="float64").fit_transform(graph)
    order = np.random.default_rng(0).permutation(80)
    moved = quick.transform(permuted(graph, order))
    assert_agree(moved, embedding[order])


def test_new_nodes_do_not_move_the_old(graph: Graph, quick: FDGCL) -> None:
    embedding = quick.fit_transform(graph)
    other = block_model(40, 3, degree=4, num_features=7, seed=9)
    union = Graph(
        sparse.block_diag([graph.adjacency, other.adjacency], format="csr"),
        features=np.vstack([graph.features, other.features]),
    )
    found = quick.transform(union)
    assert found.shape == (120, 12)
    assert_agree(found[:80], embedding)


def test_a_graph_smaller_than_a_batch_can_be_embedded(graph: Graph) -> None:
    model = quick_model(batch_size=60).fit(graph)
    small = block_model(20, 2, degree=4, num_features=7, seed=9)
    assert model.transform(small).shape == (20, 12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda g: g.with_features(np.array(g.features)[:, :5]),
            "trained on 7 features",
        ),
        (lambda g: dataclasses.replace(g, features=None), "'spectral' features"),
        (
            lambda g: g.with_features(g.features, names=list("abcdefx")),
            "lacks 1 of the 7 features .* 'g'; it has others: 'x'",
        ),
    ],
)
def test_other_features_are_refused(
    graph: Graph, quick: FDGCL, change: object, message: str
) -> None:
    quick.fit(graph.with_features(graph.features, names=list("abcdefg")))
    with pytest.raises(InputError, match=message):
        quick.transform(change(graph))  # type: ignore[operator]


def test_features_are_found_by_name(graph: Graph, quick: FDGCL) -> None:
    x = np.array(graph.features)
    embedding = quick.fit_transform(graph.with_features(x, names=list("abcdefg")))
    turned = graph.with_features(x[:, ::-1], names=list("gfedcba"))
    assert quick.transform(turned).tobytes() == embedding.tobytes()
    wider = np.column_stack([x[:, :1], x])
    more = graph.with_features(wider, names=["other", *"abcdefg"])
    assert quick.transform(more).tobytes() == embedding.tobytes()
    assert any("not trained on: 'other'" in notice for notice in quick.notices_)


def test_features_of_another_scale_are_refused(quick: FDGCL) -> None:
    edges = pa.table({"source": np.arange(60), "target": (np.arange(60) + 1) % 60})
    people = pa.table({"id": np.arange(60), "age": np.arange(60), "paid": [0, 1] * 30})
    quick.fit(read_graph(edges, people))
    older = people.set_column(1, "age", pa.array(np.arange(60) * 2 + 7))
    with pytest.raises(InputError, match=r"schema=model.feature_schema_"):
        quick.transform(read_graph(edges, older))
    same = read_graph(edges, older, schema=quick.feature_schema_)
    assert quick.transform(same).shape[0] == 60


def test_a_graph_without_features(graph: Graph, quick: FDGCL) -> None:
    bare = dataclasses.replace(graph, features=None)
    embedding = quick.fit_transform(bare)
    assert any("no features" in notice for notice in quick.notices_)
    assert quick.transform(bare).tobytes() == embedding.tobytes()
    elsewhere = block_model(60, 2, num_features=0, seed=2)
    with pytest.raises(InputError, match="belong to one graph alone"):
        quick.transform(elsewhere)
    by_degree = quick.set_params(structural="degree").fit(bare)
    assert by_degree.transform(elsewhere).shape == (60, 12)


def test_uninformative_edges_leave_the_local_view_alone(quick: FDGCL) -> None:
    drawn = block_model(600, 2, homophily=0.5, num_features=16, seed=0)
    quick.fit(drawn)
    assert quick._config.decisions["beta"] == 1
    assert any("local view alone" in notice for notice in quick.notices_)
    quick.set_params(beta=0.3).fit(drawn)
    assert quick._config.decisions["beta"] == 0.3
    assert not any("local view alone" in notice for notice in quick.notices_)


@pytest.mark.parametrize("kind", ["random", "spectral"])
def test_features_made_from_edges_still_find_the_classes(kind: str) -> None:
    """Noise has nothing to say of neighbours, yet spreading it reveals the edges."""
    drawn = block_model(600, 2, homophily=0.95, num_features=0, seed=0)
    model = FDGCL(dim=64, structural=kind, device="cpu")
    embedding = model.fit_transform(drawn)
    assert model._config.decisions["beta"] == [1.0, 1.0]
    # It reaches 0.95 and more, and 0.014 is one standard deviation of 480 test nodes.
    assert linear_probe(embedding, drawn.y, drawn.splits).test_mean > 0.8


def test_directed_edges_without_a_direction_give_a_notice(quick: FDGCL) -> None:
    directed = block_model(60, 2, num_features=4, directed=True, seed=0)
    default = quick.fit_transform(directed)
    assert any("directed" in notice for notice in quick.notices_)
    both_ways = quick.set_params(direction="symmetric").fit_transform(directed)
    assert not any("directed" in notice for notice in quick.notices_)
    one_way = quick.set_params(direction="out").fit_transform(directed)
    assert default.tobytes() == both_ways.tobytes()
    assert default.tobytes() != one_way.tobytes()


def _edges(pairs: list[tuple[int, int]], nodes: int, weight: float = 1.0) -> Graph:
    rows, columns = np.array(pairs).T
    values = np.full(len(pairs), weight, dtype=np.float32)
    adjacency = sparse.csr_array((values, (rows, columns)), shape=(nodes, nodes))
    x = np.random.default_rng(0).random((nodes, 3), dtype=np.float32)
    return Graph(adjacency, features=x)


SHAPES = {
    "single edge": _edges([(0, 1)], 2),
    "star": _edges([(0, i) for i in range(1, 9)], 9),
    "ring": _edges([(i, (i + 1) % 8) for i in range(8)], 8),
    "disconnected": _edges([(0, 1), (1, 0), (2, 3), (3, 2)], 6),
    "weighted": _edges([(0, 1), (1, 2), (2, 0), (2, 3)], 4, 2.5),
}


@pytest.mark.filterwarnings("ignore:.*one direction")  # as two nodes have
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("direction", [None, "out", "in"])
def test_unusual_graphs(shape: str, direction: str | None) -> None:
    model = quick_model(direction=direction)
    assert np.isfinite(model.fit_transform(SHAPES[shape])).all()


@pytest.mark.filterwarnings("ignore:the features are the same for every node")
@pytest.mark.filterwarnings("ignore:.*one direction")
def test_constant_features_give_a_finite_embedding(graph: Graph, quick: FDGCL) -> None:
    assert np.isfinite(quick.fit_transform(graph.with_features(np.ones((80, 3))))).all()


def test_save_and_load(graph: Graph, quick: FDGCL, tmp_path: Path) -> None:
    embedding = quick.fit_transform(graph)
    quick.save(tmp_path / "m")
    loaded = FDGCL.load(tmp_path / "m")
    assert loaded.transform(graph).tobytes() == embedding.tobytes()
    assert loaded.get_params() == quick.get_params()
    assert loaded.history_ == quick.history_
    assert {p.name for p in (tmp_path / "m").iterdir()} == {
        "config.json",
        "model.safetensors",
        "metrics.jsonl",
    }


def test_damaged_and_foreign_checkpoints(
    graph: Graph, quick: FDGCL, tmp_path: Path
) -> None:
    quick.fit(graph).save(tmp_path)
    model, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    whole = model.read_bytes()
    for content in (whole[:-50], b"not a model", b""):
        model.write_bytes(content)
        with pytest.raises(InputError, match="not a whole safetensors file"):
            FDGCL.load(tmp_path)
    model.write_bytes(whole)
    good = json.loads(config.read_text())
    for damage, message in [
        ({"format": "other"}, "not written by this version"),
        ({"format": "fdgcl-run-2"}, "not written by this version"),  # had no window
        ({"settings": {**good["settings"], "dim": 9}}, "does not fit the settings"),
        ({"settings": {**good["settings"], "dimm": 9}}, "unknown setting 'dimm'"),
    ]:
        config.write_text(json.dumps({**good, **damage}))
        with pytest.raises(InputError, match=message):
            FDGCL.load(tmp_path)
    config.write_text("{")
    with pytest.raises(InputError, match="damaged"):
        FDGCL.load(tmp_path)
    with pytest.raises(InputError, match="not a run folder"):
        FDGCL.load(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"orders": (0.0, 1.0)}, r"orders must lie in \(0, 1\], got 0.0"),
        ({"orders": (0.5, 1.5)}, "got 1.5"),
        ({"orders": ()}, "orders must be some numbers"),
        ({"orders": [0.5] * 65}, "at most 64 orders"),
        ({"orders": (0.5,)}, "compares views of two orders or more, and there is one"),
        ({"pairs": "some"}, "unknown pairs 'some'"),
        ({"beta": (0.5, 0.2, 0.3)}, "weights of all 2 views"),
        ({"beta": (0.0, 0.0)}, "not all of them 0"),
        ({"step": 3.0, "time": 2.0}, "step must not exceed time"),
        ({"step": 0.0}, "step must be positive"),
        ({"time": -1.0}, "time must be positive"),
        ({"dim": 0}, "dim must be a whole number of at least 1"),
        ({"solver": "predicter"}, 'did you mean "predictor"'),
        ({"loss": "cosmeen"}, 'did you mean "cosmean"'),
        ({"activation": "rely"}, 'did you mean "relu"'),
        ({"batch_size": 81}, "batch_size must not exceed"),
        ({"skip": 2}, "does not divide the 3 steps"),
        ({"skip": "sometimes"}, "unknown skip"),
        ({"beta": 1.5}, r"beta must lie in \[0, 1\]"),
        ({"epochs": -1}, "epochs must be a whole number of at least 0"),
        ({"device": "tpu"}, "unknown device"),
        ({"standardize": "yes"}, "standardize must be True or False"),
        ({"strategy": "in-loop", "batch_size": 8}, "takes no batch_size"),
    ],
)
def test_bad_settings_are_named(graph: Graph, settings: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quick_model(**{**QUICK, **settings}).fit(graph)


def test_what_is_not_a_graph_is_refused(quick: FDGCL) -> None:
    with pytest.raises(InputError, match="takes a fdgcl Graph, got ndarray"):
        quick.fit(np.eye(3))  # type: ignore[arg-type]


def test_transform_before_fit(graph: Graph, quick: FDGCL) -> None:
    with pytest.raises(InputError, match="not fitted"):
        quick.transform(graph)


@pytest.mark.gpu
def test_cuda_agrees_with_the_cpu(graph: Graph) -> None:
    settings = {**QUICK, "dtype": "float64"}
    on_cpu = quick_model(**settings).fit_transform(graph)
    on_cuda = quick_model(**{**settings, "device": "cuda"}).fit_transform(graph)
    assert_agree(on_cuda, on_cpu)
