"""The package as a whole: versions agree, imports are quick, the docs are linked."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import fdgcl

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

# Not behind a slash or dot, which make them part of a longer path or address.
DOTTED = re.compile(r"(?<![\w/.-])fdgcl(?:\.[A-Za-z_]\w*)+")
FILES = re.compile(
    r"(?<![\w/.-])(?:src/fdgcl|fdgcl|tests|tools|results|benchmarks)/[\w/.<>*-]*[\w/>*]"
)
#: Files that a page tells how to write.
TO_BE_WRITTEN = {"src/fdgcl/diffusion/dynamics/leaky_heat.py"}


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


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def has_name(dotted: str) -> bool:
    """Whether a module, or something in one, has this name."""
    words = dotted.split(".")
    module = importlib.import_module(words[0])
    while words[1:] and hasattr(module, "__path__"):
        if importlib.util.find_spec(f"{module.__name__}.{words[1]}") is None:
            break
        words = [f"{words[0]}.{words[1]}", *words[2:]]
        module = importlib.import_module(words[0])
    value: object = module
    for word in words[1:]:
        if not hasattr(value, word):
            return False
        value = getattr(value, word)
    return True


def imported_in_fences(text: str) -> Iterator[str]:
    """What the Python of a page imports from fdgcl, by its dotted names."""
    for code in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and str(node.module)[:5] == "fdgcl":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@each_page
def test_names_in_the_docs_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = {*DOTTED.findall(text), *imported_in_fences(text)}
    assert sorted(name for name in names if not has_name(name)) == []


@each_page
def test_files_in_the_docs_exist(page: Path) -> None:
    found = set(FILES.findall(page.read_text(encoding="utf-8"))) - TO_BE_WRITTEN
    # With a placeholder, such as <table> or TABLE, in it: only what stands before.
    plain = {re.split(r"[<*]|(?<![A-Z])(?!README)[A-Z]{3,}", name)[0] for name in found}
    inside = {re.sub(r"^fdgcl/", "src/fdgcl/", name) for name in plain}
    assert sorted(name for name in inside if not (ROOT / name).exists()) == []


def test_the_architecture_names_every_part() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / "src" / "fdgcl").iterdir()
        if path.is_dir() or path.suffix == ".py"
    }
    public = {part for part in parts if not part.startswith("_")}
    assert sorted(part for part in public if part not in page) == []
