"""Splits: masks that are checked, and draws with exact sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdgcl._checks import InputError
from fdgcl.graphs import Splits, per_class_split, random_splits


def test_a_single_mask_is_one_split() -> None:
    splits = Splits([True, False, False], [0, 1, 0], [0, 0, 1], "by hand")
    assert len(splits) == 1
    assert splits.train.shape == (1, 3)
    assert splits.val.dtype == np.bool_
    assert repr(splits) == "Splits('by hand': 1 x 1/1/1)"
    with pytest.raises(ValueError, match="read-only"):
        splits.train[0, 1] = True


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        (([1, 0], [1, 0], [0, 1]), "disjoint, but node 0 .* in split 0"),
        (([0, 0], [1, 0], [0, 1]), "at least one training node"),
        (([[1, 0], [0, 0]], [[0, 1], [0, 1]], [[0, 0], [0, 0]]), "one training node"),
        (([1, 0], [1], [0, 1]), "one shape, got train"),
        (([2, 0], [0, 1], [0, 0]), "the train mask must be true or false"),
        ((np.ones((1, 1, 2)), [0, 1], [0, 0]), r"\(N,\) or \(splits, N\)"),
        ((np.ones((0, 2), bool),) * 3, "at least one training node"),
    ],
)
def test_bad_masks_are_refused(masks: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Splits(*masks)  # type: ignore[arg-type]


@given(st.integers(5, 60), st.integers(0, 5), st.integers(0, 3))
def test_random_splits_share_out_the_labelled_nodes(
    labelled: int, unlabelled: int, seed: int
) -> None:
    y = np.r_[np.zeros(labelled, int), np.full(unlabelled, -1)]
    y = np.random.default_rng(seed).permutation(y)
    splits = random_splits(y, train=0.4, val=0.25, count=4, seed=seed)
    for row in range(4):
        parts = [mask[row] for mask in (splits.train, splits.val, splits.test)]
        sizes = [int(part.sum()) for part in parts]
        assert sizes[:2] == [round(0.4 * labelled), round(0.25 * labelled)]
        assert sum(sizes) == labelled
        assert not (np.sum(parts, axis=0)[y < 0]).any()
        assert (np.sum(parts, axis=0)[y >= 0] == 1).all()


def test_a_split_depends_on_seed_and_place_alone() -> None:
    y = np.zeros(50, int)
    few = random_splits(y, train=0.1, val=0.1, count=2, seed=3)
    many = random_splits(y, train=0.1, val=0.1, count=5, seed=3)
    other = random_splits(y, train=0.1, val=0.1, count=5, seed=4)
    assert np.array_equal(few.train, many.train[:2])
    assert not np.array_equal(many.train, other.train)
    assert len(np.unique(many.train, axis=0)) == 5
    assert few.name == "random 10/10/80, seed 3"


def test_a_smaller_test_set() -> None:
    splits = random_splits(np.zeros(100, int), train=0.48, val=0.32, test=0.1)
    sizes = [
        mask.sum(axis=1).tolist() for mask in (splits.train, splits.val, splits.test)
    ]
    assert sizes == [[48] * 10, [32] * 10, [10] * 10]


def test_a_tiny_graph_still_trains_on_one_node() -> None:
    assert random_splits([0, 1], train=0.1, val=0.1, count=1).train.sum() == 1


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ({"train": 0.8, "val": 0.3}, "at most 1|without training"),
        ({"train": 0.5, "val": 0.3, "test": 0.3}, r"at most 1, got 0.5 \+ 0.3 \+ 0.3"),
        ({"train": 0.0, "val": 0.3}, "without training nodes"),
        ({"train": 1.2, "val": 0.0}, r"train must lie in \[0, 1\]"),
        ({"train": 0.1, "val": 0.1, "count": 0}, "count must be"),
    ],
)
def test_impossible_fractions_are_refused(
    fractions: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        random_splits(np.zeros(10, int), **fractions)  # type: ignore[arg-type]


def test_per_class_split_has_planetoid_sizes() -> None:
    y = np.random.default_rng(0).integers(-1, 4, size=400)
    splits = per_class_split(y, per_class=5, val=50, test=100, seed=1)
    assert np.bincount(y[splits.train[0]], minlength=4).tolist() == [5, 5, 5, 5]
    assert splits.val.sum() == 50
    assert splits.test.sum() == 100
    assert not (splits.train | splits.val | splits.test)[0, y < 0].any()
    again = per_class_split(y, per_class=5, val=50, test=100, seed=1)
    assert np.array_equal(splits.test, again.test)
    assert splits.name == "5 per class / 50 / 100, seed 1"


def test_per_class_split_refuses_small_classes() -> None:
    y = np.array([0, 0, 0, 1])
    with pytest.raises(InputError, match="class 1 has only 1"):
        per_class_split(y, per_class=2, val=0, test=0)
    with pytest.raises(InputError, match="only 2 labelled nodes are left"):
        per_class_split(y, per_class=1, val=1, test=2)
    with pytest.raises(InputError, match="at least one training node"):
        per_class_split(np.full(4, -1), val=0, test=0)


@pytest.mark.parametrize(("count", "left"), [(0, 4), (1, 1), (3, 3), (9, 4)])
def test_the_first_splits(count: int, left: int) -> None:
    splits = random_splits([0, 1] * 20, train=0.2, val=0.2, count=4)
    first = splits.first(count)
    assert (len(first), first.name) == (left, splits.name)
    for part in ("train", "val", "test"):
        np.testing.assert_array_equal(
            getattr(first, part), getattr(splits, part)[:left]
        )
    with pytest.raises(InputError, match="splits must be a whole number"):
        splits.first(-1)
