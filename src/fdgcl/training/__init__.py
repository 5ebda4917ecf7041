"""The one training loop, what it watches, and its plain and fast steps."""

from fdgcl.training.diagnostics import effective_rank, sampled_rows
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
from fdgcl.training.process_group import (
    DistributedGroup,
    ProcessGroup,
    ProcessGroupError,
    SingleProcess,
    group_of_environment,
)

__all__ = [
    "COLLAPSED_COSINE",
    "COLLAPSED_RANK",
    "DistributedGroup",
    "EpochRecord",
    "NonFiniteLossError",
    "ProcessGroup",
    "ProcessGroupError",
    "SingleProcess",
    "TrainingWarning",
    "count_ranks",
    "effective_rank",
    "group_of_environment",
    "named_ranks",
    "new_optimizer",
    "sampled_rows",
    "train",
    "warn_of_collapse",
]
