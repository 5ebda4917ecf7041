"""Embeddings in parts: whole or not there, not written twice, read as one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from fdgcl import embeddings
from fdgcl._checks import InputError
from fdgcl.cli import app
from fdgcl.embeddings import Part, read_embeddings, write_part
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.batching import block_rows
from fdgcl.methods.fdgcl.encoder import Encoders
from fdgcl.training import NonFiniteLossError
from helpers.trainings import MEMORY, diffused_store, small, train_store
from tolerances import assert_agree


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return diffused_store(tmp_path_factory.mktemp("shards") / "G", ids="text")[0]


def train(store: Store, folder: Path, rows: int = 70, **settings: object) -> int:
    """Train, and return how many parts were written."""
    run, out = folder / "run", folder / "Z"
    return train_store(
        store, small(**settings), run, out, memory=MEMORY, shard_rows=rows
    ).written


def test_parts_are_one_table(store: Store, tmp_path: Path) -> None:
    assert train(store, tmp_path) == 5
    assert train(store, tmp_path / "whole", 300) == 1
    found, whole = (
        read_embeddings(tmp_path / "Z"),
        read_embeddings(tmp_path / "whole/Z"),
    )
    assert found[0].tolist() == whole[0].tolist() == store.read_ids(0, 300).tolist()
    assert_agree(found[1], whole[1])
    table = pq.read_table(tmp_path / "Z" / "part-00002.parquet")
    assert table.column("id").to_pylist() == store.read_ids(140, 210).tolist()
    assert str(table.schema.field("embedding").type).startswith("fixed_size_list<")
    np.testing.assert_array_equal(
        np.array(table["embedding"].to_pylist(), np.float32), found[1][140:210]
    )


def test_only_what_is_missing_is_written(store: Store, tmp_path: Path) -> None:
    train(store, tmp_path)
    parts = sorted((tmp_path / "Z").iterdir())
    kept = parts[1].stat().st_mtime_ns
    content = parts[3].read_bytes()
    parts[3].unlink()
    with pytest.raises(InputError, match=r"1 of 5 parts are missing, .*part-00003"):
        read_embeddings(tmp_path / "Z")
    assert train(store, tmp_path) == 1
    assert parts[3].read_bytes() == content
    assert parts[1].stat().st_mtime_ns == kept
    # A torn file, and another model's, are not taken for this one's.
    parts[0].write_bytes(parts[0].read_bytes()[:-100])
    write_part(tmp_path / "Z", Part(4, 5, "other"), [(["a"], np.ones((1, 16)))])
    with pytest.raises(InputError, match="does not say which part"):
        read_embeddings(tmp_path / "Z")
    assert train(store, tmp_path) == 2
    assert len(read_embeddings(tmp_path / "Z")[0]) == 300


def test_another_model_takes_the_place_of_the_first(
    store: Store, tmp_path: Path
) -> None:
    train(store, tmp_path)
    first = read_embeddings(tmp_path / "Z")[1]
    other = train_store(
        store,
        small(seed=1),
        tmp_path / "run2",
        tmp_path / "Z",
        memory=MEMORY,
        shard_rows=70,
    )
    assert other.written == 5
    assert not np.allclose(read_embeddings(tmp_path / "Z")[1], first)
    with pytest.raises(InputError, match=r"part-00003\.parquet belongs to another"):
        train(store, tmp_path, 100)


def test_parts_of_several_embeddings_are_not_mixed(tmp_path: Path) -> None:
    for number, model in enumerate(("a", "b")):
        write_part(tmp_path, Part(number, 2, model), [([number], np.ones((1, 2)))])
    with pytest.raises(InputError, match="parts of 2 different embeddings"):
        read_embeddings(tmp_path)
    with pytest.raises(InputError, match=r"holds no part-00000\.parquet"):
        read_embeddings(tmp_path.parent / tmp_path.name / "..")


def test_blocks_are_gathered_into_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "_GROUP_BYTES", 3 * 10 * (8 + 4 * 4))
    numbers = np.arange(280, dtype=np.float32).reshape(70, 4)
    blocks = [(np.arange(k, k + 10), numbers[k : k + 10]) for k in range(0, 70, 10)]
    write_part(tmp_path, Part(0, 1, "m"), iter(blocks))
    file = pq.ParquetFile(tmp_path / "part-00000.parquet")
    sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
    assert sizes == [30, 30, 10]
    ids, z = read_embeddings(tmp_path)
    np.testing.assert_array_equal(ids, np.arange(70))
    np.testing.assert_array_equal(z, numbers)


def test_blocks_are_small_where_rows_are_long() -> None:
    assert block_rows(128, 64) == 8192
    assert block_rows(16, 64) == 16384
    assert block_rows(2, 2) == 32768
    assert block_rows(10**6, 4) == 64


def test_what_is_not_finite_is_not_written(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    combine = Encoders.combine

    def broken(views: Encoders, *source: Any) -> torch.Tensor:
        found = combine(views, *source)
        found[3, 2] = torch.inf
        return found

    monkeypatch.setattr(Encoders, "combine", broken)
    with pytest.raises(NonFiniteLossError, match="embedding has values"):
        train(store, tmp_path)
    assert not list((tmp_path / "Z").iterdir())
    monkeypatch.undo()
    assert train(store, tmp_path) == 5


FULL = """
import resource, sys
from pathlib import Path
import numpy as np
from fdgcl._checks import InputError
from fdgcl.embeddings import Part, write_part
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
block = lambda: (np.arange(1000), rng.standard_normal((1000, 64)))
write_part(folder, Part(0, 2, "m"), [block()])
try:
    write_part(folder, Part(1, 2, "m"), [block() for _ in range(90)])
except InputError as error:
    print(error)
"""


def test_a_full_disk_leaves_no_half_of_a_part(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "the disk is full" in done.stdout
    assert "part-00001.parquet was not written" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000.parquet"]


def test_a_folder_of_parts_is_evaluated(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(store, tmp_path)
    ids = store.read_ids(0, 300)
    lines = [f"{name},{k % 3}" for k, name in enumerate(ids)]
    (tmp_path / "y.csv").write_text("\n".join(["id,label", *lines]))
    words = ["evaluate", str(tmp_path / "Z"), "--labels", str(tmp_path / "y.csv")]
    with pytest.raises(SystemExit) as done:
        app([*words, "--json"])
    assert done.value.code == 0
    assert json.loads(capsys.readouterr().out)["labelled"] == 300
