"""The linear probe: what it chooses, from what, and how well."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from fdgcl._checks import InputError
from fdgcl.evaluation import linear_probe, paths, probe, selection
from fdgcl.graphs import Splits, block_model, load_dataset, random_splits

CLASSES = 4


def blobs(nodes=400, dim=10, spread=2.0, count=3, seed=0, kind=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, nodes)
    z = rng.normal(size=(CLASSES, dim))[y] + spread * rng.normal(size=(nodes, dim))
    splits = random_splits(y, train=0.3, val=0.3, count=count, seed=seed)
    return z.astype(kind), y, splits


def only(splits: Splits, i: int) -> Splits:
    row = slice(i, i + 1)
    return Splits(splits.train[row], splits.val[row], splits.test[row])


@pytest.fixture
def seen(monkeypatch):
    """What the choosing part was given, and what it returned."""
    calls = []

    def spy(z, visible, train, val, options):
        choices = selection.choose_probes(z, visible, train, val, options)
        calls.append((visible, choices))
        return choices

    monkeypatch.setattr(probe, "choose_probes", spy)
    return calls


class TestHonesty:
    def test_shuffled_labels_score_at_chance(self):
        """720 test nodes over three splits: four standard errors are 6.5 points."""
        z, y, splits = blobs(nodes=600, spread=0.3)
        assert linear_probe(z, y, splits).test_mean > 0.95
        shuffled = np.random.default_rng(1).permutation(y)
        result = linear_probe(z, shuffled, splits)
        assert result.test_mean == pytest.approx(1 / CLASSES, abs=0.065)

    @pytest.mark.parametrize("shift", [1, 7])
    def test_test_labels_cannot_influence_any_choice(self, seen, shift):
        """A shift by 7 also makes classes that no visible node has."""
        z, y, splits = blobs(count=1)
        flipped = np.where(splits.test[0], y + shift, y) % (CLASSES + shift - 1)
        honest, fooled = linear_probe(z, y, splits), linear_probe(z, flipped, splits)
        for field in ("val", "weight_decay", "normalization", "step"):
            assert getattr(honest, field) == getattr(fooled, field)
        (_, before), (_, after) = seen
        np.testing.assert_array_equal(before[0].predictions, after[0].predictions)
        assert before[0].loss == after[0].loss
        assert honest.test != fooled.test

    def test_the_choosing_part_sees_no_label_but_those_to_fit_and_to_choose(self, seen):
        z, y, splits = blobs()
        linear_probe(z, y, splits)
        visible = seen[0][0]
        assert (visible[~(splits.train | splits.val)] == -1).all()
        np.testing.assert_array_equal(
            visible[splits.train], np.tile(y, (3, 1))[splits.train]
        )

    def test_validation_labels_do_not_reach_the_fit(self, monkeypatch):
        z, y, splits = blobs(count=1)
        fitted = []

        class Spy(paths.Path):
            def __init__(self, batch, labels, decays, num_classes):
                fitted.append(labels)
                super().__init__(batch, labels, decays, num_classes)

        monkeypatch.setattr(paths, "Path", Spy)
        linear_probe(z, y, splits)
        rows = (splits.train | splits.val)[0]
        expected = np.where(splits.train[0], y, -1)[rows]
        for labels in fitted[0].numpy():
            np.testing.assert_array_equal(labels, expected)

    def test_scores_are_those_of_the_predictions(self, seen):
        z, y, splits = blobs()
        result = linear_probe(z, y, splits)
        for i, choice in enumerate(seen[0][1]):
            right = choice.predictions == y
            assert result.test[i] == pytest.approx(right[splits.test[i]].mean())
            assert result.val[i] == pytest.approx(right[splits.val[i]].mean())


class TestQuality:
    @pytest.mark.parametrize(("dim", "spread"), [(10, 2.0), (100, 4.0), (500, 6.0)])
    def test_as_good_as_scikit_learn_tuned_on_validation(self, dim, spread):
        """Over twelve splits; one differs by some points either way."""
        found, tuned = [], []
        for seed in range(4):
            z, y, splits = blobs(dim=dim, spread=spread, seed=seed)
            found += linear_probe(z, y, splits).test
            masks = zip(splits.train, splits.val, splits.test, strict=True)
            for train, val, test in masks:
                models = [
                    LogisticRegression(C=c, max_iter=3000).fit(z[train], y[train])
                    for c in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
                ]
                scores = [model.score(z[val], y[val]) for model in models]
                tuned.append(models[np.argmax(scores)].score(z[test], y[test]))
        assert np.mean(found) > np.mean(tuned) - 0.02

    @pytest.mark.dataset
    @pytest.mark.parametrize(
        ("name", "lowest", "highest"), [("cora", 0.58, 0.64), ("texas", 0.77, 0.9)]
    )
    def test_features_of_benchmarks(self, data_root, name, lowest, highest):
        graph = load_dataset(name, data_root)
        found = linear_probe(graph.features, graph.y, graph.splits)
        assert lowest < found.test_mean < highest

    @pytest.mark.gpu
    def test_cuda_agrees_with_the_cpu(self):
        z, y, splits = blobs()
        first, second = (
            linear_probe(z, y, splits),
            linear_probe(z, y, splits, device="cuda"),
        )
        # A test node or two on the border may fall on its other side.
        assert second.test_mean == pytest.approx(first.test_mean, abs=0.01)


class TestOneBatchedRun:
    def test_each_split_as_if_alone(self):
        z, y, splits = blobs()
        together = linear_probe(z, y, splits)
        for i in range(3):
            alone = linear_probe(z, y, only(splits, i))
            for field in ("test", "val", "weight_decay", "normalization", "step"):
                assert getattr(alone, field)[0] == getattr(together, field)[i], field

    def test_splits_of_different_sizes(self):
        z, y, splits = blobs()
        smaller = splits.train.copy()
        smaller[1, np.flatnonzero(smaller[1])[10:]] = False
        uneven = Splits(smaller, splits.val, splits.test)
        together = linear_probe(z, y, uneven)
        alone = linear_probe(z, y, only(uneven, 1))
        assert together.test[1] == alone.test[0]

    def test_the_best_of_single_runs(self):
        """Nothing is given up within 20 steps, so single runs see the same paths."""
        z, y, splits = blobs(count=1)
        decays, names = (1e-4, 1e-2), ("global", "row", "column")
        together = linear_probe(
            z, y, splits, weight_decays=decays, normalizations=names, max_steps=20
        )
        single = [
            linear_probe(
                z, y, splits, weight_decays=[w], normalizations=[n], max_steps=20
            )
            for w in decays
            for n in names
        ]
        assert together.val[0] == max(result.val[0] for result in single)
        same = [
            result
            for result in single
            if result.weight_decay == together.weight_decay
            and result.normalization == together.normalization
        ]
        assert same[0].step == together.step
        assert same[0].test == together.test

    @pytest.mark.parametrize("limit", ["_BATCH_ENTRIES", "_VIEW_ENTRIES"])
    def test_less_memory_same_result(self, monkeypatch, limit):
        z, y, splits = blobs()
        options = {"max_steps": 20}
        expected = linear_probe(z, y, splits, **options)
        monkeypatch.setattr(selection, limit, 1)
        assert linear_probe(z, y, splits, **options) == expected

    @pytest.mark.parametrize("share", [0.0, 2.0])
    def test_splits_share_products_or_not(self, monkeypatch, share):
        z, y, splits = blobs()
        expected = linear_probe(z, y, splits)
        monkeypatch.setattr(selection, "_SHARED", share)
        assert linear_probe(z, y, splits) == expected

    def test_a_basis_of_the_rows_changes_nothing(self, monkeypatch):
        z, y, splits = blobs(nodes=60, dim=300, spread=3.0)
        expected = linear_probe(z, y, splits)
        monkeypatch.setattr(selection, "_LARGEST_BASIS", 0)
        assert linear_probe(z, y, splits) == expected

    @pytest.mark.parametrize("dim", [30, 3000])
    def test_sparse_embeddings(self, dim):
        """30 columns stay sparse, 3000 are held in a basis of the rows."""
        _, y, splits = blobs()
        rng = np.random.default_rng(0)
        z = sparse.random_array((400, dim), density=0.02, rng=rng, format="csr")
        z = z.tolil()
        z[np.arange(400), y] = 0.5
        thin = sparse.csr_array(z)
        expected = linear_probe(thin.toarray(), y, splits)
        assert linear_probe(thin, y, splits) == expected

    def test_same_input_same_result(self):
        z, y, splits = blobs(kind=np.float32)
        assert linear_probe(z, y, splits) == linear_probe(z, y, splits)

    def test_tensors_are_as_good_as_arrays(self):
        z, y, splits = blobs(kind=np.float32)
        tensor = torch.tensor(z, requires_grad=True)
        assert linear_probe(tensor, torch.tensor(y), splits) == linear_probe(
            z, y, splits
        )

    def test_progress_reaches_the_end(self):
        z, y, splits = blobs()
        reports = []
        linear_probe(z, y, splits, progress=lambda *report: reports.append(report))
        done, totals = zip(*reports, strict=True)
        assert list(done) == sorted(done)
        assert done[-1] == totals[-1]
        assert len(set(totals)) == 1


class TestHardCases:
    def test_a_class_that_one_split_never_trains_on(self):
        z, y, splits = blobs()
        train = splits.train & ~((y == 3) & (np.arange(3) == 0)[:, None])
        result = linear_probe(z, y, Splits(train, splits.val, splits.test))
        whole = linear_probe(z, y, splits)
        assert result.test[1:] == whole.test[1:]
        assert result.test[0] < whole.test[0]

    @pytest.mark.parametrize("fill", [0.0, 3.3])
    def test_a_constant_embedding_scores_no_better_than_one_class(self, fill):
        _, y, splits = blobs()
        result = linear_probe(np.full((400, 5), fill, np.float32), y, splits)
        assert result.test_mean < 0.35

    def test_more_classes_than_training_nodes_of_some(self):
        z, y, splits = blobs(nodes=40, count=2)
        assert 0 <= linear_probe(z, y, splits).test_mean <= 1

    def test_unlabelled_nodes_outside_the_splits_are_fine(self):
        z, y, splits = blobs()
        hidden = ~(splits.train | splits.val | splits.test).any(0)
        assert not hidden.any()
        drop = np.arange(400) < 50
        smaller = Splits(splits.train & ~drop, splits.val & ~drop, splits.test & ~drop)
        expected = linear_probe(z, y, smaller)
        assert linear_probe(z, np.where(drop, -1, y), smaller) == expected


class TestResult:
    def test_line_and_json(self):
        z, y, splits = blobs()
        result = linear_probe(z, y, splits)
        mean, spread = 100 * np.mean(result.test), 100 * np.std(result.test)
        assert str(result) == (
            f"test {mean:.1f} ± {spread:.1f} %, "
            f"validation {100 * np.mean(result.val):.1f} %, 3 splits"
        )
        read = json.loads(json.dumps(result.to_dict()))
        assert read["test"] == list(result.test)
        assert read["test_mean"] == pytest.approx(np.mean(result.test))
        assert read["classes"] == CLASSES
        assert len(read["normalization"]) == 3

    def test_one_split_has_no_spread(self):
        z, y, splits = blobs(count=1)
        assert str(linear_probe(z, y, splits)).endswith("%, 1 split")
        assert "±" not in str(linear_probe(z, y, splits))

    def test_is_frozen(self):
        z, y, splits = blobs(count=1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            linear_probe(z, y, splits).classes = 3


class TestBadInput:
    def refused(self, match, z=None, y=None, splits=None, **options):
        good = blobs(count=2)
        parts = [
            b if a is None else a for a, b in zip((z, y, splits), good, strict=True)
        ]
        with pytest.raises(InputError, match=match):
            linear_probe(*parts, **options)

    def test_embedding(self):
        z = blobs()[0]
        self.refused(r"z must be a matrix .* got shape \(400,\)", z=z[:, 0])
        self.refused(r"z must be a matrix .* got shape \(400, 0\)", z=z[:, :0])
        z[17, 3] = np.nan
        self.refused("z must be finite, got nan in row 17, column 3", z=z)
        z[17, 3] = -np.inf
        self.refused("got -inf in row 17, column 3", z=sparse.csr_array(z * (z < -3)))

    def test_labels(self):
        y = blobs()[1]
        self.refused(r"shape \(400,\), got shape \(399,\)", y=y[:-1])
        self.refused("got float64", y=y.astype(float))
        self.refused("down to -2", y=y - 2)

    def test_splits(self):
        _, y, splits = blobs(count=2)
        node = np.flatnonzero(splits.test[1] & ~splits.test[0])[0]
        hidden = y.copy()
        hidden[node] = -1
        self.refused(f"node {node} has no label", y=hidden)
        empty = splits.val.copy()
        empty[1] = False
        self.refused(
            "split 1 has no val nodes", splits=Splits(splits.train, empty, splits.test)
        )
        short = Splits(splits.train[:, 1:], splits.val[:, 1:], splits.test[:, 1:])
        self.refused("splits are for 399 nodes, z and y have 400", splits=short)

    def test_options(self):
        self.refused('did you mean "column"', normalizations=["columns"])
        self.refused("must be a list of some of global", normalizations="row")
        self.refused("must be a list of some of global", normalizations=[])
        self.refused("weight_decays must be zero or more", weight_decays=[-1])
        self.refused("weight_decays is empty", weight_decays=[])
        self.refused("max_steps must be a whole number", max_steps=0)


def test_the_number_of_threads_is_left_as_it_was():
    z, y, splits = blobs(count=1)
    before = torch.get_num_threads()

    def stop(done, total):
        assert torch.get_num_threads() == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        linear_probe(z, y, splits, progress=stop)
    assert torch.get_num_threads() == before


def test_a_graphs_own_read_only_features_are_taken() -> None:
    graph = block_model(60, 2, seed=0)
    assert not graph.features.flags.writeable
    assert len(linear_probe(graph.features, graph.y, graph.splits).test) == 3
