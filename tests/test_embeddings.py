"""Embeddings on disk: a round trip, the agreed columns, and files that are none."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fdgcl._checks import InputError
from fdgcl.embeddings import read_embeddings, write_embeddings

MATRICES = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.floats(width=32),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(matrix=MATRICES, data=st.data())
def test_round_trip(tmp_path: Path, matrix: Any, data: Any) -> None:
    size = len(matrix)
    names, whole = (
        st.text(st.characters(codec="utf-8")),
        st.integers(-(2**63), 2**63 - 1),
    )
    distinct = [
        st.lists(one, min_size=size, max_size=size, unique=True)
        for one in (names, whole)
    ]
    ids = data.draw(st.one_of(*distinct))
    kept = np.array(ids, np.int64 if isinstance(ids[0], int) else object)
    write_embeddings(tmp_path / "z.parquet", kept, matrix)
    found, embedding = read_embeddings(tmp_path / "z.parquet")
    assert found.tolist() == ids
    assert found.dtype == kept.dtype
    assert embedding.dtype == np.float32
    assert np.array_equal(embedding, matrix, equal_nan=True)


@pytest.mark.parametrize("ids", [["a", "b", "a", "b"], [3, 1, 3, 1]])
def test_repeated_ids_are_refused(tmp_path: Path, ids: list[Any]) -> None:
    write_embeddings(tmp_path / "z.parquet", np.array(ids), np.eye(4))
    with pytest.raises(
        InputError, match=rf"z.parquet repeats 2 ids, such as {ids[0]!r}"
    ):
        read_embeddings(tmp_path / "z.parquet")


def test_the_columns_are_those_agreed_on(tmp_path: Path) -> None:
    write_embeddings(tmp_path / "new" / "z.parquet", [1, 2], np.ones((2, 3)))
    schema = pq.read_schema(tmp_path / "new" / "z.parquet")
    assert schema.names == ["id", "embedding"]
    assert schema.field("id").type == pa.int64()
    assert schema.field("embedding").type == pa.list_(pa.float32(), 3)
    write_embeddings(tmp_path / "z.parquet", ["a", "b"], np.ones((2, 3)))
    assert pq.read_schema(tmp_path / "z.parquet").field("id").type == pa.string()


def test_tables_of_others_are_read(tmp_path: Path) -> None:
    table = pa.table(
        {"embedding": [[1.0, 2.0], [3.0, 4.0]], "more": [0, 0], "id": [7, 8]}
    )
    pq.write_table(table, tmp_path / "z.parquet")
    ids, embedding = read_embeddings(tmp_path / "z.parquet")
    assert ids.tolist() == [7, 8]
    assert embedding.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1], "vector": [[1.0]]}, "the columns found are id, vector"),
        (
            {"id": [0.5], "embedding": [[1.0]]},
            "id of .* integers or strings, got double",
        ),
        ({"id": [None, 1], "embedding": [[1.0], [1.0]]}, "integers or strings"),
        ({"id": [1], "embedding": [1.0]}, "must hold vectors of numbers, got double"),
        ({"id": [1], "embedding": [["a"]]}, "must hold vectors of numbers"),
        ({"id": [1, 2], "embedding": [[1.0], None]}, "must hold vectors of numbers"),
        ({"id": [1, 2], "embedding": [[1.0], [1.0, 2.0]]}, "one length, got 2"),
        ({"id": [1], "embedding": pa.array([[]], pa.list_(pa.float32()))}, "got none"),
    ],
)
def test_other_tables_are_refused(
    tmp_path: Path, columns: dict[str, Any], message: str
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "z.parquet")
    with pytest.raises(InputError, match=message):
        read_embeddings(tmp_path / "z.parquet")


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        read_embeddings(tmp_path / "z.parquet")
    with pytest.raises(InputError, match=r"holds no part-00000\.parquet"):
        read_embeddings(tmp_path)
    (tmp_path / "z.parquet").write_text("id,embedding\n1,2\n")
    with pytest.raises(InputError, match="is not a Parquet file"):
        read_embeddings(tmp_path / "z.parquet")


def test_shapes_that_do_not_fit_leave_nothing_behind(tmp_path: Path) -> None:
    for ids, matrix in (
        ([1], np.ones((2, 3))),
        ([1], np.ones(3)),
        ([1], np.ones((1, 0))),
    ):
        with pytest.raises(InputError, match="one id per row"):
            write_embeddings(tmp_path / "z.parquet", ids, matrix)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "z.parquet"
    write_embeddings(path, [1], np.ones((1, 2)))

    def fill_up(table: Any, where: Path, **options: Any) -> None:
        Path(where).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", fill_up)
    with pytest.raises(InputError, match="the disk is full"):
        write_embeddings(path, [2], np.zeros((1, 2)))
    monkeypatch.undo()
    assert read_embeddings(path)[0].tolist() == [1]
    assert list(tmp_path.iterdir()) == [path]
