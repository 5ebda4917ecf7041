"""The page on tuning: how the search went, and what each setting did."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from fdgcl.report.page import Figure, Page, Section, Series, Table
from fdgcl.tuning.ranges import Choices
from fdgcl.workflows.tuned import TunedSettings, changes, plus_minus

if TYPE_CHECKING:
    from fdgcl.tuning import Tuned
    from fdgcl.tuning.records import Record
    from fdgcl.tuning.space import Dimension

_SCORE = "validation accuracy, %"
_GREY = -1


def tune_page(outcome: TunedSettings) -> Page:
    """Describe what tuning found."""
    found, best = outcome.found, outcome.found.best
    scored = [one for one in found.records if one.value is not None]
    dimensions = sorted(
        found.plan.space.dimensions,
        key=lambda one: -found.importances.get(one.name, 0.0),
    )
    settings = [
        _against(one, place, scored, found.start)
        for place, one in enumerate(dimensions)
    ]
    return Page(
        title=f"Tuning {outcome.title} on {outcome.problem.graph.name}",
        summary=(
            f"Trial {best.record.number} is taken: validation accuracy "
            f"{plus_minus(best.mean, best.error)} %. Nothing here was measured on test "
            "nodes."
        ),
        sections=[
            Section("The best trials", [_table(found)]),
            Section("How the search went", [_progress(scored, found.start)]),
            Section("What each setting did", settings),
        ],
        facts=outcome.facts(),
    )


def _table(found: Tuned) -> Table:
    rows = [
        (
            str(one.record.number),
            plus_minus(one.record.value or 0.0, one.record.error),
            plus_minus(one.mean, one.error) if one.fresh else "",
            f"{100 * one.around:.1f}" if one.around is not None else "",
            changes(one.record, found.start),
        )
        for one in found.standings
    ]
    return Table(
        ("trial", "search", "fresh seeds", "around", "differs from the start by"),
        rows,
        caption=(
            "Validation accuracy in %, mean ± standard error. Around is the mean of "
            "the trials nearest in the space: of trials that fresh seeds cannot tell "
            "apart, the one with the best neighbours is taken."
        ),
        strong=frozenset((0, column) for column in range(5)),
    )


def _progress(scored: list[Record], start: dict[str, Any]) -> Figure:
    values = [100 * (one.value or 0.0) for one in scored]
    complete = [
        value if one.state == "complete" else 0.0
        for one, value in zip(scored, values, strict=True)
    ]
    numbers = [float(one.number) for one in scored]
    first = next((place for place, value in enumerate(complete) if value), 0)
    return Figure(
        name="progress",
        title="Best so far",
        series=[
            *_clouds(scored, numbers, start),
            Series(
                "best so far",
                numbers[first:],
                list(accumulate(complete[first:], max)),
                mark="step",
                color=1,
            ),
        ],
        x_label="trial",
        y_label=_SCORE,
        caption=(
            "A trial that was stopped early shows its mean up to there. The best of "
            "many is partly luck: what counts is the comparison with fresh seeds."
        ),
    )


def _against(
    one: Dimension, place: int, scored: list[Record], start: dict[str, Any]
) -> Figure:
    having = [record for record in scored if record.values.get(one.name) is not None]
    named = isinstance(one.allowed, Choices)
    order = {str(value): i for i, value in enumerate(one.allowed.examples())}
    if named:
        having.sort(key=lambda record: order[str(record.values[one.name])])
    values = [record.values[one.name] for record in having]
    return Figure(
        name=f"setting-{place}",
        title=one.name,
        series=_clouds(having, [str(v) if named else v for v in values], start),
        x_label=one.name,
        y_label=_SCORE,
        log_x=not isinstance(one.allowed, Choices) and one.allowed.log,
    )


def _clouds(
    records: list[Record], places: list[Any], start: dict[str, Any]
) -> list[Series]:
    series = []
    for name, state, color in (
        ("complete", "complete", 0),
        ("stopped early", "pruned", _GREY),
    ):
        chosen = [
            (place, one)
            for place, one in zip(places, records, strict=True)
            if one.state == state
        ]
        if chosen:
            series.append(
                Series(
                    name,
                    [place for place, _ in chosen],
                    [100 * (one.value or 0.0) for _, one in chosen],
                    mark="points",
                    hover=[
                        f"trial {one.number}: {changes(one, start)}"
                        for _, one in chosen
                    ],
                    color=color,
                )
            )
    return series
