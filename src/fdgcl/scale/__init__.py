"""Graphs larger than memory: a store on disk, diffused and trained on by parts."""

from fdgcl.scale.arrays import DamagedError, StoredArray
from fdgcl.scale.diffused import DiffusedRows, Diffusion
from fdgcl.scale.diffusing import diffuse_store
from fdgcl.scale.plan import DiffusionPlan, plan_diffusion
from fdgcl.scale.store import Store

__all__ = [
    "DamagedError",
    "DiffusedRows",
    "Diffusion",
    "DiffusionPlan",
    "Store",
    "StoredArray",
    "diffuse_store",
    "plan_diffusion",
]
