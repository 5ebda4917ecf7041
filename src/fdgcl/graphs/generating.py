"""Large graphs written to files chunk by chunk, for trials at scale.

Ranks of nodes are drawn by inverting the integral of their expected degrees instead of
searching in a table of sums: a hundred million draws then take seconds. A rank's
chance is that of `power_law_graph` to within 0.1 %.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fdgcl._checks import InputError, check_count, check_positive, check_seed
from fdgcl._files import atomic_path

T = TypeVar("T")

COMMUNITIES = 8
_WITHIN = 0.5
# Ranks start here, so that the largest degrees stay below the number of nodes.
_OFFSET = 10.0
_EDGES_AT_ONCE = 1 << 20
_NUMBERS_AT_ONCE = 1 << 22
_THREADS = 2
_WHO = {"order": 0, "edges": 1, "means": 2, "features": 3}


@dataclass(frozen=True)
class PowerLawFiles:
    """A graph whose degrees follow a power law, in communities, drawn by parts.

    Both ends of an edge are drawn with probability proportional to
    `(rank + 10) ** (-1 / (exponent - 1))`; half of the edges then have their end moved
    to the next rank of the start's community. A node's community is its number modulo
    8. Features are the community's own random direction, of length one, plus standard
    normal noise. Edges may repeat, and a few end where they start, as in real files.

    Attributes:
        nodes: Number of nodes.
        edges: Rows of the edge list.
        features: Number of features; 0 for no file of them.
        exponent: Exponent of the degree distribution, above 2.
        seed: Seed; the same arguments give the same files.
    """

    nodes: int
    edges: int
    features: int
    exponent: float = 2.5
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse sizes that make no graph."""
        check_count("nodes", self.nodes, minimum=2)
        check_count("edges", self.edges)
        check_count("features", self.features, minimum=0)
        check_seed("seed", self.seed)
        if check_positive("exponent", self.exponent) <= 2:
            message = f"exponent must be above 2, got {self.exponent:g}"
            raise InputError(message)

    def paths(self, folder: Path) -> list[Path]:
        """The files that `write` makes."""
        names = ["edges.parquet", *(["features.parquet"] if self.features else [])]
        return [folder / name for name in names]

    def write(
        self,
        folder: Path,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> list[Path]:
        """Write `edges.parquet` and `features.parquet`, and return their paths.

        Args:
            folder: Where they go; made if needed.
            progress: Called with the stage, what is done of it, and how much there is.

        Raises:
            InputError: The disk is full, or the folder cannot be written.
        """
        tell = progress or (lambda *_: None)
        paths = self.paths(folder)
        ends = self._place_type
        edges = pa.schema([("source", ends), ("target", ends)])
        self._write(paths[0], edges, self.edges, _EDGES_AT_ONCE, self._edges, tell)
        if self.features:
            vector = pa.list_(pa.float32(), self.features)
            schema = pa.schema([("id", ends), ("features", vector)])
            rows = max(1, _NUMBERS_AT_ONCE // self.features)
            self._write(paths[1], schema, self.nodes, rows, self._features, tell)
        return paths

    def _write(
        self,
        path: Path,
        schema: Any,
        total: int,
        rows: int,
        draw: Callable[[int, int, int], list[Any]],
        tell: Callable[[str, int, int], None],
    ) -> None:
        starts = range(0, total, rows)
        jobs = (
            partial(draw, number, start, min(start + rows, total))
            for number, start in enumerate(starts)
        )
        with (
            atomic_path(path) as temporary,
            # Random numbers do not shrink: packing them would only take time.
            pq.ParquetWriter(
                temporary, schema, compression="none", use_dictionary=False
            ) as writer,
        ):
            done = 0
            for columns in _side_by_side(jobs):
                batch = pa.record_batch(columns, schema=schema)
                writer.write_batch(batch, row_group_size=rows)
                done += len(batch)
                tell(f"writing {path.name}", done, total)

    def _edges(self, number: int, start: int, stop: int) -> list[Any]:
        rng = self._rng("edges", number)
        first, second = (self._ranks(rng, stop - start) for _ in range(2))
        moved = second + (first % COMMUNITIES - second % COMMUNITIES)
        within = (rng.random(stop - start) < _WITHIN) & (moved < self.nodes)
        ends = (first, np.where(within, moved, second))
        return [pa.array(self._nodes_by_rank[ranks]) for ranks in ends]

    def _ranks(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        power = 1.0 - 1.0 / (self.exponent - 1.0)
        # From half a rank below the first to half a rank above the last.
        low, high = ((_OFFSET + at - 0.5) ** power for at in (0, self.nodes))
        draws = rng.random(count)
        draws *= high - low
        draws += low
        draws **= 1.0 / power
        ranks = np.rint(draws - _OFFSET).astype(np.int64)
        return ranks.clip(0, self.nodes - 1)

    @cached_property
    def _nodes_by_rank(self) -> NDArray[Any]:
        """The node of each rank, in no order but for its community."""
        kind = self._place_type.to_pandas_dtype()
        rng = self._rng("order", 0)
        nodes = np.empty(self.nodes, kind)
        for community in range(min(COMMUNITIES, self.nodes)):
            count = len(nodes[community::COMMUNITIES])
            places = rng.permutation(np.arange(count, dtype=kind))
            nodes[community::COMMUNITIES] = places * COMMUNITIES + community
        return nodes

    def _features(self, number: int, start: int, stop: int) -> list[Any]:
        rng = self._rng("features", number)
        values = rng.standard_normal((stop - start, self.features), np.float32)
        nodes = np.arange(start, stop)
        values += self._means[nodes % COMMUNITIES]
        vectors = pa.FixedSizeListArray.from_arrays(
            pa.array(values.reshape(-1)), self.features
        )
        return [pa.array(nodes, self._place_type), vectors]

    @cached_property
    def _means(self) -> NDArray[np.float32]:
        means = self._rng("means", 0).standard_normal((COMMUNITIES, self.features))
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return means.astype(np.float32)

    @property
    def _place_type(self) -> Any:
        return pa.int32() if self.nodes <= 2**31 else pa.int64()

    def _rng(self, who: str, number: int) -> np.random.Generator:
        """A random generator for each chunk: chunks can be drawn in any order."""
        return np.random.default_rng([self.seed, _WHO[who], number])


def _side_by_side(jobs: Iterator[Callable[[], T]]) -> Iterator[T]:
    """Results in order, of jobs that run in threads, a few ahead of what is used."""
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(_THREADS) as pool:
        for job in jobs:
            waiting.append(pool.submit(job))
            if len(waiting) > _THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
