"""Workflows: what the commands of `fdgcl` do, as functions that return values.

They take paths, names of datasets and graphs in memory, print nothing, and raise
InputError. The names below are loaded when first used, so that importing this is quick.

Example:
    >>> from fdgcl import workflows
    >>> workflows.plan_embedding("cora-bundled", settings={"dim": 16}).graph.name
    'cora-bundled'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdgcl.workflows.bench_outofcore import bench_out_of_core as bench_out_of_core
    from fdgcl.workflows.bench_training import bench as bench
    from fdgcl.workflows.bench_training import bench_scaling as bench_scaling
    from fdgcl.workflows.choose_settings import choose as choose
    from fdgcl.workflows.convert_graph import convert as convert
    from fdgcl.workflows.diffuse_store import diffuse as diffuse
    from fdgcl.workflows.diffuse_store import plan_diffusing as plan_diffusing
    from fdgcl.workflows.diffuse_store import prepare_slices as prepare_slices
    from fdgcl.workflows.embed_graph import embed as embed
    from fdgcl.workflows.embed_graph import plan_embedding as plan_embedding
    from fdgcl.workflows.evaluate_embedding import evaluate as evaluate
    from fdgcl.workflows.generate_graph import generate as generate
    from fdgcl.workflows.import_tables import import_table as import_table
    from fdgcl.workflows.import_tables import plan_import as plan_import
    from fdgcl.workflows.report_run import report as report
    from fdgcl.workflows.reproduce_table import list_tables as list_tables
    from fdgcl.workflows.reproduce_table import reproduce as reproduce
    from fdgcl.workflows.train_store import plan_training as plan_training
    from fdgcl.workflows.train_store import train as train
    from fdgcl.workflows.transform_graph import transform as transform
    from fdgcl.workflows.tune_settings import tune as tune

_HOME = {
    "embed": "embed_graph",
    "plan_embedding": "embed_graph",
    "transform": "transform_graph",
    "evaluate": "evaluate_embedding",
    "report": "report_run",
    "tune": "tune_settings",
    "choose": "choose_settings",
    "reproduce": "reproduce_table",
    "list_tables": "reproduce_table",
    "convert": "convert_graph",
    "import_table": "import_tables",
    "plan_import": "import_tables",
    "generate": "generate_graph",
    "diffuse": "diffuse_store",
    "plan_diffusing": "diffuse_store",
    "prepare_slices": "diffuse_store",
    "train": "train_store",
    "plan_training": "train_store",
    "bench": "bench_training",
    "bench_scaling": "bench_training",
    "bench_out_of_core": "bench_outofcore",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module 'fdgcl.workflows' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(f"fdgcl.workflows.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
