"""How much each part of an embedding counts, as the graph decides it without labels.

Three things are known of a graph before anything is trained: how much neighbours tell
of a node, beside what its own features tell; along which of its edges; and how many
nodes there are for each column of the features, without which training fits noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fdgcl.methods.fdgcl.kept_blocks import AVERAGED, NEIGHBOURS
from fdgcl.operators.neighbour_information import LEAST_EXPLAINED, NeighbourInformation

#: The share of what a node's own features tell at which neighbours count half.
HALF_AT = 0.4
#: How fast that goes: with the third power, twice the share counts eight times as much.
STEEPNESS = 3
#: What neighbours count at least: the measure is blind to what no feature shows.
LEAST_WEIGHT = 0.1
#: What neighbours count at most where nothing shows that they tell of a node, though it
#: may be that the features do not show it.
NOTHING_SHOWN = 0.5
#: What a node's own features lose where neighbours tell as much.
OWN_LOSS = 0.9
#: Plain means over neighbours beside the diffused features, which hold them too.
MEANS_WEIGHT = 0.8
#: Rows for each column from which on training is trusted in full.
ROWS_PER_COLUMN = 2


@dataclass(frozen=True)
class Weighing:
    """What the weights of an embedding's parts are made of.

    Attributes:
        told: What neighbours tell; None where features were made from the edges, which
            are no evidence of anything: then own and neighbours count alike.
        trust: Of trained views, up to 1.
        edges_tell: Whether anything shows that neighbours tell of a node.

    Example:
        >>> found = Weighing(NeighbourInformation(0.3, {"neighbours": 0.12}), 1.0)
        >>> round(found.of_neighbours(), 2), round(found.of_own, 2)
        (0.58, 0.48)
        >>> [round(one, 2) for one in found.of_kept(("features", "global"))]
        [0.48, 0.58]
    """

    told: NeighbourInformation | None
    trust: float
    edges_tell: bool = True

    @classmethod
    def of(
        cls,
        told: NeighbourInformation | None,
        num_rows: int,
        num_columns: int,
        *,
        edges_tell: bool = True,
    ) -> Weighing:
        """The weights of a graph.

        Args:
            told: What neighbours tell.
            num_rows: Nodes that are trained on.
            num_columns: Columns of the features, before they are reduced.
            edges_tell: Whether anything shows that neighbours tell of a node.
        """
        enough = min(1.0, num_rows / (ROWS_PER_COLUMN * max(num_columns, 1)))
        return cls(told, math.sqrt(enough), edges_tell)

    def of_neighbours(self, kind: str = NEIGHBOURS) -> float:
        """The weight of what comes along the edges.

        Args:
            kind: Of neighbours: `out`, `in`, or both ways.
        """
        if self.told is None:
            return 1.0
        kinds = self.told.neighbours
        # A store knows its edges one way; they stand for all then.
        ratio = self.told.ratio(kind if kind in kinds else next(iter(kinds)))
        power = ratio**STEEPNESS
        told = power / (power + HALF_AT**STEEPNESS)
        weight = LEAST_WEIGHT + (1 - LEAST_WEIGHT) * told
        return weight if self.edges_tell else min(weight, NOTHING_SHOWN)

    @property
    def of_own(self) -> float:
        """The weight of a node's own features."""
        return 1.0 if self.told is None else 1 - OWN_LOSS * self.of_neighbours()

    def of_views(self, count: int) -> tuple[float, ...]:
        """The weights of views, from the most local to the most global."""
        first, last = self.of_own, self.of_neighbours()
        steps = [view / max(count - 1, 1) for view in range(count)]
        return tuple(self.trust * (first + (last - first) * one) for one in steps)

    def of_kept(self, kept: Sequence[str]) -> tuple[float, ...]:
        """The weights of the blocks beside the views."""
        own = {"features", "local"}
        return tuple(
            self.of_own
            if name in own
            else MEANS_WEIGHT * self.of_neighbours(name)
            if name in AVERAGED
            else self.of_neighbours()
            for name in kept
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        told = self.told
        return {
            "own": None if told is None else told.own,
            "neighbours": None if told is None else dict(told.neighbours),
            "trust": self.trust,
            "edges_tell": self.edges_tell,
        }

    def describe(self, kept: Sequence[str]) -> list[str]:
        """What was decided, in sentences.

        Args:
            kept: The blocks beside the views.

        Example:
            >>> found = Weighing(NeighbourInformation(0.3, {"neighbours": 0.12}), 0.5)
            >>> for sentence in found.describe(("features", "global")):
            ...     print(sentence)
            neighbours predict 12 % of a node's hidden features, its own other features 30 %: what comes along the edges weighs 0.58, the node's own features 0.48
            there are few nodes for so many features: trained views weigh 0.5 of what they would
        """  # noqa: E501
        found = []
        if self.told is not None:
            own = f"{100 * max(self.told.own, 0):.0f} %"
            parts = [
                f"{_who(kind)} predict {100 * max(share, 0):.0f} %"
                for kind, share in self.told.neighbours.items()
                # A store of one direction knows that alone, whatever is kept.
                if kind in (NEIGHBOURS, *kept) or len(self.told.neighbours) == 1
            ]
            means = [name for name in kept if name in AVERAGED and name != NEIGHBOURS]
            sides = "".join(
                f", the mean over {name}-neighbours "
                f"{MEANS_WEIGHT * self.of_neighbours(name):.2f}"
                for name in means
            )
            first, *others = parts
            also = "".join(f", {one}" for one in others)
            if not self.edges_tell:
                found.append("nothing shows that neighbours tell of a node")
            elif max(self.told.own, *self.told.neighbours.values()) < LEAST_EXPLAINED:
                found.append(
                    "the features hardly predict one another, a node's own no better "
                    "than its neighbours': what comes along the edges counts in full"
                )
            found.append(
                f"{first} of a node's hidden features{also}, its own other features "
                f"{own}: what comes along the edges weighs {self.of_neighbours():.2f}"
                f"{sides}, the node's own features {self.of_own:.2f}"
            )
        if self.trust < 1:
            found.append(
                "there are few nodes for so many features: trained views weigh "
                f"{self.trust:.2g} of what they would"
            )
        return found


def _who(kind: str) -> str:
    return "neighbours" if kind == NEIGHBOURS else f"{kind}-neighbours"
