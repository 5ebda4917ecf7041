"""What is tuned on: a graph without labels, and the labels a choice may use."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError
from fdgcl.graphs import Graph
from fdgcl.graphs.fingerprint import fingerprint

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
GROUP = 5  # splits that are probed together


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph, and for each split the labels of its training and validation nodes.

    There is no field for test nodes, and a test label has no place: what makes a
    problem of a graph erases them, split by split.

    Attributes:
        graph: Edges and features; no labels, no splits.
        labels: Class codes, (splits, nodes), -1 for all but the split's training and
            validation nodes.
        train: Training nodes, (splits, nodes).
        val: Validation nodes, (splits, nodes).
        splits: What the splits are called.
    """

    graph: Graph
    labels: Ints
    train: Bools
    val: Bools
    splits: str

    def __post_init__(self) -> None:
        assert self.graph.y is None
        assert self.graph.splits is None
        assert (self.labels[~(self.train | self.val)] == -1).all()

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Take what tuning may see of a graph.

        Raises:
            InputError: It has no labels, no splits, or no validation nodes.
        """
        if graph.y is None or graph.splits is None:
            lacking = "labels" if graph.y is None else "splits"
            message = (
                f"tuning needs labels and splits, and {graph.name} has no {lacking}"
            )
            raise InputError(message)
        train, val = graph.splits.train, graph.splits.val
        empty = np.flatnonzero(~val.any(axis=1))
        if len(empty):
            message = (
                f"split {empty[0]} of {graph.name} has no validation nodes; tuning "
                "chooses by them"
            )
            raise InputError(message)
        used = train | val
        labels = np.where(used, graph.y, -1)
        if (labels[used] < 0).any():
            message = f"{graph.name} has training or validation nodes without a label"
            raise InputError(message)
        bare = replace(graph, y=None, splits=None, class_names=None)
        return cls(bare, labels, train, val, graph.splits.name)

    @property
    def num_splits(self) -> int:
        """Number of splits."""
        return len(self.train)

    def groups(self) -> list[slice]:
        """The splits in groups that are probed together."""
        starts = range(0, self.num_splits, GROUP)
        return [slice(start, min(start + GROUP, self.num_splits)) for start in starts]

    def fingerprint(self) -> str:
        """A short hash of all of it."""
        digest = hashlib.blake2b(fingerprint(self.graph).encode(), digest_size=16)
        for part in (self.labels, self.train, self.val):
            digest.update(np.ascontiguousarray(part).data.cast("B"))
        return digest.hexdigest()
