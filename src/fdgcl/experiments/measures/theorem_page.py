"""What holds of the theorem, in words that follow from the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fdgcl._checks import in_words
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.theorem_figures import figures
from fdgcl.experiments.measures.words import capital, missing, records_of
from fdgcl.report.page import Block, Section, Table, Text

CLAIMS = (
    "falls with frequency",
    "smaller order keeps more of every frequency",
    "(a) larger order smoother",
    "(b) smaller order less concentrated",
    "contrast grows with the gap",
)


@dataclass(frozen=True)
class Finding:
    """Whether one of the claims holds, and the numbers that say so."""

    holds: bool
    numbers: str


def theorem_page(
    experiments: Sequence[Experiment],
    records: Sequence[Record],
    absent: Mapping[str, str],
) -> list[Section]:
    """A section on what holds, and one for each dataset."""
    rows: list[tuple[str, ...]] = []
    strong: set[tuple[int, int]] = set()
    verdicts: dict[bool, dict[str, list[Finding]]] = {True: {}, False: {}}
    sections = []
    for experiment in experiments:
        found = records_of(experiment, records)
        graph = next((r for r in found if r["what"] == "graph"), None)
        if graph is None:
            continue
        for solution in (r for r in found if r["what"] == "solution"):
            exact = solution["solver"] == "exact"
            claims = judge(solution)
            verdicts[exact][experiment.dataset] = claims
            strong |= {(len(rows), i + 1) for i, c in enumerate(claims) if not c.holds}
            rows.append((_row_name(experiment, solution), *map(_cell, claims)))
        sections.append(_section(experiment, graph, found))
    blocks: list[Block] = []
    if rows:
        blocks += [Text(_summary(verdicts[exact], exact)) for exact in (True, False)]
        blocks.append(_table(rows, strong))
    blocks += missing(experiments, records, absent)
    return [Section("What holds of the theorem", blocks), *sections]


def judge(solution: Record) -> list[Finding]:
    """The findings on one solution, in the order of `CLAIMS`."""
    small, large = solution["views"]
    falls = min(small["falls"], large["falls"])
    kept = solution["smaller_keeps_more"]
    steps = [
        smoother[1] > smoother[0] and fewer[1] < fewer[0]
        for smoother, fewer in zip(
            pairwise(solution["smooth"]), pairwise(solution["effective"]), strict=True
        )
    ]
    return [
        Finding(falls == 1.0, f"at {_percent(falls)} of the steps"),
        Finding(kept == 1.0, f"at {_percent(kept)} of them"),
        Finding(
            large["smooth"] > small["smooth"],
            f"{small['smooth']:.3g} and {large['smooth']:.3g}",
        ),
        Finding(
            small["effective"] > large["effective"],
            f"{small['effective']:.1f} and {large['effective']:.1f}",
        ),
        Finding(
            all(steps),
            f"{sum(steps)} of {len(steps)} steps, rank correlation "
            f"{solution['rank_correlation']:.2f}",
        ),
    ]


def _summary(found: Mapping[str, Sequence[Finding]], exact: bool) -> str:
    """Count what holds where, in one paragraph."""
    whose = (
        "The equation's own solution (Mittag-Leffler)"
        if exact
        else "The solver with the paper's time and step"
    )
    if not found:
        return f"{whose}: not measured yet."
    names = {name: [c for c in claims if not c.holds] for name, claims in found.items()}
    whole = [capital(name) for name, failed in names.items() if not failed]
    sentences = [f"{whose}:"]
    if whole:
        sentences.append(f"all {len(CLAIMS)} statements hold on {in_words(whole)}.")
    for name, claims in found.items():
        failed = [
            f"{claim} ({finding.numbers})"
            for claim, finding in zip(CLAIMS, claims, strict=True)
            if not finding.holds
        ]
        if failed:
            do = "does" if len(failed) == 1 else "do"
            sentences.append(
                f"On {capital(name)} {len(failed)} of {len(CLAIMS)} {do} not hold: "
                f"{'; '.join(failed)}."
            )
    return " ".join(sentences)


def _table(rows: Sequence[tuple[str, ...]], strong: set[tuple[int, int]]) -> Table:
    caption = (
        "Smooth: share of the energy in the lowest tenth of the frequencies, smaller "
        "order first. Concentrated: how many frequencies share the energy, smaller "
        "order first. Contrast: for nested pairs of orders it grows with the gap if, "
        "from each order to the next between 0.01 and 1, the smooth share rises and "
        "the number of frequencies falls; the rank correlation is that of gap and "
        "difference of the smooth shares over all pairs, nested or not. Stressed: what "
        "does not hold. Nothing here is random."
    )
    return Table(("", *CLAIMS), rows, caption, frozenset(strong))


def _row_name(experiment: Experiment, solution: Record) -> str:
    name = capital(experiment.dataset)
    if solution["solver"] == "exact":
        return f"{name}, exact"
    settings = experiment.settings
    return f"{name}, T = {settings['time']:g}, h = {settings['step']:g}"


def _cell(finding: Finding) -> str:
    return f"{'yes' if finding.holds else 'no'}: {finding.numbers}"


def _section(
    experiment: Experiment, graph: Record, records: Sequence[Record]
) -> Section:
    blocks: list[Block] = [
        Text(_assumptions(graph)),
        Text(" ".join(_expansion(entry, graph) for entry in graph["expansions"])),
    ]
    times = next((r for r in records if r["what"] == "times"), None)
    if times is not None:
        blocks.append(Text(_how_late(times, graph)))
    blocks += [
        Text(_where_energy_is(graph, record))
        for record in records
        if record["what"] == "solution"
    ]
    if experiment.note:
        blocks.append(Text(experiment.note))
    title = f"{capital(experiment.dataset)}: {experiment.label}"
    return Section(title, [*blocks, *figures(experiment, graph, records)])


def _assumptions(graph: Record) -> str:
    whole = graph["components"] == 1
    connected = (
        "The graph is connected, as the theorem assumes."
        if whole
        else f"The graph has {graph['components']} components, the theorem assumes "
        f"one: taken is the largest, {graph['component_nodes']:,} of "
        f"{graph['nodes']:,} nodes."
    )
    repeated = graph["component_nodes"] - graph["distinct"]
    return (
        f"{connected} Its frequencies run from {graph['first_frequency']:.3g} (after "
        f"0) to {graph['last_frequency']:.3g}; {repeated:,} of "
        f"{graph['component_nodes']:,} repeat another, so sums over equal frequencies "
        "are shown."
    )


def _where_energy_is(graph: Record, solution: Record) -> str:
    exact = solution["solver"] == "exact"
    whose = "Exact solution" if exact else "In steps"
    before = graph["input_mean"]
    told = []
    for order, view in zip(solution["orders"], solution["views"], strict=True):
        moved = "down: it smooths" if view["mean"] < before else "up: it sharpens"
        told.append(f"order {order:g} moves it to {view['mean']:.3g}, {moved}")
    return (
        f"{whose}: the mean frequency of the features' energy is {before:.3g}; "
        f"{', '.join(told)}. Largest gain on frequency 0: "
        f"{max(view['peak'] for view in solution['views']):.3g}."
    )


def _expansion(entry: Record, graph: Record) -> str:
    order, terms, positive = entry["order"], entry["terms"], entry["positive"]
    if not terms:
        return (
            f"Order {order:g} is outside the theorem (0 < order < 1): its solution "
            "falls exponentially and has no expansion in powers of time."
        )
    signs = (
        "all positive, as stated"
        if positive == terms
        else f"of which {positive} are positive, where the theorem states all"
    )
    return (
        f"Order {order:g}: the expansion for large times has {terms} "
        f"coefficient{'s' if terms > 1 else ''} slower than 1/t, {signs}; the first "
        f"frequency after 0 is in its reach (argument above 10) from time "
        f"10^{entry['log10_late']:.0f} on, and the time here is "
        f"{graph['segment_time']:g}."
    )


def _how_late(times: Record, graph: Record) -> str:
    sentences = [
        "How large must the time be for the smaller order to keep more of every "
        "frequency (exact solution, no skip)?"
    ]
    for entry in times["pairs"]:
        small, large = entry["pair"]
        late = _first_time(times["times"], entry["shares"])
        when = (
            f"not within {times['times'][-1]:g}"
            if late is None
            else f"from {late:.2g} on"
        )
        sentences.append(f"Orders {small:g} and {large:g}: {when}.")
    return f"{' '.join(sentences)} The time here is {graph['segment_time']:g}."


def _first_time(times: Sequence[float], shares: Sequence[float]) -> float | None:
    """The first time from which on all frequencies are in order."""
    first = None
    for time, share in zip(times, shares, strict=True):
        if share < 1:
            first = None
        elif first is None:
            first = time
    return first


def _percent(value: float) -> str:
    """Never 100 % unless it is all."""
    return f"{min(100 * value, 99.9) if value < 1 else 100:.3g} %"
