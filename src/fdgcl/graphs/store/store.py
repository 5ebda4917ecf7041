"""A graph on disk, laid out so that any part of it can be read without the rest.

- `G/manifest.json`: what there is, written when the import is done
- `G/graph/starts.npy`: where the neighbours of each node start, int64
- `G/graph/neighbours.npy`: the nodes that each one gathers from, sorted, without itself
- `G/graph/weights.npy`: their weights; only where weights are not all one
- `G/features/000.npy, ...`: the features, some columns in each
- `G/ids/...`: the nodes' names; only where they are not 0, 1, 2, ...
- `G/diffused/...`: the features diffused, by what was asked for
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl._html import Fact, table
from fdgcl._version import __version__
from fdgcl.graphs.store.arrays import DamagedError, StoredArray

FORMAT = "fdgcl-store-1"
IDS = ("numbers", "int64", "text")


@dataclass(frozen=True)
class Manifest:
    """What a store holds.

    Attributes:
        name: Short name of the graph.
        source: Where it came from.
        nodes: Number of nodes.
        entries: Neighbours stored, of all nodes together.
        edges: Edges read, as they stood in the file.
        direction: Whom a node gathers from: `symmetric`, `out` or `in`.
        weighted: Whether weights are stored; they are all one otherwise.
        ids: `numbers` (0, 1, 2, ...), `int64` or `text`.
        features: Number of features.
        block_columns: Features in each file, but for the last.
        feature_names: Their names, where they have any.
        structural: The kind of features made from the edges; None for its own.
        feature_schema: How columns became features, as `FeatureSchema.to_dict` has it.
        reading: How files were read, in sentences.
    """

    name: str
    source: str
    nodes: int
    entries: int
    edges: int
    direction: str
    weighted: bool
    ids: str
    features: int
    block_columns: int
    feature_names: tuple[str, ...] | None = None
    structural: str | None = None
    feature_schema: dict[str, Any] | None = None
    reading: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Store:
    """A finished store.

    Example:
        >>> import pyarrow as pa, pyarrow.parquet as pq
        >>> from fdgcl.graphs.importing import Request, run_request
        >>> from fdgcl.graphs.store import Store
        >>> edges = pa.table({"source": ["ann", "bob"], "target": ["bob", "cid"]})
        >>> pq.write_table(edges, "edges.parquet")
        >>> request = Request(Path("edges.parquet"))
        >>> _ = run_request(request, Path("store"), memory=2**31)
        >>> store = Store.open("store")
        >>> store.manifest.nodes, store.read_ids(0, 3).tolist()
        (3, ['ann', 'bob', 'cid'])
    """

    folder: Path
    manifest: Manifest

    def __repr__(self) -> str:
        sizes = (
            f"{self.num_nodes} nodes, {self.num_edges} edges, "
            f"{self.num_features} features"
        )
        return f"Store({self.name!r}: {sizes}; in {self.folder}, from {self.source})"

    def _repr_html_(self) -> str:
        """Show sizes, places and what was read as what, as notebooks do."""
        facts: list[tuple[str, Fact]] = [
            ("nodes", self.num_nodes),
            ("edges", self.num_edges),
            ("direction", self.manifest.direction),
            ("features", self.num_features),
            ("folder", str(self.folder)),
            ("source", self.source),
            ("read as", self.manifest.reading),
        ]
        return table(f"Store {self.name}", facts)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Read the manifest of a store.

        Raises:
            InputError: It is not a store, or its import is not finished.
        """
        place = Path(folder)
        path = manifest_path(place)
        if not path.is_file():
            message = (
                f"{place} is not a store: it has no {path.name}; "
                "`fdgcl data import` makes one, and goes on where it stopped"
            )
            raise InputError(message)
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            if value.pop("format") != FORMAT:
                raise ValueError
            value.pop("fdgcl")
            names = value.pop("feature_names")
            value["feature_names"] = None if names is None else tuple(names)
            value["reading"] = tuple(value.get("reading", ()))
            manifest = Manifest(**value)
            if not _is_whole(manifest):
                raise ValueError
            return cls(place, manifest)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f"{path} was not written by fdgcl, or is damaged"
            raise InputError(message) from None

    @property
    def name(self) -> str:
        """Short name of the graph."""
        return self.manifest.name

    @property
    def source(self) -> str:
        """Where it came from."""
        return self.manifest.source

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.manifest.nodes

    @property
    def num_edges(self) -> int:
        """Edges read, as they stood in the file."""
        return self.manifest.edges

    @property
    def num_features(self) -> int:
        """Number of features."""
        return self.manifest.features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Their names, where they have any."""
        return self.manifest.feature_names

    @cached_property
    def starts(self) -> StoredArray:
        """(nodes + 1,) int64."""
        return _part(starts_path(self.folder), self.manifest.nodes + 1)

    @cached_property
    def neighbours(self) -> StoredArray:
        """(entries,) int32 or, with more than 2^31 nodes, int64."""
        return _part(neighbours_path(self.folder), self.manifest.entries)

    @cached_property
    def weights(self) -> StoredArray | None:
        """(entries,) float32; None where all are one."""
        if not self.manifest.weighted:
            return None
        return _part(weights_path(self.folder), self.manifest.entries)

    @cached_property
    def features(self) -> list[StoredArray]:
        """(nodes, some columns) float32 each, side by side all features."""
        nodes, all_columns = self.manifest.nodes, self.manifest.features
        width = self.manifest.block_columns
        return [
            _part(features_path(self.folder, number), nodes, min(width, left))
            for number, left in enumerate(range(all_columns, 0, -width))
        ]

    def read_features(self, start: int, stop: int) -> NDArray[np.float32]:
        """All features of some nodes."""
        blocks = [block.read(start, stop) for block in self.features]
        return np.concatenate(blocks, axis=1)

    def read_ids(self, start: int, stop: int) -> NDArray[Any]:
        """The ids of some nodes: int64, or text as objects."""
        kind = self.manifest.ids
        if kind == "numbers":
            return np.arange(start, stop, dtype=np.int64)
        if kind == "int64":
            return StoredArray.open(ids_path(self.folder)).read(start, stop)
        ends = StoredArray.open(id_ends_path(self.folder)).read(start, stop + 1)
        text = StoredArray.open(ids_path(self.folder))
        data = text.read(int(ends[0]), int(ends[-1])).tobytes()
        bounds = (ends - ends[0]).tolist()
        texts = [data[a:b].decode("utf-8") for a, b in pairwise(bounds)]
        return np.array(texts, object)

    def arrays(self) -> Iterator[StoredArray]:
        """Everything that an import wrote."""
        yield from (self.starts, self.neighbours)
        if self.weights is not None:
            yield self.weights
        yield from self.features
        if self.manifest.ids != "numbers":
            yield StoredArray.open(ids_path(self.folder))
        if self.manifest.ids == "text":
            yield StoredArray.open(id_ends_path(self.folder))

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the graph and its features, by their checksums."""
        return _digest(self.arrays())

    @property
    def edge_fingerprint(self) -> str:
        """The same of the edges alone."""
        weights = [] if self.weights is None else [self.weights]
        return _digest([self.starts, self.neighbours, *weights])


def _digest(arrays: Iterable[StoredArray]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, array.checksums)).encode())
    return digest.hexdigest()


def _is_whole(manifest: Manifest) -> bool:
    """Whether values have the right types and are possible."""
    sizes = (manifest.nodes, manifest.entries, manifest.edges, manifest.features)
    counts = (*sizes, manifest.block_columns)
    texts = (manifest.name, manifest.source, *(manifest.feature_names or ()))
    return (
        all(isinstance(one, int) and not isinstance(one, bool) for one in counts)
        and min(sizes) >= 0
        and manifest.block_columns > 0
        and all(isinstance(one, str) for one in texts)
        and isinstance(manifest.weighted, bool)
        and manifest.direction in ("symmetric", "out", "in")
        and manifest.ids in ("numbers", "int64", "text")
        and isinstance(manifest.structural, str | None)
    )


def _part(path: Path, *shape: int) -> StoredArray:
    """Open an array of a store, and check that it belongs to it."""
    array = StoredArray.open(path)
    if array.shape != shape:
        message = (
            f"{path} is not of this store: it has "
            f"{' x '.join(f'{size:,}' for size in array.shape)} numbers, not "
            f"{' x '.join(f'{size:,}' for size in shape)}"
        )
        raise DamagedError(message)
    return array


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Mark a store as finished."""
    value = {"format": FORMAT, "fdgcl": __version__, **asdict(manifest)}
    write_json(manifest_path(folder), value)


def manifest_path(folder: Path) -> Path:
    """The file that makes a folder a store."""
    return folder / "manifest.json"


def starts_path(folder: Path) -> Path:
    """Where the neighbours of each node start."""
    return folder / "graph" / "starts.npy"


def neighbours_path(folder: Path) -> Path:
    """The nodes that each node gathers from."""
    return folder / "graph" / "neighbours.npy"


def weights_path(folder: Path) -> Path:
    """With which weights."""
    return folder / "graph" / "weights.npy"


def features_path(folder: Path, number: int) -> Path:
    """Some columns of the features."""
    return folder / "features" / f"{number:03}.npy"


def ids_path(folder: Path) -> Path:
    """The ids: int64, or the bytes of their texts one after the other."""
    return folder / "ids" / "ids.npy"


def id_ends_path(folder: Path) -> Path:
    """(nodes + 1,) int64: where each text starts, and the last one ends."""
    return folder / "ids" / "starts.npy"
