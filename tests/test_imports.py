"""Imports within fdgcl: each module can come first, and there are no cycles."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import fdgcl

SOURCE = Path(fdgcl.__file__).parent

Graph = dict[str, set[str]]  # which modules each one imports

#: `Graph.from_...` hand over to the readers, which make a Graph: a class cannot have
#: constructors elsewhere without a cycle. They are imported when called.
CONSTRUCTORS = {
    ("fdgcl.graphs.graph", "fdgcl.graphs.adaptors"),
    ("fdgcl.graphs.graph", "fdgcl.graphs.edge_pairs"),
    ("fdgcl.graphs.graph", "fdgcl.graphs.pyg"),
    ("fdgcl.graphs.graph", "fdgcl.graphs.readers"),
    ("fdgcl.graphs.collection", "fdgcl.graphs.pyg"),
}

#: Imports each module as if it were the first of fdgcl; other packages stay loaded.
EACH_ALONE = """
import importlib, sys

for name in sys.argv[1:]:
    for loaded in [one for one in sys.modules if one.split(".")[0] == "fdgcl"]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {error!r}")
"""

#: Modules that need what is not installed everywhere.
OPTIONAL = {"fdgcl.methods.fdgcl.agreement_triton"}


def modules() -> dict[str, Path]:
    """Every module by its name, but the one that runs the command line."""
    paths = sorted(path for path in SOURCE.rglob("*.py") if path.stem != "__main__")
    parts = [path.relative_to(SOURCE.parent).with_suffix("").parts for path in paths]
    names = [".".join(part).removesuffix(".__init__") for part in parts]
    return dict(zip(names, paths, strict=True))


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports that run, wherever they stand; those for types alone do not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not is_for_types(node):
            yield from imports(node)


def imported(path: Path, known: set[str]) -> set[str]:
    """The modules of fdgcl that a file imports, at its top or later."""
    found = set()
    for node in imports(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, f"{path} has a relative import"
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else str(node.module) for name in full}
    return found & known


@cache
def import_graph() -> Graph:
    paths = modules()
    return {name: imported(path, set(paths)) for name, path in paths.items()}


def cycle(graph: Graph) -> list[str]:
    """One cycle of imports, by its modules; none is an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # It goes from what is imported to what imports it.
        return list(error.args[1])[::-1]
    return []


def without(graph: Graph, edges: set[tuple[str, str]]) -> Graph:
    return {
        name: {other for other in others if (name, other) not in edges}
        for name, others in graph.items()
    }


def test_there_are_no_import_cycles() -> None:
    found = cycle(without(import_graph(), CONSTRUCTORS))
    assert not found, " -> ".join(found)


@pytest.mark.parametrize("edge", sorted(CONSTRUCTORS), ids=" -> ".join)
def test_cycles_that_are_known_are_there(edge: tuple[str, str]) -> None:
    graph = without(import_graph(), CONSTRUCTORS - {edge})
    assert cycle(graph), f"{' -> '.join(edge)} closes no cycle: take it off the list"


@pytest.mark.slow
def test_each_module_can_be_imported_first() -> None:
    names = sorted(modules().keys() - OPTIONAL)
    run = [sys.executable, "-c", EACH_ALONE, *names]
    found = subprocess.run(run, capture_output=True, text=True, check=True)
    assert found.stdout == ""
