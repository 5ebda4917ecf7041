"""Features made of a store's edges: those of the same graph in memory, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs import STRUCTURAL, structural_features
from fdgcl.graphs.store import row_blocks
from fdgcl.graphs.structural import structural_bytes
from helpers.stores import in_memory, make_store


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", STRUCTURAL)
@pytest.mark.parametrize("nodes", [60, 3000])
def test_they_are_those_in_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nodes: int,
    kind: str,
    weighted: bool,
) -> None:
    store = make_store(tmp_path / "g", nodes=nodes, edges=3 * nodes, weighted=weighted)
    wanted = structural_features(in_memory(store), kind, dim=12, seed=3)
    monkeypatch.setattr(row_blocks, "BLOCK_WORK", 500)
    assert len(row_blocks.RowBlocks.of(store).bounds) > 3
    found = structural_features(store, kind, dim=12, seed=3)
    assert found.shape == (nodes, 12)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["degree", "spectral"])
def test_edges_known_one_way_are_not_enough(tmp_path: Path, kind: str) -> None:
    store = make_store(tmp_path / "g", directed=True)
    with pytest.raises(InputError, match=f"its edges one way, and '{kind}'"):
        structural_features(store, kind)
    assert structural_features(store, "random").shape == (60, 32)


def test_what_they_hold_is_counted() -> None:
    # Two blocks of vectors; the result; drawn as they are written.
    assert structural_bytes("spectral", 1000, dim=32) == 1000 * (2 * 40 * 4 + 32)
    assert structural_bytes("degree", 1000, dim=32) == 1000 * (32 * 4 + 32)
    assert structural_bytes("random", 1000) == 1000 * 32
