"""Graphs larger than memory: a store on disk, diffused and trained on by parts.

The names below are loaded when first used: what a step does not need must not count in
the memory that it keeps to.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdgcl.scale.arrays import DamagedError as DamagedError
    from fdgcl.scale.arrays import StoredArray as StoredArray
    from fdgcl.scale.diffused import DiffusedRows as DiffusedRows
    from fdgcl.scale.diffused import Diffusion as Diffusion
    from fdgcl.scale.diffusing import diffuse_store as diffuse_store
    from fdgcl.scale.fitting import train_store as train_store
    from fdgcl.scale.importing import import_graph as import_graph
    from fdgcl.scale.plan import DiffusionPlan as DiffusionPlan
    from fdgcl.scale.plan import plan_diffusion as plan_diffusion
    from fdgcl.scale.store import Store as Store

_HOME = {
    "DamagedError": "fdgcl.scale.arrays",
    "DiffusedRows": "fdgcl.scale.diffused",
    "Diffusion": "fdgcl.scale.diffused",
    "DiffusionPlan": "fdgcl.scale.plan",
    "Store": "fdgcl.scale.store",
    "StoredArray": "fdgcl.scale.arrays",
    "diffuse_store": "fdgcl.scale.diffusing",
    "import_graph": "fdgcl.scale.importing",
    "plan_diffusion": "fdgcl.scale.plan",
    "train_store": "fdgcl.scale.fitting",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module 'fdgcl.scale' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__]
