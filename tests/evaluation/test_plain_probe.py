"""The batched probe, against a plain one: one split, normalisation, decay at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from fdgcl.evaluation import selection
from fdgcl.evaluation.selection import Options, choose_probes
from tolerances import assert_agree

DECAYS = (1e-5, 1e-3, 1e-1)
NAMES = ("global", "row", "column")
LOOKS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 41, 51, 60)


def normalized(z: NDArray, name: str) -> NDArray:
    if name == "row":
        z = z / np.linalg.norm(z, axis=1, keepdims=True)
    z = z - z.mean(0)
    if name == "column":
        z = z / z.std(0)
    z = z / np.sqrt((z**2).sum(1).mean())
    return np.column_stack([z, np.ones(len(z))])


@dataclass
class Plain:
    """L-BFGS for one classifier, on its training rows alone, with every class."""

    rows: NDArray
    codes: NDArray
    decay: float
    classes: int
    pairs: list[tuple[NDArray, NDArray]] = field(default_factory=list)
    running: bool = True
    best: tuple[int, float, int] = (-1, 0.0, 0)  # right, -loss, step

    def __post_init__(self) -> None:
        self.weights = np.zeros((self.classes, self.rows.shape[1]))
        self.kept = self.weights
        absent = ~np.isin(np.arange(self.classes), self.codes)
        self.offsets = np.where(absent, -1e3, 0.0)

    def scores(self, rows: NDArray, weights: NDArray) -> NDArray:
        return rows @ weights.T + self.offsets

    def loss(self, weights: NDArray) -> float:
        logs = log_softmax(self.scores(self.rows, weights), axis=1)
        fit = -logs[np.arange(len(self.codes)), self.codes].mean()
        return fit + self.decay / 2 * (weights[:, :-1] ** 2).sum()

    def gradient(self) -> NDArray:
        residual = softmax(self.scores(self.rows, self.weights), axis=1)
        residual[np.arange(len(self.codes)), self.codes] -= 1
        penalty = self.decay * self.weights
        penalty[:, -1] = 0
        return residual.T @ self.rows / len(self.codes) + penalty

    def direction(self, gradient: NDArray) -> NDArray:
        if not self.pairs:
            return -2 * gradient
        result, shares = -gradient, []
        for move, turn in reversed(self.pairs):
            shares.append((move * result).sum() / (move * turn).sum())
            result = result - shares[-1] * turn
        move, turn = self.pairs[-1]
        result = result * (move * turn).sum() / (turn * turn).sum()
        for (move, turn), share in zip(self.pairs, reversed(shares), strict=True):
            result += (share - (turn * result).sum() / (move * turn).sum()) * move
        return result

    def advance(self) -> None:
        before = self.gradient()
        # A gradient of length 1e-5 is where the batched one stops as well.
        if not self.running or (before**2).sum() <= 1e-10:
            self.running = False
            return
        direction, loss = self.direction(before), self.loss(self.weights)
        for halvings in range(20):
            move = direction / 2**halvings
            allowed = loss + 1e-4 * (move * before).sum()
            if self.loss(self.weights + move) <= allowed + 1e-15 * loss:
                self.weights = self.weights + move
                self.pairs = [*self.pairs, (move, self.gradient() - before)][-5:]
                return
        self.running = False

    def look(self, rows: NDArray, codes: NDArray, step: int) -> None:
        logs = log_softmax(self.scores(rows, self.weights), axis=1)
        loss = -logs[np.arange(len(codes)), codes].mean()
        rank = (int((logs.argmax(1) == codes).sum()), -float(loss))
        if rank > self.best[:2]:
            self.best, self.kept = (*rank, step), self.weights


def give_up(paths: dict[tuple[str, float], Plain], size: int, step: int) -> None:
    if step < 25:
        return
    accuracy = {key: path.best[0] / size for key, path in paths.items()}
    leader = max(accuracy.values())
    margin = np.sqrt(leader * (1 - leader) / size)
    for (name, decay), path in paths.items():
        rival = max(accuracy[name, weaker] for weaker in DECAYS if weaker <= decay)
        top = max(accuracy[name, any_decay] for any_decay in DECAYS)
        behind = accuracy[name, decay] < rival - margin or top < leader - margin
        if behind or step > 2 * path.best[2] + 25:
            path.running = False


def plain_probe(
    z: NDArray, y: NDArray, train: NDArray, val: NDArray
) -> tuple[tuple[str, float], Plain, NDArray]:
    views = {name: normalized(z, name) for name in NAMES}
    paths = {
        (name, decay): Plain(views[name][train], y[train], decay, int(y.max()) + 1)
        for name in NAMES
        for decay in DECAYS
    }
    for step in range(LOOKS[-1] + 1):
        for (name, _), path in paths.items():
            if step:
                path.advance()
            if step in (0, *LOOKS):
                path.look(views[name][val], y[val], step)
        if step in LOOKS:
            give_up(paths, int(val.sum()), step)
    best = max(paths, key=lambda key: paths[key].best[:2])
    path = paths[best]
    return best, path, path.scores(views[best[0]], path.kept).argmax(1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("limit", [None, "_BATCH_ENTRIES"])
def test_the_batched_probe_equals_the_plain_one(monkeypatch, classes, limit):
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 240)
    z = rng.normal(size=(classes, 12))[y] + 1.5 * rng.normal(size=(240, 12)) + 0.5
    order = rng.random((3, 240))
    train, val = order < 0.4, (order >= 0.4) & (order < 0.7)
    train[0, y == classes - 1] &= classes == 2  # one split lacks the last of several
    if limit is not None:
        monkeypatch.setattr(selection, limit, 1)
    options = Options(DECAYS, NAMES, LOOKS[-1], torch.device("cpu"))
    visible = np.where(train | val, y, -1)
    found = choose_probes(torch.tensor(z), visible, train, val, options)
    for split, choice in enumerate(found):
        (name, decay), path, codes = plain_probe(z, y, train[split], val[split])
        assert (choice.normalization, choice.weight_decay) == (name, decay)
        assert (choice.share, choice.step) == (
            path.best[0] / val[split].sum(),
            path.best[2],
        )
        assert_agree(choice.loss, -path.best[1])
        np.testing.assert_array_equal(choice.predictions, codes)
