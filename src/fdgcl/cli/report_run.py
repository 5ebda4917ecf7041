"""Everything a report of a run tells, gathered from the run and what it was made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.cli.level import Level
from fdgcl.cli.record import Record, read_record
from fdgcl.cli.report_labels import Labelled, from_graph, from_labels, in_order_of
from fdgcl.cli.runs import EMBEDDING
from fdgcl.cli.source import read_data
from fdgcl.cli.talk import Talk
from fdgcl.cli.truth import load_named

if TYPE_CHECKING:
    from fdgcl.cli.progress import Bars
    from fdgcl.cli.source import Data
    from fdgcl.preparation import Preparation
    from fdgcl.report.accuracy import Score
    from fdgcl.report.run_page import Embedded, Findings, Spectrum
    from fdgcl.runs import Config

MOST_VIEWED = 200_000  # nodes up to which both views are computed anew


@dataclass(frozen=True)
class Given:
    """What the user named besides the run."""

    embedding: Path | None = None
    dataset: str | None = None
    labels: Path | None = None
    id_column: str | None = None
    label_column: str | None = None
    data_root: Path | None = None


def gather(folder: Path, given: Given, talk: Talk, bars: Bars) -> Findings:
    """Collect what is known of a run.

    Raises:
        InputError: The folder holds no run, or what was named does not belong to it.
    """
    from fdgcl.report.run_page import Findings
    from fdgcl.runs import RunFolder

    files = RunFolder(folder)
    config, record = files.read_config(), read_record(folder)
    with bars.waiting("read"):
        graph = _graph(config, record, given, talk)
        prepared = _prepared(graph, config, given, talk)
        if prepared is None and given.dataset is None:
            graph = None
        embedded = _embedded(folder, record, given, talk)
        level = _level(embedded, graph, config, record)
        if embedded is not None and graph is not None:
            name = given.dataset or graph.name
            embedded = in_order_of(graph, embedded, name, level)
    labelled = _labelled(graph, given, embedded, level)
    scores, scored = _scores(embedded, labelled, record, given, talk, bars)
    with bars.waiting("spectrum"):
        spectrum = _spectrum(prepared, config)
    views = None
    if graph is not None and prepared is not None and files.is_finished:
        with bars.waiting("views"):
            views = _views(folder, graph, talk)
    return Findings(
        config=config,
        history=[one.to_dict() for one in files.read_metrics()],
        finished=files.is_finished,
        spectrum=spectrum,
        embedded=embedded,
        groups=None if labelled is None else labelled.groups,
        views=views,
        scores=scores,
        scored=scored,
        paper=_paper(_dataset(config, record, given), graph) if scores else None,
        level=level,
        notices=[*(record.notices if record else ()), *talk.notices],
        facts=_facts(folder, record),
    )


def _dataset(config: Config, record: Record | None, given: Given) -> str | None:
    """The dataset that the graph is, by name; None for a graph in files."""
    from fdgcl.graphs.catalogue import CATALOGUE

    if given.dataset is not None:
        name: str = given.dataset.strip().lower().replace("_", "-")
    elif record is not None:
        name = record.source.name if record.source.path is None else ""
    else:
        name = config.graph["name"]
    return name if name in CATALOGUE else None


def _graph(
    config: Config, record: Record | None, given: Given, talk: Talk
) -> Data | None:
    """The graph named, recorded, or of the name that the run says; None if lost."""
    if given.dataset is not None:
        return load_named(given.dataset, given.data_root)
    name = _dataset(config, record, given)
    try:
        if record is not None:
            root = given.data_root or record.reading.data_root
            return read_data(record.source, replace(record.reading, data_root=root))
        if name is not None:
            return load_named(name, given.data_root)
    except InputError as error:
        talk.notice(f"the run's graph is not at hand any more: {error}")
    return None


def _prepared(
    graph: Data | None, config: Config, given: Given, talk: Talk
) -> Preparation | None:
    """The graph as the run used it; None where it is not the same."""
    from fdgcl.levels import as_graph
    from fdgcl.preparation import prepare

    if graph is None:
        return None
    prepared = prepare(as_graph(graph), config.settings)
    if prepared.describe_graph()["fingerprint"] == config.graph["fingerprint"]:
        return prepared
    used = "its labels are used alone" if given.dataset else "it is left out"
    talk.notice(
        f"{graph.name} ({graph.source}) is not the graph this run was made of, or has "
        f"changed since: {used}"
    )
    return None


def _embedded(
    folder: Path, record: Record | None, given: Given, talk: Talk
) -> Embedded | None:
    import numpy as np

    from fdgcl.embeddings import read_embeddings
    from fdgcl.report.run_page import Embedded

    places = [folder / EMBEDDING, *([record.embedding] if record else [])]
    path = given.embedding or next((p for p in places if p.is_file()), None)
    if path is None:
        talk.notice("there is no embedding in the run: name its file by --embedding")
        return None
    ids, z = read_embeddings(path)
    if not np.isfinite(z).all():
        message = f"{path} has values that are not finite"
        raise InputError(message)
    return Embedded(ids, np.array(z))  # what was read cannot be written to


def _level(
    embedded: Embedded | None, data: Data | None, config: Config, record: Record | None
) -> Level:
    """What the embedding's rows stand for.

    Raises:
        InputError: They are neither as many as nodes nor as graphs.
    """
    from fdgcl.graphs import GraphDataset

    recorded: Level = "graph" if record and record.level == "graph" else "node"
    if embedded is None:
        return recorded
    rows, nodes = len(embedded.ids), int(config.graph["nodes"])
    if data is None and recorded == "graph":
        return "graph"
    if rows == nodes:
        return "node"
    if isinstance(data, GraphDataset) and rows == len(data):
        return "graph"
    graphs = f" and {len(data):,} graphs" if isinstance(data, GraphDataset) else ""
    message = (
        f"the embedding has {rows:,} rows, but the run's graph has {nodes:,} "
        f"nodes{graphs}: it is another graph's embedding"
    )
    raise InputError(message)


def _labelled(
    graph: Data | None, given: Given, embedded: Embedded | None, level: Level
) -> Labelled | None:
    from fdgcl.levels import as_graph

    if given.labels is not None and embedded is not None:
        return from_labels(
            given.labels, given.id_column, given.label_column, embedded.ids, level
        )
    if graph is not None and level == "node":
        graph = as_graph(graph)
    if graph is not None and graph.y is not None:
        return from_graph(graph)
    if given.dataset is not None and graph is not None:
        message = f"--dataset: {given.dataset} ({graph.source}) has no labels"
        raise InputError(message)
    return None


def _scores(
    embedded: Embedded | None,
    labelled: Labelled | None,
    record: Record | None,
    given: Given,
    talk: Talk,
    bars: Bars,
) -> tuple[list[Score], str]:
    named = (given.embedding, given.dataset, given.labels)
    if record is not None and record.scores and not any(named):
        return [_recorded(one) for one in record.scores], record.scored
    if embedded is None or labelled is None:
        return [], ""
    try:
        score, caption = labelled.score(embedded.z, bars)
    except InputError as error:
        talk.notice(f"the embedding was not scored: {error}")
        return [], ""
    return [score], caption


def _recorded(row: Any) -> Score:
    from fdgcl.report.accuracy import Score

    spread = row["test_std"] if len(row["test"]) > 1 else None
    return Score(row["name"], row["test_mean"], spread, row["val_mean"])


def _spectrum(prepared: Preparation | None, config: Config) -> Spectrum:
    from fdgcl.graphs.operators import build_operator
    from fdgcl.report.run_page import Spectrum
    from fdgcl.report.spectrum import any_graph, spectral_density

    if prepared is None:
        return Spectrum(
            any_graph(),
            None,
            "The graph is not at hand: drawn over [0, 2], where every graph's "
            "frequencies lie.",
        )
    operator, note = prepared.operator, "In grey the eigenvalues of the graph"
    if not operator.has_real_spectrum:
        settings = config.settings
        operator = build_operator(
            prepared.graph.adjacency,
            self_loops=settings.self_loops,
            normalization=settings.normalization,  # type: ignore[arg-type]
        )
        note = (
            "The edges are directed: their eigenvalues are complex, in the disc over "
            "this interval, and the gain is drawn along its diameter. In grey the "
            "eigenvalues of the graph with its edges used both ways"
        )
    if not config.settings.is_fixed_linear:
        return Spectrum(prepared.operator, None, "")
    density = spectral_density(operator)
    how = "all computed" if density.exact else "their density estimated"
    return Spectrum(prepared.operator, density, f"{note}, {how}.")


def _views(folder: Path, graph: Data, talk: Talk) -> Any:
    from fdgcl.levels import as_graph
    from fdgcl.model import FDGCL

    if as_graph(graph).num_nodes > MOST_VIEWED:
        talk.notice(f"the two views are left out above {MOST_VIEWED:,} nodes")
        return None
    return FDGCL.load(folder, device="auto").views(graph)


def _paper(dataset: str | None, graph: Data | None) -> Score | None:
    """The paper's accuracy on a dataset of its own; the bundled copy is another."""
    from fdgcl.experiments.loader import load_experiments
    from fdgcl.graphs.datasets import BUNDLED
    from fdgcl.report.accuracy import Score

    if dataset is None or graph is None or graph.source == BUNDLED:
        return None
    for table in ("homophilic", "heterophilic"):
        for experiment in load_experiments(table):
            if experiment.dataset == dataset and experiment.paper is not None:
                value, std = experiment.paper.value, experiment.paper.std
                spread = None if std is None else std / 100
                return Score("FD-GCL in the paper", value / 100, spread)
    return None


def _facts(folder: Path, record: Record | None) -> dict[str, str]:
    facts = {"run folder": str(folder)}
    if record is not None:
        facts |= {
            "command": record.command,
            "seconds in all": f"{record.seconds:g}",
            **record.versions,
        }
    return facts
