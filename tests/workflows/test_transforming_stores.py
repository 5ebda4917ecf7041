"""A trained model on a store: a folder of parts, never all of it in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.embedding_folder import embed_to_folder
from fdgcl.embeddings import model_of_parts, part_files, read_embeddings
from fdgcl.graphs.store.store import Store
from fdgcl.methods.resources import Resources
from fdgcl.workflows import embed, transform
from helpers.stores import in_memory, make_store
from tolerances import assert_agree

SMALL: dict[str, Any] = {"dim": 8, "epochs": 2, "time": 2.0, "step": 1.0}


@pytest.fixture
def store(folder: Path) -> Store:
    return make_store(folder / "G", ids="text")


def test_the_training_store_gives_the_parts_that_embedding_wrote(store: Store) -> None:
    first = embed(store, settings=SMALL, run="r", output="z")
    again = transform("r", store)
    assert again.embedding == Path("r/z-G")
    assert (again.rows, again.dim, again.level) == (first.rows, first.dim, "node")
    assert again.ids.tolist() == first.ids.tolist()
    assert np.array_equal(again.z, first.z)
    # A part is of the same embedding, whichever of the two wrote it.
    assert model_of_parts(again.embedding) == model_of_parts(first.embedding)


def test_another_store_is_embedded_as_its_graph_is(store: Store, folder: Path) -> None:
    embed(store, settings=SMALL, run="r")
    other = make_store(folder / "H", nodes=40, seed=3)
    found = transform("r", folder / "H", output="zh")
    assert_agree(found.z, FDGCL.load("r").transform(in_memory(other)))
    assert found.to_dict()["nodes"] == 40
    assert model_of_parts(folder / "zh") != model_of_parts(folder / "r" / "z")


def test_only_missing_parts_are_written(store: Store, folder: Path) -> None:
    embed(store, settings=SMALL, run="r")
    model, target = FDGCL.load("r"), folder / "zp"
    arguments: dict[str, Any] = {"resources": Resources(), "shard_rows": 25}
    whole = embed_to_folder(model, store, target, **arguments)
    assert (whole.parts, whole.written) == (3, 3)
    expected = read_embeddings(target)[1]
    part_files(target)[1].unlink()
    assert embed_to_folder(model, store, target, **arguments).written == 1
    assert np.array_equal(read_embeddings(target)[1], expected)


def test_what_is_there_is_replaced_only_when_asked(store: Store, folder: Path) -> None:
    embed(store, settings=SMALL, run="r", output="z")
    other = make_store(folder / "H", nodes=40, seed=3)
    with pytest.raises(InputError, match="z holds another embedding: add `overwrite"):
        transform("r", other, output="z")
    found = transform("r", other, output="z", overwrite=True)
    assert found.rows == len(read_embeddings("z")[0]) == 40


def test_what_cannot_be_is_refused(store: Store, folder: Path) -> None:
    embed(store, settings=SMALL, run="r")
    with pytest.raises(InputError, match="`output` must name a folder, got z"):
        transform("r", store, output="z.parquet")
    with pytest.raises(InputError, match="memory must be at least"):
        transform("r", make_store(folder / "H", seed=3), memory="1MB", output="q")
    assert not (folder / "q").exists()
