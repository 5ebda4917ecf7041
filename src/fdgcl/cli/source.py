"""From what the user typed to a graph, or many: a file, or a dataset by name."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fdgcl._checks import InputError, nearest
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from fdgcl.graphs import Graph, GraphDataset

    Data: TypeAlias = Graph | GraphDataset

MADE = ("degree", "spectral", "random")  # features made from the edges alone
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".edges", ".edgelist", ".parquet", ".npz")


@dataclass(frozen=True)
class Source:
    """Where the graph is: in a file, or among the datasets when `path` is None."""

    name: str
    path: Path | None


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
                kind, file = _stem(Path(text)), text
            if kind in found:
                message = (
                    f"--features: two files are called {kind!r}; name their types, as "
                    "in --features user=a/x.csv --features item=b/x.csv"
                )
                raise InputError(message)
            found[kind] = Path(file)
        return found

    def options(self) -> dict[str, Any]:
        """How tables are understood, as the readers take it."""
        return self.tables.to_dict()

    def files(self) -> list[tuple[str, Path]]:
        """The files beside the edge list, each with the option that names it."""
        named = [("--features", file) for file in self.feature_files.values()]
        others = (("--labels", self.labels), ("--graph-ids", self.graph_ids))
        return named + [(option, file) for option, file in others if file is not None]

    def check(self) -> None:
        """Refuse files that are not there, before anything is read."""
        if "" in self.features:
            message = f"--features is empty: name a file, or one of {', '.join(MADE)}"
            raise InputError(message)
        for option, file in self.files():
            if not file.is_file():
                what = "is a folder, not a file" if file.is_dir() else "is not there"
                message = f"{option}: {file} {what}"
                if option == "--features":
                    message += f" (a file, or one of {', '.join(MADE)})"
                raise InputError(message)
        if self.graph_column is not None and self.graph_ids is None:
            message = "--graph-column goes with --graph-ids, the file it is in"
            raise InputError(message)


def find_source(text: str) -> Source:
    """Return what GRAPH means.

    Raises:
        InputError: It is neither a file nor the name of a dataset.
    """
    from fdgcl.graphs.catalogue import CATALOGUE

    if not text.strip():
        message = "GRAPH is empty: name a file or a dataset (see: fdgcl data list)"
        raise InputError(message)
    path = Path(text)
    if path.is_file():
        return Source(_stem(path), path)
    name = text.strip().lower().replace("_", "-")
    if name in CATALOGUE:
        return Source(name, None)
    if path.is_dir():
        message = f"GRAPH must be a file or the name of a dataset, {text} is a folder"
        if (path / "manifest.json").is_file():
            store = shlex.quote(text)
            message += f"; to embed a store: fdgcl train {store} -o FOLDER"
        raise InputError(message)
    message = (
        f"there is no file {text}, and no dataset of that name"
        f"{nearest(name, CATALOGUE)} (see: fdgcl data list)"
    )
    raise InputError(message)


def has_many(source: Source, reading: Reading) -> bool:
    """Whether there are many graphs, as far as can be told without reading them."""
    from fdgcl.graphs.catalogue import CATALOGUE
    from fdgcl.graphs.compact_graphs import holds_graphs

    if source.path is None:
        return CATALOGUE[source.name].graphs > 1
    compact = source.path.suffix.lower() == ".npz" and holds_graphs(source.path)
    return compact or reading.graph_ids is not None


def read(source: Source, reading: Reading, schema: Any = None) -> Graph:
    """Read a single graph; features that are to be made are left out.

    Args:
        source: Where it is.
        reading: How to read it.
        schema: How features become numbers, as a model was trained on them.

    Raises:
        InputError: The files do not make up a graph, or there are many.
    """
    if has_many(source, reading):
        message = f"this needs one graph, but {source.name} is many"
        raise InputError(message)
    graph = _read(source, reading, schema)
    return graph.with_features(None) if reading.made else graph


def read_data(source: Source, reading: Reading, schema: Any = None) -> Data:
    """Read the graph, or the graphs; features that are to be made are left out.

    Args:
        source: Where they are.
        reading: How to read them.
        schema: How features become numbers, as a model was trained on them.

    Raises:
        InputError: The files do not make up a graph, or graphs.
    """
    if not has_many(source, reading):
        return read(source, reading, schema)
    dataset = _read_many(source, reading, schema)
    if not reading.made:
        return dataset
    return replace(dataset, graph=dataset.graph.with_features(None))


def need_labels(source: Source, reading: Reading, what: str = "--evaluate") -> None:
    """Refuse to score an edge list without a label file, before it is read."""
    compact = source.path is None or source.path.suffix.lower() == ".npz"
    if reading.labels is None and not compact:
        message = (
            f"{what} needs labels, and {source.path} is an edge list: name a file "
            "with labels by --labels"
        )
        raise InputError(message)


def readings(data: Data) -> tuple[str, ...]:
    """Return what was taken for what in the tables, a line each."""
    from fdgcl.graphs import GraphDataset

    return data.graph.reading if isinstance(data, GraphDataset) else data.reading


def summary(data: Data) -> str:
    """Return what was read, in one line."""
    from fdgcl.graphs import GraphDataset

    graph = data.graph if isinstance(data, GraphDataset) else data
    parts = [f"{len(data):,} graphs"] if isinstance(data, GraphDataset) else []
    parts += [f"{graph.num_nodes:,} nodes", f"{graph.num_edges:,} edges"]
    if graph.num_features:
        parts.append(f"{graph.num_features:,} features")
    if data.num_classes:
        parts.append(f"{data.num_classes} classes")
    if graph is data and graph.targets is not None:
        parts.append(str(graph.targets))
    if graph.is_weighted:
        parts.append("weighted")
    return f"{data.name}: {', '.join(parts)} (from {data.source})"


def refuse_files(source: Source, reading: Reading) -> None:
    """Refuse feature and label files for a dataset, which has its own.

    Raises:
        InputError: GRAPH is the name of a dataset and comes with such a file.
    """
    if source.path is None:
        _refuse_files(reading, f"{source.name} is a dataset with its own")


def _refuse_files(reading: Reading, reason: str) -> None:
    for option, file in reading.files():
        message = f"{option} {file} goes with an edge list, but {reason}"
        raise InputError(message)


def _read(source: Source, reading: Reading, schema: Any) -> Graph:
    from fdgcl.graphs import load_dataset, read_graph

    if source.path is None:
        return load_dataset(source.name, reading.data_root)
    return read_graph(
        source.path,
        reading.feature_files or None,
        reading.labels,
        schema=schema,
        name=source.name,
        **reading.options(),
    )


def _read_many(source: Source, reading: Reading, schema: Any) -> GraphDataset:
    from fdgcl.graphs import load_graphs, read_graphs
    from fdgcl.graphs.compact_graphs import holds_graphs

    if source.path is None:
        return load_graphs(source.name, reading.data_root)
    if holds_graphs(source.path):
        _refuse_files(reading, f"{source.path} holds many graphs with their own")
        return load_graphs(source.path)
    assert reading.graph_ids is not None
    return read_graphs(
        source.path,
        reading.graph_ids,
        reading.feature_files or None,
        reading.labels,
        graph_column=reading.graph_column,
        schema=schema,
        name=source.name,
        **reading.options(),
    )


def _stem(path: Path) -> str:
    name = path.name
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return name or path.name
