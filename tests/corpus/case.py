"""A case: files, a command, and what must come of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from fdgcl import Graph

from .making import Files

GRAPH = "g.npz"


@dataclass(frozen=True)
class Case:
    """One input and what must happen.

    Attributes:
        name: `group/what`, unique.
        files: What is written beforehand.
        words: The command after `fdgcl`.
        says: Phrases of the output or, where it is refused, of the sentence.
        refused: Whether exit code 2 and one sentence are expected.
        counts: Nodes, edges and features of the graph, as far as they are said.
        never: Phrases that must not come.
        before: Commands that come first and must succeed.
    """

    name: str
    files: Files
    words: tuple[str, ...]
    says: tuple[str, ...] = ()
    refused: bool = False
    counts: tuple[int | None, ...] = ()
    never: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Call:
    """A call of the library with tables in memory, and what must happen.

    Attributes:
        name: `group/what`, unique.
        call: Returns a graph, or raises InputError.
        says: Phrases of `Graph.reading` or of the error.
        refused: Whether an InputError is expected.
        counts: Nodes, edges and features of the graph, as far as they are said.
    """

    name: str
    call: Callable[[], Graph]
    says: tuple[str, ...] = ()
    refused: bool = False
    counts: tuple[int | None, ...] = ()

    def __str__(self) -> str:
        return self.name


@dataclass
class Group:
    """The cases of one module, collected as they are written down."""

    name: str
    cases: list[Any] = field(default_factory=list)

    def good(
        self,
        name: str,
        files: Files,
        *says: str,
        more: str | tuple[str, ...] = (),
        counts: tuple[int | None, ...] = (),
        never: tuple[str, ...] = (),
    ) -> None:
        """Files that make a graph by `fdgcl data convert`."""
        words = convert(files, more)
        self._add(Case(name, files, words, says, counts=counts, never=never))

    def bad(
        self, name: str, files: Files, *says: str, more: str | tuple[str, ...] = ()
    ) -> None:
        """Files that `fdgcl data convert` refuses."""
        self._add(Case(name, files, convert(files, more), says, refused=True))

    def run(
        self,
        name: str,
        files: Files,
        command: str | tuple[str, ...],
        *says: str,
        refused: bool = False,
        never: tuple[str, ...] = (),
        before: tuple[str, ...] = (),
    ) -> None:
        """Any command."""
        first = tuple(tuple(one.split()) for one in before)
        words = _split(command)
        self._add(Case(name, files, words, says, refused, (), never, first))

    def call(
        self,
        name: str,
        call: Callable[[], Graph],
        *says: str,
        refused: bool = False,
        counts: tuple[int | None, ...] = (),
    ) -> None:
        """A call of the library."""
        self.cases.append(Call(f"{self.name}/{name}", call, says, refused, counts))

    def _add(self, case: Case) -> None:
        named = {**vars(case), "name": f"{self.name}/{case.name}"}
        self.cases.append(Case(**named))


def convert(files: Files, more: str | tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the command that reads files by the first letter of their names.

    e: the edges, x: features, y: labels.
    """
    given = [name for name in files if name[0] == "e"]
    options = {"x": "--features", "y": "--labels"}
    for name in files:
        if name[0] in options:
            given += [options[name[0]], name]
    return ("data", "convert", *given, *_split(more), "-o", GRAPH)


def _split(words: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(words.split()) if isinstance(words, str) else words


def fingerprint(graph: Graph) -> dict[str, Any]:
    """Return what tells a change of reading: sizes, and a checksum of all of it.

    Features are rounded to three decimals: machines may differ in the last bits.
    """
    digest = hashlib.sha256()
    for value in graph.ids.tolist():
        digest.update(f"{type(value).__name__} {value!r}\n".encode())
    edges = graph.adjacency.tocoo()
    for part in (*edges.coords, np.round(edges.data.astype(np.float64), 3)):
        digest.update(np.ascontiguousarray(part).astype("<f8").tobytes())
    if graph.features is not None:
        x = graph.features
        dense = np.asarray(x.toarray() if sparse.issparse(x) else x, np.float64)
        # Adding zero turns -0 into 0.
        digest.update((np.round(dense, 3) + 0.0).astype("<f8").tobytes())
    digest.update(repr(graph.feature_names).encode())
    if graph.y is not None:
        digest.update(graph.y.astype("<i8").tobytes())
        digest.update(repr(graph.class_names).encode())
    if graph.targets is not None:
        digest.update(np.round(graph.targets.array.astype("<f8"), 3).tobytes())
        digest.update(repr(graph.targets.names).encode())
    return {
        "sizes": [graph.num_nodes, graph.num_edges, graph.num_features],
        "checksum": digest.hexdigest()[:16],
    }
