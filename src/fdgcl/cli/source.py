"""From what the user typed to a graph, or many: a file, or a dataset by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fdgcl._checks import InputError, nearest

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
    """How to read a graph: feature and label files, columns, the data root."""

    features: str | None = None
    labels: Path | None = None
    source_column: str | None = None
    target_column: str | None = None
    weight_column: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    header: bool | None = None
    data_root: Path | None = None
    graph_ids: Path | None = None
    graph_column: str | None = None

    @property
    def made(self) -> str | None:
        """The kind of features to make from the edges, if that was asked for."""
        return self.features if self.features in MADE else None

    @property
    def feature_file(self) -> Path | None:
        """The feature file, if one was named."""
        return Path(self.features) if self.features and not self.made else None

    def columns(self) -> dict[str, Any]:
        """Which columns hold what, as the readers take it."""
        return {
            "source": self.source_column,
            "target": self.target_column,
            "weight": self.weight_column,
            "id_column": self.id_column,
            "label_column": self.label_column,
            "header": "auto" if self.header is None else self.header,
        }

    def check(self) -> None:
        """Refuse files that are not there, before anything is read."""
        for option, file in (
            ("--features", self.feature_file),
            ("--labels", self.labels),
            ("--graph-ids", self.graph_ids),
        ):
            if file is not None and not file.is_file():
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

    path = Path(text)
    if path.is_file():
        return Source(_stem(path), path)
    name = text.strip().lower().replace("_", "-")
    if name in CATALOGUE:
        return Source(name, None)
    if path.is_dir():
        message = f"GRAPH must be a file or the name of a dataset, {text} is a folder"
        if (path / "manifest.json").is_file():
            message += f"; to embed a store: fdgcl train {text} -o FOLDER"
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


def read(source: Source, reading: Reading) -> Graph:
    """Read a single graph; features that are to be made are left out.

    Raises:
        InputError: The files do not make up a graph, or there are many.
    """
    if has_many(source, reading):
        message = f"this needs one graph, but {source.name} is many"
        raise InputError(message)
    graph = _read(source, reading)
    return graph.with_features(None) if reading.made else graph


def read_data(source: Source, reading: Reading) -> Data:
    """Read the graph, or the graphs; features that are to be made are left out.

    Raises:
        InputError: The files do not make up a graph, or graphs.
    """
    if not has_many(source, reading):
        return read(source, reading)
    dataset = _read_many(source, reading)
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
    for option, file in (
        ("--features", reading.feature_file),
        ("--labels", reading.labels),
        ("--graph-ids", reading.graph_ids),
    ):
        if file is not None:
            message = f"{option} {file} goes with an edge list, but {reason}"
            raise InputError(message)


def _read(source: Source, reading: Reading) -> Graph:
    from fdgcl.graphs import load_dataset, read_graph

    if source.path is None:
        return load_dataset(source.name, reading.data_root)
    files = (source.path, reading.feature_file, reading.labels)
    return read_graph(*files, **reading.columns(), name=source.name)


def _read_many(source: Source, reading: Reading) -> GraphDataset:
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
        reading.feature_file,
        reading.labels,
        **reading.columns(),
        graph_column=reading.graph_column,
        name=source.name,
    )


def _stem(path: Path) -> str:
    name = path.name
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return name or path.name
