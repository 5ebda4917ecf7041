"""ROC-AUC: by the definition over pairs, and as what a probe is chosen by."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fdgcl import Splits, linear_probe, roc_auc
from fdgcl._checks import InputError
from fdgcl.evaluation.paths import Judge
from fdgcl.evaluation.ranking import halves_in_order
from fdgcl.graphs import random_splits, read_compact
from tolerances import assert_within, gamma


def by_pairs(scores, y) -> float:
    """The definition: the share of pairs in order, a tie one half."""
    pairs = [(p, n) for p in scores[y == 1] for n in scores[y == 0]]
    return float(np.mean([(p > n) + (p == n) / 2 for p, n in pairs]))


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30),
)
def test_is_the_share_of_pairs_in_order(rows):
    """Few different scores: ties within a class and between both."""
    scores = np.array([score / 4 for score, _ in rows])
    y = np.array([positive for _, positive in rows])
    if y.all() or not y.any():
        with pytest.raises(InputError, match="labels of 0 and of 1"):
            roc_auc(scores, y)
        return
    # Sums of halves are exact in both; each is divided once, and is at most 1.
    assert_within(roc_auc(scores, y), by_pairs(scores, y), gamma(2, np.float64))


def test_the_ends():
    y = np.array([0, 0, 1, 1])
    assert roc_auc([1, 2, 3, 4], y) == 1
    assert roc_auc([4, 3, 2, 1], y) == 0
    assert roc_auc([5, 5, 5, 5], y) == 0.5
    assert roc_auc([-np.inf, 0, 0, np.inf], y) == 0.875


@pytest.mark.parametrize(
    ("scores", "y", "sentence"),
    [
        ([1, 2], [0, 1, 1], r"shapes \(2,\) and \(3,\)"),
        ([1, np.nan], [0, 1], "NaN in row 1"),
        ([1, 2], [0, 2], "no others, got 0, 2"),
    ],
)
def test_bad_input(scores, y, sentence):
    with pytest.raises(InputError, match=sentence):
        roc_auc(scores, y)


def test_many_at_once_with_rows_that_do_not_count():
    rng = np.random.default_rng(0)
    margins = rng.integers(-4, 4, (3, 2, 50)) / 2
    labels = rng.integers(-1, 2, (3, 50))
    found = halves_in_order(torch.tensor(margins), torch.tensor(labels))
    for i in range(3):
        known = labels[i] >= 0
        pairs = (labels[i] == 1).sum() * (labels[i] == 0).sum()
        for k in range(2):
            expected = by_pairs(margins[i, k][known], labels[i][known])
            assert found[i, k] / (2 * pairs) == pytest.approx(expected)


def test_a_judge_of_order_and_what_has_one_class():
    scores = torch.tensor([[[[0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 2.0, 3.0]]]] * 2)
    labels = torch.tensor([[0, -1, 1, 0], [1, -1, 1, 1]])
    judge = Judge(labels, ranked=True)
    # First: 2 above 1 and below 3, one pair of two. Second: three of three are right.
    assert judge.points(scores, torch.arange(2)).tolist() == [[2], [3]]
    assert judge.highest.tolist() == [4, 3]
    assert judge.sizes.tolist() == [1, 3]
    assert judge.points(scores[1:], torch.tensor([1])).tolist() == [[3]]


def rare(nodes: int = 600, seed: int = 0):
    """Two classes, one of them a tenth, that overlap."""
    rng = np.random.default_rng(seed)
    y = (rng.random(nodes) < 0.1).astype(np.int64)
    z = rng.normal(size=(nodes, 8)) + 0.8 * y[:, None]
    splits = random_splits(y, train=0.4, val=0.3, count=3, stratified=True)
    return z, y, splits


class TestProbe:
    def test_unequal_classes_are_chosen_and_reported_by_roc_auc(self):
        z, y, splits = rare()
        found = linear_probe(z, y, splits)
        assert found.test_auc is not None
        assert found.val_auc is not None
        by_accuracy = linear_probe(z, y, splits, measure="accuracy")
        assert by_accuracy.test_auc is None
        assert "ROC-AUC" not in str(by_accuracy)
        assert str(found).startswith("test ROC-AUC ")
        # All in the larger class are right in nine of ten and say nothing.
        assert by_accuracy.val_mean >= found.val_mean
        assert np.mean(found.test_auc) > 0.85
        assert found.to_dict()["test_auc"] == list(found.test_auc)

    def test_the_best_on_validation_is_chosen(self):
        """No single setting does better on validation than what was chosen."""
        z, y, splits = rare()
        found = linear_probe(z, y, splits, max_steps=20)
        for decay in (1e-6, 1e-2):
            for name in ("global", "row", "column"):
                alone = linear_probe(
                    z,
                    y,
                    splits,
                    weight_decays=[decay],
                    normalizations=[name],
                    max_steps=20,
                )
                assert (np.array(found.val_auc) >= np.array(alone.val_auc)).all()

    def test_exchanging_the_classes_changes_nothing(self):
        z, y, splits = rare()
        first, second = linear_probe(z, y, splits), linear_probe(z, 1 - y, splits)
        # Of two margins as good as equal rounding may exchange the order: one pair.
        pairs = (splits.test & (y == 1)).sum(1) * (splits.test & (y == 0)).sum(1)
        assert_within(first.test_auc, second.test_auc, 1 / pairs)

    @pytest.mark.parametrize("share", [0.29, 0.31])
    def test_from_thirty_percent_on_accuracy_decides(self, share):
        rng = np.random.default_rng(0)
        y = (np.arange(1000) < 1000 * share).astype(np.int64)
        splits = random_splits(y, train=0.4, val=0.3, count=1, stratified=True)
        found = linear_probe(rng.normal(size=(1000, 3)), y, splits, max_steps=3)
        assert (found.test_auc is not None) == (share < 0.3)

    def test_test_labels_cannot_influence_the_choice(self):
        z, y, splits = rare()
        one = Splits(splits.train[:1], splits.val[:1], splits.test[:1])
        flipped = np.where(one.test[0], 1 - y, y)
        honest, fooled = linear_probe(z, y, one), linear_probe(z, flipped, one)
        for field in ("val_auc", "val", "weight_decay", "normalization", "step"):
            assert getattr(honest, field) == getattr(fooled, field)
        assert honest.test_auc[0] == pytest.approx(1 - fooled.test_auc[0])

    def test_a_part_without_one_of_the_classes_is_judged_by_accuracy(self):
        z, y, splits = rare()
        test = splits.test & (y == 0)
        parts = Splits(splits.train, splits.val, test)
        assert linear_probe(z, y, parts, max_steps=3).test_auc is None
        with pytest.raises(InputError, match="'roc_auc' needs two classes"):
            linear_probe(z, y, parts, measure="roc_auc")

    def test_bad_input(self):
        z, y, splits = rare()
        with pytest.raises(InputError, match="unknown measure 'auc'"):
            linear_probe(z, y, splits, measure="auc")
        with pytest.raises(InputError, match="all labels are of one class, 0"):
            linear_probe(z, 0 * y, splits)

    @pytest.mark.dataset
    @pytest.mark.parametrize(
        ("name", "lowest", "highest"),
        [("minesweeper", 0.45, 0.56), ("tolokers", 0.70, 0.76)],
    )
    def test_features_of_benchmarks(self, data_root, name, lowest, highest):
        """Mines are hidden: their features alone tell next to nothing."""
        file = data_root / f"{name}.npz"
        if not file.is_file():
            pytest.skip(f"{name} is not among the benchmark data")
        graph = read_compact(file)
        first = Splits(*(m[:2] for m in masks(graph.splits)))
        found = linear_probe(graph.features, graph.y, first)
        assert lowest < np.mean(found.test_auc) < highest


def masks(splits: Splits):
    return splits.train, splits.val, splits.test


class TestSplits:
    def test_every_part_has_its_share_of_each_class(self):
        y = np.repeat([0, 1, -1], [900, 100, 50])
        splits = random_splits(y, train=0.1, val=0.1, count=5, stratified=True)
        for part, share in zip(masks(splits), (0.1, 0.1, 0.8), strict=True):
            assert (part[:, y == 0].sum(1) == 900 * share).all()
            assert (part[:, y == 1].sum(1) == 100 * share).all()
            assert not part[:, y == -1].any()
        assert splits.name == "stratified 10/10/80, seed 0"
        assert not np.array_equal(splits.train[0], splits.train[1])

    def test_values_and_several_labels(self):
        values = np.array([0.5, np.nan, -3.0, 2.0, -1.0] * 10)
        matrix = np.where(np.isnan(values)[:, None], -1, np.ones((50, 3), int))
        for y in (values, matrix):
            splits = random_splits(y, train=0.25, val=0.25, count=3)
            used = splits.train | splits.val | splits.test
            np.testing.assert_array_equal(used, np.tile(~np.isnan(values), (3, 1)))
            with pytest.raises(InputError, match="stratified splits need class codes"):
                random_splits(y, train=0.2, val=0.2, stratified=True)
