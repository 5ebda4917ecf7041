"""Files that do not fit: each is refused with a sentence that says what and where."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs import read_graph, read_labels

EDGES = "source,target,weight\na,b,1\nb,c,2\n"
FEATURES = "id,f1,f2\na,1,2\nb,3,4\nc,5,6\n"


def read(folder: Path, files: dict[str, Any], **options: Any) -> Any:
    for name, content in files.items():
        path = folder / name
        if isinstance(content, bytes | str):
            path.write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
        elif isinstance(content, dict):
            pq.write_table(pa.table(content), path)
        elif path.suffix == ".npy":
            np.save(path, content)
        else:
            np.savez(path, *content)
    keys = {"e": "edges", "x": "features", "y": "labels"}
    given = {keys[name.split(".")[0]]: folder / name for name in files}
    return read_graph(**{"edges": folder / "e.csv", **given}, **options)


CASES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {}, "no such file: .*e.csv .expected: edges"),
    ({"e.csv": ""}, {}, "e.csv is empty"),
    ({"e.csv": "\n \n"}, {}, "e.csv has no rows"),
    ({"e.csv": "# only\n# comments\n"}, {}, "e.csv has no rows"),
    ({"e.csv": "source,target\n"}, {}, "e.csv has no rows"),
    (
        {"e.csv": "a,caf\xe9\n".encode("latin-1")},
        {},
        "e.csv is not text in UTF-8 .byte",
    ),
    ({"e.csv": "a\nb\n"}, {}, "two columns of ids.*columns found: 1"),
    (
        {"e.csv": EDGES},
        {"source": "frm"},
        "no column 'frm'.*columns found: source, tar",
    ),
    ({"e.csv": EDGES}, {"source": "sorce"}, 'did you mean "source"'),
    ({"e.csv": EDGES}, {"weight": 7}, "no column 7"),
    ({"e.csv": EDGES}, {"header": "maybe"}, "header must be True, False or 'auto'"),
    (
        {"e.csv": "source,b,c\nx,y,z\n"},
        {"source": "source"},
        "known as the target.*--target-column.*'b', 'c'",
    ),
    (
        {"e.csv": "a,b,c\nx1,y1,z1\n"},
        {},
        "which columns of .*e.csv are the ends.*'a', 'b', 'c'",
    ),
    ({"e.csv": EDGES}, {"weight": "target"}, "'target' is a column of ids"),
    (
        {"e.csv": EDGES},
        {"source": 1, "target": "target"},
        "cannot start and end in the same",
    ),
    ({"e.csv": EDGES}, {"colums": ["f"]}, "unknown option .colums.; did you mean"),
    (
        {"e.csv": "a,b\nb,c,d\na,d\n"},
        {},
        "e.csv has 3 values in row 2.* 2 are expected",
    ),
    (
        {"e.csv": "source,target\na,b\nc\n"},
        {},
        "has 1 values in row 2.* 2 are expected",
    ),
    (
        {"e.csv": "source,target\na,b\n,c\n"},
        {},
        "'source' of .*e.csv has no id in row 2",
    ),
    ({"e.csv": EDGES + "c,a,-3\n"}, {}, "weight -3 in row 3, column 'weight'"),
    ({"e.csv": EDGES + "c,a,nan\n"}, {}, "weight nan in row 3, column 'weight'"),
    ({"e.csv": EDGES + "c,a,inf\n"}, {}, "weight inf in row 3"),
    ({"e.csv": EDGES + "c,a,\n"}, {}, "no number in row 3, column 'weight'"),
    ({"e.csv": EDGES + "c,a,heavy\n"}, {}, "'heavy' in row 3, column 'weight'"),
    ({"e.csv": "a,a\n"}, {}, "two nodes and one edge.*e.csv makes one of 1 nodes"),
    ({"e.csv": "source,target,w\na,b,0\n"}, {}, "2 nodes and 0 edges"),
    ({"e.csv.gz": gzip.compress(b"a,b\n" * 99)[:20]}, {}, "cannot be unpacked"),
    ({"e.csv.gz": b"a,b\nb,c\n"}, {}, "cannot be unpacked"),
    ({"e.parquet": b"PAR1 but not really"}, {}, "e.parquet is not a Parquet file"),
    (
        {"e.parquet": "source,target\na,b\n"},
        {},
        "e.parquet is not a Parquet file but text",
    ),
    ({"e.parquet": {"source": pa.array([], pa.int64()), "target": []}}, {}, "no rows"),
    ({"e.parquet": {"u": [1, None], "v": [2, 3]}}, {}, "'u' of .* has no id in row 2"),
    ({"e.parquet": {"u": [0.5], "v": [2.0]}}, {}, "whole numbers or text as ids"),
    (
        {"e.parquet": {"u": [[1]], "v": [[2]]}},
        {},
        "whole numbers or text as ids, got",
    ),
    ({"e.npz": [np.ones(3)]}, {}, "e.npz"),
    ({"e.npz": b"nothing of the kind"}, {}, "e.npz"),
    ({"e.csv": EDGES, "x.csv": ""}, {}, "x.csv is empty, but features"),
    (
        {"e.csv": EDGES, "x.csv": FEATURES.replace("c,5", "d,5")},
        {},
        "1 edges of .*e.csv name 1 ids .* such as 'c'; --missing drop-edges leaves",
    ),
    (
        {"e.csv": EDGES, "x.csv": FEATURES + "b,0,0\n"},
        {},
        "'id' of .* repeats 1 ids.*'b'",
    ),
    (
        {"e.csv": EDGES, "x.csv": FEATURES + "d,0,x\n"},
        {"numeric": ["f2"]},
        "'x' in row 4, column 'f2'",
    ),
    (
        {
            "e.csv": EDGES,
            "x.csv": FEATURES + "".join(f"n{i},0,{i}\n" for i in range(20)) + "d,0,x\n",
        },
        {},
        "'x' in row 24, column 'f2'.*--categorical.*--drop",
    ),
    ({"e.csv": EDGES, "x.csv": FEATURES + "d,0,-inf\n"}, {}, "-inf in row 4.*'f2'"),
    ({"e.csv": EDGES, "x.csv": FEATURES + "d,0\n"}, {}, "has 2 values in row 4"),
    ({"e.csv": EDGES, "x.csv": "id\na\nb\nc\n"}, {}, "no features .columns found: id"),
    (
        {"e.csv": EDGES, "x.csv": FEATURES},
        {"id_column": "key"},
        "no column 'key'.*id, f1",
    ),
    (
        {"e.csv": EDGES, "x.npy": np.eye(3)},
        {},
        "x.npy has no column with the ids of .*e.csv .'a', 'b', 'c'",
    ),
    (
        {"e.csv": "0,1\n1,5\n4,0\n", "x.npy": np.eye(3)},
        {},
        "whole numbers from 0 to 5.*its 3 rows do not fit.*--by-order",
    ),
    (
        {"e.csv": "0,1\n1,5\n4,0\n", "x.npy": np.eye(3)},
        {"by_order": True},
        "2 edges .* name 2 ids .*x.npy",
    ),
    (
        {"e.csv": "0,1\n", "x.npy": np.eye(2)},
        {"id_column": "id"},
        "no names of columns",
    ),
    (
        {"e.csv": "0,1\n", "x.npy": np.ones(3)},
        {},
        r"a matrix of numbers.* shape \(3,\)",
    ),
    (
        {"e.csv": "0,1\n", "x.npy": np.array([["a"], ["b"]])},
        {},
        "matrix of numbers.*<U1",
    ),
    ({"e.csv": "0,1\n", "x.npy": np.diag([1, np.inf])}, {}, "inf in row 2, column '2'"),
    ({"e.csv": "0,1\n", "x.npy": b"junk"}, {}, "x.npy is not a NumPy file"),
    ({"e.csv": "0,1\n", "x.npz": b"junk"}, {}, "x.npz is not a NumPy file"),
    ({"e.csv": "0,1\n", "x.npz": [np.eye(2), np.eye(2)]}, {}, "arrays arr_0, arr_1"),
    (
        {"e.csv": EDGES, "x.parquet": {"id": [*"abc"], "f": [*"1x3"]}},
        {},
        r"no column that can be a feature: f .text.; --columns",
    ),
    (
        {
            "e.csv": EDGES,
            "x.parquet": {"id": [*"abc"], "v": [[1.0], [2.0, 3.0], [4.0]]},
        },
        {},
        "a list of 2 numbers in row 2, column 'v', where 1",
    ),
    ({"e.csv": EDGES, "y.csv": "id,label\na,1\na,2\n"}, {}, "y.csv repeats 1 ids"),
    ({"e.csv": EDGES, "y.csv": "a\nb\n"}, {}, "a column of ids and one of labels"),
    ({"e.csv": EDGES, "y.csv": "id,label\na,-1\nb,1\n"}, {}, "-1 means a node without"),
    (
        {"e.csv": EDGES, "y.csv": "id,label\na,1\n"},
        {"label_column": "t"},
        "no column 't'",
    ),
    (
        {"e.csv": EDGES, "x.csv": FEATURES, "y.csv": "id,label\nq,1\n"},
        {},
        "'id' of .*y.csv has none of the ids of the graph, such as 'a', 'b', 'c'",
    ),
    (
        {"e.csv": EDGES, "x.csv": FEATURES, "y.csv": "id,label\na,0\nb,1\nq,1\n"},
        {},
        "labels of 1 ids .* the ids of .*x.csv, such as 'q'; --missing-labels drop",
    ),
    (
        {"e.csv": EDGES, "y.csv": "id,one,two\na,0,1\nb,1,0\n"},
        {},
        "which column of .*y.csv holds the labels.*'one', 'two'",
    ),
]


@pytest.mark.parametrize(("files", "options", "message"), CASES)
def test_a_bad_file_gets_one_sentence(
    tmp_path: Path, files: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, files, **options)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder, but a file with edges"):
        read_graph(tmp_path)
    (tmp_path / "e.csv").write_text(EDGES)
    with pytest.raises(InputError, match="is a folder, but a file with features"):
        read_graph(tmp_path / "e.csv", tmp_path)


def test_an_unknown_id_is_counted_and_shown(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("a,b\n" + "".join(f"a,new{i}\n" for i in range(9)))
    (tmp_path / "x{0}.csv").write_text(FEATURES)
    sentence = (
        r"9 edges of .* name 9 ids .*x\{0\}.csv, such as 'new0', 'new1', 'new2', \.\.\."
    )
    with pytest.raises(InputError, match=sentence):
        read_graph(tmp_path / "e.csv", tmp_path / "x{0}.csv")


def test_labels_of_other_ids_are_refused(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("id,label\na,1\nb,0\n")
    with pytest.raises(InputError, match="not among the ids given, such as 'b'"):
        read_labels(tmp_path / "y.csv", ["a", "c"])
    with pytest.raises(InputError, match="no such file"):
        read_labels(tmp_path / "z.csv", ["a"])


def test_vectors_are_no_labels(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b"], "label": [[1.0, 2.0], [3.0, 4.0]]})
    pq.write_table(table, tmp_path / "y.parquet")
    with pytest.raises(InputError, match="one label in each row is expected"):
        read_labels(tmp_path / "y.parquet", ["a", "b"])
