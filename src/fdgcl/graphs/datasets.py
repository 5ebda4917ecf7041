"""Known datasets by name: from a data root, other libraries' files, or this package."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fdgcl._checks import InputError, choose
from fdgcl.graphs.catalogue import CATALOGUE, Dataset
from fdgcl.graphs.collection import GraphDataset
from fdgcl.graphs.compact import UNNAMED_SPLIT, read_compact, write_compact
from fdgcl.graphs.compact_graphs import (
    append_columns,
    read_compact_graphs,
    write_compact_graphs,
)
from fdgcl.graphs.external import (
    fetch,
    fetch_graphs,
    find_raw,
    read_raw,
    read_raw_graphs,
)
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.splits import Splits, random_splits
from fdgcl.graphs.summaries import summarise, summarise_graphs

ROOT_VARIABLE = "FDGCL_DATA"
BUNDLED = "bundled copy"


@dataclass(frozen=True)
class Place:
    """Where a dataset was found.

    Attributes:
        kind: A compact file, other libraries' raw files, or the copy in this package.
        path: The file, or the root of the raw files.
    """

    kind: Literal["compact", "raw", "bundled"]
    path: Path

    def __str__(self) -> str:
        return BUNDLED if self.kind == "bundled" else str(self.path)


@dataclass(frozen=True)
class FileReport:
    """What `verify_folder` found out about one file.

    Attributes:
        name: The dataset's name.
        path: The file.
        sha256: Fingerprint of its bytes.
        problem: What is wrong, in one sentence, or None.
        summary: Sizes as read, empty when the file cannot be read.
    """

    name: str
    path: Path
    sha256: str
    problem: str | None
    summary: dict[str, Any]


def load_dataset(
    name: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    *,
    download: bool = False,
) -> Graph:
    """Return a known dataset, or the graph in a compact `.npz` file.

    Looked for, in this order: `<name>.npz` in the data root; raw files of PyTorch
    Geometric, OGB or SNAP below the data root; the internet, only with `download`;
    for `cora`, the copy in this package. `graph.source` says which one it was.

    Args:
        name: A name of the catalogue ("cora", "texas"), or a path ending in `.npz`.
        root: The data root; by default the environment variable FDGCL_DATA.
        download: Whether to download what is not there. With a data root, the result
            is kept there as `<name>.npz`.

    Raises:
        InputError: The name is unknown, the dataset is not there, its sizes are not
            those of the catalogue, or it is one of many graphs.
        MissingExtraError: PyTorch Geometric is needed and not installed.

    Example:
        >>> from fdgcl import load_dataset
        >>> graph = load_dataset("cora-bundled")
        >>> graph.num_nodes, graph.num_features, graph.num_classes
        (2708, 1433, 7)
    """
    if is_compact_path(name):
        return read_compact(name)
    entry = dataset_info(str(name))
    if entry.graphs > 1:
        message = f"{entry.name} is {entry.graphs} graphs: load_graphs reads them"
        raise InputError(message)
    bundled_only = entry.name == "cora-bundled"
    folder = data_root(root, must_exist=not (download or bundled_only))
    place = locate(entry.name, folder)
    if download and entry.loader and (place is None or place.kind == "bundled"):
        graph = _settle(fetch(entry), entry, f"download of {entry.loader}")
        if folder is not None:
            write_compact(folder / f"{entry.name}.npz", graph)
        return graph
    if place is None:
        raise InputError(_absent(entry, folder))
    if place.kind == "bundled":
        copy = _settle(read_compact(place.path), CATALOGUE["cora-bundled"], place)
        return replace(copy, name=entry.name)
    return _settle(_read(entry, place), entry, place)


def load_graphs(
    name: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    *,
    attributes: bool = False,
    download: bool = False,
) -> GraphDataset:
    """Return a known dataset of many graphs, or the graphs in a compact `.npz` file.

    Looked for as `load_dataset` does: `<name>.npz` in the data root; raw files of
    PyTorch Geometric below it; the internet, only with `download`.

    Args:
        name: A name of the catalogue ("proteins", "dd"), or a path ending in `.npz`.
        root: The data root; by default the environment variable FDGCL_DATA.
        attributes: Whether the node attributes are put behind the node labels.
        download: Whether to download what is not there. With a data root, the result
            is kept there as `<name>.npz`.

    Raises:
        InputError: The name is unknown, the dataset is not there, its sizes are not
            those of the catalogue, or it is one graph.
        MissingExtraError: PyTorch Geometric is needed and not installed.

    Example:
        >>> from fdgcl import GraphDataset, block_model, load_graphs
        >>> from fdgcl.graphs import write_compact_graphs
        >>> graphs = GraphDataset.from_graphs([block_model(20), block_model(30)])
        >>> write_compact_graphs("mine.npz", graphs)
        >>> len(load_graphs("mine.npz"))
        2
    """
    if is_compact_path(name):
        return read_compact_graphs(name, attributes=attributes)
    entry = dataset_info(str(name))
    if entry.graphs == 1:
        message = f"{entry.name} is one graph: load_dataset reads it"
        raise InputError(message)
    if attributes and not entry.attributes:
        message = f"{entry.name} has no node attributes; leave attributes out"
        raise InputError(message)
    folder = data_root(root, must_exist=not download)
    place = locate(entry.name, folder)
    if place is not None and place.kind == "compact":
        graphs = read_compact_graphs(place.path, attributes=attributes)
        return _settle_graphs(graphs, entry, place, attributes=attributes)
    if place is not None:
        graphs, columns = read_raw_graphs(entry, place.path)
    elif download:
        graphs, columns = fetch_graphs(entry)
    else:
        raise InputError(_absent(entry, folder))
    graphs = _settle_graphs(graphs, entry, place or f"download of {entry.loader}")
    if place is None and folder is not None:
        write_compact_graphs(folder / f"{entry.name}.npz", graphs, node_attr=columns)
    if not attributes or columns is None:
        return graphs
    features = append_columns(graphs.graph.features, columns)
    return replace(graphs, graph=graphs.graph.with_features(features))


def dataset_info(name: str) -> Dataset:
    """Return the catalogue's entry; case and `_` for `-` do not matter.

    Raises:
        InputError: The name is unknown; the nearest one is suggested.
    """
    return choose("dataset", name.strip().lower().replace("_", "-"), CATALOGUE)


def is_compact_path(name: str | os.PathLike[str]) -> bool:
    """Whether `name` means a compact file rather than a known dataset."""
    return os.fspath(name).lower().endswith(".npz")


def data_root(
    root: str | os.PathLike[str] | None = None, *, must_exist: bool = True
) -> Path | None:
    """Return the data root: `root`, else FDGCL_DATA, else None.

    Raises:
        InputError: The folder is named but not there.
    """
    given = os.fspath(root) if root is not None else os.environ.get(ROOT_VARIABLE)
    if not given:
        return None
    folder = Path(given).expanduser()
    if must_exist and not folder.is_dir():
        origin = "" if root is not None else f" (from {ROOT_VARIABLE})"
        message = f"the data root {folder}{origin} is not a folder"
        raise InputError(message)
    return folder


def locate(name: str, root: str | os.PathLike[str] | None = None) -> Place | None:
    """Return where a known dataset lies, or None; nothing is read or downloaded."""
    entry = dataset_info(name)
    folder = data_root(root, must_exist=False)
    if folder is not None and entry.name != "cora-bundled":
        compact = folder / f"{entry.name}.npz"
        if compact.is_file():
            return Place("compact", compact)
        raw = find_raw(entry, folder)
        if raw is not None:
            return Place("raw", raw)
    if entry.name in ("cora", "cora-bundled"):
        return Place("bundled", Path(__file__).parent / "bundled" / "cora.npz")
    return None


def verify_folder(
    folder: str | os.PathLike[str],
    progress: Callable[[str, int, int], None] | None = None,
) -> list[FileReport]:
    """Check every file in `folder` that carries a known dataset's name.

    Each is read whole: arrays, masks (which must be disjoint) and sizes.

    Args:
        folder: The folder with files NAME.npz.
        progress: Called as `progress("read", done, total)` after each file.

    Raises:
        InputError: The folder is not there, or has no such file.
    """
    root = Path(folder)
    if not root.is_dir():
        message = f"{root} is not a folder"
        raise InputError(message)
    paths = {entry: root / f"{entry.name}.npz" for entry in CATALOGUE.values()}
    there = [(entry, path) for entry, path in paths.items() if path.is_file()]
    if not there:
        message = (
            f"{root} has no file of a known dataset (looked for NAME.npz with NAME "
            f"one of {', '.join(CATALOGUE)})"
        )
        raise InputError(message)
    reports = []
    for entry, path in there:
        reports.append(_verify(entry, path))
        if progress is not None:
            progress("read", len(reports), len(there))
    return reports


def _read(entry: Dataset, place: Place) -> Graph:
    if place.kind == "raw":
        return read_raw(entry, place.path)
    return read_compact(place.path)


def _settle(graph: Graph, entry: Dataset, source: Place | str) -> Graph:
    """Bring a graph into its catalogued form: edges, sizes, splits, name, source."""
    graph = _in_form(graph, entry, source)
    _check_sizes(graph, entry)
    return replace(graph, splits=_settle_splits(graph, entry, source))


def _settle_graphs(
    graphs: GraphDataset,
    entry: Dataset,
    source: Place | str,
    *,
    attributes: bool = False,
) -> GraphDataset:
    graph = _in_form(graphs.graph, entry, source)
    settled = replace(graphs, graph=graph, name=graph.name, source=graph.source)
    if graphs.num_graphs != entry.graphs:
        message = (
            f"{entry.name} has {entry.graphs} graphs, but {graph.source} has "
            f"{graphs.num_graphs}"
        )
        raise InputError(message)
    extra = entry.attributes if attributes else 0
    sizes = replace(entry.sizes, features=entry.sizes.features + extra)
    _check_sizes(graph, replace(entry, sizes=sizes), graphs.num_classes)
    return settled


def _in_form(graph: Graph, entry: Dataset, source: Place | str) -> Graph:
    adjacency = graph.adjacency
    if entry.undirected:
        adjacency = adjacency.maximum(adjacency.T).tocsr()
        adjacency.setdiag(0)
        adjacency.eliminate_zeros()
    origin = str(source)
    if isinstance(source, Place) and source.kind == "raw":
        origin = f"{entry.loader} in {source.path}"
    return replace(graph, adjacency=adjacency, name=entry.name, source=origin)


def _settle_splits(graph: Graph, entry: Dataset, source: Place | str) -> Splits:
    splits, rule = graph.splits, entry.split
    if rule.train is not None and rule.val is not None:
        return splits or random_splits(
            graph.y, train=rule.train, val=rule.val, count=rule.count, seed=0
        )
    if splits is None:
        message = (
            f"{graph.source} has no masks (train_mask, val_mask, test_mask), and the "
            f"{rule.name} split of {entry.name} cannot be drawn anew"
        )
        raise InputError(message)
    # A file that names its split may be another graph of the same sizes.
    named = isinstance(source, Place) and source.kind != "raw"
    if named and splits.name not in (UNNAMED_SPLIT, rule.name):
        message = (
            f"{entry.name} comes with the {rule.name} split, but {graph.source} has "
            f"the split {splits.name!r}"
        )
        raise InputError(message)
    return replace(splits, name=rule.name)


def _check_sizes(graph: Graph, entry: Dataset, classes: int | None = None) -> None:
    for part in ("nodes", "features", "classes", "edges"):
        expected, got = getattr(entry.sizes, part), getattr(graph, f"num_{part}")
        if part == "classes" and classes is not None:  # the graphs', not the nodes'
            got = classes
        if got != expected:
            form = (
                " once made undirected" if entry.undirected and part == "edges" else ""
            )
            message = (
                f"{entry.name} has {expected} {part}{form}, but {graph.source} has "
                f"{got}"
            )
            raise InputError(message)
    entries = entry.feature_entries
    features: Any = graph.features
    if entries is not None and features is not None:
        got = features.nnz if hasattr(features, "nnz") else np.count_nonzero(features)
        if got != entries:
            message = (
                f"{entry.name} has {entries} non-zero features, but {graph.source} has "
                f"{got}: {entry.note}"
            )
            raise InputError(message)


def _absent(entry: Dataset, folder: Path | None) -> str:
    file = f"{entry.name}.npz"
    wanted = file if entry.loader is None else f"{file} or {entry.loader}"
    if folder is None:
        where = f"no data root was given and {ROOT_VARIABLE} is not set"
        message = f"{entry.name} is not there: {where}, so {wanted} was not looked for"
    else:
        message = f"{entry.name} is not there: looked for {wanted} in {folder}"
    if entry.loader is None:
        return f"{message}; it has no download"
    target = (folder or Path("data")) / file
    return (
        f"{message}; get it with `fdgcl data convert {entry.name} --download "
        f"-o {shlex.quote(str(target))}`"
    )


def _verify(entry: Dataset, path: Path) -> FileReport:
    problem, summary = None, dict[str, Any]()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    place = Place("compact", path)
    try:
        if entry.graphs > 1:
            graphs = read_compact_graphs(path)
            summary = summarise_graphs(graphs)
            summary = summarise_graphs(_settle_graphs(graphs, entry, place))
        else:
            graph = read_compact(path)
            summary = summarise(graph)
            summary = summarise(_settle(graph, entry, place))
    except InputError as error:
        problem = str(error)
    return FileReport(entry.name, path, digest, problem, summary)
