"""Training: batches, what is watched, failures, interruption and resumption."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.methods.fdgcl import DiffusedFeatures, Encoders, batching
from fdgcl.training import (
    EpochRecord,
    NonFiniteLossError,
    TrainingWarning,
    effective_rank,
    warn_of_collapse,
)
from tolerances import assert_agree

from .conftest import QUICK, quick_model


def test_standardisation_is_exact_in_any_batch() -> None:
    generator = torch.Generator().manual_seed(0)
    diffused = [
        torch.randn(50, 6, generator=generator, dtype=torch.float64) * 3 + 2
        for _ in range(2)
    ]
    source = DiffusedFeatures.in_memory(diffused)
    views = Encoders(6, 9, dtype=torch.float64)
    rows = torch.tensor([3, 3, 41, 7])
    for whole, part in zip(views(source), views(source, rows), strict=True):
        torch.testing.assert_close(part, whole[rows])
    first, _ = Encoders(6, 9, activation="linear", dtype=torch.float64)(source)
    assert_agree(first.mean(0), np.zeros(9), size=1)
    assert_agree(first.std(0, unbiased=False), np.ones(9))


def test_gradient_through_the_batch_statistics() -> None:
    """Rows of all nodes as one batch give the gradient of the full batch."""
    generator = torch.Generator().manual_seed(0)
    source = DiffusedFeatures.in_memory(
        [torch.randn(20, 4, generator=generator, dtype=torch.float64) for _ in range(2)]
    )
    views = Encoders(4, 5, dtype=torch.float64)

    def gradient(rows: torch.Tensor | None) -> torch.Tensor:
        views.zero_grad()
        first, second = views(source, rows)
        (first * second).sum().backward()
        assert views.weights[0].grad is not None
        return views.weights[0].grad.clone()

    torch.testing.assert_close(gradient(torch.arange(20)), gradient(None))


def test_large_views_are_trained_in_batches(
    graph: Graph, quick: FDGCL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "FULL_BATCH_NUMBERS", 12 * 79)
    monkeypatch.setattr(batching, "BATCH_NUMBERS", 12 * 30)
    assert quick.plan(graph).workload.batch_size == 30
    assert "batches of 30 rows" in " ".join(quick.plan_.describe())
    assert np.isfinite(quick.fit_transform(graph)).all()
    assert quick._config.decisions["lr"] == pytest.approx(quick.lr / 3)
    asked = quick_model(batch_size=30).fit(graph)
    assert asked._config.decisions["lr"] == asked.lr


def test_a_last_batch_of_one_row_joins_another(graph: Graph) -> None:
    model = quick_model(batch_size=79).fit(graph)
    assert len(model.history_) == QUICK["epochs"]


def test_effective_rank_of_known_matrices() -> None:
    assert_agree(effective_rank(torch.eye(6)), 6, torch.float32)
    assert_agree(effective_rank(torch.ones(9, 4)), 1, torch.float32)
    assert effective_rank(torch.zeros(3, 3)) == 0
    spectrum = torch.tensor([2.0, 1.0, 1.0])
    expected = float((spectrum**2).sum() ** 2 / (spectrum**4).sum())
    assert_agree(effective_rank(torch.diag(spectrum)), expected, torch.float32)


def test_a_collapse_is_named_once_and_with_advice(graph: Graph) -> None:
    shifted = graph.with_features(np.array(graph.features) + 6)
    papers = {"standardize": False, "activation": "relu", "init_scale": 1.0}
    model = quick_model(epochs=60, **papers)
    with pytest.warns(TrainingWarning, match="collapsed.*standardize=True") as caught:
        model.fit(shifted)
    assert len([w for w in caught if "collapsed" in str(w.message)]) == 1
    healthy = EpochRecord(1, 0.1, 0.999, 0.2, (5.0, 4.0), 0.1)
    assert not warn_of_collapse(healthy)


@pytest.mark.filterwarnings("ignore::fdgcl.training.TrainingWarning")
def test_a_loss_that_is_not_finite_stops_with_the_facts(
    graph: Graph, tmp_path: Path
) -> None:
    model = quick_model(rate=1e9, step=10, time=1000)
    with pytest.raises(NonFiniteLossError, match=r"epoch 1 .*norms.*unstable at step"):
        model.fit(graph, run=tmp_path / "run")
    assert all(torch.isfinite(weight).all() for weight in model._model.weights)
    assert (tmp_path / "run" / "model.safetensors").is_file()


@pytest.mark.filterwarnings("ignore::fdgcl.training.TrainingWarning")
def test_an_embedding_that_is_not_finite_is_refused(
    graph: Graph, tmp_path: Path
) -> None:
    quick_model(standardize=False).fit(graph).save(tmp_path)
    loaded = FDGCL.load(tmp_path)
    loaded.set_params(rate=1e9, step=10, time=1000)
    with pytest.raises(NonFiniteLossError, match=r"not finite.*unstable"):
        loaded.transform(graph)


def test_divergence_leaves_the_last_good_weights(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def huge_step(self: torch.optim.Adam, closure: None = None) -> None:
        with torch.no_grad():
            for group in self.param_groups:
                for weight in group["params"]:
                    weight.fill_(float("inf"))

    monkeypatch.setattr(torch.optim.Adam, "step", huge_step)
    model = quick_model()
    with pytest.raises(NonFiniteLossError, match="epoch 2"):
        model.fit(graph)
    start = quick_model(epochs=0).fit(graph)
    for weight, initial in zip(model._model.weights, start._model.weights, strict=True):
        assert torch.equal(weight, initial)


def test_amplifying_on_a_homophilic_graph_warns() -> None:
    homophilic = block_model(400, 3, degree=8, homophily=0.9, num_features=6, seed=0)
    with pytest.warns(TrainingWarning, match="amplifies high frequencies"):
        quick_model(rate=2.0).fit(homophilic)


def test_metrics_hold_one_line_an_epoch(graph: Graph, tmp_path: Path) -> None:
    model = quick_model().fit(graph, run=tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        record.to_dict() for record in model.history_
    ]
    assert set(json.loads(lines[0])) == {
        "epoch",
        "loss",
        "alignment",
        "principal_cosine",
        "effective_rank_1",
        "effective_rank_2",
        "seconds",
    }


@pytest.mark.parametrize("batch_size", [None, 25])
@pytest.mark.parametrize("how", ["exception", "signal"])
def test_an_interrupted_run_goes_on_to_the_same_result(
    graph: Graph, tmp_path: Path, batch_size: int | None, how: str
) -> None:
    settings = {**QUICK, "epochs": 8, "batch_size": batch_size}
    whole = FDGCL(**settings).fit_transform(graph, run=tmp_path / "whole")

    def stop_after_three(stage: str, done: int, total: int) -> None:
        if stage == "train" and done == 3:
            if how == "signal":
                os.kill(os.getpid(), signal.SIGINT)
            else:
                raise KeyboardInterrupt

    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        FDGCL(**settings).fit(graph, run=run, progress=stop_after_three)
    assert not (run / "model.safetensors").exists()
    again = FDGCL(**settings)
    assert again.fit_transform(graph, run=run, resume=True).tobytes() == whole.tobytes()
    assert len(again.history_) == 8
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 8
    assert not (run / "checkpoint.safetensors").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finished = FDGCL(**settings)
    assert (
        finished.fit_transform(graph, run=run, resume=True).tobytes() == whole.tobytes()
    )


def test_a_run_killed_before_its_first_checkpoint_starts_again(
    graph: Graph, tmp_path: Path
) -> None:
    whole = quick_model().fit_transform(graph, run=tmp_path / "run")
    (tmp_path / "run" / "model.safetensors").unlink()
    again = quick_model().fit_transform(graph, run=tmp_path / "run", resume=True)
    assert again.tobytes() == whole.tobytes()


def test_runs_are_not_mixed_up(graph: Graph, tmp_path: Path) -> None:
    quick_model().fit(graph, run=tmp_path / "run")
    with pytest.raises(InputError, match="holds a run already"):
        quick_model().fit(graph, run=tmp_path / "run")
    with pytest.raises(InputError, match="started with dim=12, not 13"):
        quick_model(dim=13).fit(graph, run=tmp_path / "run", resume=True)
    other = block_model(80, 3, num_features=7, seed=5)
    with pytest.raises(InputError, match="started on another graph"):
        quick_model().fit(other, run=tmp_path / "run", resume=True)
    with pytest.raises(InputError, match="not a run folder"):
        quick_model().fit(graph, run=tmp_path / "none", resume=True)
