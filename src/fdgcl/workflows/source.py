"""From what was named to a graph, or many: a file, a dataset, a graph in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from fdgcl._checks import InputError, nearest
from fdgcl.workflows.reading import Reading, stem

if TYPE_CHECKING:
    from fdgcl.graphs import Graph, GraphDataset
    from fdgcl.graphs.store.store import Store

    InMemory: TypeAlias = Graph | GraphDataset
    Data: TypeAlias = InMemory | Store


@dataclass(frozen=True)
class Source:
    """Where the graph is: in a file, in memory, or else among the datasets.

    Attributes:
        name: What it is called.
        path: Its file.
        data: The graph, or graphs, in memory.
    """

    name: str
    path: Path | None = None
    data: InMemory | None = field(default=None, compare=False, repr=False)

    @property
    def is_dataset(self) -> bool:
        """Whether it is a known dataset, by name."""
        return self.path is None and self.data is None

    @property
    def is_store(self) -> bool:
        """Whether it is a store: a folder, as `fdgcl data import` makes it."""
        return self.path is not None and self.path.is_dir()


def find_source(graph: str | Path | Data) -> Source:
    """Return what an argument `graph` means.

    Raises:
        InputError: It is neither a graph, nor a file, nor the name of a dataset.
    """
    from fdgcl.graphs.catalogue import CATALOGUE

    if not isinstance(graph, str | Path):
        return _in_memory(graph)
    text = str(graph)
    if not text.strip():
        message = "`graph` is empty: name a file or a dataset (see: fdgcl data list)"
        raise InputError(message)
    path = Path(text)
    if path.is_file():
        return Source(stem(path), path)
    name = text.strip().lower().replace("_", "-")
    if name in CATALOGUE:
        return Source(name, None)
    if (path / "manifest.json").is_file():
        return Source(path.absolute().name, path)
    if path.is_dir():
        message = (
            "`graph` must be a file, a store or the name of a dataset; the folder "
            f"{text} is no store: it has no manifest.json"
        )
        raise InputError(message)
    message = (
        f"there is no file {text}, and no dataset of that name"
        f"{nearest(name, CATALOGUE)} (see: fdgcl data list)"
    )
    raise InputError(message)


def _in_memory(graph: Any) -> Source:
    from fdgcl.graphs import Graph, GraphDataset
    from fdgcl.graphs.store.store import Store

    if isinstance(graph, Store):
        return Source(graph.name, graph.folder)
    if not isinstance(graph, Graph | GraphDataset):
        message = (
            "`graph` must be a file, the name of a dataset, a Graph, a GraphDataset or "
            f"a Store, got {type(graph).__name__}"
        )
        raise InputError(message)
    return Source(graph.name, data=graph)


def load_named(name: str, root: Path | None) -> InMemory:
    """Return a dataset, or what a compact file holds: one graph or many.

    Raises:
        InputError: It is not there.
    """
    from fdgcl.graphs import load_dataset, load_graphs
    from fdgcl.graphs.compact_graphs import holds_graphs
    from fdgcl.graphs.datasets import dataset_info, is_compact_path

    if is_compact_path(name):
        return load_graphs(name) if holds_graphs(name) else load_dataset(name)
    many = dataset_info(name).graphs > 1
    return load_graphs(name, root) if many else load_dataset(name, root)


def has_many(source: Source, reading: Reading) -> bool:
    """Whether there are many graphs, as far as can be told without reading them."""
    from fdgcl.graphs.catalogue import CATALOGUE
    from fdgcl.graphs.compact_graphs import holds_graphs

    if source.data is not None:
        from fdgcl.graphs import GraphDataset

        return isinstance(source.data, GraphDataset)
    if source.is_store:
        return False
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
    if source.is_store:
        message = f"this needs a graph in memory, and {source.path} is a store"
        raise InputError(message)
    graph = _read(source, reading, schema)
    return graph.with_features(None) if reading.made else graph


def open_store(source: Source) -> Store:
    """Open the store that a source is.

    Raises:
        InputError: Its import is not done, or it is damaged.
    """
    from fdgcl.graphs.store.store import Store

    assert source.path is not None
    return Store.open(source.path)


def read_data(source: Source, reading: Reading, schema: Any = None) -> Data:
    """Read the graph, or the graphs; features that are to be made are left out.

    Args:
        source: Where they are.
        reading: How to read them.
        schema: How features become numbers, as a model was trained on them.

    Raises:
        InputError: The files do not make up a graph, or graphs.
    """
    if source.is_store:
        return open_store(source)
    if not has_many(source, reading):
        return read(source, reading, schema)
    dataset = _read_many(source, reading, schema)
    if not reading.made:
        return dataset
    return replace(dataset, graph=dataset.graph.with_features(None))


def read_in_memory(source: Source, reading: Reading) -> InMemory:
    """Read a graph, or graphs; a store is refused.

    Raises:
        InputError: It is one, or the files do not make up a graph.
    """
    if has_many(source, reading):
        return cast("GraphDataset", read_data(source, reading))
    return read(source, reading)


def need_labels(source: Source, reading: Reading, what: str = "`evaluate`") -> None:
    """Refuse to score an edge list without a label file, before it is read."""
    compact = source.path is None or source.path.suffix.lower() == ".npz"
    if reading.labels is None and not compact:
        message = (
            f"{what} needs labels, and {source.path} is an edge list: name a file "
            "with labels by `labels`"
        )
        raise InputError(message)


def readings(data: Data) -> tuple[str, ...]:
    """Return what was taken for what in the tables, a line each."""
    from fdgcl.graphs import GraphDataset
    from fdgcl.graphs.store.store import Store

    if isinstance(data, Store):
        return data.manifest.reading
    return data.graph.reading if isinstance(data, GraphDataset) else data.reading


def summary(data: Data) -> str:
    """Return what was read, in one line."""
    from fdgcl.graphs import GraphDataset
    from fdgcl.graphs.store.store import Store

    if isinstance(data, Store):
        return (
            f"{data.name}: {data.num_nodes:,} nodes, {data.num_edges:,} edges, "
            f"{data.num_features:,} features (a store, from {data.source})"
        )
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
    """Refuse feature and label files for a dataset or a graph, which has its own.

    Raises:
        InputError: `graph` is one and comes with such a file.
    """
    if source.path is None or source.is_store:
        kind = "dataset" if source.data is None else "graph in memory"
        kind = "store" if source.is_store else kind
        _refuse_files(reading, f"{source.name} is a {kind} with its own")
    if source.is_store and reading.made:
        message = (
            f"`features` {reading.made}: the features of a store are chosen on import, "
            f"and {source.path} has its own"
        )
        raise InputError(message)


def _refuse_files(reading: Reading, reason: str) -> None:
    for name, file in reading.files():
        message = f"`{name}` {file} goes with an edge list, but {reason}"
        raise InputError(message)


def _read(source: Source, reading: Reading, schema: Any) -> Graph:
    from fdgcl.graphs import load_dataset, read_graph

    if source.data is not None:
        return cast("Graph", source.data)
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

    if source.data is not None:
        return cast("GraphDataset", source.data)
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
