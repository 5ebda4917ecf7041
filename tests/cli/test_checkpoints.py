"""Runs that are damaged, foreign or do not fit; disks that fill up."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from smallgraph import SMALL, Command, edit_features, everything

from fdgcl import _files

EMBED = ("embed", "edges.csv", "--features", "x.parquet", *SMALL)
TRANSFORM = (
    "transform",
    "run",
    "edges.csv",
    "--features",
    "x.parquet",
    "-o",
    "new.parquet",
)


@pytest.fixture
def run(fdgcl: Command, folder: Path) -> Path:
    """The folder of a finished run."""
    assert fdgcl(*EMBED, "--run", "run").exit_code == 0
    return folder / "run"


def _cut(name: str) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        content = (run / name).read_bytes()
        (run / name).write_bytes(content[: len(content) // 2])

    return damage


def _foreign(name: str, content: bytes) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        (run / name).write_bytes(content)

    return damage


def _without(name: str) -> Callable[[Path], None]:
    return lambda run: (run / name).unlink()


def _config(run: Path) -> None:
    config = json.loads((run / "config.json").read_text())
    config["settings"]["dim"] = 9
    (run / "config.json").write_text(json.dumps(config))


def _dim(value: object) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        config = json.loads((run / "config.json").read_text())
        config["settings"]["dim"] = value
        (run / "config.json").write_text(json.dumps(config))

    return damage


def _many_features(run: Path) -> None:
    config = json.loads((run / "config.json").read_text())
    config["schema"]["num_features"] = 10**12
    (run / "config.json").write_text(json.dumps(config))


def _not_finite(run: Path) -> None:
    path = run / "model.safetensors"
    with safe_open(path, framework="pt") as stream:
        metadata = stream.metadata()
    tensors = load_file(path)
    next(one for one in tensors.values() if one.ndim == 2)[0, 0] = float("nan")
    save_file(tensors, path, metadata)


DAMAGES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "settings cut off": ("config.json", _cut("config.json")),
    "settings of something else": ("config.json", _foreign("config.json", b'{"a": 1}')),
    "settings that are no text": (
        "config.json",
        _foreign("config.json", b"\xff\xfe\x00"),
    ),
    "no settings": ("config.json", _without("config.json")),
    "weights cut off": ("model.safetensors", _cut("model.safetensors")),
    "weights of something else": (
        "model.safetensors",
        _foreign("model.safetensors", b"\x02\0\0\0\0\0\0\0{}"),
    ),
    "no weights": ("model.safetensors", _without("model.safetensors")),
    "weights of another shape": ("model.safetensors", _config),
    "weights that are NaN": ("model.safetensors is damaged: ", _not_finite),
    "dim beyond bounds": ("config.json: dim must be", _dim(10**12)),
    "dim that would take all memory": ("model.safetensors does not fit", _dim(2**20)),
    "features beyond bounds": ("model.safetensors does not fit", _many_features),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_runs_are_refused(
    name: str, fdgcl: Command, folder: Path, run: Path
) -> None:
    culprit, damage = DAMAGES[name]
    damage(run)
    before = everything(folder)
    result = fdgcl(*TRANSFORM)
    assert result.exit_code == 2, result.output
    assert culprit in result.stderr
    assert result.stderr.count("error: ") == 1
    assert everything(folder) == before


def test_no_report_of_weights_that_are_nan(
    fdgcl: Command, folder: Path, run: Path
) -> None:
    _not_finite(run)
    before = everything(folder)
    result = fdgcl("report", "run")
    assert result.exit_code == 2, result.output
    assert "values that are not finite" in result.stderr
    assert everything(folder) == before


def test_a_damaged_checkpoint_is_not_resumed(
    fdgcl: Command, folder: Path, run: Path
) -> None:
    (run / "model.safetensors").rename(run / "checkpoint.safetensors")
    _cut("checkpoint.safetensors")(run)
    result = fdgcl(*EMBED, "--run", "run", "--resume")
    assert result.exit_code == 2, result.output
    assert "checkpoint.safetensors" in result.stderr


def test_other_settings_are_not_resumed(fdgcl: Command, run: Path) -> None:
    result = fdgcl(*EMBED, "--run", "run", "--resume", "--dim", 16)
    assert result.exit_code == 2, result.output
    assert "dim" in result.stderr


def test_another_graph_is_not_resumed(fdgcl: Command, folder: Path, run: Path) -> None:
    with (folder / "edges.csv").open("a") as edges:
        edges.write("n1,n2\nn2,n1\n")
    result = fdgcl(*EMBED, "--run", "run", "--resume")
    assert result.exit_code == 2, result.output
    assert "graph" in result.stderr


def test_a_folder_that_is_no_run(fdgcl: Command, folder: Path) -> None:
    (folder / "run").mkdir()
    result = fdgcl(*TRANSFORM)
    assert result.exit_code == 2
    assert "config.json" in result.stderr
    (folder / "run").rmdir()
    result = fdgcl(*TRANSFORM)
    assert result.exit_code == 2
    assert "run is not a folder" in result.stderr


def test_fewer_features_than_in_training(
    fdgcl: Command, folder: Path, run: Path
) -> None:
    edit_features(folder, lambda columns: columns.pop("f3"))
    result = fdgcl(*TRANSFORM)
    assert result.exit_code == 2
    assert "x.parquet lacks the column of the training: 'f3'\n" in result.stderr
    assert not (folder / "new.parquet").exists()


def test_other_features_than_in_training(
    fdgcl: Command, folder: Path, run: Path
) -> None:
    def rename(columns: dict[str, list[object]]) -> None:
        columns["age"] = columns.pop("f5")

    edit_features(folder, rename)
    result = fdgcl(*TRANSFORM)
    assert result.exit_code == 2
    assert "'age'" in result.stderr
    assert "'f5'" in result.stderr


def test_no_features_where_there_were_some(fdgcl: Command, run: Path) -> None:
    result = fdgcl("transform", "run", "edges.csv", "-o", "new.parquet")
    assert result.exit_code == 2
    assert "features" in result.stderr


def _full_disk(for_files: str) -> Callable[[Path], None]:
    def sync(path: Path) -> None:
        if for_files in path.name:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    return sync


def test_a_disk_that_is_full_at_once(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "_sync", _full_disk(""))
    before = everything(folder)
    result = fdgcl(*EMBED, "-o", "z.parquet")
    assert result.exit_code == 3, result.output
    assert "disk is full" in result.stderr
    assert everything(folder) == before


def test_a_disk_that_fills_up_when_the_embedding_is_written(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "z.parquet").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(_files, "_sync", _full_disk("z.parquet"))
        result = fdgcl(*EMBED, "-o", "z.parquet", "--run", "run", "--overwrite")
    assert result.exit_code == 3, result.output
    assert "disk is full" in result.stderr
    assert "kept in run" in result.stderr
    assert (folder / "z.parquet").read_text() == "old"
    assert not list(folder.rglob("*.tmp"))
    assert fdgcl(*TRANSFORM).exit_code == 0


def test_a_disk_that_fills_up_while_training(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "_sync", _full_disk("safetensors"))
    result = fdgcl(*EMBED, "-o", "z.parquet", "--run", "run")
    assert result.exit_code == 3, result.output
    assert "disk is full" in result.stderr
    assert not (folder / "z.parquet").exists()
    assert not list(folder.rglob("*.tmp"))
