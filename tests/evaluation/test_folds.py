"""The support vector machine on folds: as scikit-learn searches, and no peeking."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from fdgcl._checks import InputError
from fdgcl.evaluation import FoldScores, folds, graph_svm

COSTS = (1e-2, 1e-1, 1.0, 10.0)


def blobs(
    classes: int = 2, each: int = 30, dim: int = 6, apart: float = 1.0, seed: int = 0
) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), each)
    centres = apart * random.normal(size=(classes, dim))
    z = centres[y] + random.normal(size=(len(y), dim)) * np.linspace(0.5, 3, dim)
    order = random.permutation(len(y))
    return (z + 5)[order], y[order]


def normalised(z: Any, name: str) -> Any:
    """The three normalisations, written out; each ends at mean square length 1."""
    if name == "row":
        z = z / np.sqrt((z**2).sum(1, keepdims=True))
    z = z - z.mean(0)
    if name == "column":
        z = z / z.std(0)
    return z / np.sqrt((z**2).sum(1).mean())


def searched(z: Any, y: Any, kernel: str, count: int, seed: int) -> tuple[Any, ...]:
    """The same protocol by scikit-learn's own search, on the rows themselves."""
    test, val, costs = [], [], []
    dealer = StratifiedKFold(count, shuffle=True, random_state=seed)
    for fitted, held in dealer.split(z, y):
        gamma = 1 / (z.shape[1] * z[fitted].var())
        search = GridSearchCV(
            SVC(kernel=kernel, gamma=gamma, tol=folds.TOLERANCE),
            {"C": list(COSTS)},
            cv=StratifiedKFold(5, shuffle=True, random_state=seed),
        )
        search.fit(z[fitted], y[fitted])
        test.append(search.score(z[held], y[held]))
        val.append(search.best_score_)
        costs.append(search.best_params_["C"])
    return tuple(test), tuple(val), tuple(costs)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("name", ["global", "row", "column"])
@pytest.mark.parametrize("classes", [2, 3])
def test_agrees_with_scikit_learns_search(kernel: str, name: str, classes: int) -> None:
    z, y = blobs(classes, each=24)
    got = graph_svm(
        z, y, kernel=kernel, folds=4, seeds=2, costs=COSTS, normalizations=[name]
    )
    for seed in range(2):
        expected = searched(normalised(z, name), y, kernel, 4, seed)
        assert got.test[seed] == pytest.approx(expected[0])
        assert got.val[seed] == pytest.approx(expected[1])
        assert got.cost[seed] == expected[2]
    assert set(sum(got.normalization, ())) == {name}


def test_the_normalisation_with_the_best_inner_score_is_chosen() -> None:
    z, y = blobs(each=20)
    alone = {
        name: graph_svm(z, y, folds=3, seeds=1, costs=COSTS, normalizations=[name])
        for name in ("global", "row", "column")
    }
    both = graph_svm(z, y, folds=3, seeds=1, costs=COSTS)
    for at in range(3):
        best = max(alone, key=lambda name: alone[name].val[0][at])
        assert both.normalization[0][at] == best
        assert both.val[0][at] == alone[best].val[0][at]
        assert both.test[0][at] == alone[best].test[0][at]
        assert both.cost[0][at] == alone[best].cost[0][at]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_classes_far_apart_are_told_apart(kernel: str) -> None:
    z, y = blobs(3, each=12, apart=40)
    got = graph_svm(z, y, kernel=kernel, folds=4, seeds=2)
    assert got.mean == 1
    assert got.std == 0
    assert got.val_mean == 1


def test_shuffled_labels_give_chance() -> None:
    z, y = blobs(2, each=60, apart=3)
    y = np.random.default_rng(1).permutation(y)
    got = graph_svm(z, y, folds=5, seeds=2, costs=(0.1, 1.0, 10.0))
    assert 0.35 < got.mean < 0.65


def test_the_labels_of_a_fold_do_not_influence_its_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the folds fixed, other labels in one change its score and nothing else."""
    z, y = blobs(2, each=20, apart=2)
    parts = list(StratifiedKFold(4, shuffle=True, random_state=0).split(z, y))
    real = folds._folds

    def fixed(labels: Any, count: int, seed: int) -> Any:
        return iter(parts) if len(labels) == len(y) else real(labels, count, seed)

    monkeypatch.setattr(folds, "_folds", fixed)
    before = graph_svm(z, y, folds=4, seeds=1)
    changed = y.copy()
    changed[parts[2][1]] = 1 - changed[parts[2][1]]
    after = graph_svm(z, changed, folds=4, seeds=1)
    assert after.cost[0][2] == before.cost[0][2]
    assert after.normalization[0][2] == before.normalization[0][2]
    assert after.val[0][2] == before.val[0][2]
    assert after.test[0][2] == pytest.approx(1 - before.test[0][2])


def test_a_cost_the_solver_cannot_manage_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    z, y = blobs(2, each=40, apart=0.2)
    slow = graph_svm(z, y, folds=3, seeds=1, costs=(1e-2, 1e4, 1e6))
    assert {1e4, 1e6} & set(slow.cost[0])
    monkeypatch.setattr(folds, "MOST_STEPS", 60)
    quick = graph_svm(z, y, folds=3, seeds=1, costs=(1e-2, 1e4, 1e6))
    assert set(quick.cost[0]) == {1e-2}
    # The smallest cost is taken even so: something has to be.
    assert set(graph_svm(z, y, folds=3, seeds=1, costs=(1e6,)).cost[0]) == {1e6}


def test_unlabelled_graphs_are_left_out() -> None:
    z, y = blobs(2, each=20)
    more = np.concatenate([z, z.mean(0, keepdims=True)])
    # The mean row leaves the centre as it is; its scale changes nothing in rbf.
    got = graph_svm(more, [*y, -1], folds=3, seeds=1, normalizations=["global"])
    expected = graph_svm(z, y, folds=3, seeds=1, normalizations=["global"])
    assert got.test == expected.test
    assert got.cost == expected.cost


def test_sparse_torch_and_float32_are_taken() -> None:
    z, y = blobs(2, each=20, apart=3)
    expected = graph_svm(z, y, folds=3, seeds=1, costs=COSTS)
    for other in (sparse.csr_array(z), torch.from_numpy(z), z.astype(np.float32)):
        got = graph_svm(other, torch.from_numpy(y), folds=3, seeds=1, costs=COSTS)
        assert got.test == expected.test


def test_constant_embeddings_do_not_fall_over() -> None:
    y = np.repeat([0, 1], [9, 6])
    got = graph_svm(np.ones((15, 3)), y, folds=3, seeds=1)
    assert got.mean == pytest.approx(0.6)


def test_progress_counts_folds() -> None:
    z, y = blobs(2, each=10)
    seen: list[tuple[int, int]] = []
    graph_svm(
        z, y, folds=3, seeds=2, costs=(1.0,), progress=lambda *now: seen.append(now)
    )
    assert seen == [(done, 6) for done in range(1, 7)]


def test_the_result_is_plain_numbers() -> None:
    result = FoldScores(
        test=((0.5, 0.7), (0.9, 0.9)),
        val=((0.6, 0.6), (0.8, 0.8)),
        cost=((1.0, 1.0), (10.0, 1.0)),
        normalization=(("row", "row"), ("column", "row")),
        kernel="rbf",
        classes=2,
    )
    assert result.mean == pytest.approx(0.75)
    assert result.std == pytest.approx(0.15)  # over the seeds: 0.6 and 0.9
    assert result.val_mean == pytest.approx(0.7)
    facts = json.loads(json.dumps(result.to_dict()))
    assert facts["test"] == [[0.5, 0.7], [0.9, 0.9]]
    assert facts["test_mean"] == pytest.approx(0.75)
    assert facts["cost"] == [[1, 1], [10, 1]]
    assert str(result) == "test 75.0 ± 15.0 %, validation 70.0 %, 2 seeds of 2 folds"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kernel": "poly"}, r"unknown kernel 'poly'.*known: rbf, linear"),
        ({"folds": 1}, "folds must be a whole number of at least 2"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1"),
        ({"costs": ()}, "costs must be a list of at least one"),
        ({"costs": (0.0,)}, "costs must be positive"),
        ({"normalizations": "row"}, "normalizations must be a list"),
        ({"normalizations": ["rows"]}, "unknown normalization 'rows'"),
        ({"y": np.zeros(20, int)}, "at least two classes, got 1"),
        ({"y": np.arange(20) % 2 - 1}, "at least two classes, got 1"),
        ({"y": np.r_[0, 0, np.ones(18, int)]}, "5 folds need .* class 0 has 2"),
        ({"y": np.zeros(19, int)}, "one class per row"),
        ({"z": np.full((20, 2), np.nan)}, "must be finite"),
        ({"folds": 11}, "11 folds need at least 11 graphs of every class"),
    ],
)
def test_bad_input_is_explained(change: dict[str, Any], sentence: str) -> None:
    z, y = blobs(2, each=10)
    given: dict[str, Any] = {"z": z, "y": y, "folds": 5, "seeds": 1} | change
    with pytest.raises(InputError, match=sentence):
        graph_svm(given.pop("z"), given.pop("y"), **given)


@pytest.mark.parametrize(("count", "each"), [(2, 4), (3, 3), (10, 10)])
def test_the_smallest_classes_that_do(count: int, each: int) -> None:
    z, y = blobs(2, each=each, apart=30)
    got = graph_svm(z, y, folds=count, seeds=1, costs=(1.0,))
    assert np.shape(got.test) == (1, count)
    with pytest.raises(InputError, match=f"at least {each} graphs"):
        graph_svm(z[1:], y[1:], folds=count, seeds=1)
