"""The quick choice: what it takes, what it leaves out, and that it diffuses once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.choosing import shared_training
from fdgcl.choosing.choice import Tried, decide
from fdgcl.choosing.choose import choose_settings, problem_of
from fdgcl.choosing.portfolio import DEFAULTS, portfolio
from fdgcl.choosing.shared_training import SharedTraining
from fdgcl.graphs import Targets
from fdgcl.methods.fdgcl.diffused_features import DiffusedFeatures
from fdgcl.methods.fdgcl.in_loop import InLoop
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.resources import Resources
from fdgcl.training import NonFiniteLossError, loop
from tolerances import assert_agree

SMALL: dict[str, Any] = {"device": "cpu", "hidden": 8}


def graph_of(**changes: Any) -> Graph:
    return block_model(**{"num_nodes": 60, "num_features": 5, "seed": 3, **changes})


def tried(name: str, *scores: float, held: int = 100) -> Tried:
    return Tried(name, "", {}, scores, held)


@pytest.fixture
def diffusions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many orders each diffusion was of."""
    found: list[int] = []
    whole = DiffusedFeatures.diffuse.__func__  # type: ignore[attr-defined]

    def counted(cls: Any, features: Any, *filters: Any, **given: Any) -> Any:
        found.append(len(filters))
        return whole(cls, features, *filters, **given)

    monkeypatch.setattr(DiffusedFeatures, "diffuse", classmethod(counted))
    return found


def test_the_portfolio_names_settings_that_there_are() -> None:
    names = [one.name for one in portfolio()]
    assert len(set(names)) == len(names) <= 30
    for one in portfolio():
        assert one.purpose
        Settings(**one.changes)
    diffused = {"orders", "time", "step", "direction", "self_loops", "reduce"}
    assert not diffused & {name for one in portfolio() for name in one.changes}


@pytest.mark.parametrize("views", [1, 3])
def test_the_portfolio_has_weights_for_all_views(views: int) -> None:
    orders = np.linspace(0.1, 1, views).tolist()
    for one in portfolio(views):
        if one.changes.get("loss") != "regularized-cosmean":
            Settings(**{"orders": orders, **one.changes})


def test_the_defaults_stand_unless_another_is_clearly_better() -> None:
    default = tried(DEFAULTS, 0.70, 0.72, 0.71)
    tie = tried("tie", 0.70, 0.72, 0.71)
    noisy = tried("noisy", 0.90, 0.60, 0.72)
    # As much better as its standard error, in numbers that rounding does not spare.
    edge = tried("edge", 0.70, 0.72, 0.81)
    steady = tried("steady", 0.72, 0.74, 0.72)
    for others in ([tie], [noisy], [edge], [tie, noisy, edge]):
        taken, why = decide([*others, default], default)
        assert taken is default
        assert "the defaults stand" in why
    taken, why = decide([noisy, steady, default], default)
    assert taken is steady
    assert "1.67 points above the defaults (standard error 0.33 over 3 splits)" in why


def test_with_one_split_the_error_is_that_of_a_share() -> None:
    default = tried(DEFAULTS, 0.80, held=100)
    assert default.error == pytest.approx(0.04)
    assert decide([tried("near", 0.83), default], default)[0] is default
    assert decide([tried("far", 0.85), default], default)[0].name == "far"


def test_without_the_defaults_the_best_is_taken() -> None:
    taken, why = decide([tried("a", 0.8), tried("b", 0.9)], None)
    assert taken.name == "b"
    assert "could not be scored" in why


def test_they_stand_on_ties() -> None:
    model = FDGCL.choose(graph_of(signal=20.0, num_nodes=100), epochs=2, **SMALL)
    assert model.choice_.taken.name == DEFAULTS
    assert model.choice_.settings == {"epochs": 2, **SMALL}
    assert model.choice_.why in model.notices_


def test_own_features_where_edges_are_random() -> None:
    graph = block_model(
        400, 4, homophily=0.25, degree=20, signal=2.0, num_splits=5, seed=1
    )
    # What the graph decides is right here already, so that it is made to be wrong.
    wrong = {"beta": (0.05, 0.95)}
    found = choose_settings(problem_of(graph)[0], {**wrong, "epochs": 2, **SMALL})
    assert found.taken.name.startswith("keep features")
    found = choose_settings(problem_of(graph)[0], {"epochs": 2, **SMALL})
    scores = {one.name: one.mean for one in found.tried}
    assert scores["own more"] > scores["edges much more"]
    assert scores["own more"] > scores["keep global"]
    assert scores[found.taken.name] >= scores["defaults"]
    assert "features" in FDGCL(**found.settings).check().keep


def test_smoothed_features_where_these_are_noisy() -> None:
    graph = block_model(
        400, 4, homophily=0.9, degree=10, signal=0.3, num_splits=5, seed=1
    )
    found = choose_settings(problem_of(graph)[0], {"epochs": 2, **SMALL})
    scores = {one.name: one.mean for one in found.tried}
    assert scores["keep global"] > scores["keep features"]
    assert scores["edges more"] > scores["own more"]
    kept = FDGCL(**found.settings).check().keep
    assert "global" in kept


@pytest.mark.parametrize(
    "graph",
    [
        graph_of(num_features=1),
        graph_of(num_features=0),
        graph_of(directed=True),
        graph_of(num_splits=0, num_nodes=120),
        graph_of(num_nodes=40, num_classes=4),
        replace(graph_of(), adjacency=graph_of().adjacency * 3.5),
        replace(
            graph_of(),
            relations={
                "a": graph_of().adjacency,
                "b": graph_of(directed=True, seed=4).adjacency,
            },
            adjacency=graph_of().adjacency + graph_of(directed=True, seed=4).adjacency,
        ),
    ],
    ids=[
        "one column",
        "no features",
        "directed",
        "no splits",
        "many classes",
        "weighted",
        "edge types",
    ],
)
@pytest.mark.filterwarnings("ignore::fdgcl.FdgclWarning")
def test_no_trial_fails(graph: Graph) -> None:
    model = FDGCL.choose(graph, epochs=2, **SMALL)
    assert not [one for one in model.choice_.notices if "dropped" in one]
    assert len(model.choice_.tried) > 10
    assert model.transform(graph).shape[0] == graph.num_nodes


def test_it_diffuses_once(diffusions: list[int]) -> None:
    choose_settings(problem_of(graph_of())[0], SMALL)
    assert len(diffusions) == 1
    FDGCL.choose(graph_of(), epochs=1, **SMALL)
    assert len(diffusions) == 3  # one for the choice, one for the model it returns


def test_each_training_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[int, int]] = []
    whole = loop.train

    def counted(training: Any, *, epochs: int, first_epoch: int, on_epoch: Any) -> None:
        trained.append((first_epoch, epochs))
        whole(training, epochs=epochs, first_epoch=first_epoch, on_epoch=on_epoch)

    monkeypatch.setattr(shared_training, "train", counted)
    choose_settings(problem_of(graph_of())[0], SMALL)
    # The longer training goes on where that of the defaults ended; two activations and
    # two losses beside it.
    assert sorted(trained) == [*[(1, 20)] * 5, (21, 60)]


def test_embeddings_are_those_of_the_settings() -> None:
    graph = graph_of(num_nodes=80, directed=True)
    shared = SharedTraining(graph, Settings(**SMALL), Resources())
    plans = []
    for one in portfolio():
        given = {**SMALL, **one.changes}
        plans.append(shared.plan(one.name, Settings(**given)))
    changes = {one.name: one.changes for one in portfolio()}
    for plan, embedding in shared.embeddings(plans):
        assert isinstance(embedding, Tensor)
        model = FDGCL(**{**SMALL, **changes[plan.name]}, strategy="precompute")
        # The same products of the same numbers, in the same order.
        np.testing.assert_array_equal(
            embedding.numpy(), model.fit_transform(graph), err_msg=plan.name
        )


def test_the_model_is_that_of_its_settings() -> None:
    graph = graph_of(homophily=0.95, signal=0.3, num_nodes=200)
    model = FDGCL.choose(graph, epochs=3, **SMALL)
    again = FDGCL(**model.choice_.settings)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.fit_transform(graph), model.transform(graph))


def test_test_nodes_are_not_looked_at() -> None:
    graph = graph_of(num_nodes=200, num_classes=3, signal=0.5)
    assert graph.splits is not None
    assert graph.y is not None
    unused = ~(graph.splits.train | graph.splits.val).any(axis=0)
    assert unused.any()
    garbled = np.where(unused, 2 - graph.y, graph.y)
    hidden = np.where(unused, -1, graph.y)
    given = {"epochs": 1, **SMALL}
    expected = choose_settings(problem_of(graph)[0], given)
    for labels in (garbled, hidden, Targets("classes", tuple("abc"), codes=hidden)):
        found = choose_settings(problem_of(graph, labels)[0], given)
        assert found.tried == expected.tried


def test_given_labels_without_splits() -> None:
    graph = graph_of(num_nodes=200, num_splits=0)
    bare = replace(graph, y=None, class_names=None)
    model = FDGCL.choose(bare, graph.y, epochs=1, **SMALL)
    assert "ten were drawn from its 200 labelled nodes" in model.choice_.notices[0]
    assert len(model.choice_.taken.scores) == 10


def test_what_is_left_out_is_told() -> None:
    graph, given = graph_of(), {"orders": (0.5,), "dim": 64, **SMALL}
    found = choose_settings(problem_of(graph)[0], given)
    told = " ".join(found.notices)
    assert "narrow (dim)" in told
    assert "keep in (as keep out,in)" in told
    assert "'regularized-cosmean' is left out: loss 'regularized-cosmean'" in told
    directed = choose_settings(problem_of(graph_of(directed=True))[0], SMALL)
    assert {"keep in", "keep out"} <= {one.name for one in directed.tried}


def test_without_training_losses_make_no_difference() -> None:
    found = choose_settings(problem_of(graph_of())[0], {"epochs": 0, **SMALL})
    names = {one.name for one in found.tried}
    assert not names & {"vicreg", "regularized-cosmean", "longer", "untrained"}
    assert {"relu", "linear"} <= names


def test_a_trial_that_diverges_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = loop.train

    def diverge(training: Any, *, epochs: int, **given: Any) -> None:
        if epochs > 20 or "VICReg" in repr(training.options.new_loss()):
            message = "the loss is not finite"
            raise NonFiniteLossError(message)
        whole(training, epochs=epochs, **given)

    monkeypatch.setattr(shared_training, "train", diverge)
    found = choose_settings(problem_of(graph_of())[0], SMALL)
    assert "'longer' was dropped: the loss is not finite" in found.notices
    assert "'vicreg' was dropped: the loss is not finite" in found.notices
    assert not {"longer", "vicreg"} & {one.name for one in found.tried}
    monkeypatch.setattr(SharedTraining, "_embed", _nothing)
    with pytest.raises(NonFiniteLossError, match="'defaults' was dropped"):
        choose_settings(problem_of(graph_of())[0], SMALL)


def _nothing(*_: object) -> Tensor:
    message = "no number"
    raise NonFiniteLossError(message)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "needs labels"),
        (np.zeros(60, int), "the same class"),
        (np.zeros(7, int), "labels|60 nodes"),
        (np.linspace(0, 1, 60), "class code for each node"),
        (Targets("values", ("x",), values=np.linspace(0, 1, 60)), "classes are needed"),
        (np.array([0, 1] + [-1] * 58), "without a label"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: Any, message: str) -> None:
    graph = graph_of()
    bare = replace(graph, y=None, class_names=None)
    with pytest.raises(InputError, match=message):
        FDGCL.choose(bare, labels)


def test_too_few_labels_to_split_are_refused() -> None:
    few = np.full(60, -1)
    few[:4] = [0, 1, 0, 1]
    with pytest.raises(InputError, match="no validation nodes"):
        FDGCL.choose(graph_of(num_splits=0), few)


def test_what_is_not_one_graph_or_one_diffusion_is_refused() -> None:
    graph = graph_of()
    with pytest.raises(InputError, match="takes a fdgcl Graph, got str"):
        FDGCL.choose("cora")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="stepped in every epoch"):
        FDGCL.choose(graph, dynamics="grand-nonlinear")
    with pytest.raises(InputError, match="dim must be at least"):
        FDGCL.choose(graph, dim=1)


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    given = {"epochs": 1, **SMALL}
    FDGCL.choose(graph_of(), progress=lambda *one: told.append(one), **given)
    stages = [stage for stage, _, _ in told]
    assert {"diffuse", "try", "train"} <= set(stages)


def test_a_choice_is_shown_and_told() -> None:
    found = choose_settings(problem_of(graph_of())[0], {"epochs": 1, **SMALL})
    lines = str(found).splitlines()
    assert len(lines) == len(found.tried) + 1
    assert lines[-1] == found.why
    means = [one.mean for one in found.tried]
    assert means == sorted(means, reverse=True)
    assert found.to_dict()["taken"]["validation"] == found.taken.mean


def test_sparse_wide_features_are_multiplied_in_the_loop() -> None:
    graph = graph_of(num_features=40)
    assert graph.features is not None
    few = np.where(graph.features > 1, graph.features, 0)
    wide = replace(graph, features=csr_array(few))
    given: dict[str, Any] = {"reduce": 8, "hidden": 2, "dim": 8, "epochs": 2}
    found = []
    for strategy in ("auto", "precompute"):
        settings = Settings(**given, strategy=strategy, dtype="float64")
        shared = SharedTraining(wide, settings, Resources())
        planned = [shared.plan("defaults", settings)]
        ((_, embedding),) = shared.embeddings(planned)
        assert isinstance(embedding, torch.Tensor)
        assert isinstance(shared.source, InLoop) == (strategy == "auto")
        found.append(embedding)
    # Features are float32, and so are the reduced ones, which one way diffuses.
    assert_agree(found[0], found[1], np.float32)
