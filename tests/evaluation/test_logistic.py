"""The batched logistic regression, against scikit-learn at convergence."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from fdgcl.evaluation.logistic import Path
from fdgcl.evaluation.paths import check_steps
from fdgcl.evaluation.rows import Batch, DenseRows, Rows, SparseRows
from tolerances import assert_agree, assert_within, gamma


def data(rows: int = 150, dim: int = 12, classes: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    z = rng.normal(size=(classes, dim))[y] + 1.5 * rng.normal(size=(rows, dim))
    return z / np.sqrt((z**2).sum(1).mean()), y


def converge(path: Path, steps: int = 2000) -> None:
    for _ in range(steps):
        path.advance(1e-7)
        if not path.active.any():
            return
    pytest.fail("not converged")


def fitted(z, labels, decays, num_classes, kind=torch.float64) -> Path:
    batch = Batch([DenseRows(torch.tensor(z, dtype=kind))], [len(labels)])
    path = Path(
        batch, torch.tensor(labels), torch.tensor(decays, dtype=kind), num_classes
    )
    converge(path)
    return path


def reference(z, y, decay) -> LogisticRegression:
    model = LogisticRegression(C=1 / (decay * len(y)), tol=1e-9, max_iter=20000)
    return model.fit(z, y)


def test_equals_scikit_learn_for_every_decay_and_label_set():
    z, y = data()
    rng = np.random.default_rng(1)
    masks = rng.random((3, len(y))) < [[0.4], [0.6], [0.9]]
    decays = [1e-3, 1e-2, 0.3]
    path = fitted(z, np.where(masks, y, -1), decays, 4)
    for i, mask in enumerate(masks):
        for k, decay in enumerate(decays):
            expected = reference(z[mask], y[mask], decay)
            found = path.scores[i, k].softmax(0).T.numpy()
            # A gradient below 1e-7 is that close to 0 at most, divided by the decay.
            away = 10 * 1e-7 / decay
            assert_within(found, expected.predict_proba(z), away)
            loss = log_loss(y[mask], expected.predict_proba(z[mask]))
            loss += decay / 2 * (expected.coef_**2).sum()
            assert_agree(path.loss[i, k].item(), loss)
            slopes = path.weights[i, k].view(4, -1)[:, :-1].numpy()
            assert_within(slopes, expected.coef_, away)


def test_a_class_without_training_rows_is_left_out():
    z, y = data()
    path = fitted(z, np.where(y == 2, -1, y)[None], [1e-2], 4)
    kept = y != 2
    probabilities = path.scores[0, 0].softmax(0).T.numpy()
    assert (probabilities[:, 2] == 0).all()
    expected = reference(z[kept], y[kept], 1e-2).predict_proba(z)
    assert_within(probabilities[:, [0, 1, 3]], expected, 10 * 1e-7 / 1e-2)  # as above


def test_float32_is_close_to_float64():
    z, y = data()
    batch = Batch([DenseRows(torch.tensor(z, dtype=torch.float32))], [1])
    path = Path(batch, torch.tensor(y)[None], torch.tensor([1e-3]), 4)
    for _ in range(200):
        path.advance(1e-5)
    exact = fitted(z, y[None], [1e-3], 4)
    assert_agree(path.loss, exact.loss)
    assert_within(path.scores, exact.scores, 10 * 1e-5 / 1e-3)  # as above


def test_the_loss_never_rises():
    z, y = data()
    path = Path(
        Batch([DenseRows(torch.tensor(z))], [1]),
        torch.tensor(y)[None],
        torch.tensor([0.0, 1e-4, 1.0], dtype=torch.float64),
        4,
    )
    losses = [path.loss.flatten()]
    for _ in range(60):
        path.advance(1e-9)
        losses.append(path.loss.flatten())
    # Each loss, of size 1, is a mean over the rows.
    rounding = 4 * gamma(len(y), torch.float64)
    assert (torch.stack(losses).diff(dim=0) <= rounding).all()


def test_going_on_with_some_problems_changes_nothing_for_them():
    z, y = data()
    views: list[Rows] = [DenseRows(torch.tensor(z)), DenseRows(torch.tensor(2 * z))]
    labels = torch.tensor(np.stack([y, (y + 1) % 4, y, (y + 1) % 4]))
    decays = torch.tensor([1e-3, 1e-2, 1e-1], dtype=torch.float64)
    whole = Path(Batch(views, [2, 2]), labels, decays, 4)
    part = Path(Batch(views, [2, 2]), labels, decays, 4)
    sets, kinds = torch.tensor([1, 3]), torch.tensor([0, 2])
    for step in range(12):
        if step == 5:
            part.keep(sets, kinds)
        whole.advance(1e-9)
        part.advance(1e-9)
    expected = whole.weights[sets][:, kinds]
    assert_agree(part.weights, expected)


def test_sparse_rows_equal_dense_ones():
    rng = np.random.default_rng(0)
    matrix = sparse.random_array((30, 9), density=0.2, rng=rng, format="csr")
    shift = rng.normal(size=9)
    dense = DenseRows(torch.tensor(matrix.toarray() - shift))
    thin = SparseRows(matrix, torch.tensor(shift))
    weights, scores = (
        torch.tensor(rng.normal(size=(5, 10))),
        torch.randn(5, 30).double(),
    )
    torch.testing.assert_close(thin.scores(weights), dense.scores(weights))
    torch.testing.assert_close(thin.pull_back(scores), dense.pull_back(scores))


def test_validation_is_looked_at_ever_more_rarely():
    assert check_steps(1) == [1]
    steps = check_steps(200)
    assert steps[:5] == [1, 2, 3, 4, 5]
    assert steps[-1] == 200
    assert steps == sorted(set(steps))
    assert len(steps) < 30
