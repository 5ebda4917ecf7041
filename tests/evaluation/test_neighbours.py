"""Nearest neighbours, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from fdgcl import Splits, knn
from fdgcl._checks import InputError
from fdgcl.evaluation import neighbours
from fdgcl.graphs import random_splits


def blobs(seed: int = 0, spread: float = 1.6) -> tuple[np.ndarray, np.ndarray, Splits]:
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 4, 300)
    centres = generator.standard_normal((4, 6))
    z = centres[y] + spread * generator.standard_normal((300, 6))
    return z, y, random_splits(y, train=0.4, val=0.3, count=3, seed=seed)


@pytest.mark.parametrize("k", [1, 5, 7, 1000])
def test_agrees_with_scikit_learn(k: int) -> None:
    z, y, splits = blobs()
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    found = knn(z, y, splits, ks=[k])
    for split in range(3):
        train, test = splits.train[split], splits.test[split]
        reference = KNeighborsClassifier(min(k, int(train.sum())), algorithm="brute")
        reference.fit(unit[train], y[train])
        assert found.test[split] == pytest.approx(reference.score(unit[test], y[test]))


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    z, y, splits = blobs()
    whole = knn(z, y, splits)
    monkeypatch.setattr(neighbours, "_BLOCK_ENTRIES", 500)
    assert knn(z, y, splits) == whole


def test_k_is_chosen_on_validation_alone() -> None:
    z, y, splits = blobs()
    flipped = np.where(splits.test[0], (y + 1) % 4, y)
    first = Splits(splits.train[:1], splits.val[:1], splits.test[:1], name="one")
    honest, fooled = knn(z, y, first), knn(z, flipped, first)
    assert honest.k == fooled.k
    assert honest.val == fooled.val
    assert honest.test != fooled.test


def test_shuffled_labels_score_at_chance() -> None:
    z, y, splits = blobs()
    shuffled = np.random.default_rng(1).permutation(y)
    # 270 test nodes: 0.026 is one standard deviation.
    assert knn(z, shuffled, splits).test_mean == pytest.approx(0.25, abs=4 * 0.026)


def test_bad_ks() -> None:
    z, y, splits = blobs()
    with pytest.raises(InputError, match="at least one number"):
        knn(z, y, splits, ks=[])
    with pytest.raises(InputError, match="k must be a whole number"):
        knn(z, y, splits, ks=[0])
