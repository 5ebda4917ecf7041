"""Settings as TOML, and back."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fdgcl import FDGCL
from fdgcl.presets import PRESETS, preset_settings, read_settings, with_hidden
from fdgcl.tuning import settings_text, write_settings


@pytest.mark.parametrize("preset", [None, *PRESETS])
def test_every_model_survives(preset: str | None, tmp_path: Path) -> None:
    model = FDGCL() if preset is None else FDGCL.preset(preset)
    settings = with_hidden(model.get_params())
    model = FDGCL(**settings)
    write_settings(tmp_path / "best.toml", settings, ["found", ""])
    text = (tmp_path / "best.toml").read_text()
    assert text.startswith("# found\n#\n[settings]\n")
    again = FDGCL(**tomllib.loads(text)["settings"])
    assert again.check() == model.check()
    assert FDGCL(**read_settings(tmp_path / "best.toml")).check() == model.check()


def test_values_that_are_awkward() -> None:
    values = {"a": 'say "x" \\ ü \n', "b": 1e-07, "c": None, "d": (1, 2.5), "e": True}
    found = tomllib.loads(settings_text(values))["settings"]
    assert found == {"a": values["a"], "b": 1e-07, "d": [1, 2.5], "e": True}


def test_presets_have_the_same_form() -> None:
    settings = with_hidden(preset_settings("texas", "paper"))
    assert tomllib.loads(settings_text(settings))["settings"].keys() == settings.keys()
