"""A comparison and a scaling run, small: what they hold, and that they agree."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fdgcl._checks import InputError
from fdgcl.benchmark import Order, compare
from fdgcl.benchmark.comparison import Comparison, Way
from fdgcl.benchmark.problems import Sizes, bench_settings, generate
from fdgcl.benchmark.roofline import Floor, Rates
from fdgcl.benchmark.scaling import AXES, QUANTITIES, Ladder, Point, Scaling, scale
from fdgcl.benchmark.scaling_page import exponents, scaling_page
from fdgcl.report.page import check_names
from tolerances import assert_agree, half_digits


def _comparison(device: str) -> Comparison:
    graph = generate(150, 500, 8, seed=0)
    settings = bench_settings(dim=8, time=4.0, device=device)
    order = Order(epochs=3, repeats=2, loop_epochs=2, plain=True, probe=True)
    stages: list[str] = []
    found = compare(graph, settings, order, stages.append)
    assert stages[0] == "watching the memory"
    assert stages[-1] == "training with the solver in the loop"
    return found


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_both_ways_agree_and_are_told_whole(device: str) -> None:
    found = _comparison(device)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(told) == {
        "ours",
        "plain",
        "loop",
        "differences",
        "floor",
        "probe",
        "ratios",
    }
    assert told["differences"]["epochs"] == 1 + 2
    assert told["loop"]["timed_epochs"] == 2
    assert told["differences"]["loss"] < half_digits("float32")
    assert told["differences"]["untrained"] < half_digits("float32")
    # Adam divides each gradient by its size: of the smallest here, 1/400 of the
    # largest, rounding counts 400 times as much. It may not come to one of the three
    # updates, which move weights by the learning rate; leaving one out is more.
    update = bench_settings(device=device).lr
    assert told["differences"]["embedding"] < update
    assert told["floor"]["flop"] == 8 * 150 * 8 * 8
    distance = told["ours"]["epoch_seconds"] / told["floor"]["seconds"]
    assert told["floor"]["distance"] == pytest.approx(distance)
    assert told["ours"]["timed_epochs"] == 2 * (3 - 1)
    assert not told["ours"]["extrapolated"]
    assert told["loop"]["extrapolated"]
    assert told["probe"]["splits"] == 10
    assert 0 < told["probe"]["accuracy"] <= 1
    for way in ("ours", "plain", "loop"):
        assert 0 < told[way]["epoch_seconds"] < told[way]["training_seconds"]
    loop, ours = told["loop"], told["ours"]
    whole = loop["precompute_seconds"] + 3 * loop["epoch_seconds"]
    assert loop["training_seconds"] == pytest.approx(whole)
    ratio = loop["training_seconds"] / ours["training_seconds"]
    assert told["ratios"]["training"] == pytest.approx(ratio)


def test_what_is_not_asked_for_is_not_done() -> None:
    graph = replace(generate(60, 100, 4, seed=0), y=None)
    settings = bench_settings(dim=4, time=2.0, device="cpu", solver="exact")
    found = compare(graph, settings, Order(epochs=1, repeats=1, loop_epochs=0))
    assert (found.loop, found.differences, found.ratios) == (None, None, None)
    assert (found.plain, found.probe) == (None, None)


def test_bad_orders_are_refused() -> None:
    with pytest.raises(InputError, match="repeats must be a whole number"):
        Order(repeats=0)
    bare = replace(generate(60, 100, 4, seed=0), features=None)
    with pytest.raises(InputError, match="without features"):
        compare(bare, bench_settings(device="cpu"), Order())
    unlabelled = replace(generate(60, 100, 4, seed=0), y=None)
    order = Order(epochs=1, repeats=1, loop_epochs=0, probe=True)
    with pytest.raises(InputError, match="no labels"):
        compare(unlabelled, bench_settings(dim=4, device="cpu"), order)
    with pytest.raises(InputError, match=r"edges must be at most 3, .* got 7"):
        Sizes(4, 7, 1, 1, 1)


def test_ratios_divide_theirs_by_ours() -> None:
    ours = Way(1.0, {"operator": 1.0}, 2.0, 5.0, 100, 2, False)
    theirs = Way(0.5, {"operator": 0.5}, 6.0, 20.0, 300, 2, True)
    floor = Floor(10, 10, Rates(10.0, 20.0))
    found = Comparison(ours, None, theirs, None, floor, None)
    assert found.ratios == {"epoch": 3.0, "training": 4.0, "memory": 3.0}
    assert found.distance == 2.0


def _scaling() -> Scaling:
    """Made-up times: N E in the diffusion, N F d in an epoch."""
    base = Sizes(1000, 2000, 16, 16, 8)
    points = []
    for axis, names in AXES.items():
        for factor in (0.5, 1.0, 2.0, 4.0, 8.0):
            sizes = replace(
                base, **{n: round(getattr(base, n) * factor) for n in names}
            )
            diffusion = 1e-6 * sizes.edges * sizes.features * sizes.steps
            epoch = 1e-6 * sizes.nodes * sizes.features * sizes.dim
            points.append(Point(axis, factor, sizes, diffusion, diffusion, epoch, 0))
    return Scaling(base, 1, dict.fromkeys(QUANTITIES, 0.0), tuple(points))


def test_exponents_are_found_along_each_axis() -> None:
    found = _scaling()
    expected = {
        "nodes": (0, 1),
        "edges": (1, 0),
        "graph": (1, 1),
        "features": (1, 1),
        "dim": (0, 1),
        "steps": (1, 0),
    }
    for axis, pair in expected.items():
        for quantity, exponent in zip(
            ("diffusion_seconds", "epoch_seconds"), pair, strict=True
        ):
            growth = found.growth(axis, quantity)
            assert growth is not None
            assert_agree(growth.exponent, exponent, size=1)
        assert found.growth(axis, "peak_bytes") is None


def test_the_page_tells_all_of_it() -> None:
    found = _scaling()
    table = exponents(found)
    assert [row[0] for row in table.rows] == list(AXES)
    assert table.rows[0][1] == "500 to 8,000"
    assert table.rows[1][3] == "1.00 ± 0.00 (4)"
    assert table.rows[1][5] == "-"
    page = scaling_page(found, {"command": "fdgcl bench --scaling"})
    assert len(check_names(page)) == len(QUANTITIES)
    for figure in page.figures():
        assert [series.name for series in figure.series] == [*AXES, "in proportion"]


def test_a_small_ladder_is_measured() -> None:
    ladder = Ladder(Sizes(80, 120, 4, 4, 2), (1.0, 2.0))
    seen: list[tuple[int, int]] = []
    found = scale(
        ladder, device="cpu", repeats=1, progress=lambda *done: seen.append(done)
    )
    assert seen == [(done, 24) for done in range(24)]
    assert [point.axis for point in found.points[:2]] == ["nodes", "nodes"]
    assert found.along("graph")[1].sizes == Sizes(160, 240, 4, 4, 2)
    assert found.along("steps")[1].sizes == Sizes(80, 120, 4, 4, 4)
    records = [json.loads(json.dumps(one, allow_nan=False)) for one in found.records()]
    kinds = [record["kind"] for record in records]
    assert kinds == ["point"] * 12 + ["fit"] * (len(AXES) * len(QUANTITIES))
    assert all(p.precompute_seconds > p.diffusion_seconds > 0 for p in found.points)
