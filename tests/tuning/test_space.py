"""Search spaces: what a file may say, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.presets import PRESETS
from fdgcl.tuning import SPACES, load_space
from fdgcl.tuning.formulas import Formula
from fdgcl.tuning.ranges import Choices, Range
from fdgcl.tuning.spacefile import method_of, parse_space
from tolerances import gamma
from tuning.tiny import tiny_space, tiny_start

NONE: frozenset[str] = frozenset()
OWN = [name for name in SPACES if method_of(name) == FDGCL.method_name]


def space(text: str) -> Any:
    return parse_space(text.encode(), "space.toml")


def names(found: Any) -> list[str]:
    return [one.name for one in found.dimensions]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("preset", [None, "texas", "photo", "squirrel"])
def test_shipped_spaces_hold_only_settings_a_model_takes(
    name: str, preset: str | None
) -> None:
    model = FDGCL() if preset is None else FDGCL.preset(preset)
    start = model.get_params()
    found = load_space(name)
    found.check(start)
    rng = np.random.default_rng(1)
    for _ in range(50):
        drawn = {one.name: one.allowed.draw(rng) for one in found.dimensions}
        settings = FDGCL(**found.settings(start, drawn)).check()
        assert settings.schedule.steps == drawn["steps"]
        assert settings.rate * settings.step == pytest.approx(drawn["reach"])


@pytest.mark.parametrize("name", PRESETS)
def test_the_start_is_a_point_of_the_default_space(name: str) -> None:
    """Its point, put back in, gives the starting settings again."""
    start = FDGCL.preset(name).get_params()
    found = load_space()
    values = found.start_values(start)
    again = found.settings(start, values)
    assert again.keys() == start.keys()
    for key, value in again.items():
        if isinstance(value, float):
            # Divided by one setting and multiplied by it again.
            assert value == pytest.approx(start[key], rel=gamma(8, float))
        elif key != "orders":
            assert value == start[key]


def test_what_is_kept_by_default_is_a_start_like_any_other() -> None:
    start = FDGCL().get_params()
    assert start["keep"] is None
    found = space(
        '[search]\n"keep.out" = { choices = [false, true] }\n'
        '"keep.local" = { choices = [false, true] }\n'
    )
    assert found.start_values(start) == {"keep.out": True, "keep.local": False}
    less = found.settings(start, {"keep.out": False})
    assert less["keep"] == ("features", "global", "in")
    mixed = {**start, "combine": "sum"}
    assert found.start_values(mixed) == {"keep.out": False, "keep.local": False}
    assert found.settings(mixed, {"keep.local": True})["keep"] == ("local",)


def test_entries_of_a_tuple_and_whole_numbers() -> None:
    found = space(
        '[search]\n"orders.0" = { low = 0.1, high = 0.5 }\n'
        "dim = { low = 4, high = 9 }\neta = { low = 0, high = 1.0 }\n"
    )
    settings = found.settings(tiny_start(), {"orders.0": 0.3, "dim": 5})
    assert settings["orders"] == (0.3, 1.0)
    orders, dim, eta = (one.allowed for one in found.dimensions)
    assert (orders.whole, dim.whole, eta.whole) == (False, True, False)
    drawn = {dim.draw(np.random.default_rng(seed)) for seed in range(60)}
    assert drawn == {4, 5, 6, 7, 8, 9}


def test_what_is_in_a_setting() -> None:
    found = space(
        '[search]\n"keep.features" = { choices = [true, false] }\n'
        '"keep.local" = { choices = [true, false] }\n'
    )
    start = tiny_start(keep=("local", "global"))
    assert found.start_values(start) == {"keep.features": False, "keep.local": True}
    changed = found.settings(start, {"keep.features": True, "keep.local": False})
    assert changed["keep"] == ("global", "features")
    found.check(start)
    wrong = space('[search]\n"keep.featurs" = { choices = [true, false] }')
    with pytest.raises(InputError, match=r"keep\.featurs = True.*features"):
        wrong.check(start)


def test_steps_of_a_range() -> None:
    grid = Range(0.0, 2.0, step=0.5)
    drawn = {grid.draw(np.random.default_rng(seed)) for seed in range(60)}
    assert drawn == {0.0, 0.5, 1.0, 1.5, 2.0}
    assert grid.holds(1.5)
    assert not grid.holds(1.4)
    assert not grid.holds(2.5)
    assert not Range(0, 3).holds(True)
    assert not Choices((1, 2)).holds(True)
    assert Range(0.01, 1.0, log=True).position(0.1) == pytest.approx(0.5)


def test_conditions_look_at_choices_and_at_the_start() -> None:
    found = space(
        '[search]\nloss = { choices = ["cosmean", "regularized-cosmean"] }\n'
        'eta = { low = 0.1, high = 1.0, when = { loss = "regularized-cosmean" } }\n'
        "lr = { low = 0.1, high = 1.0, unless = { epochs = [0, 1] } }\n"
    )
    _, eta, lr = found.dimensions
    assert eta.varies({"loss": "regularized-cosmean"})
    assert not eta.varies({"loss": "cosmean"})
    assert not lr.varies({"epochs": 0})
    assert lr.varies({"epochs": 2})
    values = found.start_values(tiny_start(epochs=0, eta=0.2))
    assert values == {"loss": "regularized-cosmean", "eta": 0.2}


def test_fixed_settings_leave_the_space() -> None:
    whole = load_space()
    directed = names(whole.narrowed(NONE, directed=True))
    assert directed == names(whole)
    assert "direction" not in names(whole.narrowed(NONE, directed=False))
    fixed = whole.narrowed(frozenset({"orders", "time", "step"}), directed=True)
    assert not {"orders.0", "steps", "reach"} & set(names(fixed))
    assert not fixed.derived
    # With the rate fixed, the step still follows from the reach.
    rate = whole.narrowed(frozenset({"rate"}), directed=True)
    settings = rate.settings(tiny_start(rate=0.5), {"steps": 4, "reach": 1.0})
    assert (settings["step"], settings["time"]) == (2.0, 8.0)
    with pytest.raises(InputError, match="nothing is left"):
        tiny_space().narrowed(
            frozenset({"lr", "beta", "dim", "activation"}), directed=True
        )


def test_formulas() -> None:
    formula = Formula("2 ** bits * (a - 1) / -b + 3")
    assert formula.names == {"bits", "a", "b"}
    assert formula.value({"bits": 3, "a": 2.0, "b": 4}) == 1.0
    with pytest.raises(InputError, match="no finite value for a = 0"):
        Formula("1 / a").value({"a": 0})
    found = space(
        '[search]\nbits = { low = 2, high = 4 }\n[derived]\ndim = "2 ** bits"'
    )
    dim = found.settings(tiny_start(), {"bits": 3})["dim"]
    assert (dim, type(dim)) == (8, int)


BAD = {
    "not TOML": ("[search", "not TOML"),
    "nothing": ("", "no entries"),
    "unknown section": ("[serach]\n", 'did you mean "search"'),
    "unknown setting": (
        "[search]\nlrr = { low = 1, high = 2 }",
        "unknown setting 'lrr'; did you mean \"lr\"",
    ),
    "old name": (
        "[search]\nmemory = { low = 1, high = 2 }",
        "the solver's memory is called window now, not memory",
    ),
    "unknown entry": ('[search]\n"orders.2" = { low = 0.1, high = 0.2 }', "orders.2"),
    "member of a list of numbers": (
        '[search]\n"orders.first" = { low = 0.1, high = 0.2 }',
        "orders.first",
    ),
    "entry of a number": ('[search]\n"lr.0" = { low = 0.1, high = 0.2 }', "lr.0"),
    "unknown key": ("[search]\nlr = { lwo = 1, high = 2 }", 'did you mean "low"'),
    "no table": ("[search]\nlr = 3", "must be a table"),
    "no ends": ("[search]\nlr = { low = 1 }", "needs low and high, or choices"),
    "no number": ('[search]\nlr = { low = "a", high = 2 }', "low must be a number"),
    "wrong way round": ("[search]\nlr = { low = 2, high = 1 }", "must not exceed high"),
    "log of zero": ("[search]\nlr = { low = 0, high = 1, log = true }", "above zero"),
    "log of steps": (
        "[search]\nlr = { low = 1, high = 2, log = true, step = 1 }",
        "has no step",
    ),
    "log of a text": ('[search]\nlr = { low = 1, high = 2, log = "no" }', "true or"),
    "negative step": (
        "[search]\nlr = { low = 1, high = 2, step = -1 }",
        "step must be positive",
    ),
    "part of a step": (
        "[search]\ndim = { low = 1, high = 2, step = 0.5 }",
        "need a whole step",
    ),
    "end between steps": (
        "[search]\ndim = { low = 1, high = 4, step = 2 }",
        "whole number of steps",
    ),
    "no choices": ("[search]\nskip = { choices = [] }", "must be a list of values"),
    "choices and a range": (
        "[search]\nlr = { choices = [1], low = 1 }",
        "choices have no low",
    ),
    "choices of lists": ("[search]\norders = { choices = [[0.1, 1]] }", "orders.0"),
    "a choice twice": ('[search]\nskip = { choices = ["end", "end"] }', "twice"),
    "both searched and derived": (
        '[search]\nlr = { low = 0.1, high = 1.0 }\n[derived]\nlr = "2"',
        "searched and derived",
    ),
    "seeds": ("[search]\nseed = { low = 0, high = 9 }", "seed is not searched"),
    "unknown name in a formula": (
        '[search]\nlr = { low = 0.1, high = 1.0 }\n[derived]\ntime = "stepps * 2"',
        "unknown setting 'stepps'",
    ),
    "unknown derived": (
        '[search]\nlr = { low = 0.1, high = 1.0 }\n[derived]\nspeed = "2 * lr"',
        "unknown setting 'speed'",
    ),
    "a call": (
        '[search]\nlr = { low = 0.1, high = 1.0 }\n[derived]\ntime = "exit()"',
        "not a formula",
    ),
    "a text in a formula": (
        "[search]\nlr = { low = 0.1, high = 1.0 }\n[derived]\ntime = \"lr * 'a'\"",
        "not a formula",
    ),
    "half a formula": (
        '[search]\nlr = { low = 0.1, high = 1.0 }\n[derived]\ntime = "2 *"',
        "not a formula",
    ),
    "a condition ahead": (
        "[search]\nlr = { low = 0.1, high = 1.0, when = { epochs = 1 } }\n"
        "epochs = { low = 0, high = 2 }",
        "looks back only",
    ),
    "a condition on nothing": (
        "[search]\nlr = { low = 0.1, high = 1.0, when = { epoch = 1 } }",
        "unknown setting 'epoch'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(name: str) -> None:
    text, message = BAD[name]
    with pytest.raises(InputError, match=r"^space.toml") as caught:
        space(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('activation = { choices = ["relu", "rleu"] }', "unknown activation 'rleu'"),
        ('"orders.0" = { low = 0.0, high = 0.5 }', "orders must lie"),
        ("dim = { low = 0, high = 5 }", "dim must be"),
        ("beta = { low = 0.5, high = 1.5 }", "beta must lie"),
    ],
)
def test_values_no_model_takes_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        space(f"[search]\n{text}").check(tiny_start())
    assert str(caught.value).startswith("space.toml: ")


def test_values_that_fit_some_combinations_are_fine() -> None:
    found = space(
        "[search]\ntime = { low = 1.0, high = 60.0 }\nstep = { low = 0.5, high = 5.0 }"
    )
    found.check(tiny_start())


def test_files_and_names(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[search]\nlr = { low = 0.1, high = 1.0 }")
    assert names(load_space(tmp_path / "mine.toml")) == ["lr"]
    with pytest.raises(InputError, match="there is no file"):
        load_space(tmp_path / "yours.toml")
    with pytest.raises(InputError, match='did you mean "small"'):
        load_space("smal")


def test_the_space_in_the_docs_is_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tune.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    found = parse_space(text.encode(), "docs")
    found.check(tiny_start())
    assert {"orders.0", "keep.features", "steps", "eta"} <= set(names(found))
