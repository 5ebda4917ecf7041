"""Settings as TOML, and back."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.presets import PRESETS, VARIANTS, preset_settings
from fdgcl.tuning import read_settings, settings_text, write_settings


@pytest.mark.parametrize("preset", [None, *PRESETS])
def test_every_model_survives(preset: str | None, tmp_path: Path) -> None:
    model = FDGCL() if preset is None else FDGCL.preset(preset)
    write_settings(tmp_path / "best.toml", model.get_params(), ["found", ""])
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
    assert VARIANTS
    settings = preset_settings("texas", "paper")
    assert tomllib.loads(settings_text(settings))["settings"].keys() == settings.keys()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"dim = 4", r"no section \[settings\]"),
        (b"[settings", "is no TOML"),
        (b"\xff", "is no TOML"),
        (b"[settings]\ndmi = 4", 'unknown setting .dmi.; did you mean "dim"'),
    ],
)
def test_files_that_are_no_settings(
    content: bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_settings(tmp_path / "s.toml")
    (tmp_path / "s.toml").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_settings(tmp_path / "s.toml")
