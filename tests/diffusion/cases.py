"""Small graphs, the paper's settings and reference schemes that the tests share."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.special import binom

from fdgcl.diffusion import SOLVERS
from fdgcl.diffusion.solvers import SteppingScheme

ORDERS = (0.1, 0.3, 0.6, 0.9, 1.0)
STEPPING = [
    name for name, solver in SOLVERS.items() if isinstance(solver, SteppingScheme)
]

# Time, step and first order of the paper's table; its second order is always 1.
PAPER = {
    "cora": (20, 1, 0.01),
    "citeseer": (6, 0.4, 0.08),
    "pubmed": (3, 0.5, 0.75),
    "computers": (3, 0.5, 0.94),
    "photo": (3, 0.5, 0.9),
    "arxiv": (30, 3, 0.01),
    "squirrel": (40, 5, 0.9),
    "chameleon": (30, 5, 0.9),
    "crocodile": (20, 2, 0.1),
    "actor": (1.5, 0.15, 0.01),
    "wisconsin": (20, 2, 0.01),
    "cornell": (20, 2, 0.01),
    "texas": (30, 10, 0.01),
    "roman": (2, 1.5, 0.001),
    "arxiv-year": (2, 1, 0.99),
}


def relative(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Norm of the difference over the norm of what was expected."""
    found, expected = found.detach().double(), expected.detach().double()
    norm = torch.linalg.vector_norm
    return float(norm(found - expected) / norm(expected))


def noise(rows: int, columns: int = 2, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(rows, columns)))


def from_pairs(pairs, nodes, weights=None, *, both=True) -> csr_array:
    """An adjacency from pairs of nodes, in both directions unless told."""
    dense = np.zeros((nodes, nodes))
    values = np.ones(len(pairs)) if weights is None else weights
    for (i, j), weight in zip(pairs, values, strict=True):
        dense[i, j] = weight
        if both:
            dense[j, i] = weight
    return csr_array(dense)


def random_directed(nodes: int = 300, degree: int = 6, seed: int = 0) -> csr_array:
    """Weighted, directed, far from normal: a few nodes draw most of the edges."""
    rng = np.random.default_rng(seed)
    start = np.repeat(np.arange(nodes), degree)
    end = (nodes * rng.random(len(start)) ** 2).astype(int)
    weight = rng.uniform(0.5, 2.0, len(start))
    dense = np.zeros((nodes, nodes))
    dense[start, end] = weight
    return csr_array(dense)


def random_symmetric(nodes: int = 60, seed: int = 0) -> csr_array:
    """Weighted and undirected."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < 4 / nodes, 1)
    upper = upper * rng.uniform(0.5, 2.0, upper.shape)
    return csr_array(upper + upper.T)


SYMMETRIC_GRAPHS = {
    "single edge": from_pairs([(0, 1)], 2),
    "ring": from_pairs([(i, (i + 1) % 9) for i in range(9)], 9),
    "star": from_pairs([(0, i) for i in range(1, 8)], 8),
    "two parts and a lone node": from_pairs([(0, 1), (1, 2), (3, 4)], 6),
    "weighted": random_symmetric(20),
}
DIRECTED_GRAPHS = {
    "one way": from_pairs([(0, 1)], 2, both=False),
    "directed ring": from_pairs([(i, (i + 1) % 7) for i in range(7)], 7, both=False),
    "directed star": from_pairs([(i, 0) for i in range(1, 6)], 6, both=False),
    "weighted and directed": random_directed(25, 3),
}
GRAPHS = SYMMETRIC_GRAPHS | DIRECTED_GRAPHS


# The schemes once more, as plain loops straight from their formulas. Each returns
# y_0, ..., y_n of D^a y = f(t, y).


def predictor(f, y0, a, h, n):
    y = [y0]
    for k in range(n):
        total = 0.0
        for j in range(k + 1):
            total += ((k + 1 - j) ** a - (k - j) ** a) * f(j * h, y[j])
        y.append(y0 + h**a / math.gamma(a + 1) * total)
    return y


def corrector(f, y0, a, h, n):
    y = [y0]
    for k in range(n):
        total = (k ** (a + 1) - (k - a) * (k + 1) ** a) * f(0.0, y0)
        ahead = ((k + 1) ** a - k**a) * f(0.0, y0)
        for j in range(1, k + 1):
            m = k - j
            weight = (m + 2) ** (a + 1) + m ** (a + 1) - 2 * (m + 1) ** (a + 1)
            total += weight * f(j * h, y[j])
            ahead += ((m + 1) ** a - m**a) * f(j * h, y[j])
        predicted = y0 + h**a / math.gamma(a + 1) * ahead
        total += f((k + 1) * h, predicted)
        y.append(y0 + h**a / math.gamma(a + 2) * total)
    return y


def l1(f, y0, a, h, n):
    def b(m):
        return float(m == 0) if a == 1 else (m + 1) ** (1 - a) - m ** (1 - a)

    y = [y0]
    for k in range(n):
        ahead = y[k] + math.gamma(2 - a) * h**a * f(k * h, y[k])
        for m in range(1, k + 1):
            ahead -= b(m) * (y[k + 1 - m] - y[k - m])
        y.append(ahead)
    return y


def gl(f, y0, a, h, n):
    y = [y0]
    for k in range(n):
        ahead = y0 + h**a * f(k * h, y[k])
        for m in range(1, k + 2):
            ahead -= (-1) ** m * binom(a, m) * (y[k + 1 - m] - y0)
        y.append(ahead)
    return y


REFERENCE_SCHEMES = {"predictor": predictor, "corrector": corrector, "l1": l1, "gl": gl}
