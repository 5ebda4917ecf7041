"""Several labels at once: F1 by hand, classifiers as if alone, honesty."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from fdgcl import Splits, linear_probe, multilabel_probe
from fdgcl._checks import InputError
from fdgcl.evaluation import multilabel
from fdgcl.evaluation.multilabel import best_threshold, f1_scores, mean_auc
from fdgcl.graphs import load_dataset, random_splits
from tolerances import assert_within


def problem(nodes=300, labels=4, seed=0, count=2, noise=0.7):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(nodes, 6))
    chance = z @ rng.normal(size=(6, labels)) + noise * rng.normal(size=(nodes, labels))
    matrix = (chance > np.linspace(0.5, 2, labels)).astype(int)
    return z, matrix, random_splits(matrix, train=0.3, val=0.3, count=count, seed=seed)


class TestF1:
    def test_by_hand(self):
        predicted = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]], bool)
        labels = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]])
        # First label: 1 hit, 2 called, 2 true: 1/2. Second: 1, 2, 1: 2/3. Third: none.
        micro, macro = f1_scores(predicted, labels)
        assert micro == pytest.approx(2 * 2 / (4 + 3))
        assert macro == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)

    def test_as_scikit_learn_has_it(self):
        rng = np.random.default_rng(0)
        predicted, labels = rng.random((80, 5)) < 0.3, rng.integers(0, 2, (80, 5))
        micro, macro = f1_scores(predicted, labels)
        assert micro == pytest.approx(f1_score(labels, predicted, average="micro"))
        assert macro == pytest.approx(f1_score(labels, predicted, average="macro"))

    def test_the_threshold_is_the_best_of_all(self):
        rng = np.random.default_rng(1)
        for _ in range(30):
            scores = rng.integers(-3, 4, 12) / 2
            truth = rng.integers(0, 2, 12)
            if truth.sum() in (0, 12):
                assert best_threshold(scores, truth) == 0
                continue
            found = f1_scores((scores > best_threshold(scores, truth))[:, None],
                              truth[:, None])[0]  # fmt: skip
            every = [
                f1_scores((scores > at)[:, None], truth[:, None])[0]
                for at in np.arange(-2.25, 2, 0.5)
            ]
            assert found == max(every)

    def test_the_mean_of_roc_auc_is_over_labels_that_have_one(self):
        rng = np.random.default_rng(0)
        scores, labels = rng.normal(size=(50, 3)), rng.integers(0, 2, (50, 3))
        labels[:, 1] = 0
        expected = [roc_auc_score(labels[:, k], scores[:, k]) for k in (0, 2)]
        assert mean_auc(scores, labels) == (pytest.approx(np.mean(expected)), 2)


class TestProbe:
    @pytest.mark.parametrize("together", [None, 1])
    def test_each_label_as_if_alone(self, monkeypatch, together):
        z, matrix, splits = problem()
        if together is not None:
            monkeypatch.setattr(multilabel, "_TOGETHER", together)
        found = multilabel_probe(z, matrix, splits)
        alone = [
            linear_probe(z, column, splits, measure="roc_auc") for column in matrix.T
        ]
        for name, areas in (("test", "test_auc"), ("val", "val_auc")):
            expected = np.mean([getattr(one, areas) for one in alone], axis=0)
            # Two margins may be so close that rounding decides on their order: that
            # is one of all pairs, for each label.
            part = getattr(splits, name)
            positive = part.astype(int) @ matrix
            pairs = positive * (part.sum(axis=1, keepdims=True) - positive)
            assert_within(getattr(found, name), expected, (1 / pairs).mean(axis=1))
        assert found.labels == 4
        assert found.scored == (4, 4)

    def test_good_labels_are_found_and_shuffled_ones_are_not(self):
        z, matrix, splits = problem(noise=0.05)
        found = multilabel_probe(z, matrix, splits)
        assert found.test_mean > 0.97
        assert min(found.test_micro_f1) > 0.85
        shuffled = np.random.default_rng(1).permutation(matrix)
        # 120 test nodes, four labels: a standard error of some two points.
        assert multilabel_probe(z, shuffled, splits).test_mean == pytest.approx(
            0.5, abs=0.08
        )

    def test_test_labels_cannot_influence_any_choice(self, monkeypatch):
        z, matrix, splits = problem(count=1)
        seen = []
        original = multilabel.choose_probes

        def spy(rows, visible, train, val, options, num_classes):
            choices = original(rows, visible, train, val, options, num_classes)
            seen.append((visible, choices))
            return choices

        monkeypatch.setattr(multilabel, "choose_probes", spy)
        flipped = np.where(splits.test[0][:, None], 1 - matrix, matrix)
        honest = multilabel_probe(z, matrix, splits)
        fooled = multilabel_probe(z, flipped, splits)
        (visible, before), (_, after) = seen
        assert (visible[:, splits.test[0]] == -1).all()
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one.margins, other.margins)
        assert honest.val == fooled.val
        assert honest.test[0] == pytest.approx(1 - fooled.test[0])

    def test_a_label_that_no_training_node_has_is_never_predicted(self, monkeypatch):
        z, matrix, splits = problem(count=1)
        matrix[splits.train[0], 0] = 0
        predicted = []

        def spy(called, labels):
            predicted.append(called)
            return f1_scores(called, labels)

        monkeypatch.setattr(multilabel, "f1_scores", spy)
        multilabel_probe(z, matrix, splits)
        assert not predicted[0][:, 0].any()
        assert predicted[0][:, 1].any()

    def test_progress_comes_to_its_end(self, monkeypatch):
        z, matrix, splits = problem()
        for together in (multilabel._TOGETHER, 2 * len(z) * len(splits)):
            monkeypatch.setattr(multilabel, "_TOGETHER", together)
            told: list[tuple[int, int]] = []

            def note(done, total, told=told):
                told.append((done, total))

            multilabel_probe(z, matrix, splits, max_steps=5, progress=note)
            done = [now for now, _ in told]
            assert all(a <= b for a, b in itertools.pairwise(done))
            assert told[-1][0] == told[-1][1]

    def test_to_dict_and_str(self):
        z, matrix, splits = problem()
        found = multilabel_probe(z, matrix, splits, max_steps=5)
        told = json.loads(json.dumps(found.to_dict()))
        assert told["test_micro_f1_mean"] == pytest.approx(np.mean(found.test_micro_f1))
        for words in ("ROC-AUC", "micro F1", "macro F1", "2 splits"):
            assert words in str(found)

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda m: m[:, 0], r"\(300, labels\), got shape \(300,\)"),
            (lambda m: m[:9], "one row of labels per row of z"),
            (lambda m: 2 * m, "must hold 0 and 1, or -1 throughout"),
            (lambda m: 0 * m, "the val part of split 0 has no label that some"),
            (lambda m: 0 * m - 1, "has no label but is in the train part"),
        ],
    )
    def test_bad_input(self, change, sentence):
        z, matrix, splits = problem()
        with pytest.raises(InputError, match=sentence):
            multilabel_probe(z, change(matrix), splits)

    @pytest.mark.dataset
    def test_the_classes_of_a_benchmark_one_by_one(self, data_root):
        graph = load_dataset("cora", data_root)
        matrix = np.eye(7, dtype=np.int8)[graph.y]
        one = Splits(
            graph.splits.train[:1], graph.splits.val[:1], graph.splits.test[:1]
        )
        found = multilabel_probe(graph.features, matrix, one)
        assert 0.82 < found.test_mean < 0.92
        assert 0.45 < found.test_micro_f1[0] < 0.65
