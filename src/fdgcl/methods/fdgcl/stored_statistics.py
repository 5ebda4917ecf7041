"""Statistics of a store's diffused features, found once and kept beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from fdgcl._progress import Progress
from fdgcl._tensors import read_tensors, write_tensors
from fdgcl.methods.fdgcl.diffused import DiffusedRows, Diffusion
from fdgcl.methods.fdgcl.recipe import AVERAGE
from fdgcl.methods.fdgcl.statistics import BLOCK_ROWS, Statistics
from fdgcl.training import ProcessGroup

FORMAT = "fdgcl-statistics-1"


def load_statistics(
    diffusion: Diffusion,
    group: ProcessGroup,
    progress: Progress | None = None,
    *,
    verify: bool = True,
) -> Statistics:
    """Read the statistics, which the first of a group makes where there are none.

    Making them reads all rows and compares them with their checksums.

    Args:
        diffusion: The features.
        group: Who wait for them.
        progress: Called while rows are read.
        verify: Compare rows with their checksums also where there are statistics.

    Raises:
        DamagedError: A part of the diffused features is not what was written.
    """
    path = diffusion.folder / "statistics.safetensors"

    def make() -> None:
        key = _key(diffusion)
        if _kept_key(path) != key:
            found = _find(diffusion, progress)
            # What has no statistics is not read by the way.
            for array in diffusion.arrays(AVERAGE) if diffusion.recipe.averages else ():
                array.verify()
            assert found.covariances is not None
            tensors = {"means": found.means, "covariances": found.covariances}
            write_tensors(path, tensors, {"format": FORMAT, "arrays": key})
        elif verify:
            DiffusedRows(diffusion).verify()

    group.by_first(make)
    tensors, _ = read_tensors(path, FORMAT)
    return Statistics(tensors["means"], tensors["covariances"])


def _kept_key(path: Path) -> str | None:
    return read_tensors(path, FORMAT)[1].get("arrays") if path.is_file() else None


def _key(diffusion: Diffusion) -> str:
    """A hash of all that the statistics depend on."""
    digest = hashlib.blake2b(digest_size=16)
    for order in range(len(diffusion.recipe.coefficients)):
        for array in diffusion.arrays(order):
            digest.update(repr((array.shape, array.checksums)).encode())
    return digest.hexdigest()


def _find(diffusion: Diffusion, progress: Progress | None) -> Statistics:
    orders = range(len(diffusion.recipe.coefficients))
    rows = diffusion.store.manifest.nodes

    def blocks(order: int) -> Iterator[Tensor]:
        done = order * rows
        for block in _blocks(diffusion, order):
            yield block
            done += len(block)
            if progress is not None:
                progress("statistics", done, len(orders) * rows)

    return Statistics.of(map(blocks, orders))


def _blocks(diffusion: Diffusion, order: int) -> Iterator[Tensor]:
    """Rows of one order with all columns; the next ones take their place."""
    recipe, arrays = diffusion.recipe, diffusion.arrays(order)
    streams = [array.blocks(BLOCK_ROWS) for array in arrays]
    kind = torch.from_numpy(arrays[0].read(0, 0)).dtype
    space = torch.empty(BLOCK_ROWS, recipe.columns[-1], dtype=kind)
    for parts in zip(*streams, strict=True):
        count = len(parts[0][1])
        for number, (_, part) in enumerate(parts):
            space[:count, recipe.slice(number)] = torch.from_numpy(part)
        yield space[:count]
