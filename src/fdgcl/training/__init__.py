"""The one training loop, what it watches, and its plain and fast steps."""

from fdgcl.training.loop import (
    EpochRecord,
    NonFiniteLossError,
    TrainingWarning,
    new_optimizer,
    train,
    warn_of_collapse,
)
from fdgcl.training.watching import effective_rank, watched_rows

__all__ = [
    "EpochRecord",
    "NonFiniteLossError",
    "TrainingWarning",
    "effective_rank",
    "new_optimizer",
    "train",
    "warn_of_collapse",
    "watched_rows",
]
