"""Files that are something else than their place or their name says."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import torch
from pyarrow import orc

from .case import Group
from .making import NUMBERS, edges, features, matrix, npy, npz, table, text

group = Group("formats")
good, bad = group.good, group.bad
E = {"e.csv": edges(NUMBERS)}
PLAIN = text(edges(NUMBERS))
ROWS = [
    {"source": a, "target": b} for a, b in zip(*edges(NUMBERS).values(), strict=True)
]


def _zip(**files: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(
                zipfile.ZipInfo(name.replace("__", "/").replace("_", ".")), content
            )
    return stream.getvalue()


def _tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo("e.csv")
        entry.size = len(PLAIN)
        archive.addfile(entry, io.BytesIO(PLAIN.encode()))
    return stream.getvalue()


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("create table edges (source text, target text)")
    database.close()


def _parquet() -> bytes:
    stream = io.BytesIO()
    pa.parquet.write_table(table(edges(NUMBERS)), stream)
    return stream.getvalue()


def _orc() -> bytes:
    stream = io.BytesIO()
    orc.write_table(table(edges(NUMBERS)), stream)
    return stream.getvalue()


def _stream() -> bytes:
    sink = io.BytesIO()
    made = table(edges(NUMBERS))
    with pa.ipc.new_stream(sink, made.schema) as writer:
        writer.write_table(made)
    return sink.getvalue()


PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(64)
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"
HTML = "<!DOCTYPE html>\n<html><body>404, not found</body></html>\n"
XLSX = _zip(xl__workbook_xml="<workbook/>", xl__worksheets__sheet1_xml="<sheet/>")
ODS = _zip(
    mimetype="application/vnd.oasis.opendocument.spreadsheet", content_xml="<x/>"
)
#: Contents, the words for them, and what to do about it.
FOREIGN = {
    "xlsx": (XLSX, "Excel", "save the sheet as CSV"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "Excel", "CSV"),
    "ods": (ODS, "OpenDocument", "CSV"),
    "json": (json.dumps(ROWS), "JSON", "table"),
    "json-object": (json.dumps({"edges": ROWS}, indent=2), "JSON", "table"),
    "jsonl": ("\n".join(map(json.dumps, ROWS)), "JSON", "table"),
    "html": (HTML, "HTML", "download"),
    "xml": ("<?xml version='1.0'?>\n<rows/>\n", "XML", "CSV"),
    "graphml": ("<?xml version='1.0'?>\n<graphml/>\n", "GraphML", "NetworkX"),
    "gml": ("graph [\n  node [ id 1 ]\n]\n", "GML", "NetworkX"),
    "pdf": (PDF, "PDF", ""),
    "png": (PNG, "PNG", ""),
    "jpeg": (b"\xff\xd8\xff\xe0" + bytes(64), "JPEG", ""),
    "sqlite": (_sqlite, "SQLite", "sqlite3"),
    "pickle": (pickle.dumps({"edges": [1, 2]}), "pickle", "Parquet"),
    "torch": (lambda path: torch.save(torch.zeros(3, 2), path), "torch", "npy"),
    "gzip": (gzip.compress(PLAIN.encode(), mtime=0), "gzip", ".gz"),
    "bzip2": (bz2.compress(PLAIN.encode()), "bzip2", ".bz2"),
    "xz": (lzma.compress(PLAIN.encode()), "xz", "unxz"),
    "zip": (_zip(e_csv=PLAIN), "zip", "unzip"),
    "tar": (_tar(), "tar", "tar -xf"),
    "orc": (_orc(), "ORC", "CSV or Parquet"),
    "arrow-stream": (_stream(), "Arrow", "CSV or Parquet"),
    "npy": (npy(matrix()), "NumPy", ".npy"),
    "npz": (npz(x=matrix()), "NumPy", ".npz"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(64), "HDF5", ""),
    "git-lfs": (
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "LFS",
        "pull",
    ),
    "zeros": (bytes(4096), "e.csv", ""),
    "noise": (bytes((37 * i * i + 11) % 256 for i in range(4096)), "binary", ""),
}
for name, (content, what, remedy) in FOREIGN.items():
    bad(f"{name}-as-edges", {"e.csv": content}, "e.csv", what, remedy)
for name in ("xlsx", "json", "pickle", "gzip", "png", "torch"):
    content, what, _ = FOREIGN[name]
    bad(f"{name}-as-features", {**E, "x.csv": content}, "x.csv", what)
    bad(f"{name}-as-labels", {**E, "y.csv": content}, "y.csv", what)
    bad(f"{name}-as-parquet", {"e.parquet": content}, "e.parquet", what)
    bad(f"{name}-as-npz", {**E, "x.npz": content}, "x.npz", what)
for suffix in ("xlsx", "xls", "json", "html", "pt", "pkl", "xz", "db"):
    key = {"pt": "torch", "pkl": "pickle", "db": "sqlite"}.get(suffix, suffix)
    content, what, _ = FOREIGN[key]
    bad(f"suffix-{suffix}", {f"e.{suffix}": content}, f"e.{suffix}", what)
good(
    "parquet-under-csv",
    {"e.csv": _parquet()},
    "edges: source -> target",
    counts=(24, 48),
)
good(
    "feather-under-csv",
    {"e.csv": lambda path: pa.feather.write_feather(table(edges(NUMBERS)), str(path))},
    "edges: source -> target",
    counts=(24, 48),
)
bad("csv-under-parquet", {"e.parquet": PLAIN}, "e.parquet", "text")
bad("csv-under-feather-name-is-read", {"e.parquet": b"PAR1"}, "e.parquet")
good(
    "csv-under-feather",
    {"e.feather": PLAIN},
    "edges: source -> target",
    counts=(24, 48),
)
PARQUET = _parquet()
bad("parquet-truncated", {"e.parquet": PARQUET[:-40]}, "e.parquet")
bad("parquet-without-its-end", {"e.parquet": PARQUET[: len(PARQUET) // 2]}, "e.parquet")
bad(
    "parquet-changed-inside",
    {"e.parquet": PARQUET[:40] + bytes(80) + PARQUET[120:]},
    "e.parquet",
)
bad(
    "parquet-long-footer",
    {"e.parquet": PARQUET[:-8] + b"\xff\xff\xff\x7fPAR1"},
    "e.parquet",
)
bad("feather-truncated", {"e.feather": b"ARROW1\0\0" + bytes(20)}, "e.feather")
bad("safetensors", {"e.csv": b"\x10\0\0\0\0\0\0\0" + b'{"a":{}}        '}, "e.csv")
group.run(
    "a-folder",
    {"e.csv/inner.txt": "x"},
    "data convert e.csv -o g.npz",
    "folder",
    refused=True,
)
bad("missing-edges", {}, "no file nowhere.csv", more="nowhere.csv")
bad("missing-features", E, "--features", "gone.csv", more="--features gone.csv")
bad("missing-labels", E, "--labels", "gone.csv", more="--labels gone.csv")
bad("a-store-manifest", {"e.json": '{"format": 1}'}, "e.json", "JSON")
bad("features-as-edges", {"e.csv": features(NUMBERS)}, "e.csv")
good(
    "compact-as-graph",
    {"e.npz": npz(edge_index=[[0, 1, 2], [1, 2, 0]], num_nodes=3)},
    counts=(3, 3, 0),
)
bad("compact-without-edges", {"e.npz": npz(x=matrix())}, "e.npz")
bad("compact-of-another-kind", {"e.npz": npz(foo=[1], bar=[2])}, "e.npz")
bad(
    "compact-edge-beyond-nodes",
    {"e.npz": npz(edge_index=[[0, 9], [1, 0]], num_nodes=3)},
    "e.npz",
)

# Found by tools/fuzz_readers.py.


def _encrypted() -> bytes:
    """An archive whose entries say that they are encrypted."""
    return _zip(x_npy="x").replace(b"PK\x03\x04\x14\0\0", b"PK\x03\x04\x14\0\1")


def _feather(**columns: pa.Array) -> bytes:
    stream = io.BytesIO()
    pa.feather.write_feather(pa.table(columns), stream, compression="uncompressed")
    return stream.getvalue()


ENDS = pa.array(["nodea", "nodeb", "nodec"])
OFFSETS = _feather(source=ENDS, target=ENDS).replace(
    b"\5\0\0\0\n\0\0\0\x0f\0\0\0", b"\5\0\0\0\xff\xff\xff\x7f\x0f\0\0\0"
)
bad(
    "found-feather-offsets-beyond-the-file",
    {"e.feather": OFFSETS},
    "e.feather",
    "damaged",
)
bad(
    "found-feather-name-not-utf8",
    {"e.feather": _feather(source=ENDS, target=ENDS).replace(b"source", b"s\xe5urce")},
    "e.feather",
)
bad(
    "found-feather-text-not-utf8",
    {"e.feather": _feather(source=ENDS, target=ENDS).replace(b"nodeb", b"nod\xe5b")},
    "e.feather",
)
bad(
    "found-parquet-text-not-utf8",
    {
        "e.parquet": lambda path: pa.parquet.write_table(
            pa.table(
                {
                    "source": pa.array([b"a", b"\xe5"]).view(pa.string()),
                    "target": ["b", "c"],
                }
            ),
            path,
        )
    },
    "e.parquet",
)
bad("found-npz-encrypted", {**E, "x.npz": _encrypted()}, "x.npz")
bad("found-npz-entry-without-an-array", {**E, "x.npz": _zip(x_npy="no array")}, "x.npz")
bad(
    "found-npz-names-of-two-lines",
    {**E, "x.npz": npz(**{"a\nb": [[1.0]], "c": [[1.0]]})},
    "x.npz",
)
bad(
    "found-npy-header-that-never-ends",
    {**E, "x.npy": npy(matrix()).replace(b"(24, 4)", b"(24, 4[")},
    "x.npy",
)
bad(
    "found-npy-shape-beyond-floats",
    {
        **E,
        "x.npy": npy(matrix()).replace(
            b"(24, 4), }" + b" " * 36, b"(24, 1" + b"0" * 36 + b"), }"
        ),
    },
    "x.npy",
)
bad(
    "found-sparse-columns-beyond-memory",
    {
        **E,
        "x.npz": npz(
            format=b"csr",
            shape=[24, 4_899_916_394_579_099_652],
            data=[1.0, 1.0],
            indices=[0, 1],
            indptr=[0, 1, 2, *[2] * 22],
        ),
    },
    "x.npz",
    "columns",
)
bad(
    "found-sparse-indices-beyond-the-matrix",
    {
        "e.npz": npz(
            format=b"csr",
            shape=[2, 2],
            data=[1.0, 1.0],
            indices=[0, 2**40],
            indptr=[0, 1, 2],
        )
    },
    "e.npz",
)
bad(
    "found-compact-nodes-beyond-its-features",
    {"e.npz": npz(edge_index=[[0, 1], [1, 0]], x=matrix(2), num_nodes=201_990_176)},
    "e.npz",
    "num_nodes",
)
bad(
    "found-compact-of-one-id-without-a-list",
    {"e.npz": npz(edge_index=[[0, 1], [1, 0]], num_nodes=2, ids="a")},
    "e.npz",
)
bad(
    "found-compact-features-without-rows",
    {"e.npz": npz(edge_index=[[0, 1], [1, 0]], x=1.0)},
    "e.npz",
)
bad("found-json-too-deep", {"e.csv": "[" * 60_000}, "e.csv", "JSON")
bad(
    "found-name-of-two-lines",
    {
        "e.csv": edges(),
        "x.parquet": {"id": [f"n{i:02}" for i in NUMBERS], "a\x1eb\u2028c": [1.0] * 24},
    },
    "x.parquet",
    "constant",
)
