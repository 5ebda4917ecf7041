"""What is fuzzed: files as they should be, and who reads them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from pyarrow import feather
from scipy import sparse

import fuzz_mutations as change
from fdgcl import FDGCL, Graph
from fdgcl.embeddings import read_embeddings, write_embeddings
from fdgcl.graphs import load_graphs, read_graph, write_compact
from fdgcl.graphs.collection import GraphDataset
from fdgcl.graphs.compact import read_compact
from fdgcl.graphs.compact_graphs import write_compact_graphs
from fdgcl.graphs.files.names import (
    is_header,
    names_edges,
    names_features,
    names_labels,
)
from fdgcl.graphs.files.signature import describe_bytes
from fdgcl.graphs.schema.several import schema_from_dict
from fdgcl.graphs.store.arrays import write_array
from fdgcl.graphs.store.store import (
    Manifest,
    Store,
    features_path,
    id_ends_path,
    ids_path,
    neighbours_path,
    starts_path,
    write_manifest,
)
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.run_folder import RunFolder
from fdgcl.workflows.records import read_record
from fuzz_mutations import Mutation

N = 12
EDGES = pa.table(
    {
        "source": [f"n{i}" for i in range(N)] * 2,
        "target": [f"n{(i + k) % N}" for k in (1, 5) for i in range(N)],
    }
)
COUNTED = pa.table({"source": list(range(N)), "target": [*range(1, N), 0]})
FEATURES = pa.table(
    {
        "id": [f"n{i}" for i in range(N)],
        "age": [20.5 + i for i in range(N)],
        "city": ["Rome", "Oslo", None] * 4,
        "since": [f"2024-0{1 + i % 9}-02" for i in range(N)],
        "vip": [i % 3 == 0 for i in range(N)],
    }
)
LABELS = pa.table({"id": FEATURES["id"], "risk": ["low", "mid", "high"] * 4})
MATRIX = np.round(np.sin(np.arange(4.0 * N)).reshape(N, 4), 3)


@dataclass(frozen=True)
class Target:
    """A file and its reader.

    Attributes:
        file: The file's path inside the worker's folder.
        read: Reads the folder; raises InputError for what is wrong.
        changes: Mutations beside those of bytes.
        in_memory: Whether the file's bytes are read instead, which is much faster.
    """

    file: str
    read: Callable[[Path], Any]
    changes: tuple[Mutation, ...] = ()
    in_memory: bool = False


def _csv(table: pa.Table) -> bytes:
    rows = [",".join(table.column_names)]
    rows += [
        ",".join("" if v is None else str(v) for v in row.values())
        for row in table.to_pylist()
    ]
    return ("\n".join(rows) + "\n").encode()


def _edges(name: str) -> Target:
    return Target(name, lambda folder: read_graph(folder / name), _changes(name))


def _with(role: str, name: str, edges: pa.Table = EDGES) -> Target:
    return Target(
        name,
        lambda folder: read_graph(edges, **{role: folder / name}),
        _changes(name),
    )


def _changes(name: str) -> tuple[Mutation, ...]:
    suffix = name.rpartition(".")[2]
    return {
        "csv": (change.mutate_text, change.mutate_text, change.mutate_numbers),
        "parquet": (change.mutate_end,),
        "feather": (change.mutate_end,),
        "npy": (change.mutate_npy_header,),
        "npz": (change.mutate_zip, change.mutate_zip, change.mutate_end),
        "json": (change.mutate_json, change.mutate_json, change.mutate_numbers),
        "safetensors": (change.mutate_safetensors, change.mutate_safetensors),
        "jsonl": (change.mutate_json_lines, change.mutate_json_lines),
    }.get(suffix, ())


def _store(folder: Path) -> None:
    store = Store.open(folder / "G")
    for array in store.arrays():
        array.verify()
    store.read_ids(0, store.manifest.nodes)
    if store.manifest.features:
        store.read_features(0, store.manifest.nodes)


def _model(folder: Path) -> None:
    model = FDGCL.load(folder / "run")
    _ = model.feature_schema_


def _checkpoint(folder: Path) -> None:
    model = FDGCL.load(folder / "run")
    views: Any = model._views
    optimizer = torch.optim.Adam(views.parameters())
    RunFolder(folder / "run").read_checkpoint(views, optimizer)


def _schema(folder: Path) -> None:
    schema = schema_from_dict(_json(folder / "schema.json"), "schema.json")
    read_graph(EDGES, FEATURES, schema=schema)


def _header(data: bytes) -> None:
    lines = data.decode("utf-8", "replace").splitlines()
    rows = [line.split(",") for line in lines if line]
    if rows:
        for known in (names_edges, names_features, names_labels):
            is_header(rows[0], rows[1:], known)


def _settings(data: bytes) -> None:
    value = _loads(data)
    Settings.from_dict(value if isinstance(value, dict) else {}, "settings")


def _schema_alone(data: bytes) -> None:
    schema_from_dict(_loads(data), "schema.json")


def _loads(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None


def _fast(file: str, read: Callable[[bytes], Any], suffix: str) -> Target:
    return Target(file, read, _changes(suffix), in_memory=True)


TARGETS = {
    # Parts of readers, in memory.
    "signature of text": _fast("features.csv", describe_bytes, ".csv"),
    "signature of Parquet": _fast("edges.parquet", describe_bytes, ".parquet"),
    "header of edges": _fast("edges.csv", _header, ".csv"),
    "header of features": _fast("features.csv", _header, ".csv"),
    "schema alone": _fast("schema.json", _schema_alone, ".json"),
    "settings": _fast("settings.json", _settings, ".json"),
    # Readers of files.
    "edges.csv": _edges("edges.csv"),
    "edges.csv.gz": _edges("edges.csv.gz"),
    "features.csv": _with("features", "features.csv"),
    "labels.csv": _with("labels", "labels.csv"),
    "edges.parquet": _edges("edges.parquet"),
    "features.parquet": _with("features", "features.parquet"),
    "labels.parquet": _with("labels", "labels.parquet"),
    "edges.feather": _edges("edges.feather"),
    "features.npy": _with("features", "features.npy", COUNTED),
    "features.npz": _with("features", "features.npz", COUNTED),
    "sparse.npz": _with("features", "sparse.npz", COUNTED),
    "matrix.npz": _edges("matrix.npz"),
    "compact.npz": Target(
        "compact.npz",
        lambda folder: read_compact(folder / "compact.npz"),
        _changes(".npz"),
    ),
    "graphs.npz": Target(
        "graphs.npz",
        lambda folder: load_graphs(folder / "graphs.npz"),
        _changes(".npz"),
    ),
    "z.parquet": Target(
        "z.parquet",
        lambda folder: read_embeddings(folder / "z.parquet"),
        _changes(".parquet"),
    ),
    "schema.json": Target("schema.json", _schema, _changes(".json")),
    "config.json": Target("run/config.json", _model, _changes(".json")),
    "model.safetensors": Target(
        "run/model.safetensors", _model, _changes(".safetensors")
    ),
    "checkpoint.safetensors": Target(
        "run/checkpoint.safetensors", _checkpoint, _changes(".safetensors")
    ),
    "metrics.jsonl": Target("run/metrics.jsonl", _model, _changes(".jsonl")),
    "job.json": Target(
        "run/job.json", lambda folder: read_record(folder / "run"), _changes(".json")
    ),
    "manifest.json": Target("G/manifest.json", _store, _changes(".json")),
    "stored.npy": Target("G/features/000.npy", _store, _changes(".npy")),
    "note.json": Target("G/features/000.json", _store, _changes(".json")),
}


def write_seeds(folder: Path) -> None:
    """Write every file as it should be; the graph, a run and a store of it."""
    from typer.testing import CliRunner

    from fdgcl.cli import app

    (folder / "edges.csv").write_bytes(_csv(EDGES))
    (folder / "edges.csv.gz").write_bytes(gzip.compress(_csv(EDGES), mtime=0))
    (folder / "features.csv").write_bytes(_csv(FEATURES))
    (folder / "labels.csv").write_bytes(_csv(LABELS))
    pq.write_table(EDGES, folder / "edges.parquet")
    pq.write_table(FEATURES, folder / "features.parquet")
    pq.write_table(LABELS, folder / "labels.parquet")
    feather.write_feather(EDGES, str(folder / "edges.feather"))
    np.save(folder / "features.npy", MATRIX)
    np.savez(folder / "features.npz", x=MATRIX)
    sparse.save_npz(
        folder / "sparse.npz", sparse.csr_array(np.where(MATRIX > 0.5, MATRIX, 0))
    )
    square = sparse.csr_array((np.ones(N), (np.arange(N), (np.arange(N) + 1) % N)))
    sparse.save_npz(folder / "matrix.npz", square)
    graph = read_graph(EDGES, FEATURES, LABELS)
    write_compact(folder / "compact.npz", graph)
    several = GraphDataset.from_graphs([graph, graph], y=[0, 1])
    write_compact_graphs(folder / "graphs.npz", several)
    write_embeddings(folder / "z.parquet", graph.ids, MATRIX.astype(np.float32))
    schema = graph.feature_schema
    assert schema is not None
    (folder / "schema.json").write_text(json.dumps(schema.to_dict()))  # type: ignore[union-attr]
    command = (
        f"embed {folder}/edges.csv --features {folder}/features.csv --dim 4 --epochs 2 "
        f"--time 1 --step 1 -o {folder}/z0.parquet --run {folder}/run"
    )
    done = CliRunner().invoke(app, command.split())
    if done.exit_code:
        raise SystemExit(done.stderr)
    _write_store(folder / "G", graph)
    config = json.loads((folder / "run" / "config.json").read_text())
    (folder / "settings.json").write_text(json.dumps(config["settings"]))
    model = FDGCL.load(folder / "run")
    views: Any = model._views
    optimizer = torch.optim.Adam(views.parameters())
    for parameter in views.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    RunFolder(folder / "run").write_checkpoint(views, optimizer, model.history_)


def _write_store(folder: Path, graph: Graph) -> None:
    x = np.asarray(graph.features, np.float32)
    adjacency = graph.adjacency
    texts = [str(one).encode() for one in graph.ids]
    ends = np.cumsum([0, *map(len, texts)])
    write_array(starts_path(folder), adjacency.indptr.astype(np.int64))
    write_array(neighbours_path(folder), adjacency.indices.astype(np.int32))
    write_array(features_path(folder, 0), x)
    write_array(ids_path(folder), np.frombuffer(b"".join(texts), np.uint8))
    write_array(id_ends_path(folder), ends.astype(np.int64))
    manifest = Manifest(
        name="G",
        source="edges.csv",
        nodes=graph.num_nodes,
        entries=graph.num_edges,
        edges=graph.num_edges,
        direction="out",
        weighted=False,
        ids="text",
        features=x.shape[1],
        block_columns=x.shape[1],
    )
    write_manifest(folder, manifest)
