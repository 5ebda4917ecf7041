"""The estimator with every dynamics: results, training, files, what is refused."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.diffusion import (
    DYNAMICS,
    GRADIENTS,
    SOLVERS,
    Dynamics,
    Schedule,
    build_dynamics,
    diffuse_stepped,
)
from fdgcl.diffusion.solvers import SteppingScheme
from fdgcl.losses import LOSSES, build_loss
from fdgcl.methods.fdgcl import stepped
from fdgcl.operators.in_memory import build_operator
from fdgcl.training import NonFiniteLossError
from helpers.papers_method import papers_method
from tolerances import assert_agree, half_digits

from .conftest import QUICK

SETTINGS: dict[str, Any] = {
    **QUICK,
    "epochs": 4,
    "orders": (0.4, 1.0),
    "time": 3.0,
    "step": 1.0,
    "rate": 0.3,
    "beta": 0.4,
    "init_scale": 1.0,
}
STEPPING = [n for n, scheme in SOLVERS.items() if isinstance(scheme, SteppingScheme)]
TRAINED = [n for n in DYNAMICS if any(True for _ in build_dynamics(n).parameters())]
STEPPED = [n for n in DYNAMICS if not build_dynamics(n).is_fixed_linear]
FIXED_LINEAR = {
    "gread, sharpening": ("gread", {"trained": False, "gamma": 0.9, "nu": 0.4}),
    "gread, source": ("gread", {"trained": False, "reaction": "source", "nu": 0.4}),
    "graphcon": ("graphcon", {"gamma": 1.2, "nu": 0.7}),
}


def new(dynamics: str, options: dict[str, Any] | None = None, **changes: Any) -> FDGCL:
    return papers_method(
        **{**SETTINGS, "dynamics": dynamics, "dynamics_options": options, **changes}
    )


def parameters(model: FDGCL, view: int) -> dict[str, torch.Tensor]:
    found = model._model.dynamics[view].named_parameters()
    return {name: value.detach().clone() for name, value in found}


class ByHand:
    """The whole method as a plain loop: encode, step, standardise, compare, update."""

    def __init__(self, model: FDGCL, graph: Graph) -> None:
        self.model = model
        start = clone(model).set_params(epochs=0, strategy="auto").fit(graph)._model
        self.weights = [w.detach().clone().requires_grad_() for w in start.weights]
        self.dynamics = copy.deepcopy(start.dynamics) or [self._fixed(), self._fixed()]
        self.operator = build_operator(graph.adjacency)
        self.schedule = Schedule(model.time, model.step, model.solver, model.skip)  # type: ignore[arg-type]
        self.x = torch.from_numpy(np.array(graph.features, dtype=np.float64))

    def _fixed(self) -> Dynamics:
        model = self.model
        return build_dynamics(model.dynamics, model.dynamics_options, rate=model.rate)

    def views(self) -> list[torch.Tensor]:
        result = []
        for view, order in enumerate(self.model.orders):
            encoded = self.x @ self.weights[view]
            hidden = diffuse_stepped(
                self.dynamics[view], self.operator, encoded, order, self.schedule
            )
            spread = hidden.std(0, unbiased=False)
            result.append((hidden - hidden.mean(0)) / spread)
        return result

    def run(self) -> tuple[list[float], np.ndarray]:
        """The loss before each update, and the embedding after the last."""
        model, losses = self.model, []
        trained = [p for module in self.dynamics for p in module.parameters()]
        optimizer = torch.optim.Adam(
            [*self.weights, *trained], lr=model.lr, weight_decay=model.weight_decay
        )
        loss = build_loss(model.loss, model.eta)
        for _ in range(model.epochs):
            value = loss(*self.views())
            losses.append(float(value.detach()))
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        first, second = (view.detach().numpy() for view in self.views())
        return losses, model.beta * first + (1 - model.beta) * second


def check_by_hand(model: FDGCL, graph: Graph) -> None:
    embedding = model.fit_transform(graph)
    losses, expected = ByHand(model, graph).run()
    assert len(losses) == model.epochs > 1
    assert_agree([r.loss for r in model.history_], losses, size=max(1, *losses))
    assert_agree(embedding, expected)
    untrained = clone(model).set_params(epochs=0).fit_transform(graph)
    assert np.abs(untrained - expected).max() > 1e-3


@pytest.mark.parametrize("name", DYNAMICS)
def test_every_dynamics_embeds(graph: Graph, name: str) -> None:
    model = new(name)
    embedding = model.fit_transform(graph)
    assert embedding.shape == (80, 12)
    assert np.isfinite(embedding).all()
    assert np.linalg.matrix_rank(embedding) > 1
    assert np.abs(embedding - new(name, epochs=0).fit_transform(graph)).max() > 1e-3
    assert model.transform(graph).tobytes() == embedding.tobytes()


def test_no_two_dynamics_embed_alike(graph: Graph) -> None:
    found = {name: new(name, epochs=0).fit_transform(graph) for name in DYNAMICS}
    assert len({embedding.tobytes() for embedding in found.values()}) == len(DYNAMICS)


@pytest.mark.parametrize("name", TRAINED)
def test_every_parameter_is_trained_for_each_view(graph: Graph, name: str) -> None:
    # Without weight decay only a gradient moves a parameter.
    model = new(name, weight_decay=0.0).fit(graph)
    start = new(name, epochs=0).fit(graph)
    assert len(model._model.dynamics) == 2
    first, second = parameters(model, 0), parameters(model, 1)
    assert set(first) == set(second) != set()
    for key, value in first.items():
        assert torch.isfinite(value).all()
        # Further apart than rounding could bring two that are trained as one.
        assert (value - second[key]).abs().max() > half_digits(value.dtype), key
    for view, found in enumerate((first, second)):
        for key, initial in parameters(start, view).items():
            assert (found[key] - initial).abs().max() > 1e-3, key


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, None) for name in STEPPED),
        ("gread", {"reaction": "source"}),
        ("gread", {"reaction": "fisher", "trained": False}),
        ("graphcon", {"coupling": "tanh"}),
    ],
)
def test_training_equals_a_plain_loop(
    graph: Graph, name: str, options: dict[str, Any] | None
) -> None:
    settings = {"init_scale": 0.3, "skip": "end", "dtype": "float64"}
    model = new(name, options, **settings)
    check_by_hand(model, graph)
    assert model.plan_.strategy == "in-loop"


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_trains_a_stepped_dynamics(graph: Graph, loss: str) -> None:
    model = new("cde", loss=loss, dtype="float64", weight_decay=0.0)
    check_by_hand(model, graph)
    start = new("cde", epochs=0, dtype="float64").fit(graph)
    for view in range(2):
        moved = parameters(model, view)["matrix"] - parameters(start, view)["matrix"]
        assert moved.abs().max() > 1e-3


@pytest.mark.parametrize("solver", STEPPING)
def test_every_stepping_solver(graph: Graph, solver: str) -> None:
    # Entries stay below 1 or so, where this reaction does not run away.
    settings = {"solver": solver, "init_scale": 0.3, "dtype": "float64"}
    check_by_hand(new("gread", {"reaction": "allen-cahn"}, **settings), graph)


@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
@pytest.mark.parametrize("case", FIXED_LINEAR)
def test_fixed_linear_dynamics_need_no_steps(
    graph: Graph, case: str, strategy: str
) -> None:
    model = new(*FIXED_LINEAR[case], strategy=strategy, dtype="float64")
    check_by_hand(model, graph)
    assert model.plan_.strategy == strategy
    assert model._model.dynamics == []
    assert model.stability_ is not None


def test_all_ways_to_the_gradient_train_alike(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def watched(*arguments: Any) -> torch.Tensor:
        asked.append(arguments[-1])
        return diffuse_stepped(*arguments)

    monkeypatch.setattr(stepped, "diffuse_stepped", watched)
    states, embeddings = [], []
    for way in GRADIENTS:
        asked.clear()
        model = new("grand-nonlinear", gradient=way, dtype="float64", time=5.0)
        embeddings.append(model.fit_transform(graph))
        states.append(model._model.state_dict())
        assert set(asked) == {way}
    for embedding, state in zip(embeddings, states, strict=True):
        assert_agree(embedding, embeddings[0])
        for key, value in states[0].items():
            assert_agree(state[key], value)


@pytest.mark.parametrize("name", STEPPED)
def test_save_load_and_another_graph(graph: Graph, name: str, tmp_path: Path) -> None:
    model = new(name).fit(graph)
    model.save(tmp_path)
    loaded = FDGCL.load(tmp_path)
    assert loaded.get_params() == model.get_params()
    other = block_model(50, 2, degree=4, num_features=7, seed=9)
    for given in (graph, other):
        embedding = model.transform(given)
        assert embedding.shape == (given.num_nodes, 12)
        assert loaded.transform(given).tobytes() == embedding.tobytes()
    untrained = new(name, epochs=0).fit(graph)
    assert not np.allclose(untrained.transform(other), loaded.transform(other))


@pytest.mark.parametrize("name", ["cde", "gread"])
def test_an_interrupted_run_goes_on_to_the_same_result(
    graph: Graph, tmp_path: Path, name: str
) -> None:
    def stop_after_three(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("train", 3):
            raise KeyboardInterrupt

    options = {"reaction": "source"} if name == "gread" else None
    settings = {"epochs": 8, "options": options}
    whole = new(name, **settings).fit_transform(graph, run=tmp_path / "whole")
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        new(name, **settings).fit(graph, run=run, progress=stop_after_three)
    assert not (run / "model.safetensors").exists()
    again = new(name, **settings).fit_transform(graph, run=run, resume=True)
    assert again.tobytes() == whole.tobytes()
    files = [tmp_path / name / "model.safetensors" for name in ("whole", "run")]
    assert files[0].read_bytes() == files[1].read_bytes()
    other = new(name, {"reaction": "fisher"} if options else {}, epochs=8)
    with pytest.raises(InputError, match="started with dynamics_options="):
        other.fit(graph, run=run, resume=True)


@pytest.mark.parametrize("name", STEPPED)
def test_stability_is_not_known_where_it_is_stepped(graph: Graph, name: str) -> None:
    model = new(name)
    plan = model.plan(graph)
    assert plan.strategy == "in-loop"
    assert any("has to be stepped in every epoch" in line for line in plan.describe())
    assert model.stability_ is None
    [note] = model.stability_notes_
    assert name in note
    assert "not linear, or is trained" in note
    model.fit(graph)
    assert model.stability_ is None
    assert model.plan_ == plan


def test_more_steps_are_planned_with_more_memory(graph: Graph) -> None:
    few, many = (new("cde", time=t).plan(graph).peak_bytes for t in (3.0, 30.0))
    assert many - few >= 2 * 27 * 80 * 12 * 4


def test_a_dynamics_that_diverges_says_why(graph: Graph, tmp_path: Path) -> None:
    model = new("gread", {"reaction": "allen-cahn"}, init_scale=1e6, step=3.0)
    with pytest.raises(NonFiniteLossError, match=r"epoch \d.*'gread'.*smaller ones"):
        model.set_params(time=30.0).fit(graph, run=tmp_path / "run")
    for weight in model._model.parameters():
        assert torch.isfinite(weight).all()


def test_features_may_be_kept_sparse_or_in_rows(graph: Graph) -> None:
    model = new("cde", keep=("features",), combine="concat", hidden=12, dim=100)
    embedding = model.fit_transform(graph)
    assert embedding.shape == (80, 2 * 12 + 7)
    thin = graph.with_features(sparse.csr_array(np.array(graph.features)))
    same = clone(model).fit_transform(thin)
    assert_agree(same, embedding)


@pytest.mark.parametrize("name", STEPPED)
def test_node_permutation_equivariance(graph: Graph, name: str) -> None:
    model = new(name, dtype="float64")
    embedding = model.fit_transform(graph)
    order = np.random.default_rng(0).permutation(80)
    moved = Graph(
        sparse.csr_array(graph.adjacency[order][:, order]),
        features=np.array(graph.features)[order],
    )
    assert_agree(model.transform(moved), embedding[order])


def test_a_batch_of_all_nodes_is_no_batch(graph: Graph) -> None:
    assert (
        new("cde", batch_size=80).fit_transform(graph).tobytes()
        == new("cde").fit_transform(graph).tobytes()
    )
    # Where nothing is stepped, batches are as good as ever.
    fixed = new("gread", {"trained": False}, batch_size=20)
    assert np.isfinite(fixed.fit_transform(graph)).all()
    assert fixed.plan_.workload.batch_size == 20


@pytest.mark.parametrize("name", STEPPED)
def test_same_seed_same_result(graph: Graph, name: str) -> None:
    first, again, other = (new(name, seed=s).fit_transform(graph) for s in (3, 3, 4))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize("name", ["cde", "grand-attention", "grand-nonlinear"])
def test_every_seed_and_view_draws_its_own_parameters(graph: Graph, name: str) -> None:
    drawn = set()
    for seed in range(3):
        model = new(name, seed=seed, epochs=0).fit(graph)
        for view in range(2):
            drawn |= {v.numpy().tobytes() for v in parameters(model, view).values()}
    assert len(drawn) == 3 * 2 * len(parameters(model, 0))


@pytest.mark.parametrize("name", DYNAMICS)
def test_every_dynamics_goes_with_the_defaults(
    graph: Graph, name: str, tmp_path: Path
) -> None:
    model = FDGCL(dynamics=name, dim=24, epochs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedding = model.fit_transform(graph)
    kept = model.config.decisions["kept"]
    # What is stepped in every epoch has no diffused features to keep.
    assert kept == ["features", *(["global"] * (name not in STEPPED)), "neighbours"]
    assert embedding.shape == (80, 24)
    assert np.linalg.matrix_rank(embedding) > 12
    model.save(tmp_path)
    assert FDGCL.load(tmp_path).transform(graph).tobytes() == embedding.tobytes()
