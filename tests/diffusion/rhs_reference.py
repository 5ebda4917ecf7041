"""Every right-hand side once more, as loops over nodes and edges in NumPy.

`REFERENCES[name](options, parameters, A, x, rate)` gives the initial state, F(t, state)
and the readout, from the formula in the dynamics' docstring and nothing else. A is a
dense matrix; an edge is an entry of it that is not zero.
"""

from __future__ import annotations

import math

import numpy as np


def neighbours(a, i):
    return [j for j in range(len(a)) if a[i, j] != 0]


def laplacian(a, z):
    """(I - A) z, entry by entry."""
    out = np.zeros_like(z)
    for i in range(len(a)):
        for c in range(z.shape[1]):
            out[i, c] = z[i, c] - sum(a[i, j] * z[j, c] for j in neighbours(a, i))
    return out


def attention(a, x, query, key, heads):
    """Row-stochastic weights on the edges of A, averaged over the heads."""
    width = len(query) // heads
    weights = np.zeros_like(a)
    for i in range(len(a)):
        near = neighbours(a, i)
        for head in range(heads):
            rows = slice(head * width, (head + 1) * width)
            scores = [
                float((query[rows] @ x[i]) @ (key[rows] @ x[j])) / math.sqrt(width)
                for j in near
            ]
            powers = [math.exp(score) for score in scores]
            for j, power in zip(near, powers, strict=True):
                weights[i, j] += power / sum(powers) / heads
    return weights


def same(state):
    return state


def grand(options, parameters, a, x, rate):
    return x, lambda t, z: -rate * laplacian(a, z), same


def grand_attention(options, parameters, a, x, rate):
    heads = options["heads"]
    found = attention(
        a, x, parameters["attention.query"], parameters["attention.key"], heads
    )
    return x, lambda t, z: rate * (found @ z - z), same


def grand_nonlinear(options, parameters, a, x, rate):
    query, key = parameters["attention.query"], parameters["attention.key"]

    def f(t, z):
        return rate * (attention(a, z, query, key, options["heads"]) @ z - z)

    return x, f, same


def graphcon(options, parameters, a, x, rate):
    couple = {
        "linear": lambda v: v,
        "tanh": math.tanh,
        "relu": lambda v: max(v, 0.0),
    }[options["coupling"]]

    def f(t, state):
        z, y = state
        out = np.zeros_like(state)
        for i in range(len(a)):
            for c in range(z.shape[1]):
                pull = couple(sum(a[i, j] * z[j, c] for j in neighbours(a, i)))
                force = pull - options["gamma"] * z[i, c] - options["nu"] * y[i, c]
                out[0, i, c] = rate * y[i, c]
                out[1, i, c] = rate * force
        return out

    return np.stack([x, x]), f, lambda state: state[0]


def cde(options, parameters, a, x, rate):
    matrix = parameters["matrix"]
    speed = {
        "tanh": np.tanh,
        "relu": lambda v: np.maximum(v, 0),
        "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
    }[options["velocity"]]

    def f(t, z):
        out = -laplacian(a, z)
        for i in range(len(a)):
            for j in neighbours(a, i):
                velocity = speed(matrix @ (z[j] - z[i]))
                out[i] += options["convection"] * a[i, j] * velocity * z[j]
        return rate * out

    return x, f, same


def gread(options, parameters, a, x, rate):
    fixed = options["gamma"], options["nu"]
    gamma, nu = parameters["weights"] if options["trained"] else fixed
    reaction = {
        "blurring-sharpening": lambda z: a @ laplacian(a, z),
        "source": lambda z: x,
        "fisher": lambda z: z * (1 - z),
        "allen-cahn": lambda z: z * (1 - z**2),
        "zeldovich": lambda z: z**2 * (1 - z),
    }[options["reaction"]]
    return x, lambda t, z: rate * (-gamma * laplacian(a, z) + nu * reaction(z)), same


REFERENCES = {
    "grand": grand,
    "grand-attention": grand_attention,
    "grand-nonlinear": grand_nonlinear,
    "graphcon": graphcon,
    "cde": cde,
    "gread": gread,
}
