"""The one training loop, what it trains, and what is known of its epochs."""

from fdgcl.training.diagnostics import effective_rank, sampled_rows
from fdgcl.training.loop import train
from fdgcl.training.process_group import (
    DistributedGroup,
    ProcessGroup,
    ProcessGroupError,
    SingleProcess,
    group_of_environment,
)
from fdgcl.training.records import (
    COLLAPSED_COSINE,
    COLLAPSED_RANK,
    EpochRecord,
    NonFiniteLossError,
    TrainingWarning,
    count_ranks,
    named_ranks,
    warn_of_collapse,
)
from fdgcl.training.trainable import Trainable

__all__ = [
    "COLLAPSED_COSINE",
    "COLLAPSED_RANK",
    "DistributedGroup",
    "EpochRecord",
    "NonFiniteLossError",
    "ProcessGroup",
    "ProcessGroupError",
    "SingleProcess",
    "Trainable",
    "TrainingWarning",
    "count_ranks",
    "effective_rank",
    "group_of_environment",
    "named_ranks",
    "sampled_rows",
    "train",
    "warn_of_collapse",
]
