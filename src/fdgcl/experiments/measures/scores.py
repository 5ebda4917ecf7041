"""Accuracies over seeds and splits, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from fdgcl.report import numerals


@dataclass(frozen=True)
class Scores:
    """Accuracies in [0, 1] of one embedding over seeds and splits, and what they took.

    Attributes:
        test: One per seed and split.
        val: The same on the validation nodes.
        seeds: How many seeds there are.
        train_seconds: Mean time to embed.
        probe_seconds: Mean time to probe.
        memory_mib: Highest memory of a unit.
        gpu_memory_mib: The same on the GPU; None without one.
    """

    test: tuple[float, ...]
    val: tuple[float, ...]
    seeds: int
    train_seconds: float
    probe_seconds: float
    memory_mib: float
    gpu_memory_mib: float | None

    @classmethod
    def of(cls, records: Sequence[dict[str, Any]]) -> Scores:
        """Collect records, one per seed and split; there must be some."""
        gpu = [r["peak_gpu_memory_mib"] for r in records if "peak_gpu_memory_mib" in r]
        return cls(
            test=tuple(float(record["test"]) for record in records),
            val=tuple(float(record["val"]) for record in records),
            seeds=len({record["seed"] for record in records}),
            train_seconds=fmean(record["train_seconds"] for record in records),
            probe_seconds=fmean(record["probe_seconds"] for record in records),
            memory_mib=max(record["peak_memory_mib"] for record in records),
            gpu_memory_mib=max(gpu, default=None),
        )

    @property
    def mean(self) -> float:
        """Mean test accuracy in percent."""
        return 100 * fmean(self.test)

    @property
    def std(self) -> float:
        """Standard deviation of the test accuracy over seeds and splits, in percent."""
        return 100 * pstdev(self.test)

    def __str__(self) -> str:
        return percent(self.test)


def percent(values: Sequence[float]) -> str:
    """Return mean and standard deviation in percent, as `83.76 ± 0.41`."""
    return numerals.percent(fmean(values), pstdev(values) if len(values) > 1 else None)


def collect(records: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Scores]:
    """Return the scores of every experiment and part that there are records of."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        key = record["experiment"], record["part"]
        groups.setdefault(key, []).append(record)
    return {key: Scores.of(group) for key, group in groups.items()}
