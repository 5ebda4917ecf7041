"""The embedding of a store's nodes, as a folder of Parquet files.

A store may have more nodes than an array of their embedding would fit into memory, so
that it is written part by part, and only parts that are missing.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._prefetch import prefetch
from fdgcl._progress import Progress
from fdgcl.embedder import GraphEmbedder
from fdgcl.embeddings import Part, part_files, write_part
from fdgcl.fitting import OnEpoch
from fdgcl.graphs.store.store import Store
from fdgcl.methods.base import Config, GraphModel
from fdgcl.methods.fdgcl.batching import block_rows
from fdgcl.methods.fdgcl.training import ViewTraining
from fdgcl.methods.resources import Resources
from fdgcl.methods.settings import MethodSettings
from fdgcl.planning import check_disk
from fdgcl.run_folder import RunFolder
from fdgcl.training.records import NonFiniteLossError

SHARD_ROWS = 2**18

Block = tuple[NDArray[Any], NDArray[np.float32]]


def model_fingerprint(model: GraphModel, config: Config) -> str:
    """A short hash of all that the embedding depends on."""
    digest = hashlib.blake2b(digest_size=16)
    about = [config.settings.to_dict(), config.graph, config.decisions]
    digest.update(json.dumps(about, sort_keys=True).encode())
    for name, tensor in sorted(model.state_dict().items()):
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

    def write(self, training: ViewTraining, progress: Progress | None = None) -> int:
        """Write what is missing, each member its share; return how many it wrote.

        Raises:
            NonFiniteLossError: An embedding is not finite.
            InputError: The disk is full, or the folder cannot be written.
        """
        parts, group = self.parts, training.group
        todo = [part for part in parts if not part.is_there(self.folder)]
        # All look before anyone writes: they must agree on what is missing.
        group.barrier()
        done = len(parts) - len(todo)
        own = todo[group.rank :: group.size]
        for part in own:
            if progress is not None:
                progress("embed", done, len(parts))
            with closing(prefetch(self._blocks(part, training))) as blocks:
                write_part(self.folder, part, blocks)
            done += group.size
        if progress is not None:
            progress("embed", len(parts), len(parts))
        group.barrier()
        return len(own)

    def _blocks(
        self, part: Part, training: ViewTraining
    ) -> Generator[Block, None, None]:
        start = part.number * self.rows
        stop = min(start + self.rows, self.store.manifest.nodes)
        features = self.store.num_features
        step = block_rows(training.model.combination.parts.made, features)
        for first, last, block in training.blocks_of(start, stop, step):
            embedding = block.float().cpu().numpy()
            if not np.isfinite(embedding).all():
                message = "the embedding has values that are not finite"
                raise NonFiniteLossError(message)
            yield self.store.read_ids(first, last), embedding


@dataclass(frozen=True)
class Written:
    """An embedding in a folder.

    Attributes:
        folder: Where the parts are.
        parts: How many there are.
        written: How many of them this process wrote.
        width: Columns of the embedding.
        seconds: Spent, training included, by this start.
    """

    folder: Path
    parts: int
    written: int
    width: int
    seconds: float


def fit_to_folder(
    model: GraphEmbedder,
    store: Store,
    folder: Path,
    *,
    run: Path,
    resources: Resources,
    resume: bool = True,
    shard_rows: int = SHARD_ROWS,
    replace_parts: bool = False,
    progress: Progress | None = None,
    on_epoch: OnEpoch | None = None,
    on_model: Callable[[str, float], None] | None = None,
) -> Written:
    """Train on a store, and write the embedding of all its nodes to a folder.

    Every epoch leaves a checkpoint. Started again with the same settings and folders,
    it goes on after the last one, and writes only parts that are missing.

    Args:
        model: The estimator, fitted by this.
        store: The graph.
        folder: For the embedding's parts.
        run: Folder for settings, metrics and weights.
        resources: Memory, and who train together.
        resume: Go on with a run that is in the folder; otherwise it is refused.
        shard_rows: Rows of each part of the embedding.
        replace_parts: Remove parts of another embedding that would be left over;
            otherwise such a folder is refused.
        progress: Called with the stages look, slices, statistics, train and embed.
        on_epoch: Called after each epoch, by all of the group.
        on_model: Called by the first of the group with the hash that all parts will
            have, and the seconds so far, before one is written.

    Raises:
        InputError: Settings, store, folders and memory do not fit together.
        DamagedError: The diffused features are not what was written.
        NonFiniteLossError: Training diverged; the last good weights are kept.
    """
    started = time.perf_counter()
    group = resources.group
    progress = progress if group.is_first else None
    needed = model.prepare(store, resources).plan.disk_bytes
    group.by_first(lambda: _check_room(folder, needed))
    resume = resume and RunFolder(run).config.exists()
    training = model.fit_on(store, run, resume, progress, on_epoch, resources)
    assert isinstance(training, ViewTraining)
    training.release()
    key = model_fingerprint(training.model, model.config)
    shards = Shards(folder, store, key, shard_rows)

    def settle() -> None:
        shards.check(remove=replace_parts)
        if on_model is not None:
            on_model(key, time.perf_counter() - started)

    group.by_first(settle)
    written = shards.write(training, progress)
    seconds = time.perf_counter() - started
    width = training.model.combination.parts.width
    return Written(folder, len(shards.parts), written, width, seconds)


def embed_to_folder(
    model: GraphEmbedder,
    store: Store,
    folder: Path,
    *,
    resources: Resources,
    shard_rows: int = SHARD_ROWS,
    replace_parts: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Embed all nodes of a store by a trained model, and write that to a folder.

    Args:
        model: The estimator, fitted or loaded.
        store: The graph, seen or not.
        folder: For the embedding's parts.
        resources: Memory.
        shard_rows: Rows of each part of the embedding.
        replace_parts: As in `fit_to_folder`.
        progress: Called with the stages look, slices and embed.

    Raises:
        InputError: Model, store, folder and memory do not fit together.
        DamagedError: The diffused features are not what was written.
        NonFiniteLossError: The embedding is not finite.
    """
    started = time.perf_counter()
    prepared = model.prepare_other(store, resources)
    _check_room(folder, prepared.plan.disk_bytes)
    training = model.on_other(store, progress, resources)
    assert isinstance(training, ViewTraining)
    # Of the training graph nothing is left but what is in the model.
    config = replace(model.config, graph=prepared.describe_graph())
    key = model_fingerprint(training.model, config)
    shards = Shards(folder, store, key, shard_rows)
    shards.check(remove=replace_parts)
    written = shards.write(training, progress)
    seconds = time.perf_counter() - started
    width = training.model.combination.parts.width
    return Written(folder, len(shards.parts), written, width, seconds)


def _check_room(folder: Path, needed: int) -> None:
    there = sum(path.stat().st_size for path in folder.glob("part-*.parquet"))
    check_disk(folder, needed - there, "the embedding takes")


def default_run(store: Store, settings: MethodSettings) -> Path:
    """The folder for a run with such settings: the same whenever it is started."""
    values = {**settings.to_dict(), "direction": store.manifest.direction}
    text = json.dumps(values, sort_keys=True)
    key = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return store.folder / "runs" / key
