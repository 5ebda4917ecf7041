"""Cells and bars that all accuracy tables share."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from fdgcl.experiments.measures.scores import Scores
from fdgcl.report.page import Mark, Series

NO_RESULT = "no result"
UNIT = "test accuracy in %"


def validation(scores: Scores | None) -> str:
    """The mean on the validation nodes; nothing where there are no scores."""
    return "" if scores is None else f"{100 * fmean(scores.val):.2f}"


def bars(
    name: str,
    values: Sequence[tuple[str, float, float]],
    *,
    mark: Mark = "bar",
    color: int | None = None,
) -> Series:
    """Bars, or points, with whiskers from (label, mean, standard deviation)."""
    return Series(
        name,
        [label for label, _, _ in values],
        [mean for _, mean, _ in values],
        mark=mark,
        error=[std for _, _, std in values],
        dashed=name == "paper",
        color=color,
    )


def cost_cells(scores: Scores | None) -> list[str]:
    """Training, probe and peak memory of a trained embedding, in words."""
    if scores is None:
        return ["", "", ""]
    memory = scores.memory_mib
    if scores.gpu_memory_mib is not None:
        memory = scores.gpu_memory_mib
    return [
        f"{scores.train_seconds:.1f} s",
        f"{scores.probe_seconds:.1f} s",
        f"{memory:,.0f} MiB",
    ]
