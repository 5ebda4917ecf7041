"""What an import refuses, and in which words: file, row and remedy are named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdgcl._checks import InputError
from fdgcl._memory import resident_bytes
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.importing import Request
from fdgcl.graphs.importing.budget import Budget
from fdgcl.graphs.importing.hashing import TextHash
from helpers.importing_twin import TINY, check, import_graph, import_in_pieces

EDGES = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(20))


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


def attempt(
    folder: Path, edges: str | dict[str, Any], x: Any = None, **options: Any
) -> Any:
    """Import what is given; a text is CSV, a dictionary Parquet, an array .npy."""
    direction = options.pop("direction", "symmetric")
    request = Request(
        _write(folder / "e", edges),  # type: ignore[arg-type]
        _write(folder / "x", x),
        TableOptions(**options),
        direction=direction,
    )
    return import_in_pieces(folder / "store", request, TINY), request


def _write(path: Path, what: Any) -> Path | None:
    if what is None:
        return None
    if isinstance(what, str):
        path = path.with_suffix(".csv")
        path.write_text(what, encoding="utf-8")
    elif isinstance(what, dict):
        path = path.with_suffix(".parquet")
        pq.write_table(pa.table(what), path)
    else:
        path = path.with_suffix(".npy")
        np.save(path, what)
    return path


X21 = np.arange(63, dtype=np.float32).reshape(21, 3)

CASES: dict[str, tuple[Any, Any, str]] = {
    "unknown text": (
        "u,v\na,b\nb,c\nc,zed\nyak,a\n",
        "id,f\na,1\nb,2\nc,3\n",
        r"e\.csv names ids that are not among the ids of .*x\.csv, such as 'zed', "
        r"'yak' \(first in row 3\); --missing drop-edges",
    ),
    "unknown far down": (
        EDGES + "3,99\n",
        "id,f\n" + "".join(f"{i},{i % 3}\n" for i in range(21)),
        r"such as '99' \(first in row 21\)",
    ),
    "too few rows by order": (
        EDGES + "3,99\n",
        X21,
        r"x\.npy has no column with the ids of .*e\.csv \(whole numbers from 0 to 99\)"
        r", and its 21 rows do not fit nodes counted from 0: .* say --by-order",
    ),
    "too many rows by order": (
        EDGES,
        np.arange(66.0).reshape(22, 3),
        r"\(whole numbers from 0 to 20\), and its 22 rows do not fit",
    ),
    "negative ids by order": (
        EDGES + "3,-1\n",
        X21,
        r"\(whole numbers from -1 to 20\), and its 21 rows do not fit",
    ),
    "text by order": (
        EDGES + "3,x7\n",
        X21,
        r"\('0', '1', '10', \.\.\.\), and its 21 rows do not fit .*\(id_column\)$",
    ),
    "numbers as text by order": (
        {"source": [str(i) for i in range(20)], "target": ["20"] * 20},
        X21,
        r"\('0', '1', '10', \.\.\.\), and its 21 rows do not fit",
    ),
    "007 is not 7": (
        "u,v\n7,8\n007,8\n",
        {"id": [7, 8], "f": [1.0, 2.0]},
        r"such as '007' \(first in row 2\)",
    ),
    "repeated text": (
        "u,v\na,b\n",
        "id,f\na,1\nb,2\na,3\nb,4\nc,5\n",
        r"the column 'id' of .*x\.csv repeats 2 ids, such as 'a', 'b'|'b', 'a'",
    ),
    "repeated dense number": (
        "u,v\n3,4\n",
        "id,f\n3,1\n4,2\n3,3\n",
        r"the column 'id' of .*x\.csv repeats 1 ids, such as 3",
    ),
    "repeated sparse number": (
        "u,v\n3,4000\n",
        "id,f\n3,1\n4000,2\n3,3\n",
        r"repeats 1 ids, such as 3",
    ),
    "missing id": (
        EDGES + ",4\n",
        None,
        r"the column 'source' of .*e\.csv has no id in row 21",
    ),
    "missing id in Parquet": (
        {"source": [*range(20), None], "target": [*range(21)]},
        None,
        r"the column 'source' of .* has no id in row 21",
    ),
    "fractions as ids": (
        {"source": [0.5, 1.0], "target": [1.0, 2.0]},
        None,
        "must hold whole numbers or text as ids, got double with fractions",
    ),
    "negative weight": (
        {"u": [0] * 20, "v": [1] * 20, "w": [1.0] * 19 + [-2.0]},
        None,
        r"has the weight -2 in row 20, column 'w', but weights must be finite",
    ),
    "weight that is none": (
        "u,v,w\n" + "0,1,1\n" * 15 + "0,1,heavy\n",
        None,
        r"has 'heavy' in row 16, column 'w', where a number is expected",
    ),
    "missing weight": (
        "u,v,w\n" + "0,1,1\n" * 15 + "0,1,\n",
        None,
        r"has no number in row 16, column 'w'",
    ),
    "weights beyond float32": (
        {"u": [0, 0], "v": [1, 1], "w": [3e38, 3e38]},
        None,
        "add up to more than float32",
    ),
    "feature that is infinite": (
        EDGES,
        "id,f,g\n" + "".join(f"{i},1,2\n" for i in range(20)) + "20,1,inf\n",
        r"x\.csv has inf in row 21, column 'g', where a finite number",
    ),
    "feature that is infinite, as .npy": (
        EDGES,
        np.where(X21 == 50, np.inf, X21),
        r"x\.npy has inf in row 17, column '3', where a finite number is expected",
    ),
    "feature that is text": (
        EDGES,
        "id,f\n" + "".join(f"{i},{i / 2}\n" for i in range(20)) + "20,red\n",
        r"has 'red' in row 21, column 'f', where a number is expected \(20 of 21 "
        r"values are numbers: correct it, or choose --categorical f or --drop f\)",
    ),
    "feature that is the same everywhere": (
        EDGES,
        "id,f\n" + "".join(f"{i},1\n" for i in range(21)),
        r"has no column that can be a feature: f \(constant\)",
    ),
    "row with too many values": (
        EDGES + "1,2,3\n",
        None,
        r"has 3 values in row 21, where 2 are expected",
    ),
    "uneven vectors": (
        EDGES,
        {"id": [*range(21)], "x": [[float(i), 2.0] for i in range(20)] + [[1.0]]},
        r"has a list of 1 numbers in row 21, column 'x', where 2 are expected",
    ),
    "no features": (EDGES, {"id": [*range(21)]}, "has no features"),
    "a vector as .npy": (EDGES, np.ones(21), "must hold a matrix of numbers"),
    "loops only": ("u,v\n0,0\n1,1\n", None, "at least one edge"),
    "weights of zero only": ("u,v,w\n0,1,0\n", None, "at least one edge"),
    "one node": ("u,v\n4,4\n", None, "at least two nodes"),
    "no rows": ("u,v\n", None, "has no rows below its header"),
    "one column": ("u\n1\n", None, "must have two columns of ids"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_bad_input(tmp_path: Path, case: str) -> None:
    edges, x, message = CASES[case]
    with pytest.raises(InputError, match=message):
        attempt(tmp_path, edges, x)
    assert not (tmp_path / "store" / "manifest.json").exists()


def test_a_row_number_is_right_after_going_on(tmp_path: Path) -> None:
    """Fixing nothing and trying again finds the same row, past the runs that stand."""
    edges = _write(tmp_path / "e", EDGES + "3,99\n")
    x = _write(tmp_path / "x", {"id": [*range(21)], "f": np.arange(21) % 4})
    assert edges is not None
    for _ in range(2):
        with pytest.raises(InputError, match=r"such as '99' \(first in row 21\)"):
            import_in_pieces(tmp_path / "store", Request(edges, x), TINY)
    assert list((tmp_path / "store" / "import").glob("run-*.json"))


@pytest.mark.parametrize("what", ["edges", "features"])
def test_archives_cannot_be_read_by_parts(tmp_path: Path, what: str) -> None:
    np.savez(tmp_path / "a.npz", x=X21)
    _write(tmp_path / "e", EDGES)
    files = {"edges": tmp_path / "e.csv", "features": None, what: tmp_path / "a.npz"}
    with pytest.raises(InputError, match=rf"a\.npz cannot be read by parts: {what}"):
        import_in_pieces(tmp_path / "store", Request(**files))  # type: ignore[arg-type]


def test_files_that_are_not_there_or_damaged(tmp_path: Path) -> None:
    memory = resident_bytes() + 10**9
    with pytest.raises(InputError, match="no such file"):
        import_graph(tmp_path / "none.csv", tmp_path / "store", memory=memory)
    edges = _write(tmp_path / "e", {"u": [*range(5000)], "v": [*range(1, 5001)]})
    assert edges is not None
    data = bytearray(edges.read_bytes())
    data[100:4000] = b"\0" * 3900
    edges.write_bytes(data)
    with pytest.raises(InputError, match="is damaged: its columns cannot be read"):
        import_graph(edges, tmp_path / "store", memory=memory)
    cut = tmp_path / "cut.npy"
    np.save(cut, X21)
    cut.write_bytes(cut.read_bytes()[:-9])
    _write(tmp_path / "e", EDGES)
    with pytest.raises(InputError, match=r"cut\.npy is damaged: it is cut off"):
        import_graph(tmp_path / "e.csv", tmp_path / "other", cut, memory=memory)


def test_an_unknown_direction(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown direction 'both'"):
        attempt(tmp_path, EDGES, direction="both")


def test_too_little_memory_names_the_least(tmp_path: Path) -> None:
    path = _write(tmp_path / "e", EDGES)
    assert path is not None
    with pytest.raises(
        InputError, match=r"memory must be at least [\d.]+ [MG]B, got 1 MB"
    ):
        import_graph(path, tmp_path / "store", memory=10**6)
    budget = Budget(memory=6 * 10**8, resident=3 * 10**8)
    budget.check(10**6)
    with pytest.raises(InputError, match=r"at least 2\.\d+ GB for 80,000,000 nodes"):
        budget.check(80_000_000)


def test_a_hub_that_memory_cannot_sort(tmp_path: Path) -> None:
    edges = "u,v\n" + "".join(f"0,{i}\n" for i in range(1, 300))
    with pytest.raises(InputError, match=r"nodes 0 to 0 have 299 neighbours .* allow"):
        attempt(tmp_path, edges)


def test_texts_that_meet_by_chance_are_parted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hashes of a few bits for the first seeds, different ids do meet."""
    draw, seeds = TextHash.__call__, []
    begin = TextHash.__init__

    def noted(self: TextHash, seed: int) -> None:
        begin(self, seed)
        seeds.append(seed)
        self.mask = np.uint64(2**64 - 2**62 if seed < 2 else 2**64 - 1)  # type: ignore[attr-defined]

    monkeypatch.setattr(TextHash, "__init__", noted)
    monkeypatch.setattr(
        TextHash, "__call__", lambda self, texts: draw(self, texts) & self.mask
    )
    store, request = attempt(tmp_path, "u,v\na,b\nb,c\nc,d\nd,e\ne,f\n")
    check(store, request)
    assert seeds == [0, 1, 2]


def test_the_hash_of_texts() -> None:
    """By hand, byte by byte, against the vectorised sum."""
    hashing = TextHash(3)
    texts = ["a", "b", "ab", "ba", "é", "x" * 64, "x" * 65, "x" * 1000, "y" * 200]
    found = hashing(pa.array(texts))
    assert len(set(found.tolist())) == len(texts)
    assert found.tolist() == hashing(pa.array([*texts, "z"])[:-1]).tolist()
    assert found[2:5].tolist() == hashing(pa.array(texts)[2:5]).tolist()
    table = hashing._table.reshape(64, 256)
    expected = sum(int(table[place, ord("x")]) for place in range(64)) % 2**64
    assert int(found[5]) == expected


def test_what_was_refused_stands_in_no_ones_way(tmp_path: Path) -> None:
    edges = _write(tmp_path / "e", "u,v\na,b\nb,c\nc,zed\n")
    x = _write(tmp_path / "x", "id,f\na,1\nb,2\nc,3\n")
    assert edges is not None
    store, memory = tmp_path / "store", resident_bytes() + 10**9
    with pytest.raises(InputError, match="--missing drop-edges"):
        import_graph(edges, store, x, memory=memory)
    found = import_graph(edges, store, x, memory=memory, missing="drop-edges")
    assert found.manifest.nodes == 3
    # A store that was made is not replaced.
    with pytest.raises(InputError, match="holds an import of other input: missing"):
        import_graph(edges, store, x, memory=memory)
