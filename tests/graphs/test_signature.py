"""Files that are something else than their name says: what they are, what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import scipy.io
import torch
from safetensors.numpy import save as save_tensors

from fdgcl._checks import InputError
from fdgcl.graphs import read_graph, read_labels
from fdgcl.graphs.files.signature import describe_signature, refuse_foreign

CSV = "source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(30))
TABLE = pa.table({"source": ["a", "b"], "target": ["b", "c"]})


def _zip(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return stream.getvalue()


def _written(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def _arrow_stream(stream: io.BytesIO) -> None:
    with pa.ipc.new_stream(stream, TABLE.schema) as writer:
        writer.write_table(TABLE)


#: Kind, content, and a word of what to do.
FOREIGN: dict[str, tuple[str, bytes, str]] = {
    "xlsx": ("excel", _zip("[Content_Types].xml", "xl/workbook.xml"), "save the sheet"),
    "xls": ("excel", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "save the sheet"),
    "ods": ("ods", _zip("mimetype", "content.xml"), "save the sheet"),
    "other zip": ("zip", _zip("edges.csv"), "unzip"),
    "cut zip": ("zip", _zip("edges.csv")[:30], "damaged"),
    "npz": ("npz", _written(lambda s: np.savez(s, a=np.ones(3))), "end in .npz"),
    "npy": ("npy", _written(lambda s: np.save(s, np.ones(3))), "end in .npy"),
    "torch": ("torch", _written(lambda s: torch.save([1], s)), "numpy.save"),
    "old torch": (
        "torch",
        _written(lambda s: torch.save([1], s, _use_new_zipfile_serialization=False)),
        "numpy.save",
    ),
    "pickle": ("pickle", pickle.dumps(np.ones(3)), "may run any code"),
    "old pickle": ("pickle", pickle.dumps([1], protocol=2), "may run any code"),
    "zlib": ("zlib", zlib.compress(CSV.encode()), "joblib"),
    "mat": ("matlab", _written(lambda s: scipy.io.savemat(s, {"a": 1})), "loadmat"),
    "mat 7.3": ("matlab", b"MATLAB 7.3 MAT-file, Platform".ljust(512), "h5py"),
    "hdf5": ("hdf5", b"\x89HDF\r\n\x1a\n" + bytes(99), "convert"),
    "arrow stream": ("arrow-stream", _written(_arrow_stream), "convert"),
    "gzip": ("gzip", gzip.compress(CSV.encode()), "end in .gz, or .* gunzip"),
    "bz2": ("bz2", bz2.compress(CSV.encode()), "bunzip2"),
    "zstd": ("zstd", pa.compress(CSV.encode(), "zstd", asbytes=True), "unzstd"),
    "xz": ("xz", lzma.compress(CSV.encode()), "unxz"),
    "tar": ("tar", b"a".ljust(257, b"\0") + b"ustar\0", "tar -xf"),
    "html": ("html", b"\n<!DOCTYPE html>\n<html><body>Log in</body>", "download"),
    "xml": ("xml", b"<?xml version='1.0'?><a/>", "table"),
    "graphml": ("graphml", b"<?xml version='1.0'?>\n<graphml>", "NetworkX"),
    "gml": ("gml", b"graph [\n  node [\n", "NetworkX"),
    "json": ("json", json.dumps([{"source": 1}], indent=1).encode(), "table"),
    "one object": ("json", b'{"source": 1, "target": 2}', "table"),
    "json lines": ("json-lines", b'{"u": 1, "v": 2}\n{"u": 2, "v": 3}\n', "read_json"),
    "lfs": ("git-lfs", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "pdf": ("pdf", b"%PDF-1.7\n%\xe2\xe3", "table or a matrix"),
    "png": ("image", b"\x89PNG\r\n\x1a\n" + bytes(9), "table or a matrix"),
    "jpeg": ("image", b"\xff\xd8\xff\xe0" + bytes(9), "table or a matrix"),
    "elf": ("program", b"\x7fELF\x02\x01\x01" + bytes(9), "table or a matrix"),
    "safetensors": ("safetensors", save_tensors({"a": np.ones(3)}), "convert"),
    "utf-16": ("utf-16", CSV.encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
    "utf-16 without mark": ("utf-16", CSV.encode("utf-16-le"), "iconv -f UTF-16LE"),
    "utf-16 big": ("utf-16", CSV.encode("utf-16-be"), "iconv -f UTF-16BE"),
    "utf-32": ("utf-32", CSV.encode("utf-32"), "iconv -f UTF-32 -t UTF-8"),
    "utf-32 without mark": ("utf-32", CSV.encode("utf-32-le"), "iconv -f UTF-32LE"),
    "a zero": ("nul", CSV.encode().replace(b"n7", b"n\0"), "line 8: .* tr -d"),
    "bytes": ("binary", bytes(range(256)) * 9, "table or a matrix"),
    "bytes without zero": ("binary", bytes(range(1, 256)) * 9, "table or a matrix"),
}


def test_a_feather_file_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    feather.write_feather(pa.table({"source": ["a"], "target": ["b"]}), path)
    found = describe_signature(path)
    assert found is not None
    assert found.kind == "arrow"
    assert read_graph(path).ids.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_table_is_named(tmp_path: Path, name: str) -> None:
    kind, content, remedy = FOREIGN[name]
    path = tmp_path / "e.csv"
    path.write_bytes(content)
    found = describe_signature(path)
    assert found is not None
    assert found.kind == kind
    with pytest.raises(InputError, match=remedy) as caught:
        read_graph(path)
    assert found.what in str(caught.value)
    assert "\n" not in str(caught.value)
    refuse_foreign(path, {kind})


def test_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    with sqlite3.connect(path) as database:
        database.execute("create table edges (source, target)")
    database.close()
    with pytest.raises(InputError, match=r"a SQLite database: .* sqlite3 -header -csv"):
        read_graph(path)


TABLES = {
    "csv": CSV.encode(),
    "with a mark": CSV.encode("utf-8-sig"),
    "accents": "source,target\nfrançois,zoë\nzoë,李\n".encode(),
    "quoted": b'"source","target"\n"a","b"\n',
    "names in brackets": b"[source],[target]\na,b\n",
    "begins as bzip2 does": b"BZh,b\nb,c\n",
    "begins as ORC does": b"ORC,b\nb,c\n",
    "comments": b"% a graph\n# of two edges\n1,2\n2,3\n",
    "old Mac": b"a,b\rb,c\r",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_let_through(tmp_path: Path, name: str) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(TABLES[name])
    found = describe_signature(path)
    assert found is not None
    assert found.kind == "text"
    assert read_graph(path).num_nodes >= 2


def test_a_character_across_the_end_of_what_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("a,b\n" + "éa,éb\n" * 30_000, "utf-8")
    found = describe_signature(path)
    assert found is not None
    assert found.kind == "text"


def test_parquet_needs_no_name(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "e.csv")
    assert read_graph(tmp_path / "e.csv").num_nodes == 3


def test_text_named_parquet(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    path.write_text(CSV)
    with pytest.raises(InputError, match="is not a Parquet file but text: its name"):
        read_graph(path)


def test_what_a_packed_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode("utf-16")))
    with pytest.raises(InputError, match=r"e.csv.gz, once unpacked, is text in UTF-16"):
        read_graph(path)
    path.write_bytes(gzip.compress(gzip.compress(CSV.encode())))
    with pytest.raises(InputError, match="once unpacked, is packed by gzip"):
        read_graph(path)


def test_latin_1_in_columns_that_are_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "y.csv"
    path.write_bytes("id,label,note\na,1,café\nb,2,tea\n".encode("latin-1"))
    assert read_labels(path, ["a", "b"]).array.tolist() == [0, 1]
    sentence = r"y.csv is not text in UTF-8 \(byte 0xe9 in line 2\): .*WINDOWS-1252"
    with pytest.raises(InputError, match=sentence):
        read_labels(path, ["a", "b"], label_column="note")


def test_latin_1_far_from_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(b"a,b\n" * 30_000 + "a,é\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"e.csv is not text in UTF-8"):
        read_graph(path)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_matrices_that_are_none(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "e.csv").write_text("0,1\n1,0\n")
    path = tmp_path / f"x{suffix}"
    for name, word in (("xlsx", "Excel"), ("torch", "torch.save"), ("hdf5", "HDF5")):
        path.write_bytes(FOREIGN[name][1])
        with pytest.raises(InputError, match=f"is not a NumPy file but .*{word}"):
            read_graph(tmp_path / "e.csv", path)
    path.write_text("id,x\n0,1\n1,2\n")
    with pytest.raises(InputError, match=r"but text: its name must end so"):
        read_graph(tmp_path / "e.csv", path)
