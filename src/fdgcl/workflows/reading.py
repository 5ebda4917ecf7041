"""How a graph is to be read: files beside the edge list, columns, the data root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fdgcl._checks import InputError
from fdgcl.graphs.files.options import TableOptions

#: A file of features, or a kind to make; several, or files by the type of node.
Features: TypeAlias = str | Path | Sequence[str | Path] | Mapping[str, str | Path]

MADE = ("degree", "spectral", "random")  # features made from the edges alone
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".edges", ".edgelist", ".parquet", ".npz")


@dataclass(frozen=True)
class Reading:
    """How to read a graph: feature and label files, columns, the data root.

    Attributes:
        features: Files, `TYPE=FILE`, or the kind of features to make from the edges.
        labels: The label file.
        tables: How tables are understood.
        data_root: The folder of datasets.
        graph_ids: The file that says which graph a node belongs to.
        graph_column: The column of graph ids in it.
    """

    features: tuple[str, ...] = ()
    labels: Path | None = None
    tables: TableOptions = field(default_factory=TableOptions)
    data_root: Path | None = None
    graph_ids: Path | None = None
    graph_column: str | None = None

    @property
    def made(self) -> str | None:
        """The kind of features to make from the edges, if that was asked for."""
        named = self.features
        return named[0] if len(named) == 1 and named[0] in MADE else None

    @property
    def feature_files(self) -> dict[str, Path]:
        """The feature files by type; a type without a name is numbered."""
        if self.made:
            return {}
        found: dict[str, Path] = {}
        for text in self.features:
            kind, equals, file = text.partition("=")
            if not equals or Path(text).exists():
                kind, file = stem(Path(text)), text
            if kind in found:
                message = (
                    f"`features`: two files are called {kind!r}; name their types, as "
                    "in `features=user=a/x.csv` `features=item=b/x.csv`"
                )
                raise InputError(message)
            found[kind] = Path(file)
        return found

    def options(self) -> dict[str, Any]:
        """How tables are understood, as the readers take it."""
        return self.tables.to_dict()

    def files(self) -> list[tuple[str, Path]]:
        """The files beside the edge list, each with the argument that names it."""
        named = [("features", file) for file in self.feature_files.values()]
        others = (("labels", self.labels), ("graph_ids", self.graph_ids))
        return named + [(name, file) for name, file in others if file is not None]

    def check(self) -> None:
        """Refuse files that are not there, before anything is read."""
        if "" in self.features:
            message = f"`features` is empty: name a file, or one of {', '.join(MADE)}"
            raise InputError(message)
        for name, file in self.files():
            if not file.is_file():
                what = "is a folder, not a file" if file.is_dir() else "is not there"
                message = f"`{name}`: {file} {what}"
                if name == "features":
                    message += f" (a file, or one of {', '.join(MADE)})"
                raise InputError(message)
        if self.graph_column is not None and self.graph_ids is None:
            message = "`graph_column` goes with `graph_ids`, the file it is in"
            raise InputError(message)


def new_reading(
    features: Features | None = None,
    labels: str | Path | None = None,
    *,
    tables: TableOptions | None = None,
    data_root: str | Path | None = None,
    graph_ids: str | Path | None = None,
    graph_column: str | None = None,
) -> Reading:
    """Return how to read a graph, from what workflows take.

    Example:
        >>> new_reading("degree").made
        'degree'
    """
    if features is None:
        named: tuple[str, ...] = ()
    elif isinstance(features, str | Path):
        named = (str(features),)
    elif isinstance(features, Mapping):
        named = tuple(f"{kind}={file}" for kind, file in features.items())
    else:
        named = tuple(map(str, features))
    return Reading(
        named,
        as_path(labels),
        tables or TableOptions(),
        as_path(data_root),
        as_path(graph_ids),
        graph_column,
    )


def as_path(given: str | Path | None) -> Path | None:
    """The path that an argument names, if it names one."""
    return None if given is None else Path(given)


def stem(path: Path) -> str:
    """The name of a file less the endings that say how it is written."""
    name = path.name
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return name or path.name
