"""Where settings start from: presets, their variants, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from smallgraph import Command

from fdgcl.model import FDGCL


def _settings_of(folder: Path) -> dict[str, Any]:
    config = json.loads((folder / "run" / "config.json").read_text())
    settings: dict[str, Any] = config["settings"]
    return settings


@pytest.mark.parametrize("variant", ["best", "paper"])
def test_a_preset_has_two_variants(fdgcl: Command, folder: Path, variant: str) -> None:
    done = fdgcl(
        "embed", "edges.csv", "--features", "x.parquet",
        "--preset", "texas", "--variant", variant,
        "--dim", "4", "--epochs", "1", "--direction", "symmetric", "--run", "run",
        "-o", "z.parquet",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    expected = FDGCL.preset("texas", variant=variant, dim=4, epochs=1)
    assert _settings_of(folder) == expected.check().to_dict()


def test_settings_can_come_from_a_file(fdgcl: Command, folder: Path) -> None:
    text = '[settings]\ndim = 3\nepochs = 1\nkeep = ["local"]\norders = [0.2, 0.9]\n'
    (folder / "own.toml").write_text(text)
    done = fdgcl(
        "embed", "edges.csv", "--features", "x.parquet",
        "--settings", "own.toml", "--dim", "4", "--run", "run",
        "-o", "z.parquet",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "those in own.toml, with dim as given" in done.stderr
    found = _settings_of(folder)
    assert (found["dim"], found["keep"], found["orders"]) == (4, ["local"], [0.2, 0.9])


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("[settings]\ndims = 3\n", [], "unknown setting 'dims'"),
        (
            "[settings]\nmemory = 5\n",
            [],
            "own.toml: the solver's memory is called",
        ),
        ("dim = 3\n", [], "has no table [settings]"),
        ("dim = \n", [], "is no TOML"),
        ("[settings]\n", ["--preset", "texas"], "takes the place of --preset"),
        (None, [], "cannot read the settings in own.toml"),
        (None, ["--variant", "paper"], "--variant needs --preset NAME"),
    ],
)
def test_bad_starts_are_explained(
    fdgcl: Command, folder: Path, text: str | None, words: list[str], message: str
) -> None:
    if text is not None:
        (folder / "own.toml").write_text(text)
    given = [] if "--variant" in words else ["--settings", "own.toml"]
    done = fdgcl("embed", "edges.csv", *given, *words)
    assert done.exit_code == 2
    assert message in done.stderr
