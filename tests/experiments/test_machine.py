"""What a line says of where and how it was measured."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from fdgcl import __version__
from fdgcl.experiments import machine
from fdgcl.experiments.machine import Meter, environment, source_commit


@pytest.fixture(autouse=True)
def _forget() -> None:
    source_commit.cache_clear()


def test_environment_names_versions_and_hardware() -> None:
    found = environment("cpu", 1)
    assert found["versions"]["fdgcl"] == __version__
    assert set(found["versions"]) == {"fdgcl", "torch", "numpy", "scipy", "python"}
    assert found["hardware"]
    assert found["cores"] >= 1
    assert (found["device"], found["threads"]) == ("cpu", 1)


def _git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git tree in which this package seems to lie."""
    package = tmp_path / "src" / "fdgcl"
    (package / "experiments").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(machine, "__file__", str(package / "experiments" / "m.py"))
    monkeypatch.delenv("FDGCL_COMMIT", raising=False)
    _git(tmp_path, "init", "-q")
    return tmp_path


def test_commit_of_a_clean_and_of_a_changed_tree(tree: Path) -> None:
    _git(tree, "add", ".")
    _git(tree, "commit", "-qm", "first")
    commit = _git(tree, "rev-parse", "HEAD")
    assert source_commit() == commit
    (tree / "notes.txt").write_text("beside the package")
    source_commit.cache_clear()
    assert source_commit() == commit
    (tree / "src" / "fdgcl" / "new.py").write_text("x = 1")
    source_commit.cache_clear()
    assert source_commit() == f"{commit}+"


def test_a_package_in_a_strange_tree_has_no_commit(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "other.txt").write_text("")
    _git(tree, "add", "other.txt")
    _git(tree, "commit", "-qm", "first")
    assert source_commit() is None
    source_commit.cache_clear()
    monkeypatch.setenv("FDGCL_COMMIT", "0123abc")
    assert source_commit() == "0123abc"


def test_memory_is_that_of_the_block_alone() -> None:
    def peak(mebibytes: int) -> float:
        with Meter("cpu") as meter:
            block = np.ones(mebibytes * 2**17)
            time.sleep(0.01)
            del block
        assert meter.seconds >= 0.01
        return meter.memory_mib

    small, large, again = peak(1), peak(300), peak(1)
    assert large - small == pytest.approx(299, rel=0.1)
    if environment("cpu", 1)["memory_peak_of"] == "unit":
        assert again == pytest.approx(small, abs=20)


def test_where_the_peak_cannot_be_reset_it_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "_CLEAR", tmp_path / "no" / "such" / "file")
    assert environment("cpu", 1)["memory_peak_of"] == "process"
    with Meter("cpu") as meter:
        pass
    assert meter.memory_mib > 10
    assert set(meter.to_dict()) == {"seconds", "peak_memory_mib"}


@pytest.mark.gpu
def test_on_a_gpu_its_memory_is_measured() -> None:
    import torch

    with Meter("cuda") as meter:
        torch.zeros(2**22, device="cuda")
    assert meter.gpu_memory_mib is not None
    assert meter.gpu_memory_mib >= 16
