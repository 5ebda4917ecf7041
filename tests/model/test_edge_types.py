"""Edges of several types: features diffused along each, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse

from fdgcl import FDGCL, Graph, GraphDataset, block_model, linear_probe
from fdgcl._checks import InputError
from fdgcl.diffusion import polynomial
from fdgcl.graphs.edges import build_csr
from fdgcl.methods.fdgcl.edge_types import MOST_TYPES
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation, prepare
from helpers.papers_method import papers_method
from tolerances import half_digits

from .conftest import QUICK, quick_model

NAMES = ("buys", "likes", "views")
# One direction alone, and each node the mean of whom it points to: A then has rows of
# non-negative numbers whose sum is 1, so that no |A^k x| exceeds the largest |x|.
MEANS: dict[str, Any] = {
    **QUICK,
    "dtype": "float64",
    "direction": "out",
    "normalization": "row",
    "time": 3.0,
    "step": 1.0,
    "rate": 0.3,
    "orders": (0.5, 1.0),
}


def with_relations(graph: Graph, relations: dict[str, sparse.csr_array]) -> Graph:
    parts = [*relations.values()]
    whole = sparse.csr_array(sum(parts[1:], parts[0]) > 0, dtype=np.float32)
    return replace(graph, adjacency=whole, relations=relations)


def draw(seed: int = 0, nodes: int = 60, names: tuple[str, ...] = NAMES) -> Graph:
    """Directed edges of several types, drawn by themselves, on the same nodes."""
    parts = {
        name: block_model(nodes, 2, degree=4, directed=True, seed=seed + at).adjacency
        for at, name in enumerate(names)
    }
    graph = block_model(nodes, 3, num_features=7, num_splits=0, seed=seed)
    return with_relations(graph, parts)


@pytest.fixture
def typed() -> Graph:
    return draw()


def gamma(roundings: int) -> float:
    """Relative error of so many roundings in float64, one upon another."""
    lost = roundings * np.finfo(np.float64).eps / 2
    return float(lost / (1 - lost))


def roundings(prepared: DiffusionPreparation) -> int:
    """At most, in a sum of powers of A: terms of a row, its weights, the sum itself."""
    widest = max(
        int(np.diff(operator.matrix.matrix.indptr).max())
        for operator in prepared.operators
    )
    products = max(one.products for one in prepared.filters)
    # A weight is made by three roundings (degree aside, which is a sum over the row).
    return products * (2 * widest + 3) + products + 2


def diffused(prepared: DiffusionPreparation) -> list[NDArray[np.float64]]:
    source = prepared.source(torch.device("cpu"))
    return [source.kept(name).numpy() for name in ("local", "global")]


def test_features_of_each_type_stand_side_by_side(typed: Graph) -> None:
    prepared = prepare(typed, FDGCL(**MEANS).check())
    assert typed.relations is not None
    alone = [
        prepare(replace(typed, adjacency=part, relations=None), prepared.settings)
        for part in typed.relations.values()
    ]
    wanted = zip(*(diffused(one) for one in alone), strict=True)
    sizes = np.abs(prepared.filters[0].coefficients).sum(1)
    for found, parts, size in zip(diffused(prepared), wanted, sizes, strict=True):
        assert found.shape == (60, 3 * 7)
        # Both are rounded alike; and centred: by a mean that is added again.
        bound = 2 * gamma(roundings(prepared) + len(found) + 3) * size
        error = np.abs(found - np.hstack(parts)).max()
        assert error <= bound * np.abs(prepared.features).max()


def test_all_columns_at_once_are_written_in_place(
    typed: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(typed, FDGCL(**MEANS).check())
    before = diffused(prepared)
    # As on a GPU, where each term is added to a view's own columns.
    monkeypatch.setattr(polynomial, "products_are_exact", lambda _: False)
    size = np.abs(prepared.filters[0].coefficients).sum(1).max()
    for one, other in zip(before, diffused(prepared), strict=True):
        bound = 2 * gamma(roundings(prepared) + len(one) + 3) * size
        assert np.abs(one - other).max() <= bound * np.abs(prepared.features).max()


def test_the_larger_order_is_eulers_rule_along_each_type(typed: Graph) -> None:
    prepared = prepare(typed, FDGCL(**MEANS).check())
    assert typed.relations is not None
    blocks = []
    for part in typed.relations.values():
        weights = part.toarray().astype(np.float64)
        np.fill_diagonal(weights, 1)
        operator = weights / weights.sum(1, keepdims=True)
        x = prepared.features.astype(np.float64)
        for _ in range(3):
            x = x + 0.3 * (operator @ x - x)
        blocks.append(x)
    # Euler's rule takes 60 terms a row and four roundings more in each of three steps.
    # Coefficients are made of four values by some 40 roundings; their sum is 1.
    count = roundings(prepared) + 3 * (60 + 4) + 4 * 40 + 60 + 3
    error = np.abs(diffused(prepared)[1] - np.hstack(blocks)).max()
    assert error <= 2 * gamma(count) * np.abs(prepared.features).max()


@pytest.mark.parametrize("sparse_features", [False, True])
def test_in_every_epoch_as_before_training(typed: Graph, sparse_features: bool) -> None:
    if sparse_features:
        typed = typed.with_features(sparse.csr_array(typed.features))
    ways = [
        prepare(typed, FDGCL(**MEANS, strategy=way).check())
        for way in ("precompute", "in-loop")
    ]
    weight = torch.from_numpy(np.random.default_rng(0).standard_normal((21, 5)))
    before, within = (way.source(torch.device("cpu")) for way in ways)
    x = np.abs(typed.features @ np.eye(7))
    encoded = sum(x @ np.abs(part) for part in np.split(weight.numpy(), 3))
    for view in (0, 1):
        size = np.abs(ways[0].filters[0].coefficients[view]).sum()
        # Beside the diffusion: products over the columns, a sum of types, the mean.
        bound = gamma(roundings(ways[0]) + 21 + 3 + len(x) + 3) * size * encoded.max()
        error = (before.hidden(view, weight) - within.hidden(view, weight)).abs().max()
        # Two computations, the first of which adds features less their means (at most
        # twice as large as they are) and the means.
        assert float(error) <= (1 + 3) * bound


def test_types_are_told_and_counted(typed: Graph) -> None:
    model = quick_model()
    plan = model.plan(typed)
    told = "3 edge types (buys, likes, views): features are diffused along each by"
    assert model.notices_[0] == f"{told} itself, 3 x 7 columns"
    assert "directed" in model.notices_[1]
    load = plan.workload
    assert (load.relations, load.features, load.columns) == (3, 7, 21)
    assert "weights in the operators of 3 edge types, 7 features" in plan.describe()[0]
    assert plan.sparse_products == load.products * 21
    merged = quick_model(edge_types="merge").plan(typed)
    assert plan.dense_flops == 3 * merged.dense_flops
    assert plan.peak_bytes > merged.peak_bytes


def test_stability_covers_the_widest_spectrum() -> None:
    pairs = block_model(40, 2, degree=6, num_features=4, num_splits=0, seed=0)
    ring = np.arange(40)
    # A ring of even length has the frequency 2, unless self-loops pull it in.
    cycle = build_csr(
        np.r_[ring, (ring + 1) % 40], np.r_[(ring + 1) % 40, ring], None, 40
    )
    graph = with_relations(pairs, {"dense": pairs.adjacency, "ring": cycle})
    model = quick_model(self_loops=0.0)
    model.plan(graph)
    assert model.stability_ is not None
    # An eigenvalue of a symmetric matrix in float64; 1e-12 is added to be above it.
    allowed = half_digits(np.float64)
    assert model.stability_.lambda_max == pytest.approx(2, rel=allowed)
    alone = quick_model(self_loops=0.0)
    alone.plan(pairs)
    assert alone.stability_ is not None
    assert alone.stability_.lambda_max < 1.9


def test_an_informative_type_is_enough_for_both_views() -> None:
    good = block_model(900, 3, degree=6, homophily=0.9, signal=1.2, seed=2)
    rng = np.random.default_rng(2)
    noise = {f"noise {at}": random_edges(rng, 900, 24) for at in range(2)}
    graph = with_relations(good, {"friend": good.adjacency, **noise})
    separate, merged = (
        prepare(graph, papers_method(edge_types=how).check())
        for how in ("separate", "merge")
    )
    assert [one.is_informative for one in separate.correlations] == [True, False, False]
    assert (separate.beta, merged.beta) == (0.5, 1.0)


def random_edges(rng: np.random.Generator, nodes: int, degree: int) -> sparse.csr_array:
    start, end = rng.integers(0, nodes, (2, nodes * degree // 2))
    start, end = start[start != end], end[start != end]
    return build_csr(np.r_[start, end], np.r_[end, start], None, nodes)


@pytest.mark.parametrize("method", [FDGCL, papers_method])
def test_types_that_matter_are_worth_telling_apart(
    method: Callable[..., FDGCL],
) -> None:
    """Friends are of one class, and twice as many random edges say nothing.

    Measured with seeds 0 to 3: by the defaults separate 88.9 to 92.8 %, merged 64.3 to
    75.0 %; by the paper's method separate 90.3 to 94.5 %, merged 48.7 to 64.6 %; the
    features alone 47.7 to 55.1 %.
    """
    good = block_model(900, 3, degree=6, homophily=0.9, signal=0.8, seed=0)
    noise = random_edges(np.random.default_rng(100), 900, 12)
    graph = with_relations(good, {"friend": good.adjacency, "random": noise})
    separate, merged = (
        linear_probe(
            method(dim=64, device="cpu", edge_types=how).fit_transform(graph),
            graph.y,
            graph.splits,
        ).test_mean
        for how in ("separate", "merge")
    )
    assert separate > 0.85
    assert separate > merged + 0.15


def test_merged_types_are_a_graph_without(typed: Graph) -> None:
    bare = replace(typed, relations=None)
    merged = quick_model(edge_types="merge").fit(typed)
    plain = quick_model().fit(bare)
    assert np.array_equal(merged.transform(typed), plain.transform(bare))
    assert merged.notices_ == plain.notices_


def test_a_single_type_is_a_graph_without(typed: Graph) -> None:
    one = replace(typed, relations={"buys": typed.adjacency})
    bare = replace(typed, relations=None)
    model = quick_model().fit(one)
    assert "all edges are of one type (buys)" in model.notices_[0]
    expected = quick_model().fit_transform(bare)
    assert np.array_equal(model.transform(bare), expected)
    assert np.array_equal(model.transform(one), expected)


@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
@pytest.mark.parametrize("scaling", ["none", "tf-idf"])
def test_saved_and_loaded_it_embeds_alike(
    typed: Graph, tmp_path: Path, strategy: str, scaling: str
) -> None:
    positive = typed.with_features(np.maximum(typed.features, 0))
    model = papers_method(
        **{**QUICK, "hidden": 12, "dim": 100},
        strategy=strategy,
        feature_scaling=scaling,
        keep=("features", "local"),
    )
    z = model.fit_transform(positive, run=tmp_path / "run")
    assert z.shape == (60, 12 + 7 + 3 * 7)
    model.save(tmp_path / "saved")
    for folder in ("run", "saved"):
        loaded = FDGCL.load(tmp_path / folder)
        assert loaded.get_params() == model.get_params()
        assert np.array_equal(loaded.transform(positive), z)
        first, second = loaded.views(positive)
        assert first.shape == second.shape == (60, 12)


def test_the_order_of_types_makes_no_difference(typed: Graph) -> None:
    assert typed.relations is not None
    turned = replace(typed, relations=dict(reversed([*typed.relations.items()])))
    model = quick_model().fit(typed)
    assert np.array_equal(model.transform(turned), model.transform(typed))


def test_a_type_without_edges_counts_as_such(typed: Graph) -> None:
    assert typed.relations is not None
    model = quick_model().fit(typed)
    kept = {name: typed.relations[name] for name in ("views", "buys")}
    some = with_relations(typed, kept)
    found = model.transform(some)
    assert model.notices_[0] == (
        "this graph has no edges of type likes: nodes have no neighbours along these"
    )
    none = sparse.csr_array(typed.adjacency.shape, dtype=np.float32)
    given = replace(some, relations={**kept, "likes": none})
    assert np.array_equal(model.transform(given), found)
    assert "no edges of type" not in model.notices_[0]
    assert not np.array_equal(model.transform(typed), found)


@pytest.mark.parametrize(
    ("trained", "other", "message"),
    [
        (NAMES, (), r"edge types \(buys, likes, views\), this graph has edges without"),
        (NAMES, ("buys", "hates"), r"\(buys, likes, views\), .* has others: hates"),
        ((), NAMES, r"edges without types, this graph has edge types \(buys, likes, v"),
        (("buys",), NAMES, r"edges without types, this graph has edge types"),
    ],
)
def test_other_types_than_in_training_are_refused(
    trained: tuple[str, ...], other: tuple[str, ...], message: str
) -> None:
    graphs = [
        draw(names=names) if names else replace(draw(), relations=None)
        for names in (trained, other)
    ]
    model = quick_model().fit(graphs[0])
    with pytest.raises(InputError, match=message):
        model.transform(graphs[1])


def test_what_edge_types_do_not_go_with(typed: Graph) -> None:
    with pytest.raises(InputError, match=r"'cde' .* takes no edge types.*--edge-types"):
        quick_model(dynamics="cde").fit(typed)
    assert quick_model(dynamics="cde", edge_types="merge").plan(typed)
    many = draw(names=tuple(f"type {at:02}" for at in range(MOST_TYPES + 1)))
    with pytest.raises(
        InputError, match=r"16 edge types at most, got 17.*--edge-types"
    ):
        quick_model().plan(many)
    assert quick_model(edge_types="merge").plan(many)
    with pytest.raises(InputError, match=r"edge_types.*'join'.*separate, merge"):
        FDGCL(edge_types="join").check()
    with pytest.raises(InputError, match="many graphs takes no edge types"):
        GraphDataset.from_graphs([typed])


def test_types_that_are_others_backwards_are_told(typed: Graph) -> None:
    assert typed.relations is not None
    back = {"bought by": sparse.csr_array(typed.relations["buys"].T)}
    graph = with_relations(typed, {**typed.relations, **back})
    message = "type 'buys' is 'bought by' backwards: leave one of them out"
    model = quick_model()
    model.plan(graph)
    assert any(message in notice for notice in model.notices_)
    model.set_params(direction="out").plan(graph)
    assert not any(message in notice for notice in model.notices_)


def test_directions_are_those_of_each_type() -> None:
    graph = draw(names=("buys",))
    back = sparse.csr_array(graph.adjacency.T)
    both = with_relations(graph, {"buys": graph.adjacency, "bought by": back})
    assert both.is_symmetric
    model = quick_model()
    model.plan(both)
    assert any("edges are directed" in notice for notice in model.notices_)
