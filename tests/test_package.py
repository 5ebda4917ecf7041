"""The package as a whole: versions agree, imports are quick, the docs are linked."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fdgcl

ROOT = Path(__file__).parents[1]


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {fdgcl.__version__}" in citation
    assert f"## {fdgcl.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, fdgcl; print([m for m in ('torch', 'scipy') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (
            "import fdgcl; fdgcl.FDGCL",
            {"sklearn", "pyarrow", "plotly", "optuna", "matplotlib", "triton", "rich"},
        ),
        ("import fdgcl; fdgcl.Graph", {"torch", "sklearn", "pyarrow"}),
        (
            "import fdgcl.fitting",
            {"sklearn", "pyarrow", "scipy.linalg", "scipy.stats", "scipy.special"},
        ),
    ],
)
def test_only_what_is_needed_is_loaded(code: str, heavy: set[str]) -> None:
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not heavy & set(found.stdout.split())


def test_every_public_name_is_there() -> None:
    assert all(hasattr(fdgcl, name) for name in fdgcl.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = fdgcl.nothing


def test_constraints_cover_the_direct_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *extras["test"], *extras["check"]]
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for requirement in wanted:
        name = re.match(r"[\w-]+", requirement)
        assert name is not None
        assert f"\n{name[0]}==" in pinned, requirement


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))],
    ids=lambda p: p.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
