"""The theorem, checked: Fourier coefficients of both views, exact and in steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, final

import numpy as np
from scipy.stats import spearmanr

from fdgcl.diffusion import mittag_leffler
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.expansion import (
    coefficients,
    log10_time,
    num_terms,
)
from fdgcl.experiments.measures.fourier import (
    Numbers,
    Spectrum,
    binned_size,
    cumulative,
    effective_count,
    mean_frequency,
    response,
    smooth_share,
    spectrum_of,
)
from fdgcl.experiments.measures.theorem_page import theorem_page
from fdgcl.graphs import Graph
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation, prepare

ORDERS = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PAIRS = ((0.01, 1.0), (0.1, 0.2), (0.5, 0.9), (0.9, 1.0))
TIMES = tuple(float(t) for t in np.logspace(-1, 3, 41))
GRID = 101
# Differences below this are rounding, not an order.
TOLERANCE = 1e-12


@final
class Theorem(Measure):
    """Nothing is trained and nothing is random: one unit, whatever the seeds.

    It gives three kinds of records, distinguished by `what`: the `graph` with what the
    proof's expansion says of it, one `solution` each for the equation's own solution
    and for the solver's, and the `times` from which on the smaller order keeps more.
    """

    show = staticmethod(theorem_page)

    def units(
        self,
        experiment: Experiment,
        seeds: int,  # noqa: ARG002
    ) -> list[Unit]:
        """One."""
        return [Unit(experiment.name, "coefficients", 0)]

    def run(
        self,
        experiment: Experiment,
        unit: Unit,  # noqa: ARG002
        graph: Graph,
        device: str,
    ) -> list[Record]:
        """Take the graph apart once; the rest are functions of its frequencies."""
        prepared = prepare(graph, experiment.model(device=device).check())
        spectrum = spectrum_of(prepared, prepared.settings.torch_device)
        return [
            _graph(prepared, spectrum),
            _solution(prepared, spectrum, "exact"),
            _solution(prepared, spectrum, prepared.settings.solver),
            _times(prepared, spectrum),
        ]


def _graph(prepared: DiffusionPreparation, spectrum: Spectrum) -> Record:
    settings = prepared.settings
    rate = settings.rate
    first = float(spectrum.frequencies[spectrum.moving][0])
    segments = settings.schedule.segments
    expansions = []
    for order in settings.orders:
        found = coefficients(order, segments)
        late = log10_time(order, rate, first)
        expansions.append(
            {
                "order": order,
                "terms": num_terms(order),
                "positive": int(np.count_nonzero(found > 0)),
                "log10_late": late,
            }
        )
    frequencies, sizes = binned_size(spectrum.frequencies, spectrum.energies)
    return {
        "what": "graph",
        "nodes": spectrum.nodes,
        "component_nodes": len(spectrum.frequencies),
        "components": spectrum.components,
        "distinct": spectrum.distinct,
        "first_frequency": first,
        "last_frequency": float(spectrum.frequencies[-1]),
        "segments": segments,
        "segment_time": settings.time / max(segments, 1),
        "expansions": expansions,
        "input_frequencies": frequencies,
        "input_sizes": sizes,
        "input_cumulative": cumulative(spectrum.energies),
        "input_smooth": smooth_share(spectrum.energies),
        "input_effective": effective_count(spectrum.energies),
        "input_mean": mean_frequency(spectrum.frequencies, spectrum.energies),
    }


def _solution(
    prepared: DiffusionPreparation, spectrum: Spectrum, solver: str
) -> Record:
    frequencies, moving = spectrum.frequencies, spectrum.moving
    pair = tuple(sorted(prepared.settings.orders))
    gains = [_gains(prepared, order, frequencies, solver) for order in pair]
    grid = np.linspace(0, frequencies[-1], GRID)
    kept = gains[0][moving] > gains[1][moving] * (1 + TOLERANCE)
    return {
        "what": "solution",
        "solver": solver,
        "orders": list(pair),
        "frequencies": grid.tolist(),
        "views": [
            _view(spectrum, found, _gains(prepared, order, grid, solver))
            for order, found in zip(pair, gains, strict=True)
        ],
        "smaller_keeps_more": float(kept.mean()),
        **_by_order(prepared, spectrum, solver),
    }


def _gains(
    prepared: DiffusionPreparation, order: float, frequencies: Numbers, solver: str
) -> Numbers:
    """|response|, relative to that at frequency 0, which every order leaves alone."""
    zero = response(prepared, order, np.zeros(1), solver)[0]
    found = response(prepared, order, frequencies, solver)
    return np.asarray(np.abs(found / zero))


def _view(spectrum: Spectrum, gains: Numbers, drawn: Numbers) -> Record:
    energies = spectrum.energies * gains**2
    places, sizes = binned_size(spectrum.frequencies, energies)
    falls = np.diff(gains) <= TOLERANCE * gains[:-1]
    return {
        "response": drawn.tolist(),
        "places": places,
        "sizes": sizes,
        "cumulative": cumulative(energies),
        "smooth": smooth_share(energies),
        "effective": effective_count(energies),
        "mean": mean_frequency(spectrum.frequencies, energies),
        "falls": float(falls.mean()),
        "peak": float(gains.max()),
        "top": float(gains[-1]),
    }


def _by_order(
    prepared: DiffusionPreparation, spectrum: Spectrum, solver: str
) -> Record:
    """Smooth share and concentration of every order, and the contrast of every pair."""
    energies = [
        spectrum.energies * _gains(prepared, order, spectrum.frequencies, solver) ** 2
        for order in ORDERS
    ]
    smooth = [smooth_share(values) for values in energies]
    effective = [effective_count(values) for values in energies]
    pairs = list(combinations(range(len(ORDERS)), 2))
    gaps = [ORDERS[j] - ORDERS[i] for i, j in pairs]
    contrasts = [smooth[j] - smooth[i] for i, j in pairs]
    return {
        "scan": list(ORDERS),
        "smooth": smooth,
        "effective": effective,
        "gaps": gaps,
        "contrasts": contrasts,
        "rank_correlation": _rank_correlation(gaps, contrasts),
    }


def _rank_correlation(gaps: Sequence[float], contrasts: Sequence[float]) -> float:
    """Spearman's; contrasts that are all the same follow nothing: 0."""
    if np.ptp(contrasts) < TOLERANCE:
        return 0.0
    return float(spearmanr(gaps, contrasts).statistic)


def _times(prepared: DiffusionPreparation, spectrum: Spectrum) -> Record:
    """From which time on the smaller order keeps more, at how many frequencies."""
    decay = prepared.settings.rate * spectrum.frequencies[spectrum.moving]

    def share(pair: tuple[float, float], time: float) -> float:
        small, large = (mittag_leffler(a, decay * time**a) for a in pair)
        return float((small > large * (1 + TOLERANCE)).mean())

    shares: list[Any] = [
        {"pair": list(pair), "shares": [share(pair, time) for time in TIMES]}
        for pair in PAIRS
    ]
    return {"what": "times", "times": list(TIMES), "pairs": shares}
