"""Everything a report of a run tells, gathered from the run and what it was made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.cli.level import Level
from fdgcl.cli.places import shown_path, without_folders
from fdgcl.cli.record import Record, read_record
from fdgcl.cli.report_embedding import Finder
from fdgcl.cli.report_labels import Labelled, from_graph, from_labels, in_order_of
from fdgcl.cli.row_labels import load_named, targets_of
from fdgcl.cli.source import read_data
from fdgcl.cli.talk import Talk
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from fdgcl._bars import Bars
    from fdgcl.cli.source import Data
    from fdgcl.methods.base import Config
    from fdgcl.methods.fdgcl.preparation import DiffusionPreparation
    from fdgcl.report.accuracy import Score
    from fdgcl.report.embedding_map import Groups
    from fdgcl.report.run_page import Embedded, Findings, Spectrum

MOST_VIEWED = 200_000  # nodes up to which the views are computed anew


@dataclass(frozen=True)
class Given:
    """What the user named besides the run."""

    embedding: Path | None = None
    dataset: str | None = None
    labels: Path | None = None
    tables: TableOptions = field(default_factory=TableOptions)
    data_root: Path | None = None


def gather(folder: Path, given: Given, talk: Talk, bars: Bars) -> Findings:
    """Collect what is known of a run.

    Raises:
        InputError: The folder holds no run, or what was named does not belong to it.
    """
    from fdgcl.report.run_page import Findings
    from fdgcl.run_folder import RunFolder

    files = RunFolder(folder)
    config, record = files.read_config(), read_record(folder)
    with bars.waiting("read"):
        graph = _graph(config, record, given, talk)
        prepared = _prepared(graph, config, given, talk)
        if prepared is None and given.dataset is None:
            graph = None
        own = graph if prepared is not None else None
        rows, finished = int(config.graph["nodes"]), files.is_finished
        finder = Finder(folder, record, own, rows, finished, talk)
        embedded = finder.find(given.embedding)
        level = _level(embedded, graph, config, record)
        if embedded is not None and graph is not None:
            name = given.dataset or graph.name
            embedded = in_order_of(graph, embedded, name, level)
    labelled = _labelled(graph, given, embedded, level, talk)
    scores, scored = _scores(embedded, labelled, record, given, talk, bars)
    with bars.waiting("spectrum"):
        spectrum = _spectrum(prepared, config)
    views = None
    if graph is not None and prepared is not None and files.is_finished:
        with bars.waiting("views"):
            views = _views(folder, graph, talk)
    shown = _shown(record, given)
    noted = record.notices if record else ()
    about = {**config.graph, "source": shown(str(config.graph["source"]))}
    return Findings(
        config=replace(config, graph=about),
        history=[one.to_dict() for one in files.read_metrics()],
        finished=files.is_finished,
        spectrum=spectrum,
        embedded=embedded,
        groups=None if labelled is None else _groups(labelled, shown),
        views=views,
        scores=scores,
        scored=shown(scored),
        paper=_paper(_dataset(config, record, given), graph, scores),
        level=level,
        notices=[shown(one) for one in (*noted, *talk.notices)],
        facts=_facts(folder, record, shown),
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
    if record is not None and record.source.path and record.source.path.is_dir():
        talk.notice("the graph is a store, which is not read for a report")
        return None
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
) -> DiffusionPreparation | None:
    """The graph as the run used it; None where it is not the same."""
    from fdgcl.levels import as_graph
    from fdgcl.methods.fdgcl.preparation import prepare

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
    graph: Data | None,
    given: Given,
    embedded: Embedded | None,
    level: Level,
    talk: Talk,
) -> Labelled | None:
    from fdgcl.levels import as_graph

    if given.labels is not None and embedded is not None:
        labelled, lines = from_labels(given.labels, given.tables, embedded.ids, level)
        talk.notice(*lines)
        return labelled
    if graph is not None and level == "node":
        graph = as_graph(graph)
    if graph is not None and targets_of(graph) is not None:
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
    measure = row.get("measure", "accuracy")  # older runs have no other
    return Score(row["name"], row["test_mean"], spread, row["val_mean"], measure)


def _spectrum(prepared: DiffusionPreparation | None, config: Config) -> Spectrum:
    from fdgcl.operators.in_memory import build_operator
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
    if prepared.graph.relations is not None:
        note += ", edges of all types together"
    if not operator.has_real_spectrum:
        settings = config.settings
        operator = build_operator(
            prepared.graph.adjacency,
            self_loops=settings.self_loops,
            normalization=settings.normalization,
        )
        note = (
            "The edges are directed: their eigenvalues are complex, in the disc over "
            "this interval, and the gain is drawn along its diameter. In grey the "
            "eigenvalues of the graph with its edges used both ways"
        )
    if not config.settings.is_fixed_linear:
        return Spectrum(prepared.spectrum, None, "")
    density = spectral_density(operator)
    how = "all computed" if density.exact else "their density estimated"
    return Spectrum(prepared.spectrum, density, f"{note}, {how}.")


def _views(folder: Path, graph: Data, talk: Talk) -> Any:
    from fdgcl.levels import as_graph
    from fdgcl.model import FDGCL

    if as_graph(graph).num_nodes > MOST_VIEWED:
        talk.notice(f"the views are left out above {MOST_VIEWED:,} nodes")
        return None
    return FDGCL.load(folder, device="auto").views(graph)


def _paper(
    dataset: str | None, graph: Data | None, scores: Sequence[Score]
) -> Score | None:
    """The paper's accuracy on a dataset of its own; the bundled copy is another."""
    from fdgcl.experiments.loader import load_experiments
    from fdgcl.graphs.datasets import BUNDLED
    from fdgcl.report.accuracy import Score

    if dataset is None or graph is None or graph.source == BUNDLED:
        return None
    if not scores or scores[0].measure != "accuracy":
        return None
    for table in ("homophilic", "heterophilic"):
        for experiment in load_experiments(table):
            if experiment.dataset == dataset and experiment.paper is not None:
                value, std = experiment.paper.value, experiment.paper.std
                spread = None if std is None else std / 100
                return Score("FD-GCL in the paper", value / 100, spread)
    return None


def _shown(record: Record | None, given: Given) -> Callable[[str], str]:
    """What takes the folders of this machine out of a text."""
    known: list[Path | None] = [given.embedding, given.labels, given.data_root]
    if record is not None:
        reading = record.reading
        known += [record.source.path, record.embedding, *reading.feature_files.values()]
        known += [reading.labels, reading.graph_ids, reading.data_root]
    return lambda text: without_folders(text, *known)


def _groups(labelled: Labelled, shown: Callable[[str], str]) -> Groups | None:
    return replace(labelled, name=shown(labelled.name)).groups


def _facts(
    folder: Path, record: Record | None, shown: Callable[[str], str]
) -> dict[str, str]:
    facts = {"run folder": shown_path(folder)}
    if record is not None:
        facts |= {
            "command": shown(record.command),
            "seconds in all": f"{record.seconds:g}",
            **record.versions,
        }
    return facts
