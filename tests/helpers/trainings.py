"""Small trainings on small stores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdgcl import FDGCL
from fdgcl.embedding_folder import fit_to_folder
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.running import diffuse_store
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.resources import Resources
from fdgcl.presets import paper_defaults
from fdgcl.training import EpochRecord, ProcessGroup, SingleProcess
from helpers.stores import make_store

MEMORY = 4 * 10**9
SMALL: dict[str, Any] = {
    **paper_defaults(),
    "dim": 16,
    "epochs": 4,
    "time": 4.0,
    "step": 1.0,
    "rate": 0.5,
    "init_scale": 1.0,
    "beta": 0.5,
    "device": "cpu",
}


def small(**settings: Any) -> Settings:
    """Settings of a quick training."""
    return FDGCL(**{**SMALL, **settings}).check()


def diffused_store(
    folder: Path, settings: Settings | None = None, **sizes: Any
) -> tuple[Store, Diffusion]:
    """A store of 300 nodes with 10 features, diffused."""
    wanted = {"nodes": 300, "edges": 1500, "features": 10, "block_columns": 4, **sizes}
    store = make_store(folder, **wanted)
    diffusion = diffuse_store(store, settings or small(), memory=MEMORY)
    return store, diffusion


@dataclass
class Trained:
    """What a training from a store left behind."""

    run: Path
    embedding: Path
    parts: int
    written: int
    width: int
    history: list[EpochRecord]
    resumed: int


def train_store(
    store: Store,
    settings: Settings,
    run: Path,
    out: Path,
    *,
    memory: int = MEMORY,
    group: ProcessGroup | None = None,
    here: int | None = None,
    on_epoch: Any = None,
    **more: Any,
) -> Trained:
    """Train on a store as `fdgcl train` does, and write the embedding of all nodes."""
    model = FDGCL(**settings.to_dict())
    found = fit_to_folder(
        model,
        store,
        out,
        run=run,
        resources=Resources(memory, group or SingleProcess(), here),
        on_epoch=None if on_epoch is None else lambda record, _: on_epoch(record),
        **more,
    )
    return Trained(
        run,
        found.folder,
        found.parts,
        found.written,
        found.width,
        model.history_,
        model.resumed_epochs_,
    )
