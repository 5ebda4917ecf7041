"""The one training loop, what it watches, and its plain and fast steps."""

from fdgcl.training.loop import (
    COLLAPSED_COSINE,
    COLLAPSED_RANK,
    EpochRecord,
    NonFiniteLossError,
    TrainingWarning,
    count_ranks,
    named_ranks,
    new_optimizer,
    train,
    warn_of_collapse,
)
from fdgcl.training.team import (
    Alone,
    Processes,
    Team,
    TeamError,
    team_of_environment,
)
from fdgcl.training.watching import effective_rank, watched_rows

__all__ = [
    "COLLAPSED_COSINE",
    "COLLAPSED_RANK",
    "Alone",
    "EpochRecord",
    "NonFiniteLossError",
    "Processes",
    "Team",
    "TeamError",
    "TrainingWarning",
    "count_ranks",
    "effective_rank",
    "named_ranks",
    "new_optimizer",
    "team_of_environment",
    "train",
    "warn_of_collapse",
    "watched_rows",
]
