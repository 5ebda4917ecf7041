"""Settings that train, and settings that go wrong without ending the search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL, linear_probe
from fdgcl.tuning import Problem
from fdgcl.tuning.objective import HopelessError, Objective, free_memory
from tuning.tiny import run_search, tiny_graph, tiny_plan, tiny_space, tiny_start


def scores(problem: Problem, **changes: Any) -> list[tuple[float, ...]]:
    objective = Objective(problem, "cpu")
    return list(objective.scores(tiny_start(**changes), 0, lambda: None))


def test_it_scores_what_the_model_embeds() -> None:
    graph = tiny_graph(splits=7)
    found = list(
        Objective(Problem.of(graph), "cpu").scores(tiny_start(), 4, lambda: None)
    )
    assert [len(part) for part in found] == [5, 2]
    z = FDGCL(**{**tiny_start(), "seed": 4}).fit_transform(graph)
    expected = linear_probe(z, graph.y, graph.splits).val
    assert tuple(value for part in found for value in part) == expected


def test_divergence_is_hopeless(problem: Problem) -> None:
    wild = {"rate": 1e6, "time": 20.0, "standardize": False}
    with pytest.raises(HopelessError, match="finite"):
        scores(problem, **wild)


def test_a_collapse_is_hopeless() -> None:
    graph = tiny_graph()
    shifted = graph.with_features(np.array(graph.features) + 6)
    plain = {"standardize": False, "activation": "relu", "init_scale": 1.0}
    with pytest.raises(HopelessError, match="collapsed"):
        scores(Problem.of(shifted), **plain, epochs=60)


def test_settings_that_do_not_fit_together_are_hopeless(problem: Problem) -> None:
    with pytest.raises(HopelessError, match="does not divide"):
        scores(problem, skip=2, time=3.0)


def test_too_little_memory_is_hopeless(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdgcl.tuning.objective.free_memory", lambda device: 100_000)
    with pytest.raises(HopelessError, match="memory"):
        scores(problem, dim=4096)
    assert scores(problem)


def test_free_memory_is_told() -> None:
    import torch

    free = free_memory(torch.device("cpu"))
    assert 2**20 < free < 2**50


def test_faults_of_ours_are_not_hidden(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(FDGCL, "fit_transform", broken)
    with pytest.raises(KeyError, match="a fault"):
        scores(problem)


def test_a_search_goes_on_after_trials_that_diverge(
    problem: Problem, tmp_path: Path
) -> None:
    text = b"[search]\nrate = { choices = [0.5, 1e9] }\nlr = { low = 0.01, high = 0.1 }"
    plan = tiny_plan(
        problem,
        space=tiny_space(text),
        start={
            **tiny_start(rate=0.5, time=20.0, standardize=False, epochs=1),
            "device": "cpu",
        },
        seeds=(0,),
    )
    records = run_search(
        tmp_path / "study", Objective(problem, "cpu"), plan, trials=8, top=1, fresh=1
    )
    states = {one.settings["rate"]: one.state for one in records}
    assert states[1e9] == "failed"
    assert states[0.5] in ("complete", "pruned")
    failed = next(one for one in records if one.state == "failed")
    assert "finite" in failed.reason
