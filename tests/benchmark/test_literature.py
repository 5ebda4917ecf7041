"""The solver in the loop: right, with all of its history, and trained as ours is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdgcl import Graph
from fdgcl._checks import InputError
from fdgcl.benchmark.problems import bench_settings
from fdgcl.benchmark.solver_in_loop import SolverInLoop, predictor_states
from fdgcl.benchmark.trainings import train_ours, train_theirs
from fdgcl.diffusion.solvers import SOLVERS
from fdgcl.diffusion.stepping import solve
from fdgcl.graphs import block_model
from fdgcl.methods.fdgcl.preparation import prepare
from tolerances import assert_agree


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(70, num_classes=2, degree=6, num_features=5, seed=1)


def _settings(**changes: Any) -> Any:
    chosen = {"dim": 6, "time": 4.0, "device": "cpu", "dtype": "float64"}
    return bench_settings(**{**chosen, "strategy": "precompute", **changes})


@pytest.mark.parametrize("order", [0.01, 0.4, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_states_are_those_of_our_solver(order: float, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(8, 8, generator=generator, dtype=dtype) / 8
    y0 = torch.randn(8, 3, generator=generator, dtype=dtype)
    options: dict[str, Any] = {"order": order, "step": 0.3}
    for steps, (state, _) in enumerate(
        predictor_states(lambda y: -matrix @ y, y0, **options, steps=7), start=1
    ):
        scheme: Any = SOLVERS["predictor"]
        ours = solve(
            lambda _, y: -matrix @ y, y0, **options, steps=steps, scheme=scheme
        )
        assert_agree(state, ours)


def test_order_one_is_eulers_closed_form() -> None:
    y0 = torch.ones(1, dtype=torch.float64)
    states = predictor_states(lambda y: -0.7 * y, y0, order=1.0, step=0.2, steps=9)
    found = [float(state) for state, _ in states]
    assert_agree(found, [(1 - 0.14) ** k for k in range(1, 10)])


def test_one_step_is_what_the_formula_says() -> None:
    y0 = torch.full((1,), 2.0, dtype=torch.float64)
    states = predictor_states(lambda y: 3 * y, y0, order=0.5, step=0.25, steps=1)
    expected = 2 + 0.5 / math.gamma(1.5) * 6
    assert [float(state) for state, _ in states] == pytest.approx([expected])


@pytest.mark.parametrize("order", [0.3, 1.0])
def test_the_history_grows_with_the_steps(order: float) -> None:
    seen: list[int] = []
    y0 = torch.ones(2)
    states = predictor_states(lambda y: -y, y0, order=order, step=0.1, steps=6)
    for _, history in states:
        seen.append(len(history))
        assert len({id(slope) for slope in history}) == len(history)
    assert seen == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("skip", ["none", "every-step", "end"])
@pytest.mark.parametrize("direction", ["symmetric", "out"])
def test_hidden_features_are_the_diffused_ones(
    graph: Graph, skip: str, direction: str
) -> None:
    settings = _settings(skip=skip, direction=direction)
    prepared = prepare(graph, settings)
    loop, ours = SolverInLoop(prepared), prepared.source(torch.device("cpu"))
    weight = torch.randn(5, 6, dtype=torch.float64)
    for view in (0, 1):
        assert_agree(loop.hidden(view, weight), ours.hidden(view, weight))
    for name in ("features", "local", "global"):
        kept = ours.kept(name).double()
        assert_agree(loop.kept(name), kept)


def test_gradients_go_through_every_step(graph: Graph) -> None:
    prepared = prepare(graph, _settings(direction="out", normalization="row"))
    loop = SolverInLoop(prepared)
    weight = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: loop.hidden(0, w)[:5], weight)


@pytest.mark.parametrize("sparse", [False, True])
def test_both_ways_train_the_same(graph: Graph, sparse: bool) -> None:
    if sparse:
        graph = graph.with_features(csr_array(graph.features))
    settings = _settings(batch_size=70)
    ours = train_ours(graph, settings, 5, embed=True)
    theirs = train_theirs(graph, replace(settings, fast=False), 5, embed=True)
    assert_agree(ours.losses, theirs.losses)
    assert len(set(theirs.losses)) == 5
    for name in ("untrained", "embedding"):
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert_agree(found, expected)
    assert np.abs(ours.embedding - ours.untrained).max() > 1e-2
    assert set(ours.parts) == {"operator", "spectrum", "diffusion"}
    assert set(theirs.parts) == {"operator"}
    assert len(ours.epochs) == len(theirs.epochs) == 5
    assert min(*ours.epochs, *theirs.epochs) > 0


def test_what_has_no_such_steps_is_refused(graph: Graph) -> None:
    prepared = prepare(graph, _settings(solver="corrector"))
    with pytest.raises(InputError, match=r"solver 'predictor' only, got 'corrector'"):
        SolverInLoop(prepared)
