"""The figures of the theorem: coefficients, energies, contrasts and responses."""

from __future__ import annotations

from collections.abc import Sequence

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.words import capital
from fdgcl.report.page import Figure, Series

_NOT_RANDOM = "Nothing here is random or trained."


def figures(
    experiment: Experiment, graph: Record, records: Sequence[Record]
) -> list[Figure]:
    """All figures of one dataset."""
    solutions = [record for record in records if record["what"] == "solution"]
    drawn = [_coefficients(experiment, graph, solution) for solution in solutions]
    if solutions:
        drawn += [
            _cumulative(experiment, graph, solutions),
            _responses(experiment, solutions),
            _contrast(experiment, solutions),
            _concentration(experiment, solutions),
        ]
    times = [record for record in records if record["what"] == "times"]
    return drawn + [_late(experiment, record) for record in times]


def _how(solution: Record) -> str:
    return "exact" if solution["solver"] == "exact" else "in steps"


def _is_exact(solution: Record) -> bool:
    return bool(solution["solver"] == "exact")


def _coefficients(experiment: Experiment, graph: Record, solution: Record) -> Figure:
    settings = experiment.settings
    made = (
        "the equation's own solution"
        if _is_exact(solution)
        else f"the {solution['solver']} with T = {settings['time']:g} and "
        f"h = {settings['step']:g}"
    )
    views = zip(solution["orders"], solution["views"], strict=True)
    return Figure(
        name=f"theorem-{experiment.dataset}-coefficients-{_how(solution)}".replace(
            " ", "-"
        ),
        title=f"{capital(experiment.dataset)}: Fourier coefficients, {_how(solution)}",
        series=[
            Series(
                "features",
                graph["input_frequencies"],
                graph["input_sizes"],
                dashed=True,
                color=2,
            ),
            *(
                Series(f"order {order:g}", view["places"], view["sizes"], color=color)
                for color, (order, view) in enumerate(views)
            ),
        ],
        x_label="frequency",
        y_label="root mean square coefficient",
        caption=(
            f"Coefficients of the features diffused by {made}, relative to frequency "
            "0, over all columns and in 50 bins of frequency; dashed the features "
            f"themselves. {_NOT_RANDOM}"
        ),
        log_y=True,
    )


def _cumulative(
    experiment: Experiment, graph: Record, solutions: Sequence[Record]
) -> Figure:
    points = len(graph["input_cumulative"])
    x = [100 * i / (points - 1) for i in range(points)]
    series = [
        Series(
            f"order {order:g}, {_how(solution)}",
            x,
            view["cumulative"],
            color=color,
            dashed=_is_exact(solution),
        )
        for solution in solutions
        for color, (order, view) in enumerate(
            zip(solution["orders"], solution["views"], strict=True)
        )
    ]
    return Figure(
        name=f"theorem-{experiment.dataset}-energy",
        title=f"{capital(experiment.dataset)}: cumulative energy",
        series=[*series, Series("features", x, graph["input_cumulative"], color=2)],
        x_label="lowest frequencies, % of all",
        y_label="share of the energy",
        caption=(
            "How much of the energy the lowest frequencies hold. The theorem says that "
            "the larger order's curve lies above the smaller one's; dashed the exact "
            f"solution, full the solver's. {_NOT_RANDOM}"
        ),
    )


def _responses(experiment: Experiment, solutions: Sequence[Record]) -> Figure:
    settings = experiment.settings
    return Figure(
        name=f"theorem-{experiment.dataset}-responses",
        title=f"{capital(experiment.dataset)}: what the diffusion does to a frequency",
        series=[
            Series(
                f"order {order:g}, {_how(solution)}",
                *_positive(solution["frequencies"], view["response"]),
                color=color,
                dashed=_is_exact(solution),
            )
            for solution in solutions
            for color, (order, view) in enumerate(
                zip(solution["orders"], solution["views"], strict=True)
            )
        ],
        x_label="frequency",
        y_label="|response| relative to frequency 0",
        caption=(
            f"Rate {settings['rate']:g}, T = {settings['time']:g}, "
            f"h = {settings['step']:g}, skip {settings['skip']!r}. Above 1 the solver "
            "amplifies a frequency; the exact solution never does. "
            f"{_NOT_RANDOM}"
        ),
        log_y=True,
    )


def _contrast(experiment: Experiment, solutions: Sequence[Record]) -> Figure:
    return Figure(
        name=f"theorem-{experiment.dataset}-contrast",
        title=f"{capital(experiment.dataset)}: contrast against the gap of the orders",
        series=[
            Series(
                _how(solution), solution["gaps"], solution["contrasts"], mark="points"
            )
            for solution in solutions
        ],
        x_label="larger order minus smaller order",
        y_label="difference of the smooth shares",
        caption=(
            "Each point is a pair of orders from 0.01 to 1: how much more of the "
            "energy the larger order has in the lowest tenth of the frequencies. Below "
            f"0 the larger order is the less smooth one. {_NOT_RANDOM}"
        ),
    )


def _concentration(experiment: Experiment, solutions: Sequence[Record]) -> Figure:
    return Figure(
        name=f"theorem-{experiment.dataset}-concentration",
        title=f"{capital(experiment.dataset)}: energy concentration by order",
        series=[
            Series(
                _how(solution),
                solution["scan"],
                solution["effective"],
                dashed=_is_exact(solution),
            )
            for solution in solutions
        ],
        x_label="order",
        y_label="frequencies that share the energy",
        caption=(
            "The participation ratio of the energies: the fewer, the more "
            "concentrated. The theorem says that it falls with the order. "
            f"{_NOT_RANDOM}"
        ),
        log_y=True,
    )


def _late(experiment: Experiment, record: Record) -> Figure:
    return Figure(
        name=f"theorem-{experiment.dataset}-times",
        title=f"{capital(experiment.dataset)}: how large is a large time?",
        series=[
            Series(
                "orders {:g} and {:g}".format(*entry["pair"]),
                record["times"],
                [100 * share for share in entry["shares"]],
            )
            for entry in record["pairs"]
        ],
        x_label="time",
        y_label="frequencies in order, %",
        caption=(
            "At how many of the frequencies the exact solution of the smaller order is "
            f"the larger one, as the theorem says for large times. {_NOT_RANDOM}"
        ),
        log_x=True,
    )


def _positive(
    x: Sequence[float], y: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The points that a logarithmic axis can show."""
    kept = [(a, b) for a, b in zip(x, y, strict=True) if b > 0]
    return [a for a, _ in kept], [b for _, b in kept]
