"""An experiment: one dataset under one set of settings, and what the paper says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fdgcl._checks import InputError
from fdgcl.estimators import estimator_of


@dataclass(frozen=True)
class PaperNumber:
    """What the paper reports: mean and standard deviation, in its own unit."""

    value: float
    std: float | None = None


@dataclass(frozen=True)
class Experiment:
    """One row, or cell, of one of the paper's tables or figures.

    Attributes:
        table: The table it belongs to.
        dataset: The dataset's name.
        variant: What distinguishes it from the table's others on that dataset.
        label: The row's name, for people.
        settings: Every setting of the model.
        options: What the table's measure needs beyond settings.
        paper: The paper's number; None where it gives none.
        paper_word: What the paper has in place of a number, such as "OOM".
        note: Where the paper is silent and something had to be chosen.
        method: Name of the method.
    """

    table: str
    dataset: str
    variant: str
    label: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    paper: PaperNumber | None = None
    paper_word: str = ""
    note: str = ""
    method: str = "fdgcl"

    @property
    def name(self) -> str:
        """As in `orders/cora-equal-1`."""
        return f"{self.table}/{self.dataset}-{self.variant}"

    def model(self, **overrides: Any) -> Any:
        """An estimator of the method with these settings, some overridden."""
        return estimator_of(self.method)(**{**self.settings, **overrides})


def with_splits(experiments: Iterable[Experiment], count: int) -> list[Experiment]:
    """The experiments on the first splits of each dataset alone.

    Args:
        experiments: Those of a table whose measure has an option `splits`.
        count: How many.

    Raises:
        InputError: It has none.
    """
    found = []
    for one in experiments:
        if "splits" not in one.options:
            message = f"`splits` is no choice in {one.table}: all splits are measured"
            raise InputError(message)
        found.append(replace(one, options={**one.options, "splits": count}))
    return found
