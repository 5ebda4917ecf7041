"""A graph, or many, to one file in the compact format."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.workflows.feedback import OnNotice, ProgressArgument, feedback
from fdgcl.workflows.outputs import refuse_existing
from fdgcl.workflows.reading import Features, Reading, new_reading
from fdgcl.workflows.source import (
    Source,
    find_source,
    has_many,
    read_in_memory,
    readings,
    refuse_files,
)

if TYPE_CHECKING:
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.workflows.source import InMemory


@dataclass(frozen=True, eq=False)
class Converted:
    """A graph, or graphs, in a compact file.

    Attributes:
        path: The file.
        data: What is in it.
        notices: What was taken for what in tables.
    """

    path: Path
    data: InMemory = field(repr=False)
    notices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return place and sizes, ready for JSON."""
        from fdgcl.graphs import Graph
        from fdgcl.graphs.summaries import summarise, summarise_graphs

        data = self.data
        facts = summarise(data) if isinstance(data, Graph) else summarise_graphs(data)
        return {"output": str(self.path), "source": data.source, **facts}


def convert(
    graph: str | Path | InMemory,
    output: str | Path,
    *,
    features: Features | None = None,
    labels: str | Path | None = None,
    tables: TableOptions | None = None,
    graph_ids: str | Path | None = None,
    graph_column: str | None = None,
    data_root: str | Path | None = None,
    download: bool = False,
    overwrite: bool = False,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> Converted:
    """Write a graph in the compact format: files, a known dataset, one in memory.

    Args:
        graph: As `embed` takes it, and the six arguments after the output.
        output: The `.npz` file.
        features: As of `embed`, a file.
        labels: As of `embed`.
        tables: As of `embed`.
        graph_ids: As of `embed`.
        graph_column: As of `embed`.
        data_root: As of `embed`.
        download: Download a dataset that is not here.
        overwrite: Replace an output that is there.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: The graph cannot be read, or the output not be written.

    Example:
        >>> import fdgcl, tempfile
        >>> from fdgcl.workflows import convert
        >>> made = convert("cora-bundled", f"{tempfile.mkdtemp()}/cora.npz")
        >>> fdgcl.load_dataset(made.path).num_nodes
        2708
    """
    target = Path(output)
    if target.suffix != ".npz":
        message = f"`output` must end in .npz, got {target}"
        raise InputError(message)
    refuse_existing(target, overwrite=overwrite)
    reading = new_reading(
        features,
        labels,
        tables=tables,
        data_root=data_root,
        graph_ids=graph_ids,
        graph_column=graph_column,
    )
    with feedback(progress, on_notice) as told:
        with told.bars.waiting("read"):
            data, columns = _read(find_source(graph), reading, download=download)
        told.notice(*readings(data))
        _write(target, data, columns)
        return Converted(target, data, tuple(told.notices))


def _write(output: Path, data: InMemory, columns: Any) -> None:
    from fdgcl.graphs import Graph, write_compact, write_compact_graphs

    if isinstance(data, Graph):
        write_compact(output, data)
    else:
        write_compact_graphs(output, data, node_attr=columns)


def _read(source: Source, reading: Reading, *, download: bool) -> tuple[InMemory, Any]:
    """Return the graph or graphs, and node attributes, which are kept apart."""
    from fdgcl.graphs.compact_graphs import read_attributes
    from fdgcl.graphs.datasets import BUNDLED, load_dataset

    if reading.made:
        message = f"`features` must be a file here, got {reading.made}"
        raise InputError(message)
    if source.path is not None:
        reading.check()
        data = read_in_memory(source, reading)
        return data, read_attributes(source.path)
    refuse_files(source, reading)
    if source.data is not None:
        return source.data, None
    if has_many(source, reading):
        return _named_graphs(source.name, reading.data_root, download=download)
    graph = load_dataset(source.name, reading.data_root, download=download)
    if graph.source == BUNDLED and source.name == "cora":
        message = (
            "Planetoid's cora is not here: add `download=True` or `data_root`, or "
            "convert the bundled copy by its own name, cora-bundled"
        )
        raise InputError(message)
    return graph, None


def _named_graphs(
    name: str, root: Path | None, *, download: bool
) -> tuple[InMemory, Any]:
    from fdgcl.graphs import load_graphs
    from fdgcl.graphs.datasets import dataset_info

    entry = dataset_info(name)
    attributes = entry.attributes > 0
    graphs = load_graphs(name, root, attributes=attributes, download=download)
    if not attributes:
        return graphs, None
    x: Any = graphs.graph.features
    labels, columns = x[:, : entry.sizes.features], x[:, entry.sizes.features :]
    return replace(graphs, graph=graphs.graph.with_features(labels)), columns.toarray()
