"""Parts as objects, names and import paths: made, saved, and missed in a sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.diffusion.dynamics import Cde, Gread
from fdgcl.diffusion.solvers import L1
from fdgcl.losses import Cosmean, Loss, RegularizedCosmean, VICReg, build_loss
from fdgcl.methods.fdgcl.settings import Settings
from own_parts_source import OWN

QUICK: dict[str, Any] = {"dim": 8, "epochs": 3, "time": 4, "step": 1, "beta": 0.5}
# A model that is saved has no scaling left open, and is compared with the settings.
QUICK["feature_scaling"] = "none"


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
    unsaid = settings(loss="regularized-cosmean", eta=0.2)
    assert unsaid.new_loss().eta == 0.2


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


def test_a_dynamics_as_an_object(graph: Graph) -> None:
    found = settings(dynamics=Gread(reaction="fisher", nu=0.5))
    assert found.dynamics == "gread"
    assert found.dynamics_options == {"reaction": "fisher", "nu": 0.5}
    plain = settings(dynamics=Cde())
    assert (plain.dynamics, plain.dynamics_options) == ("cde", None)
    given = FDGCL(dynamics=Gread(trained=False), rate=0.3, **QUICK)
    assert repr(given).startswith("FDGCL(time=4, step=1, rate=0.3, dynamics=Gread(tr")
    assert clone(given).check() == given.check()
    # Each view has one of its own, by the model's rate and seed.
    first, second = (found.new_dynamics(8, view) for view in range(2))
    assert (first.rate, first.dim, first.nu) == (0.05, 8, 0.5)
    assert first.weights is not second.weights
    by_name = FDGCL(dynamics="cde", dynamics_options={"velocity": "relu"}, **QUICK)
    by_object = FDGCL(dynamics=Cde(velocity="relu"), **QUICK)
    np.testing.assert_array_equal(
        by_object.fit_transform(graph), by_name.fit_transform(graph)
    )


FRESH = """
import sys
import numpy as np
from fdgcl import FDGCL, block_model
graph = block_model(60, 2, num_features=6, num_splits=0, seed=0)
np.save(sys.argv[2], FDGCL.load(sys.argv[1]).transform(graph))
"""

#: Parts of one's own, as arguments of the model: what they are saved as, what is read.
PARTS: dict[str, Any] = {
    "linear": lambda own: {"dynamics": own.Leak(leak=0.3)},
    "trained": lambda own: {"dynamics": own.TrainedLeak(spread=20)},
    "solver": lambda own: {"solver": own.Euler()},
    "function": lambda own: {"activation": own.squash},
    "module": lambda own: {"activation": own.Squash()},
    "all": lambda own: {
        "dynamics": "own_parts:Leak",
        "solver": "own_parts:Euler",
        "activation": "own_parts:squash",
        "loss": "own_parts:Distance",
    },
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_ones_own_from_end_to_end(
    own: Any, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Fitted, saved, loaded in a process that has not seen them, missed when gone."""
    model = FDGCL(**PARTS[name](own), **QUICK).fit(graph, run=tmp_path / "r")
    rows = model.transform(graph)
    plain = FDGCL(**QUICK).fit(graph).transform(graph)
    assert np.abs(rows - plain).max() > 1e-3
    found = model.check()
    parts = (found.dynamics, found.solver, found.activation, found.loss)
    assert "own_parts:" in "".join(parts)
    words = [sys.executable, "-c", FRESH, str(tmp_path / "r"), str(tmp_path / "z.npy")]
    path = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, env=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), rows)
    monkeypatch.setitem(sys.modules, "own_parts", None)
    message = r"the \w+ 'own_parts:\w+' cannot be imported: .* on PYTHONPATH"
    with pytest.raises(InputError, match=message):
        FDGCL.load(tmp_path / "r")


def test_parts_on_the_command_line(tmp_path: Path, graph: Graph) -> None:
    (tmp_path / "own_parts.py").write_text(OWN)
    edges = zip(*graph.adjacency.nonzero(), strict=True)
    lines = "\n".join(f"{a},{b}" for a, b in edges)
    (tmp_path / "edges.csv").write_text("source,target\n" + lines)
    words = ["embed", "edges.csv", "--features", "random", "--run", "r", "--quiet"]
    words += ["--dim", "4", "--epochs", "1"]
    words += ["--dynamics", "own_parts:TrainedLeak", "--activation", "torch:sigmoid"]
    words += ["--dynamics-options", "spread=0.5", "--solver", "own_parts:Euler"]
    words += ["--loss", "own_parts:Distance", "--loss-options", "power=1"]
    words = [sys.executable, "-m", "fdgcl", *words]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    config = json.loads((tmp_path / "r" / "config.json").read_text())
    assert config["settings"]["dynamics_options"] == {"spread": 0.5}
    assert config["settings"]["solver"] == "own_parts:Euler"


def test_solvers_and_activations_that_have_names(graph: Graph) -> None:
    assert settings(solver=L1()).solver == "l1"
    assert settings(activation=torch.tanh).activation == "tanh"
    assert settings(activation=torch.sigmoid).activation == "torch:sigmoid"
    path = settings(activation=nn.Mish()).activation
    assert path == "torch.nn.modules.activation:Mish"
    # By order 1 the scheme of one's own is the known one; known activations are fused.
    rows = [
        FDGCL(**QUICK, activation=activation).fit_transform(graph)
        for activation in ("tanh", "torch:tanh")
    ]
    np.testing.assert_allclose(*rows, rtol=1e-4, atol=1e-5)


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
    "an object and options": (
        {"dynamics": Cde(), "dynamics_options": {"spread": 1}},
        r"dynamics_options belong to a dynamics given by name, and Cde\(\) has",
    ),
    "a rate of its own": (
        {"dynamics": Cde(rate=0.3)},
        r"a setting of the model: give rate=0.3 to it, not to the dynamics Cde\(\)",
    ),
    "unknown option of a dynamics": (
        {"dynamics": "cde", "dynamics_options": {"velocty": 1}},
        "dynamics 'cde' has no option 'velocty'; did you mean \"velocity\"",
    ),
    "a module with options": (
        {"activation": nn.LeakyReLU(0.3)},
        "has options, and is made again without",
    ),
    "no matrix": ({"activation": "math:sin"}, "cannot be applied to a matrix"),
    "no function": ({"activation": 3}, "unknown activation 3"),
    "a nameless function": (
        {"activation": lambda x: x},
        "activation <lambda> cannot be imported by its name",
    ),
    "no solver": ({"solver": "math:sin"}, "'math:sin' is not a SteppingScheme"),
    "no dynamics": ({"dynamics": "math:sin"}, "'math:sin' is not a Dynamics"),
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

    with pytest.raises(InputError, match="solver Damped has options"):
        settings(solver=own.Damped(0.3))
    assert settings(solver=own.Damped()).schedule.scheme.by == 0.5
    with pytest.raises(InputError, match=r"cannot be made: .* argument 'rate'"):
        settings(dynamics=own.TakesNoRate())
    with pytest.raises(InputError, match="has weights, and must have none"):
        settings(activation=own.Weighted())
    with pytest.raises(InputError, match="must give a matrix like the one it gets"):
        settings(activation=own.total)

    class Inside(Loss):
        def score(self, z1: Any, z2: Any) -> Any:
            return (z1 - z2).square().mean()

    with pytest.raises(InputError, match="define it at the top level of a module"):
        settings(loss=Inside())


def test_a_part_that_lacks_a_method_is_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match="cannot be made: it lacks score, which every"):
        FDGCL(**QUICK, loss="fdgcl.losses:Loss").fit(graph)
