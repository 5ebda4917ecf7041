"""What is known of an epoch, and what there is to warn of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from fdgcl._notices import FdgclWarning, warn

COLLAPSED_RANK = 1.5
COLLAPSED_COSINE = 0.98
_RANK = "effective_rank_"


class TrainingWarning(FdgclWarning):
    """Something about a run that its user should know."""


class NonFiniteLossError(RuntimeError):
    """The loss left the finite numbers; the last good weights are kept."""


@dataclass(frozen=True)
class EpochRecord:
    """What is known of one epoch, measured before its update.

    Attributes:
        epoch: From 1.
        loss: The loss, mean over the batches.
        alignment: Mean cosine between two views of a node, over the pairs compared.
        principal_cosine: |cosine| of two views' first principal directions, likewise.
        effective_ranks: Of each view, the participation ratio of its directions.
        seconds: Wall-clock time of the epoch.
    """

    epoch: int
    loss: float
    alignment: float
    principal_cosine: float
    effective_ranks: tuple[float, ...]
    seconds: float

    def to_dict(self) -> dict[str, float]:
        """As plain numbers for JSON: of the first view, `effective_rank_1`."""
        values = asdict(self)
        seconds, ranks = values.pop("seconds"), values.pop("effective_ranks")
        return {**values, **named_ranks(ranks), "seconds": seconds}

    @classmethod
    def from_dict(cls, values: Mapping[str, float]) -> Self:
        """Read what `to_dict` gave.

        Raises:
            TypeError: Something is missing, or unknown.
        """
        others = {k: v for k, v in values.items() if not k.startswith(_RANK)}
        ranks = tuple(values[f"{_RANK}{n}"] for n in count_ranks(values))
        return cls(**others, effective_ranks=ranks)  # type: ignore[arg-type]


def named_ranks(ranks: Sequence[float]) -> dict[str, float]:
    """The effective ranks of views by their names: `effective_rank_1`, ..."""
    return {f"{_RANK}{number}": rank for number, rank in enumerate(ranks, start=1)}


def count_ranks(values: Mapping[str, Any]) -> range:
    """The numbers of the views whose effective ranks are there, from 1."""
    count = 0
    while f"{_RANK}{count + 1}" in values:
        count += 1
    return range(1, count + 1)


def warn_of_collapse(record: EpochRecord) -> bool:
    """Warn, and return whether it did, when the views have become one direction."""
    rank = min(record.effective_ranks)
    if rank >= COLLAPSED_RANK or record.alignment < COLLAPSED_COSINE:
        return False
    message = (
        f"the views have collapsed by epoch {record.epoch}: effective rank {rank:.2f}, "
        f"cosine between the views {record.alignment:.3f}; try standardize=True, fewer "
        "epochs, a smaller lr, a larger eta, or loss='barlow-twins' or 'vicreg'"
    )
    warn(message, TrainingWarning)
    return True
