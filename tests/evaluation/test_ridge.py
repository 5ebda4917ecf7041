"""Ridge regression against the normal equations, neighbours against scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.neighbors import KNeighborsRegressor

from fdgcl import Splits, knn_values, ridge_probe
from fdgcl._checks import InputError
from fdgcl.evaluation import neighbours, ridge
from fdgcl.evaluation.ridge import PENALTIES, r_squared
from fdgcl.graphs import load_dataset, random_splits
from tolerances import assert_agree, half_digits


def problem(nodes=300, dim=12, noise=0.5, seed=0, count=3, train=0.4):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(nodes, dim)) * rng.uniform(0.1, 9, dim) + rng.normal(size=dim)
    y = 5 + z @ rng.normal(size=dim) / 4 + noise * rng.normal(size=nodes)
    return z, y, random_splits(y, train=train, val=0.3, count=count, seed=seed)


def normal_equations(z, y, train, penalty):
    """Predictions for all nodes: (X'X + n p) w = X'y, the intercept not penalised."""
    x = (z - z.mean(0)) / z.std(0) / np.sqrt(z.shape[1])
    centre, mean = x[train].mean(0), y[train].mean()
    a = x[train] - centre
    gram = a.T @ a + len(a) * penalty * np.eye(z.shape[1])
    return (x - centre) @ np.linalg.solve(gram, a.T @ (y[train] - mean)) + mean


@pytest.mark.parametrize(
    ("dim", "train", "block"), [(12, 0.4, None), (12, 0.4, 50), (250, 0.3, None)]
)
@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 1.0])
def test_is_the_solution_of_the_normal_equations(
    monkeypatch, dim, train, block, penalty
):
    """More columns than training nodes as well; block by block as well.

    The system's condition number is at most 1 / penalty, a million: half of the digits
    of float64 are left, and more.
    """
    if block is not None:
        monkeypatch.setattr(ridge, "_BLOCK_ENTRIES", block)
    z, y, splits = problem(dim=dim, train=train)
    found = ridge_probe(z, y, splits, penalties=[penalty])
    for i in range(3):
        expected = normal_equations(z, y, splits.train[i], penalty)
        for name, part in (("test", splits.test[i]), ("val", splits.val[i])):
            score, error = getattr(found, name)[i], getattr(found, f"{name}_mae")[i]
            assert_agree(score, r2_score(y[part], expected[part]), size=1)
            assert_agree(error, mean_absolute_error(y[part], expected[part]))


def test_validation_chooses_the_penalty_and_nothing_else():
    z, y, splits = problem(dim=80, noise=4.0)
    found = ridge_probe(z, y, splits)
    alone = [ridge_probe(z, y, splits, penalties=[one]) for one in PENALTIES]
    for i in range(3):
        best = max(range(len(alone)), key=lambda k: alone[k].val[i])
        assert found.penalty[i] == PENALTIES[best]
        assert found.test[i] == pytest.approx(alone[best].test[i])
    assert PENALTIES[0] < min(found.penalty) <= max(found.penalty) < PENALTIES[-1]
    fooled = ridge_probe(z, np.where(splits.test[0], -y, y), only(splits, 0))
    assert fooled.penalty[0] == found.penalty[0]
    assert fooled.val[0] == found.val[0]
    assert fooled.test[0] < 0


def only(splits: Splits, i: int) -> Splits:
    row = slice(i, i + 1)
    return Splits(splits.train[row], splits.val[row], splits.test[row])


def test_what_can_be_said_and_what_cannot():
    z, y, splits = problem(noise=0.0)
    # The smallest penalty, 1e-8, takes that share of a variance of 1/12 or so from each
    # weight, and its square from the score.
    allowed = half_digits(np.float64)
    assert ridge_probe(z, y, splits).test_mean == pytest.approx(1, rel=allowed)
    shuffled = np.random.default_rng(1).permutation(y)
    # The mean of the training values is what is left to say, a little off.
    assert -0.15 < ridge_probe(z, shuffled, splits).test_mean < 0.05


def test_scales_shifts_and_constant_columns_change_nothing():
    z, y, splits = problem()
    first = ridge_probe(z, y, splits)
    other = np.column_stack([1e4 * z - 3, np.full(len(z), 7.7)])
    second = ridge_probe(other, 10 * y - 4, splits)
    assert_agree(second.test, first.test, size=1)
    assert_agree(second.test_mae, 10 * np.array(first.test_mae))
    assert second.penalty == first.penalty


def test_sparse_and_float32_embeddings():
    z, y, splits = problem()
    z = np.where(np.abs(z) > 4, z, 0)
    first = ridge_probe(z, y, splits)
    same = ridge_probe(sparse.csr_array(z), y, splits)
    assert_agree(same.test, first.test, size=1)
    single = ridge_probe(z.astype(np.float32), y, splits)
    # The entries alone are rounded to float32.
    assert_agree(single.test, first.test, np.float32, size=1)


def test_nodes_without_a_value_do_not_count():
    z, y, splits = problem()
    hidden = ~(splits.train | splits.val | splits.test)[0]
    assert not hidden.any()
    y[:30] = np.nan
    splits = random_splits(y, train=0.4, val=0.3, count=2)
    changed = ridge_probe(z, y, splits)
    assert np.isfinite(changed.test).all()


def test_training_nodes_of_one_value_say_that_value():
    z, y, splits = problem(count=1)
    y[splits.train[0]] = 5.0
    found = ridge_probe(z, y, splits)
    test = y[splits.test[0]]
    assert found.test_mae[0] == pytest.approx(np.abs(test - 5).mean())


def test_to_dict_and_str():
    z, y, splits = problem()
    found = ridge_probe(z, y, splits)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["test_mae_mean"] == pytest.approx(np.mean(found.test_mae))
    assert told["penalty"] == list(found.penalty)
    assert str(found).startswith("test R² 0.9")
    assert str(found).endswith("3 splits")
    assert r_squared(np.array([1.0, 3.0]), np.array([1.0, 3.0])) == 1


BAD = [
    ({"penalties": []}, "penalties is empty"),
    ({"penalties": [0.0]}, "penalties must be positive"),
    ({"values": np.zeros(5)}, r"shape \(300,\), got float64 of shape \(5,\)"),
    ({"values": np.array(["a"] * 300)}, "one number per row"),
    ({"values": np.full(300, np.inf)}, "values must be finite"),
    ({"values": np.ones(300)}, "the val part of split 0 has one value alone, 1"),
    ({"values": np.full(300, np.nan)}, "node 0 has no label but is in the"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD)
def test_bad_input(changes, sentence):
    z, y, splits = problem()
    values = changes.pop("values", y)
    if np.asarray(values).dtype.kind == "f" and np.isnan(values).all():
        sentence = "has no label but is in the train part"
    with pytest.raises(InputError, match=sentence):
        ridge_probe(z, values, splits, **changes)


@pytest.mark.parametrize("k", [1, 5, 1000])
def test_neighbours_agree_with_scikit_learn(monkeypatch, k):
    monkeypatch.setattr(neighbours, "_BLOCK_ENTRIES", 500)
    z, y, splits = problem()
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    found = knn_values(z, y, splits, ks=[k])
    for i in range(3):
        train, test = splits.train[i], splits.test[i]
        reference = KNeighborsRegressor(min(k, int(train.sum())), algorithm="brute")
        predicted = reference.fit(unit[train], y[train]).predict(unit[test])
        assert found.test[i] == pytest.approx(r2_score(y[test], predicted))
        assert found.test_mae[i] == pytest.approx(np.abs(y[test] - predicted).mean())


def test_the_number_of_neighbours_is_chosen_on_validation():
    z, y, splits = problem(noise=3.0)
    found = knn_values(z, y, splits)
    alone = {k: knn_values(z, y, splits, ks=[k]) for k in (1, 5, 10, 20)}
    for i in range(3):
        assert found.val[i] == max(one.val[i] for one in alone.values())
        assert found.test[i] == alone[found.k[i]].test[i]


@pytest.mark.dataset
def test_degrees_of_a_benchmark(data_root):
    """The logarithm of the degree, from features smoothed over neighbours or not."""
    graph = load_dataset("cora", data_root)
    y = np.log1p(np.diff(graph.adjacency.indptr))
    splits = random_splits(y, train=0.1, val=0.1, count=2)
    found = ridge_probe(graph.features, y, splits)
    assert -0.05 < found.test_mean < 0.2
    exact = ridge_probe(np.column_stack([y, y**2]), y, splits)
    assert exact.test_mean > 0.999
