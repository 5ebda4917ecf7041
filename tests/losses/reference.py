"""The losses as plain loops over Python floats, straight from their formulas."""

from __future__ import annotations

import math

import numpy as np


def dot(a, b):
    return sum(float(p) * float(q) for p, q in zip(a, b, strict=True))


def columns(z):
    return [[float(row[j]) for row in z] for j in range(len(z[0]))]


def moments(values):
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / len(values)


def covariance(a, b):
    mean_a, mean_b = moments(a)[0], moments(b)[0]
    return sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b, strict=True)) / len(a)


def cosmean(z1, z2):
    total = 0.0
    for a, b in zip(z1, z2, strict=True):
        norms = math.sqrt(dot(a, a)) * math.sqrt(dot(b, b))
        total += dot(a, b) / norms if norms else 0.0
    return 1 - total / len(z1)


def top_direction(z):
    return np.linalg.svd(z - z.mean(0), full_matrices=False)[2][0]


def regularized_cosmean(z1, z2, eta=0.15):
    return cosmean(z1, z2) + eta * abs(dot(top_direction(z1), top_direction(z2)))


def euclidean(z1, z2):
    return sum(dot(a - b, a - b) for a, b in zip(z1, z2, strict=True)) / len(z1)


def barlow_twins(z1, z2, redundancy=0.0051):
    total = 0.0
    for i, a in enumerate(columns(z1)):
        for j, b in enumerate(columns(z2)):
            scale = math.sqrt(moments(a)[1] * moments(b)[1])
            c = covariance(a, b) / scale if scale else 0.0
            total += (1 - c) ** 2 if i == j else redundancy * c**2
    return total


def vicreg(z1, z2, weights=(25.0, 25.0, 1.0)):
    dim = len(z1[0])
    hinge = redundancy = 0.0
    for z in (z1, z2):
        for i, a in enumerate(columns(z)):
            hinge += max(0.0, 1 - math.sqrt(moments(a)[1] + 1e-4)) / dim
            for j, b in enumerate(columns(z)):
                redundancy += covariance(a, b) ** 2 / dim if i != j else 0.0
    return weights[0] * euclidean(z1, z2) + weights[1] * hinge + weights[2] * redundancy


REFERENCES = {
    "regularized-cosmean": regularized_cosmean,
    "cosmean": cosmean,
    "euclidean": euclidean,
    "barlow-twins": barlow_twins,
    "vicreg": vicreg,
}
