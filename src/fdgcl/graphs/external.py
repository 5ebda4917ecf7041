"""Datasets from other libraries' files: PyTorch Geometric, OGB, SNAP.

Nothing is downloaded unless asked. Raw files are read from where they lie, which may
be read-only: the caches that PyTorch Geometric writes go to a temporary folder.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tempfile
import urllib.request
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError, MissingExtraError
from fdgcl.graphs.catalogue import Dataset, Loader
from fdgcl.graphs.collection import GraphDataset
from fdgcl.graphs.edges import build_csr
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.splits import Splits

_ARCHIVES = {
    "ogb": "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip",
    "snap": "https://snap.stanford.edu/data/wikipedia.zip",
}
_TIMEOUT_SECONDS = 60


def find_raw(entry: Dataset, folder: Path) -> Path | None:
    """Return the root below `folder` that has the dataset's raw files, or None."""
    loader = entry.loader
    if loader is None:
        return None
    roots = [folder / "pyg" / entry.name, folder / "ogb", folder / entry.name]
    if loader.raw != "raw":  # a bare `raw` in the data root could be any dataset's
        roots.append(folder)
    for root in roots:
        raw = root / loader.raw
        if raw.is_dir() and any(raw.iterdir()):
            return root
    return None


def read_raw(entry: Dataset, root: Path) -> Graph:
    """Read a dataset from the raw files that `find_raw` found below `root`.

    Raises:
        InputError: Files are missing or damaged.
        MissingExtraError: PyTorch Geometric is needed and not installed.
    """
    loader = _loader(entry)
    source = root / loader.raw
    with _explained(f"cannot read {loader} in {source}"):
        if loader.library == "ogb":
            return read_ogb_arxiv(source.parent, years=entry.name == "arxiv-year")
        if loader.library == "snap":
            return read_musae(source, entry.name)
        with _copied(source, loader) as copy:
            return graph_from_data(_open_pyg(loader, copy, offline=source)[0])


def read_raw_graphs(
    entry: Dataset, root: Path
) -> tuple[GraphDataset, npt.NDArray[Any] | None]:
    """Read many graphs from the raw files that `find_raw` found below `root`.

    Returns:
        The graphs with node labels as features, and the node attributes, if any.

    Raises:
        InputError: Files are missing or damaged.
        MissingExtraError: PyTorch Geometric is needed and not installed.
    """
    loader = _loader(entry)
    source = root / loader.raw
    with (
        _explained(f"cannot read {loader} in {source}"),
        _copied(source, loader) as copy,
    ):
        return graphs_from_tu(_open_tu(loader, copy, offline=source))


def fetch_graphs(entry: Dataset) -> tuple[GraphDataset, npt.NDArray[Any] | None]:
    """Download many graphs; returns what `read_raw_graphs` returns.

    Raises:
        InputError: The download failed.
        MissingExtraError: PyTorch Geometric is not installed.
    """
    loader = _loader(entry)
    with (
        tempfile.TemporaryDirectory() as temporary,
        _explained(f"cannot download {entry.name} ({loader})"),
    ):
        return graphs_from_tu(_open_tu(loader, Path(temporary)))


def graphs_from_tu(dataset: Any) -> tuple[GraphDataset, npt.NDArray[Any] | None]:
    """Return a `TUDataset` opened with attributes; these are kept apart."""
    graphs = GraphDataset.from_pyg(dataset)
    x: Any = graphs.graph.features
    split = int(dataset.num_node_attributes)
    if x is None or split == 0:
        attributes, labels = None, x
    else:
        attributes, labels = x[:, :split], x[:, split:]
    columns = 0 if labels is None else labels.shape[1]
    features = sparse.csr_array(labels) if columns else None
    return replace(graphs, graph=graphs.graph.with_features(features)), attributes


def fetch(entry: Dataset) -> Graph:
    """Download a dataset and return it; nothing is left on disk.

    Raises:
        InputError: The dataset has no download, or the download failed.
        MissingExtraError: PyTorch Geometric is needed and not installed.
    """
    loader = _loader(entry)
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        with _explained(f"cannot download {entry.name} ({loader})"):
            if loader.library == "pyg":
                return graph_from_data(_open_pyg(loader, root)[0])
            _fetch_archive(_ARCHIVES[loader.library], root)
        if loader.library == "ogb":  # the archive names its folder differently
            (root / "arxiv").rename(root / "ogbn_arxiv")
        return read_raw(entry, root)


def graph_from_data(data: Any) -> Graph:
    """Return a PyTorch Geometric `Data` as a graph; mostly-zero features become CSR."""
    graph = Graph.from_pyg(data)
    x: Any = graph.features
    if x is None or np.count_nonzero(x) > x.size / 2:
        return graph
    return graph.with_features(sparse.csr_array(x))


def read_ogb_arxiv(folder: Path, *, years: bool = False) -> Graph:
    """Read ogbn-arxiv from OGB's own CSV files, without its pickled cache.

    Args:
        folder: OGB's folder `ogbn_arxiv`, with `raw` and `split` in it.
        years: Whether the classes are fifths of the publication years (arxiv-year).
    """
    x = _csv(folder / "raw" / "node-feat.csv.gz").astype(np.float32)
    edges = _csv(folder / "raw" / "edge.csv.gz").astype(np.int64).T
    splits = None
    if years:
        when = _csv(folder / "raw" / "node_year.csv.gz").reshape(-1)
        y = np.searchsorted(_fifths(when), when, side="right")
    else:
        y = _csv(folder / "raw" / "node-label.csv.gz").reshape(-1)
        masks = np.zeros((3, len(x)), np.bool_)
        for mask, part in zip(masks, ("train", "valid", "test"), strict=True):
            rows = _csv(folder / "split" / "time" / f"{part}.csv.gz").reshape(-1)
            mask[rows.astype(np.int64)] = True
        splits = Splits(*masks)
    return Graph(
        build_csr(edges[0], edges[1], None, len(x)), x, y.astype(np.int64), splits
    )


def read_musae(folder: Path, name: str) -> Graph:
    """Read a Wikipedia network from SNAP's MUSAE files; classes are traffic fifths."""
    from pyarrow import csv

    target = csv.read_csv(_existing(folder / f"musae_{name}_target.csv"))
    order = np.argsort(target["id"].to_numpy())
    traffic = target["target"].to_numpy()[order]
    pairs = csv.read_csv(_existing(folder / f"musae_{name}_edges.csv"))
    edges = np.stack([pairs["id1"].to_numpy(), pairs["id2"].to_numpy()])
    text = _existing(folder / f"musae_{name}_features.json").read_text("utf-8")
    words: dict[str, list[int]] = json.loads(text)
    rows = np.concatenate([np.full(len(have), int(k)) for k, have in words.items()])
    columns = np.concatenate([np.asarray(have, np.int64) for have in words.values()])
    shape = (len(traffic), int(columns.max()) + 1)
    x = sparse.coo_array((np.ones(len(rows), np.float32), (rows, columns)), shape)
    x = x.tocsr()
    x.data[:] = 1
    y = np.searchsorted(_fifths(traffic), traffic, side="left")
    return Graph(
        build_csr(edges[0], edges[1], None, len(traffic)), x, y.astype(np.int64)
    )


def _open_tu(loader: Loader, root: Path, offline: Path | None = None) -> Any:
    options = (*loader.options, ("use_node_attr", True))
    return _open_pyg(replace(loader, options=options), root, offline)


def _open_pyg(loader: Loader, root: Path, offline: Path | None = None) -> Any:
    try:
        with _quiet():
            from torch_geometric import datasets
    except ImportError:
        package, purpose = "torch_geometric", f"reading {loader}"
        raise MissingExtraError(package, "pyg", purpose) from None
    kind = getattr(datasets, loader.kind)
    if offline is not None:
        # Without this, an incomplete folder would start a download.
        kind = type(loader.kind, (kind,), {"download": _refuse(loader, offline)})
    names = (loader.key,) if loader.key else ()
    with _quiet():
        return kind(str(root), *names, **dict(loader.options))


def _refuse(loader: Loader, source: Path) -> Any:
    def download(dataset: Any) -> None:
        missing = [Path(p).name for p in dataset.raw_paths if not Path(p).exists()]
        message = f"{loader} in {source} lacks {', '.join(missing)}"
        raise InputError(message)

    return download


@contextmanager
def _copied(source: Path, loader: Loader) -> Iterator[Path]:
    """A temporary root with the raw files, which a library may write caches beside."""
    with tempfile.TemporaryDirectory() as temporary:
        shutil.copytree(source, Path(temporary, loader.raw))
        yield Path(temporary)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn what other libraries raise, from KeyError to UnpicklingError, into words."""
    try:
        yield
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        message = f"{what}: {type(error).__name__}, {error}"
        raise InputError(message) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep PyTorch Geometric's progress lines and deprecations off the terminal."""
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _fetch_archive(url: str, folder: Path) -> None:
    archive = folder / "archive.zip"
    with (
        urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as response,
        archive.open("wb") as file,
    ):
        shutil.copyfileobj(response, file)
    with zipfile.ZipFile(archive) as content:
        content.extractall(folder)


def _loader(entry: Dataset) -> Loader:
    if entry.loader is None:
        message = f"{entry.name} has no download; {entry.note}"
        raise InputError(message)
    return entry.loader


def _fifths(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.quantile(values.astype(np.float64), [0.2, 0.4, 0.6, 0.8])


def _csv(path: Path) -> npt.NDArray[Any]:
    from pyarrow import csv

    options = csv.ReadOptions(autogenerate_column_names=True)
    table = csv.read_csv(_existing(path), read_options=options)
    return np.column_stack([column.to_numpy() for column in table.columns])


def _existing(path: Path) -> Path:
    if not path.is_file():
        message = f"{path.parent} lacks {path.name}"
        raise InputError(message)
    return path
