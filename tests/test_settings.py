"""Settings described once: how text is read, what is generated, and that it agrees."""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

import pytest
from sklearn.base import clone

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl._estimator import Estimator, takes
from fdgcl._settings import about, from_file, from_text, setting, settings_of
from fdgcl.cli.settings import given_settings, known_settings, with_settings
from fdgcl.cli.tune import parse_settings
from fdgcl.diffusion import DYNAMICS, GRADIENTS, SOLVERS
from fdgcl.graphs.directions import Direction, Normalization
from fdgcl.graphs.scaling import FEATURE_SCALINGS
from fdgcl.graphs.structural import STRUCTURAL
from fdgcl.losses import LOSSES
from fdgcl.methods.fdgcl import ACTIVATIONS, COMBINATIONS, KEPT, PAIRS, checking
from fdgcl.methods.fdgcl.precision import PRECISIONS
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.readout import READOUTS
from fdgcl.methods.settings import DEVICES, DTYPES, MethodSettings
from fdgcl.presets import read_settings
from fdgcl.tuning import settings_text

ROOT = Path(__file__).parents[1]
KNOWN = settings_of(Settings)


@dataclass(frozen=True, kw_only=True)
class Other(MethodSettings):
    """The settings of a method that shares some with FD-GCL."""

    dim: int = setting(64, "Columns.")
    tau: float = setting(0.5, "Temperature.")
    epochs: int = setting(100, "Passes over the graph.")


READ: list[tuple[str, str, Any]] = [
    ("dim", "64", 64),
    ("window", " 5 ", 5),
    ("lr", "1e-3", 0.001),
    ("time", "3", 3.0),
    ("orders", "0.1,1", (0.1, 1.0)),
    ("orders", "[0.1, 0.5, 1]", (0.1, 0.5, 1.0)),
    ("beta", "0.3", 0.3),
    ("beta", "1,3", (1.0, 3.0)),
    ("keep", "local,features,", ("local", "features")),
    ("keep", "[]", ()),
    ("readout", '"mean","max"', ("mean", "max")),
    ("skip", "end", "end"),
    ("skip", "3", 3),
    ("skip", "-3", -3),
    ("loss", "own_parts:Distance", "own_parts:Distance"),
    ("loss", '"vicreg"', "vicreg"),
    ("standardize", "False", False),
    (
        "dynamics_options",
        "reaction=fisher, nu=0.5,heads=2,trained=false,",
        {"reaction": "fisher", "nu": 0.5, "heads": 2, "trained": False},
    ),
]


@pytest.mark.parametrize(("name", "text", "value"), READ)
def test_text_becomes_what_the_setting_is(name: str, text: str, value: Any) -> None:
    found = from_text(KNOWN[name], text)
    assert (found, type(found)) == (value, type(value))
    # Options, `tune --set` and settings files read alike.
    assert given_settings({name: text, "eta": None}) == {name: value}
    assert parse_settings([f"{name} = {text}"]) == {name: value}
    written = tomllib.loads(settings_text({name: value}))["settings"][name]
    assert from_file(KNOWN[name], written) == value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dim", "8.5", "--dim must be a whole number, got '8.5'"),
        ("lr", "fast", "--lr must be a number, got 'fast'"),
        ("orders", "0.1;1", '--orders must be numbers as in "0.5,1", got '),
        ("fast", "yes", "--fast must be true or false, got 'yes'"),
        ("loss_options", "variance", "--loss-options must be as in NAME=VALUE"),
        ("loss_options", "a=1,a=2", "--loss-options names 'a' twice"),
    ],
)
def test_what_cannot_be_read_is_named(name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        given_settings({name: text})


def test_a_settings_file_with_options_of_parts(tmp_path: Path) -> None:
    options = {"reaction": "fisher", "nu": 0.5, "trained": False}
    model = FDGCL(dynamics="gread", dynamics_options=options, orders=(0.2, 0.7))
    (tmp_path / "best.toml").write_text(settings_text(model.get_params()))
    assert FDGCL(**read_settings(tmp_path / "best.toml")).check() == model.check()
    (tmp_path / "bad.toml").write_text('[settings]\ndim = "many"\n')
    with pytest.raises(InputError, match=r"bad\.toml: dim must be a whole number"):
        read_settings(tmp_path / "bad.toml")
    (tmp_path / "other.toml").write_text("[settings]\ntau = 0.1\n")
    assert read_settings(tmp_path / "other.toml", Other) == {"tau": 0.1}
    with pytest.raises(InputError, match="unknown setting 'tau'"):
        read_settings(tmp_path / "other.toml")


NAMES: dict[str, Any] = {
    "solver": SOLVERS,
    "dynamics": DYNAMICS,
    "skip": ("none", "end", "every-step"),
    "edge_types": checking.EDGE_TYPES,
    "normalization": get_args(Normalization),
    "direction": get_args(Direction),
    "gradient": GRADIENTS,
    "feature_scaling": FEATURE_SCALINGS,
    "structural": STRUCTURAL,
    "activation": ACTIVATIONS,
    "loss": LOSSES,
    "pairs": PAIRS,
    "combine": COMBINATIONS,
    "keep": KEPT,
    "strategy": checking.STRATEGIES,
    "readout": READOUTS,
    "precision": PRECISIONS,
    "device": DEVICES,
    "dtype": DTYPES,
}


@pytest.mark.parametrize("name", KNOWN)
def test_texts_name_what_there_is_and_nothing_else(name: str) -> None:
    """Descriptions do not load the registries, so that they cannot look names up."""
    text = about(KNOWN[name]).text
    assert text.endswith(".")
    named = {word for word in re.findall(r"`(.*?)`", text) if ":" not in word}
    assert named == set(NAMES.get(name, ()))


def test_the_description_loads_nothing_heavy() -> None:
    code = "import sys, fdgcl.methods.fdgcl.settings; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not {"torch", "numpy", "scipy"} & set(done.stdout.split())
    assert "fdgcl.methods.fdgcl.settings" in done.stdout


def test_settings_of_a_method_are_in_reading_order() -> None:
    names = list(settings_of(Other))
    assert names[:2] == ["direction", "feature_scaling"]  # its panel comes first
    assert names[3:6] == ["dim", "tau", "epochs"]  # its own before what all have
    assert set(names) == {one.name for one in fields(Other)}
    assert settings_of(Other)["epochs"].default == 100


def test_options_of_several_methods() -> None:
    kinds = (Settings, Other)
    assert list(known_settings(kinds)) == [*KNOWN, "tau"]

    @with_settings
    def one(**settings: Any) -> None: ...

    def command(name: str, **settings: Any) -> None:
        found.update(settings, name=name)

    found: dict[str, Any] = {}
    both = with_settings(command, kinds)
    ours, theirs = (list(inspect.signature(it).parameters) for it in (one, both))
    assert theirs == ["name", *ours, "tau"]
    assert "structural" not in ours
    both(name="x", tau=0.3)
    assert found == {"name": "x", "tau": 0.3}
    assert given_settings(found | {"name": None}, Other) == {"tau": 0.3}
    with pytest.raises(InputError) as refused:
        given_settings({"window": 5, "tau": None}, Other, "other")
    assert "method 'other' has no setting --window" in str(refused.value)
    assert "it has --direction, --feature-scaling, --dim, --tau" in str(refused.value)


class Model(Estimator):
    """A model.

    Attributes:
        history_: What was.
    """

    @takes(Other)
    def __init__(self) -> None:
        self.made = True


def test_an_estimator_says_only_whose_settings_it_has() -> None:
    model = Model(tau=0.1)
    assert model.made
    assert Model.settings_type is Other
    assert repr(model) == "Model(tau=0.1)"
    assert clone(model).get_params() == model.get_params()
    parameters = inspect.signature(Model).parameters
    assert list(parameters) == list(settings_of(Other))
    assert {str(p.kind) for p in parameters.values()} == {"KEYWORD_ONLY"}
    assert parameters["epochs"].default == 100
    assert parameters["tau"].annotation == "float"
    doc = inspect.getdoc(Model) or ""
    assert doc.startswith("A model.\n\nArgs:\n    direction: Whom a node")
    assert "    tau: Temperature.\n" in doc
    assert doc.endswith("Attributes:\n    history_: What was.")
    with pytest.raises(TypeError, match="taau"):
        Model(taau=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        Model(0.1)  # type: ignore[call-arg, arg-type]


def test_values_are_kept_as_they_are_given() -> None:
    orders, keep = [0.5, 1], ["local"]
    model = FDGCL(orders=orders, keep=keep, dim=-3)
    assert model.get_params()["orders"] is orders
    assert model.get_params()["keep"] is keep
    with pytest.raises(InputError, match="dim must be a whole number"):
        model.check()


TYPED = """
from dataclasses import dataclass
from fdgcl._estimator import Estimator, takes
from fdgcl._settings import NameOf, setting

class Part: ...

@dataclass(frozen=True, kw_only=True)
class Settings:
    dim: int = setting(64, "Columns.")
    part: NameOf[Part] = setting("plain", "A part.")

class Model(Estimator):
    @takes(Settings)
    def __init__(self) -> None: ...

Model(dim=8, part="plain")
Model(part=Part())
Model(dimm=8)
Model(dim="8")
Model(part=8)
Model(8)
name: str = Settings().part
"""


@pytest.mark.slow
def test_type_checkers_know_the_settings(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="of the extra `check`")
    (tmp_path / "typed.py").write_text(TYPED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "typed.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
    )
    wrong = {
        int(line) for line in re.findall(r"^typed\.py:(\d+): error", done.stdout, re.M)
    }
    lines = TYPED.splitlines()
    assert [lines[number - 1] for number in sorted(wrong)] == [
        "Model(dimm=8)",
        'Model(dim="8")',
        "Model(part=8)",
        "Model(8)",
    ]


def test_the_page_is_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "render_settings.py"))
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == tool["render"]()
    for name in KNOWN:
        assert f"\n| `{name}` |" in page
