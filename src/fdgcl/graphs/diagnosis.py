"""Graphs and features whose embedding would mean little, found before training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.graphs.moments import ColumnMoments

#: Share of all variance above which one column outweighs the others: with it, the
#: effective ranks of both views fall below 1.5.
DOMINATING = 0.99
#: Share above which one column alone decides how alike linked nodes are.
OUTWEIGHING = 0.5


@dataclass(frozen=True)
class FeatureFindings:
    """The variances of the columns, as the model sees the features.

    Attributes:
        columns: How many there are.
        varying: How many are not the same for all nodes.
        largest: The one with the largest variance, counted from 0.
        share: Its share of the variance of all of them.
        name: What it is called, if columns have names.
    """

    columns: int
    varying: int
    largest: int
    share: float
    name: str | None

    @classmethod
    def of(cls, moments: ColumnMoments, names: Sequence[str] | None) -> Self:
        """Look at the statistics of all columns."""
        variances = moments.variances
        largest = int(np.argmax(variances))
        total = float(variances.sum())
        return cls(
            len(variances),
            int(np.count_nonzero(variances)),
            largest,
            float(variances[largest]) / total if total else 0.0,
            None if names is None else str(names[largest]),
        )

    @property
    def is_dominated(self) -> bool:
        """Whether one column has nearly all variance, and others vary too."""
        return self.varying > 1 and self.share >= DOMINATING

    @property
    def outweighing(self) -> int | None:
        """The column that has more variance than all others together, if one does."""
        return self.largest if self.varying > 1 and self.share > OUTWEIGHING else None

    @property
    def cause(self) -> str | None:
        """Why views of these features have few directions; None for no such reason."""
        if self.varying == 0:
            return "the features are the same for every node"
        if self.varying == 1:
            return f"{self._column} of the features is the only one that varies"
        if self.is_dominated:
            held = f"{100 * self.share:.6g}"
            return (
                f"{self._column} of the features has {held} % of the variance of all "
                f"{self.columns:,} columns"
            )
        return None

    @property
    def warning(self) -> str | None:
        """What to warn of before training; None if nothing."""
        if self.varying == 0:
            return (
                f"{self.cause}, so that the embedding can show only their degrees: "
                "leave them out, and features are made from the edges"
            )
        if self.is_dominated:
            return (
                f"{self.cause}, so that the embedding shows little else: scale the "
                'columns with feature_scaling="columns", or leave that one out'
            )
        return None

    @property
    def _column(self) -> str:
        if self.name is not None:
            return f"column {self.name!r}"
        return f"column {self.largest} (counted from 0)"

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)


def examine_features(
    moments: ColumnMoments, names: Sequence[str] | None, scaling: str
) -> FeatureFindings:
    """Look at features to be trained on.

    Args:
        moments: Of their columns, scaled.
        names: Of the columns, if there are any.
        scaling: How they were scaled.

    Raises:
        InputError: There is nothing in them.
    """
    if moments.are_zero and scaling == "columns":
        message = (
            "the features are the same for every node, and feature_scaling 'columns' "
            "leaves nothing of them: leave them out, and features are made from the "
            "edges"
        )
        raise InputError(message)
    if moments.are_zero:
        message = (
            "all features are 0, and the embedding would be, too: leave them out, and "
            "features are made from the edges"
        )
        raise InputError(message)
    return FeatureFindings.of(moments, names)


def check_edges(adjacency: csr_array) -> None:
    """Refuse a graph without an edge between two nodes.

    Raises:
        InputError: All edges are self-loops.
    """
    if adjacency.nnz == np.count_nonzero(adjacency.diagonal()):
        message = (
            f"all {adjacency.nnz:,} edges are self-loops, and no node is linked to "
            "another: there is nothing to learn from such a graph"
        )
        raise InputError(message)
