"""The embedding of a store, as a folder of Parquet files of so many rows each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._prefetch import prefetch
from fdgcl._progress import Progress
from fdgcl.embeddings import Part, part_files, write_part
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import DiffusedFeatures, Encoders
from fdgcl.run_folder import Config
from fdgcl.training import NonFiniteLossError, ProcessGroup

SHARD_ROWS = 2**18
# Numbers of the embedding that are made at a time, and the most rows: what a cache
# still holds, and what is no loss when an allocator keeps it.
BLOCK_NUMBERS = 2**20
BLOCK_ROWS = 2**15

Block = tuple[NDArray[Any], NDArray[np.float32]]


def block_rows(width: int, num_features: int) -> int:
    """Rows to embed at a time, by the columns of the embedding and the features."""
    return max(64, min(BLOCK_ROWS, BLOCK_NUMBERS // max(width, num_features)))


def model_fingerprint(views: Encoders, config: Config) -> str:
    """A short hash of all that the embedding depends on."""
    digest = hashlib.blake2b(digest_size=16)
    about = [config.settings.to_dict(), config.graph, config.decisions]
    digest.update(json.dumps(about, sort_keys=True).encode())
    for name, tensor in sorted(views.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Shards:
    """The parts of one embedding in one folder.

    Attributes:
        folder: Where they go.
        store: Whose nodes they are of.
        model: A hash of what makes them.
        rows: Of each part, but for the last.
    """

    folder: Path
    store: Store
    model: str
    rows: int = SHARD_ROWS

    @property
    def parts(self) -> list[Part]:
        """All of them."""
        count = -(-self.store.manifest.nodes // self.rows)
        return [Part(number, count, self.model) for number in range(count)]

    def check(self, *, remove: bool = False) -> None:
        """Refuse a folder with parts that would be left over, or remove those.

        Raises:
            InputError: It has more parts than this embedding.
        """
        count = len(self.parts)
        files = sorted(part_files(self.folder).items())
        extra = [path for number, path in files if number >= count]
        for path in extra if remove else ():
            path.unlink()
        if extra and not remove:
            message = (
                f"{extra[0]} belongs to another embedding, of more than {count:,} "
                "parts: name another folder"
            )
            raise InputError(message)

    def write(
        self,
        views: Encoders,
        source: DiffusedFeatures,
        group: ProcessGroup,
        progress: Progress | None = None,
    ) -> int:
        """Write what is missing, each member its share; return how many it wrote.

        Raises:
            NonFiniteLossError: An embedding is not finite.
            InputError: The disk is full, or the folder cannot be written.
        """
        parts = self.parts
        todo = [part for part in parts if not part.is_there(self.folder)]
        # All look before anyone writes: they must agree on what is missing.
        group.barrier()
        done = len(parts) - len(todo)
        own = todo[group.rank :: group.size]
        for part in own:
            if progress is not None:
                progress("embed", done, len(parts))
            with closing(prefetch(self._blocks(part, views, source))) as blocks:
                write_part(self.folder, part, blocks)
            done += group.size
        if progress is not None:
            progress("embed", len(parts), len(parts))
        group.barrier()
        return len(own)

    def _blocks(
        self, part: Part, views: Encoders, source: DiffusedFeatures
    ) -> Generator[Block, None, None]:
        start = part.number * self.rows
        stop = min(start + self.rows, self.store.manifest.nodes)
        dim = views.mean.shape[1]
        width = views.combination.width(dim, source.num_features)
        step = block_rows(width, source.num_features)
        for first, last in source.blocks(start, stop, step):
            embedding = _embed(views, source)
            if not np.isfinite(embedding).all():
                message = "the embedding has values that are not finite"
                raise NonFiniteLossError(message)
            yield self.store.read_ids(first, last), embedding


@torch.no_grad()
def _embed(views: Encoders, source: DiffusedFeatures) -> NDArray[np.float32]:
    """The rows that are held, embedded with the frozen statistics."""
    found = views.combination(
        views.each(source), lambda name: source.kept(name).to(views.mean)
    )
    array: NDArray[np.float32] = found.float().cpu().numpy()
    return array
