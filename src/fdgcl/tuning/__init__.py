"""Searching settings by validation accuracy; nothing here is told of test nodes."""

from fdgcl.choosing.problem import Problem
from fdgcl.tuning.files import settings_text, write_settings
from fdgcl.tuning.search import Budget, NoTrialError
from fdgcl.tuning.space import Space
from fdgcl.tuning.spacefile import SPACES, load_space
from fdgcl.tuning.storage import require_optuna
from fdgcl.tuning.tune import Tuned, tune

__all__ = [
    "SPACES",
    "Budget",
    "NoTrialError",
    "Problem",
    "Space",
    "Tuned",
    "load_space",
    "require_optuna",
    "settings_text",
    "tune",
    "write_settings",
]
