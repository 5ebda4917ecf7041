"""The estimator of each method, and of a run folder."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from fdgcl._checks import choose
from fdgcl.run_folder import RunFolder

if TYPE_CHECKING:
    from fdgcl.embedder import GraphEmbedder

#: Where the estimator of each method is; loaded when it is asked for.
ESTIMATORS = {
    "fdgcl": "fdgcl.model:FDGCL",
    "gcn": "fdgcl.compared:GCN",
    "cca-ssg": "fdgcl.compared:CCASSG",
    "bgrl": "fdgcl.compared:BGRL",
}


def estimator_of(method: str) -> type[GraphEmbedder]:
    """Return the estimator of a method.

    Raises:
        InputError: There is no method of that name; near ones are named.

    Example:
        >>> estimator_of("fdgcl")(dim=8)
        FDGCL(dim=8)
    """
    module, _, name = choose("method", method, ESTIMATORS).partition(":")
    kind: type[GraphEmbedder] = getattr(importlib.import_module(module), name)
    return kind


def load_model(folder: str | Path, *, device: str | None = None) -> GraphEmbedder:
    """Read a model that a run left in a folder, whatever its method.

    Args:
        folder: The run folder.
        device: Where to compute; None for where it was trained.

    Raises:
        InputError: The folder holds no finished run.

    Example:
        >>> import tempfile
        >>> from fdgcl import FDGCL, block_model
        >>> graph = block_model(16, seed=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     FDGCL(dim=4, epochs=1).fit(graph).save(folder)
        ...     load_model(folder).transform(graph).shape
        (16, 4)
    """
    config = RunFolder(folder).read_config()
    return estimator_of(config.method).load(folder, device=device)
