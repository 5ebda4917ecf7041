"""Rows with too many or too few values: which one, however many threads read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs import read_graph
from fdgcl.graphs.files.names import names_edges
from fdgcl.graphs.files.opening import open_table
from fdgcl.graphs.files.unfit import Unfit

ROWS = "".join(f"n{i},n{i + 1}\n" for i in range(200_000))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of many blocks with one row of three values, over two lines."""
    path = tmp_path / "e.csv"
    path.write_text("source,target\n" + ROWS + 'a,"b\nc",d\n' + ROWS)
    return path


def test_the_row_is_named(path: Path) -> None:
    sentence = r"""e.csv has 3 values in row 200001, where 2 are expected: 'a,"b\\nc"""
    with pytest.raises(InputError, match=sentence) as caught:
        read_graph(path)
    assert "\n" not in str(caught.value)


def test_the_row_is_named_in_a_stream(path: Path) -> None:
    table = open_table(path, "edges", names_edges)
    with pytest.raises(InputError, match="3 values in row 200001"):
        for _ in table.batches([0, 1], rows=1000, skip=0):
            pass


def test_bytes_that_are_no_text_are_shown_nonetheless(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(b"source,target\na,b\n\xff\x80,b,c\n")
    with pytest.raises(InputError, match=r"3 values in row 2, .*\ufffd"):
        read_graph(path)


def test_other_errors_of_arrow_are_none() -> None:
    assert Unfit.of(pa.ArrowInvalid("CSV conversion error to float: invalid")) is None
    error = pa.ArrowInvalid("CSV parse error: Expected 2 columns, got 3: a,b,c")
    assert Unfit.of(error) == Unfit(None, 2, 3, "a,b,c")
