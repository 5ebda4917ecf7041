"""The rates of `fdgcl.planning.cost`, fitted to measured runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.optimize import nnls

from fdgcl._checks import InputError
from fdgcl.planning.cost import (
    RATES,
    Problem,
    Rates,
    diffuse_work,
    embed_work,
    import_work,
    total,
    train_work,
)

#: The commands that are measured, by which a fit knows what was done.
STAGES = ("import", "diffuse", "train")
#: From parts timed alone on two cores: a product of a hundred million entries takes
#: 1.0 s with 8 columns and 1.8 s with 32; sorting, 13 ns a number; a checksum, 2 GB/s.
#: A fit stays near them where the runs do not tell rates apart.
GUESSES = Rates(
    import_start=3.0,
    diffuse_start=3.0,
    train_start=5.0,
    edge=2e-7,
    feature=1e-8,
    spectrum=2e-7,
    entry=8e-9,
    entry_column=3e-10,
    term=5e-10,
    diffused=5e-9,
    multiply_add=1e-11,
    row=5e-9,
    embedded=1e-8,
)
#: By how much: a rate at nothing or at twice its guess counts as much as an error of
#: 10 % in one stage, which is how far repeated runs are apart.
_PULL = 0.1
#: Starting a command takes half a second more or less from time to time, as 10 % of
#: this do.
_JITTER_SECONDS = 5.0


@dataclass(frozen=True)
class Measurement:
    """What the commands took, by stage of `STAGES`, on a problem."""

    problem: Problem
    seconds: Mapping[str, float]


def fit_rates(measurements: Iterable[Measurement]) -> Rates:
    """Find the rates that explain measured runs best.

    By least squares of the relative errors, so that a minute counts as much as an
    hour, and a few seconds for less; no rate comes out negative. Where the runs do
    not tell rates apart, those nearest to `GUESSES` are taken.

    Raises:
        InputError: Nothing was measured.
    """
    rows = [
        (stage_work(measured.problem, stage), seconds)
        for measured in measurements
        for stage, seconds in measured.seconds.items()
    ]
    if not rows:
        message = "no measured runs to fit rates to: at least one is needed"
        raise InputError(message)
    names = [field.name for field in fields(Rates)]
    work = np.array([[amounts.get(name, 0.0) for name in names] for amounts, _ in rows])
    seconds = np.array([taken for _, taken in rows])
    if not (np.isfinite(seconds).all() and (seconds > 0).all()):
        message = "measured seconds must be positive numbers"
        raise InputError(message)
    guess = np.array([getattr(GUESSES, name) for name in names])
    # In units of the guesses, so that all unknowns are of one size.
    scale = 1 / (seconds + _JITTER_SECONDS)
    relative = np.vstack([work * guess * scale[:, None], _PULL * np.eye(len(names))])
    wanted = np.concatenate([seconds * scale, np.full(len(names), _PULL)])
    found, _ = nnls(relative, wanted)
    return Rates(**dict(zip(names, (found * guess).tolist(), strict=True)))


def residuals(
    measurements: Sequence[Measurement], rates: Rates = RATES
) -> list[dict[str, float]]:
    """By stage, how far predicted seconds are from measured ones: 0.1 is 10 % above."""
    return [
        {
            stage: stage_seconds(measured.problem, stage, rates=rates) / seconds - 1
            for stage, seconds in measured.seconds.items()
        }
        for measured in measurements
    ]


def stage_seconds(problem: Problem, stage: str, *, rates: Rates = RATES) -> float:
    """Seconds of a whole command, by its stage of `STAGES`."""
    return total(stage_work(problem, stage), rates)


def stage_work(problem: Problem, stage: str) -> dict[str, float]:
    """Amounts of work of a whole command, by the names of `Rates`.

    Args:
        problem: The sizes.
        stage: One of `STAGES`.

    Raises:
        InputError: There is no such stage.
    """
    p = problem
    if stage == "import":
        return import_work(p.edges, p.nodes, p.features)
    if stage == "diffuse":
        return diffuse_work(
            p.nodes, p.entries, p.features, p.columns, p.products, p.orders
        )
    if stage == "train":
        work = train_work(p.nodes, p.features, p.dim, p.epochs)
        for name, amount in embed_work(p.nodes, p.features, p.dim).items():
            work[name] = work.get(name, 0.0) + amount
        return work
    message = f"unknown stage {stage!r} (known: {', '.join(STAGES)})"
    raise InputError(message)
