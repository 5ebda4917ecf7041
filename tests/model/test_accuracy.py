"""Accuracy on the benchmark data: one seed of what `results/` holds ten of."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdgcl import FDGCL, linear_probe, load_dataset


@pytest.mark.slow
@pytest.mark.dataset
@pytest.mark.parametrize(("name", "least"), [("cora", 82.0), ("texas", 79.0)])
def test_a_preset_reaches_its_result(name: str, least: float, data_root: Path) -> None:
    graph = load_dataset(name, data_root)
    embedding = FDGCL.preset(name, device="cpu").fit_transform(graph)
    assert 100 * linear_probe(embedding, graph.y, graph.splits).test_mean >= least
