"""Parts as objects, names and import paths: made, saved, and missed in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.losses import Cosmean, Loss, RegularizedCosmean, VICReg, build_loss
from fdgcl.methods.fdgcl.settings import Settings

QUICK: dict[str, Any] = {"dim": 8, "epochs": 3, "time": 4, "step": 1, "beta": 0.5}
OWN = """
from fdgcl.losses import Loss

class Distance(Loss):
    def __init__(self, power=2.0, margin=0.0):
        super().__init__()
        self.power, self.margin = power, margin

    def score(self, z1, z2):
        return ((z1 - z2).abs() ** self.power).mean() + self.margin * z1.var()

class Forgetful(Loss):
    def __init__(self, power=2.0):
        super().__init__()

    def score(self, z1, z2):
        return (z1 - z2).square().mean()

NOT_A_LOSS = 3
"""


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(60, 2, num_features=6, num_splits=0, seed=0)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "own_parts.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_parts", raising=False)
    import own_parts

    yield own_parts
    del sys.modules["own_parts"]


def settings(**given: Any) -> Settings:
    return FDGCL(**QUICK, **given).check()


def test_an_object_is_a_name_with_options() -> None:
    found = settings(loss=VICReg(variance=10))
    assert (found.loss, found.loss_options) == ("vicreg", {"variance": 10})
    assert found == settings(loss="vicreg", loss_options={"variance": 10})
    assert found.new_loss().variance == 10
    plain = settings(loss=Cosmean())
    assert (plain.loss, plain.loss_options) == ("cosmean", None)
    # A loss's own weight goes before the setting.
    chosen = settings(loss=RegularizedCosmean(eta=0.7, iterations=3), eta=0.1)
    assert (chosen.new_loss().eta, chosen.new_loss().iterations) == (0.7, 3)
    assert settings(eta=0.1).new_loss().eta == 0.1


def test_options_change_the_training_and_survive_it(
    graph: Graph, tmp_path: Path
) -> None:
    ours = FDGCL(loss=VICReg(covariance=100), **QUICK).fit(graph)
    plain = FDGCL(loss="vicreg", **QUICK).fit(graph)
    assert ours.history_[0].loss != plain.history_[0].loss
    ours.save(tmp_path / "m")
    again = FDGCL.load(tmp_path / "m")
    assert again.check() == ours.check()
    np.testing.assert_array_equal(again.transform(graph), ours.transform(graph))


def test_a_loss_of_ones_own(own: Any, graph: Graph, tmp_path: Path) -> None:
    model = FDGCL(loss=own.Distance(power=1.0), **QUICK).fit(graph, run=tmp_path / "r")
    assert model.history_[-1].loss < model.history_[0].loss
    found = model.check()
    assert found.loss == "own_parts:Distance"
    assert found.loss_options == {"power": 1.0}
    named = FDGCL(loss="own_parts:Distance", loss_options={"power": 1.0}, **QUICK)
    np.testing.assert_array_equal(
        named.fit_transform(graph), model.fit(graph).transform(graph)
    )
    loaded = FDGCL.load(tmp_path / "r")
    assert loaded.check() == found


def test_a_model_whose_loss_is_gone_embeds_and_says_what_is_missing(
    own: Any, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FDGCL(loss=own.Distance(), **QUICK).fit(graph, run=tmp_path / "r")
    monkeypatch.setitem(sys.modules, "own_parts", None)
    model = FDGCL.load(tmp_path / "r")
    assert model.transform(graph).shape == (60, 8)
    with pytest.raises(InputError, match="loss 'own_parts:Distance' cannot be import"):
        model.fit(graph)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown name": ({"loss": "vicregg"}, "unknown loss 'vicregg'; did you mean"),
    "unknown option": (
        {"loss": "vicreg", "loss_options": {"varianc": 1}},
        "loss 'vicreg' has no option 'varianc'; did you mean \"variance\"",
    ),
    "no options": (
        {"loss": "cosmean", "loss_options": {"a": 1}},
        "it takes no options",
    ),
    "bad value": (
        {"loss": "vicreg", "loss_options": {"variance": -1}},
        "variance must be zero or more",
    ),
    "not a mapping": ({"loss_options": 3}, "loss_options must map names to values"),
    "twice": (
        {"loss": VICReg(), "loss_options": {"variance": 1}},
        "loss_options belong to a loss given by name",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals(name: str) -> None:
    given, message = BAD[name]
    with pytest.raises(InputError, match=message):
        settings(**given)


def test_refusals_of_ones_own(own: Any) -> None:
    with pytest.raises(InputError, match="must keep its argument 'power'"):
        settings(loss=own.Forgetful())
    with pytest.raises(InputError, match="must be numbers, texts"):
        settings(loss=own.Distance(power=object()))
    with pytest.raises(InputError, match="is not a Loss"):
        build_loss("own_parts:NOT_A_LOSS")
    with pytest.raises(InputError, match="cannot be imported"):
        build_loss("own_parts:Nothing")
    with pytest.raises(InputError, match="cannot be imported"):
        build_loss("no_such_package.losses:Mine")

    class Inside(Loss):
        def score(self, z1: Any, z2: Any) -> Any:
            return (z1 - z2).square().mean()

    with pytest.raises(InputError, match="define it at the top level of a module"):
        settings(loss=Inside())
