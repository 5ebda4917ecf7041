"""The report of one run: how it was trained, what it does, what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.diffusion.stability import Bounds, stability_report
from fdgcl.methods import find_method
from fdgcl.methods.base import Config
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.report.accuracy import Score, accuracy_section
from fdgcl.report.embedding_map import Groups, embedding_map, sample_rows
from fdgcl.report.numerals import PLAIN, plural, score
from fdgcl.report.page import Block, Listing, Page, Section, Table, Text
from fdgcl.report.parts import parts_section
from fdgcl.report.principal import principal, principal_section
from fdgcl.report.spectrum import Density, filter_figure
from fdgcl.report.training import training_section

Matrix = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Embedded:
    """An embedding: ids and as many rows."""

    ids: NDArray[Any]
    z: Matrix


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The graph that the equation is on, and what is known of its spectrum.

    Attributes:
        operator: The graph, or what bounds the spectra of its edge types.
        density: The graph's eigenvalues; None where they are not known.
        note: Says what spectrum this is.
    """

    operator: Bounds
    density: Density | None
    note: str


@dataclass(frozen=True, eq=False)
class Findings:
    """All that a report of a run may contain.

    Attributes:
        config: What the run folder says of itself.
        history: One record an epoch.
        finished: Whether the run came to its end.
        spectrum: What the diffusion works on; None of a method that diffuses nothing.
        embedded: The embedding; None where there is none.
        groups: The labels of the rows; None where they are not known.
        views: The views of all nodes; None where the graph is not at hand.
        scores: Accuracies, the embedding's first.
        scored: Whose labels, which splits.
        paper: The paper's accuracy on this dataset.
        notices: What was decided for the user, in this run and this report.
        facts: Versions, times, the command.
        level: What a row of the embedding stands for, `node` or `graph`.
        part_columns: Columns of the embedding that each of its parts has; None where
            it has none, or the model is not at hand.
    """

    config: Config
    history: Sequence[Mapping[str, float]]
    finished: bool
    spectrum: Spectrum | None
    embedded: Embedded | None = None
    groups: Groups | None = None
    views: Sequence[Matrix] | None = None
    scores: Sequence[Score] = ()
    scored: str = ""
    paper: Score | None = None
    notices: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    level: str = "node"
    part_columns: Sequence[int] | None = None


def run_page(found: Findings) -> Page:
    """Compose the report of a run."""
    config = found.config
    sections = [_overview(found)]
    if found.scores:
        told = _sentence(found.scored)
        judge = _judge(found)
        sections.append(accuracy_section(found.scores, told, found.paper, judge))
    if found.embedded is not None:
        embedded = found.embedded
        figure = embedding_map(embedded.z, embedded.ids, found.groups, found.level)
        sections.append(Section("The embedding", [figure]))
    if isinstance(config.settings, Settings):
        made_of = parts_section(config, found.part_columns)
        sections += [] if made_of is None else [made_of]
    orders = _orders(config)
    sections.append(training_section(found.history, orders, finished=found.finished))
    if found.spectrum is not None:
        sections.append(_frequencies(config.settings, found.spectrum))
    if found.embedded is not None:
        sections.append(_components(found, found.embedded))
    sections.append(_settings(config))
    title = f"{config.graph['name']}: report of a run of {_method(config)}"
    return Page(title, _summary(found), sections, _facts(found))


def _method(config: Config) -> str:
    return find_method(config.method).title


def _orders(config: Config) -> Sequence[float]:
    """The orders of the views; none where views are not made by diffusion."""
    settings = config.settings
    return settings.orders if isinstance(settings, Settings) else ()


def _summary(found: Findings) -> str:
    config = found.config
    size = plural(int(config.graph["nodes"]), "node")
    if found.level == "graph" and found.embedded is not None:
        size = f"{plural(len(found.embedded.ids), 'graph')} of {size} in all"
    dim = _dimensions(found)
    width = "" if dim is None else f" in {dim:,} dimensions"
    done = f"after {plural(len(found.history), 'epoch')} of training without labels"
    if not found.finished:
        return f"{size} to be embedded{width}; unfinished, {done}."
    text = f"{size} embedded{width} {done}"
    if found.scores:
        first = found.scores[0]
        text += f"; a {_judge(found)} scores {_score_text(first)} on test"
    return f"{text}."


def _graphs(found: Findings) -> dict[str, str]:
    if found.level != "graph" or found.embedded is None:
        return {}
    return {"graphs": f"{len(found.embedded.ids):,}"}


def _edge_types(found: Findings) -> dict[str, str]:
    names = found.config.schema["relations"]
    return {} if names is None else {"edge types": ", ".join(names)}


def _judge(found: Findings) -> str:
    if found.scores and found.scores[0].measure == "R²":
        return "ridge regression"
    return "support vector machine" if found.level == "graph" else "linear probe"


def _score_text(one: Score) -> str:
    text = score(one.measure, one.mean, one.std)
    if one.measure == "accuracy":
        return f"{text} %"
    unit = "" if one.measure in PLAIN else " %"
    return f"a {one.measure} of {text}{unit}"


def _dimensions(found: Findings) -> int | None:
    """The embedding's columns: its own or, of FD-GCL, those it will have."""
    if found.embedded is not None:
        return int(found.embedded.z.shape[1])
    config = found.config
    settings = config.settings
    if not isinstance(settings, Settings):
        return None
    return Parts.of_run(config).width


def _overview(found: Findings) -> Section:
    graph = found.config.graph
    seconds = sum(record["seconds"] for record in found.history)
    dim = _dimensions(found)
    values = {
        "method": _method(found.config),
        "graph": str(graph["name"]),
        "nodes": f"{graph['nodes']:,}",
        "edges": f"{graph['edges']:,}",
        **_graphs(found),
        **_edge_types(found),
        "features": f"{found.config.num_features:,}",
        **({} if dim is None else {"dimensions": f"{dim:,}"}),
        "epochs": f"{len(found.history):,}",
        "training": f"{seconds:.1f} s",
    }
    blocks: list[Block] = [Table(list(values), [list(values.values())])]
    if found.notices:
        blocks += [Text("What was read and decided:"), Listing(found.notices)]
    return Section("At a glance", blocks)


def _frequencies(settings: Settings, spectrum: Spectrum) -> Section:
    dynamics, schedule = settings.new_dynamics(dim=1), settings.schedule
    if not dynamics.is_fixed_linear:
        text = (
            f"The dynamics {settings.dynamics!r} is not linear, or is trained: its "
            "gain at a frequency depends on the features."
        )
        return Section("Frequencies", [Text(text)])
    report = stability_report(dynamics, spectrum.operator, schedule, settings.orders)
    caption = (
        "Solid: what the solver does. Dashed: the exact solution of the same equation; "
        f"where it cannot be seen, both agree. {spectrum.note}"
    )
    figure = filter_figure(dynamics, schedule, report, spectrum.density, caption)
    text = (
        "The encoder multiplies each frequency of the features by a gain. Low ones "
        "vary slowly along the edges, high ones from neighbour to neighbour. "
    )
    told = _sentence("; ".join(report.describe()))
    return Section("Frequencies", [Text(text + told), figure])


def _components(found: Findings, embedded: Embedded) -> Section:
    rows = sample_rows(len(embedded.z))
    matrices = {"embedding": embedded.z[rows]}
    if found.views is not None:
        orders = _orders(found.config)
        for place, view in enumerate(found.views):
            name = f"of order {orders[place]:g}" if orders else str(place + 1)
            matrices[f"view {name}"] = view[sample_rows(len(view))]
    sampled = ""
    if len(rows) < len(embedded.z):
        of = f"{len(embedded.z):,} {found.level}s"
        sampled = f"From {len(rows):,} of {of}, drawn at random."
    components = {name: principal(matrix) for name, matrix in matrices.items()}
    return principal_section(components, sampled)


def _settings(config: Config) -> Section:
    rows = [
        (name, _setting(value, config.decisions.get(name)))
        for name, value in config.settings.to_dict().items()
    ]
    return Section("Settings", [Table(("setting", "value"), rows)])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _setting(value: Any, decided: Any = None) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_setting(one) for one in value) or "nothing"
    if value is None:
        return (
            "left open"
            if decided is None
            else f"{_setting(decided)} (decided by the graph)"
        )
    return f"{value:g}" if isinstance(value, float) else str(value)


def _facts(found: Findings) -> dict[str, str]:
    graph = found.config.graph
    about = {
        "graph from": str(graph["source"]),
        "fingerprint of the graph": str(graph["fingerprint"]),
    }
    return {**found.facts, **about}
