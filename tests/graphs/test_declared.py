"""NumPy files that declare more than they hold are refused before memory is taken."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import read_graph
from fdgcl.graphs.compact import read_compact, write_compact
from fdgcl.graphs.files import declared
from fdgcl.graphs.files.arrays import read_matrix


def header(*shape: int) -> bytes:
    """The header of an array of float64, without its numbers."""
    stream = io.BytesIO()
    value = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, value)
    return stream.getvalue()


@pytest.mark.parametrize("rows", [10**6, 10**12, 10**30])
def test_a_header_that_lies(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(header(rows, 1000) + bytes(800))
    tracemalloc.start()
    with pytest.raises(
        InputError, match=r"x.npy declares .* and has 800 bytes: it is cut"
    ):
        read_matrix(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.ones((100, 10)))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(
        InputError, match=r"declares 8 kB and has 7\.99 kB: it is cut off"
    ):
        read_matrix(path)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match="not a NumPy file of plain numbers, or it is"):
        read_matrix(path)


def test_an_array_of_an_archive_that_lies(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", header(10**9, 10**6) + bytes(80))
    with pytest.raises(InputError, match=r"the array x of .*x.npz declares 8 PB"):
        read_matrix(path)
    with pytest.raises(InputError, match=r"the array x of .*x.npz declares 8 PB"):
        read_graph(path)


def test_an_archive_that_claims_what_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    content = header(10**6, 100) + bytes(80)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", content)
    # The size of the unpacked entry, in the entry itself and in the directory.
    false = path.read_bytes().replace(
        struct.pack("<L", len(content)), struct.pack("<L", 10**9)
    )
    path.write_bytes(false)
    with pytest.raises(InputError, match=r"declares 800 MB and has .* kB"):
        read_matrix(path)


def test_more_than_there_is_memory_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.zeros((10_000, 100)))
    assert path.stat().st_size < 20_000
    assert read_matrix(path).shape == (10_000, 100)
    monkeypatch.setattr(declared, "available_bytes", lambda: 7_000_000)
    with pytest.raises(
        InputError, match=r"takes 8 MB of memory once read, and 7 MB are"
    ):
        read_matrix(path)
    np.save(tmp_path / "x.npy", np.zeros((10_000, 100)))
    with pytest.raises(InputError, match=r"takes 8 MB of memory once read"):
        read_matrix(tmp_path / "x.npy")


def test_arrays_that_are_not_read_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    write_compact(tmp_path / "g.npz", read_graph(tmp_path / "e.csv"))
    with zipfile.ZipFile(tmp_path / "g.npz", "a") as archive:
        archive.writestr("other.npy", header(10**12))
    assert read_compact(tmp_path / "g.npz").num_nodes == 3


def test_whole_files_are_read(tmp_path: Path) -> None:
    matrix = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    np.save(tmp_path / "x.npy", matrix)
    assert (read_matrix(tmp_path / "x.npy") == matrix).all()
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(matrix))
    assert (read_matrix(tmp_path / "x.npz").toarray() == matrix).all()
    np.savez(tmp_path / "x.npz", np.empty((0, 3)))
    assert read_matrix(tmp_path / "x.npz").shape == (0, 3)
