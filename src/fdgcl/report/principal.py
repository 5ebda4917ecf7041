"""How many directions an embedding really uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fdgcl.report.page import Figure, Section, Series, Text

SHOWN = 200  # components drawn
ROUNDING = 1e-12  # a share of the variance that is only rounding
ALL_COMPONENTS = 2048  # sizes up to which all of them are computed

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Principal:
    """The principal components of some rows.

    Attributes:
        shares: Of the variance, the first and largest components'.
        effective_rank: Participation ratio of all of them: the number of equal ones
            with the same spread.
    """

    shares: Floats
    effective_rank: float


def principal(rows: NDArray[np.floating]) -> Principal:
    """Find the largest principal components and the effective rank.

    The first components of large matrices are found by a random projection; the
    effective rank needs none.
    """
    centred = np.asarray(rows, np.float64) - np.mean(rows, axis=0, dtype=np.float64)
    tall = centred.shape[0] >= centred.shape[1]
    gram = centred.T @ centred if tall else centred @ centred.T
    total = float(np.trace(gram))
    if total <= 0:
        return Principal(np.zeros(0), 0.0)
    rank = total**2 / float(np.sum(gram**2))
    if len(gram) <= ALL_COMPONENTS:
        values = np.linalg.eigvalsh(gram)[::-1]
    else:
        from sklearn.utils.extmath import randomized_svd

        values = randomized_svd(gram, SHOWN, random_state=0)[1]
    shares = values[:SHOWN] / total
    return Principal(np.asarray(shares[shares > ROUNDING], np.float64), rank)


def principal_section(found: Mapping[str, Principal], sampled: str = "") -> Section:
    """How the variance of each matrix spreads over its principal components.

    Args:
        found: The components by what they are of.
        sampled: A sentence on which rows were taken, if not all.
    """
    single, summed = [], []
    for index, (name, one) in enumerate(found.items()):
        places = list(range(1, len(one.shares) + 1))
        single.append(Series(name, places, one.shares.tolist(), color=index))
        total = np.cumsum(one.shares).tolist()
        summed.append(Series(name, places, total, color=index))
    ranks = ", ".join(
        f"{one.effective_rank:.1f} ({name})" for name, one in found.items()
    )
    text = (
        f"Effective ranks: {ranks}. That is the number of equally strong "
        "directions with the same spread of variance; near 1 everything lies along "
        "one direction."
    )
    return Section(
        "Principal components",
        [
            Text(f"{text} {sampled}".strip()),
            Figure(
                "variance",
                "Variance along each principal component",
                single,
                x_label="component",
                y_label="share of the variance",
                caption="A steep fall means that few directions carry the embedding.",
                log_x=True,
                log_y=True,
            ),
            Figure(
                "cumulative-variance",
                "Variance along the first components together",
                summed,
                x_label="components",
                y_label="share of the variance",
                caption="Principal components of the centred rows, largest first.",
                log_x=True,
            ),
        ],
    )
