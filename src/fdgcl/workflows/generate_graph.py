"""Files of a large random graph, to try out what scales."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdgcl.workflows.feedback import ProgressArgument, feedback
from fdgcl.workflows.outputs import refuse_existing


@dataclass(frozen=True)
class Generated:
    """Files of a random graph.

    Attributes:
        files: The edges and, if there are any, the features.
        nodes: Number of nodes.
        edges: Number of edges.
        features: Number of features.
        seed: The same seed and sizes give the same files.
        seconds: What it took.
    """

    files: tuple[Path, ...]
    nodes: int
    edges: int
    features: int
    seed: int
    seconds: float

    @property
    def bytes(self) -> int:
        """What the files hold."""
        return sum(path.stat().st_size for path in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return files and sizes, ready for JSON."""
        return {
            "files": [str(path) for path in self.files],
            "nodes": self.nodes,
            "edges": self.edges,
            "features": self.features,
            "seed": self.seed,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 2),
        }


def generate(
    nodes: int,
    edges: int,
    output: str | Path,
    *,
    features: int = 64,
    seed: int = 0,
    overwrite: bool = False,
    progress: ProgressArgument = None,
) -> Generated:
    """Write a random graph whose degrees follow a power law, of any size.

    It has eight communities, a node's number modulo 8: half of the edges stay within
    one, and features lean towards its own direction.

    Args:
        nodes: Number of nodes.
        edges: Number of edges.
        output: The folder of `edges.parquet` and `features.parquet`.
        features: Number of features; 0 for no file of them.
        seed: The same seed and sizes give the same files.
        overwrite: Replace files that are there.
        progress: Whether to show a bar, or a function of stage, done and total.

    Raises:
        InputError: A size is out of range, or a file is there already.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import generate
        >>> [path.name for path in generate(50, 60, tempfile.mkdtemp()).files]
        ['edges.parquet', 'features.parquet']
    """
    from fdgcl.graphs.generating import PowerLawFiles

    files, folder = PowerLawFiles(nodes, edges, features, seed=seed), Path(output)
    for path in files.paths(folder):
        refuse_existing(path, overwrite=overwrite)
    start = time.perf_counter()
    with feedback(progress) as told:
        paths = tuple(files.write(folder, told.bars))
    seconds = time.perf_counter() - start
    return Generated(paths, nodes, edges, features, seed, seconds)
