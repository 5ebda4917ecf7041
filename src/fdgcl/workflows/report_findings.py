"""Everything a report of a run tells, gathered from the run and what it was made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.estimators import load_model
from fdgcl.experiments.loader import load_experiments
from fdgcl.graphs import GraphDataset
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.graphs.datasets import BUNDLED
from fdgcl.graphs.files.options import TableOptions
from fdgcl.levels import as_graph
from fdgcl.methods import find_method
from fdgcl.methods.base import Config
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation
from fdgcl.methods.fdgcl.stored import StoredPreparation
from fdgcl.methods.preparation import Preparation
from fdgcl.model import FDGCL
from fdgcl.operators.in_memory import build_operator
from fdgcl.report.accuracy import Score
from fdgcl.report.run_page import Embedded, Findings, Spectrum
from fdgcl.report.spectrum import any_graph, spectral_density
from fdgcl.run_folder import RunFolder
from fdgcl.workflows.feedback import Feedback
from fdgcl.workflows.labels import RowLabels, labels_in, labels_of, rows_by_id
from fdgcl.workflows.places import shown_path, without_folders
from fdgcl.workflows.records import Record, read_record
from fdgcl.workflows.report_embedding import Finder
from fdgcl.workflows.report_scores import groups_of, score_labels
from fdgcl.workflows.rows import Level, row_ids
from fdgcl.workflows.source import load_named, read_data

if TYPE_CHECKING:
    from fdgcl.workflows.source import Data, InMemory

MOST_VIEWED = 200_000  # nodes up to which the views are computed anew


@dataclass(frozen=True)
class Given:
    """What was named besides the run.

    Attributes:
        embedding: The file of the embedding.
        dataset: A dataset by name, a compact file, or the graph itself.
        labels: A file of labels.
        tables: How that is understood.
        data_root: The folder of datasets.
    """

    embedding: Path | None = None
    dataset: str | InMemory | None = None
    labels: Path | None = None
    tables: TableOptions = field(default_factory=TableOptions)
    data_root: Path | None = None

    @property
    def dataset_name(self) -> str | None:
        """What the dataset is called."""
        one = self.dataset
        return one if one is None or isinstance(one, str) else one.name

    def load_dataset(self) -> InMemory:
        """The dataset, which was named or given."""
        assert self.dataset is not None
        if isinstance(self.dataset, str):
            return load_named(self.dataset, self.data_root)
        return self.dataset


def gather(folder: Path, given: Given, told: Feedback) -> Findings:
    """Collect what is known of a run.

    Raises:
        InputError: The folder holds no run, or what was named does not belong to it.
    """
    bars = told.bars
    files = RunFolder(folder)
    config, record = files.read_config(), read_record(folder)
    with bars.waiting("read"):
        graph = _graph(config, record, given, told)
        prepared = _prepared(graph, config, given, told)
        if prepared is None and given.dataset is None:
            graph = None
        own = graph if prepared is not None else None
        rows, finished = int(config.graph["nodes"]), files.is_finished
        finder = Finder(folder, record, own, rows, finished, told)
        embedded = finder.find(given.embedding)
        level = _level(embedded, graph, config, record)
        if embedded is not None and graph is not None:
            name = given.dataset_name or graph.name
            embedded = _in_order_of(graph, embedded, name, level)
    labels = _labels(graph, given, embedded, level, told)
    scores, scored = _scores(embedded, labels, record, given, told)
    with bars.waiting("spectrum"):
        spectrum = _spectrum(prepared, config)
    views = None
    if graph is not None and prepared is not None and files.is_finished:
        with bars.waiting("views"):
            views = _views(folder, graph, told)
    shown = _shown(record, given)
    noted = record.notices if record else ()
    about = {**config.graph, "source": shown(str(config.graph["source"]))}
    return Findings(
        config=replace(config, graph=about),
        history=[one.to_dict() for one in files.read_metrics()],
        finished=files.is_finished,
        spectrum=spectrum,
        embedded=embedded,
        groups=None if labels is None else groups_of(labels, shown(labels.name)),
        views=views,
        scores=scores,
        scored=shown(scored),
        paper=_paper(_dataset(config, record, given), graph, scores),
        level=level,
        part_columns=_part_columns(files, config),
        notices=[shown(one) for one in (*noted, *told.notices)],
        facts=_facts(folder, record, shown),
    )


def _dataset(config: Config, record: Record | None, given: Given) -> str | None:
    """The dataset that the graph is, by name; None for a graph in files."""
    named = given.dataset_name
    if named is not None:
        name: str = named.strip().lower().replace("_", "-")
    elif record is not None and not record.in_memory:
        name = record.source.name if record.source.path is None else ""
    else:
        name = config.graph["name"]
    return name if name in CATALOGUE else None


def _graph(
    config: Config, record: Record | None, given: Given, told: Feedback
) -> Data | None:
    """The graph named, recorded, or of the name that the run says; None if lost."""
    if given.dataset is not None:
        return given.load_dataset()
    name = _dataset(config, record, given)
    try:
        if record is not None and not record.in_memory:
            root = given.data_root or record.reading.data_root
            return read_data(record.source, replace(record.reading, data_root=root))
        if name is not None:
            return load_named(name, given.data_root)
    except InputError as error:
        told.notice(f"the run's graph is not at hand any more: {error}")
    return None


def _prepared(
    graph: Data | None, config: Config, given: Given, told: Feedback
) -> Preparation[Any] | None:
    """The graph as the run used it; None where it is not the same."""
    if graph is None:
        return None
    prepared = find_method(config.method).prepare(as_graph(graph), config.settings)
    if prepared.describe_graph()["fingerprint"] == config.graph["fingerprint"]:
        return prepared
    used = (
        "its labels are used alone" if given.dataset is not None else "it is left out"
    )
    told.notice(
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


def _in_order_of(data: Data, embedded: Embedded, name: str, level: Level) -> Embedded:
    """The embedding with its rows in the order of the nodes, or of the graphs.

    Raises:
        InputError: Its ids are not those of the nodes, or of the graphs.
    """
    ids = row_ids(data, level)
    try:
        rows = rows_by_id(ids, embedded.ids, f"{level}s of {name}", "it")
    except InputError as error:
        message = f"the embedding is not one of {name}: {error}"
        raise InputError(message) from None
    return Embedded(ids, embedded.z[rows])


def _labels(
    graph: Data | None,
    given: Given,
    embedded: Embedded | None,
    level: Level,
    told: Feedback,
) -> RowLabels | None:
    if given.labels is not None and embedded is not None:
        where = "the embedding"
        labels = labels_in(given.labels, given.tables, embedded.ids, where, level)
        told.notice(*labels.lines)
        return labels
    if graph is None:
        return None
    nodes = graph.graph if isinstance(graph, GraphDataset) else graph
    found = labels_of(nodes if level == "node" else graph)
    if found is None and given.dataset is not None:
        message = f"`dataset`: {given.dataset_name} ({graph.source}) has no labels"
        raise InputError(message)
    return found


def _scores(
    embedded: Embedded | None,
    labels: RowLabels | None,
    record: Record | None,
    given: Given,
    told: Feedback,
) -> tuple[list[Score], str]:
    named = (given.embedding, given.dataset, given.labels)
    if record is not None and record.scores and not any(named):
        return [_recorded(one) for one in record.scores], record.scored
    if embedded is None or labels is None:
        return [], ""
    try:
        score, caption = score_labels(embedded.z, labels, told.bars)
    except InputError as error:
        told.notice(f"the embedding was not scored: {error}")
        return [], ""
    return [score], caption


def _recorded(row: Any) -> Score:
    spread = row["test_std"] if len(row["test"]) > 1 else None
    return Score(row["name"], row["test_mean"], spread, row["val_mean"], row["measure"])


def _spectrum(prepared: Preparation[Any] | None, config: Config) -> Spectrum | None:
    if config.method != "fdgcl":
        return None
    if isinstance(prepared, StoredPreparation):
        return _of_store(prepared)
    if prepared is None:
        return Spectrum(
            any_graph(),
            None,
            "The graph is not at hand: drawn over [0, 2], where every graph's "
            "frequencies lie.",
        )
    assert isinstance(prepared, DiffusionPreparation)
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


def _of_store(prepared: StoredPreparation) -> Spectrum:
    bounds = prepared.spectrum
    if not bounds.has_real_spectrum:
        note = (
            "The edges are directed: their eigenvalues are complex, in the disc over "
            "this interval, and the gain is drawn along its diameter."
        )
        return Spectrum(bounds, None, note)
    if prepared.store.num_nodes > MOST_VIEWED:
        note = f"The eigenvalues are left out above {MOST_VIEWED:,} nodes."
        return Spectrum(bounds, None, note)
    density = spectral_density(prepared.operator)
    how = "all computed" if density.exact else "their density estimated"
    return Spectrum(bounds, density, f"In grey the eigenvalues of the graph, {how}.")


def _views(folder: Path, graph: Data, told: Feedback) -> Any:
    if as_graph(graph).num_nodes > MOST_VIEWED:
        told.notice(f"the views are left out above {MOST_VIEWED:,} nodes")
        return None
    model = load_model(folder, device="auto")
    return model.views(graph) if model.has_views else None


def _part_columns(files: RunFolder, config: Config) -> Sequence[int] | None:
    if config.method != FDGCL.method_name or not files.is_finished:
        return None
    return FDGCL.load(files.folder, device="cpu").part_columns_


def _paper(
    dataset: str | None, graph: Data | None, scores: Sequence[Score]
) -> Score | None:
    """The paper's accuracy on a dataset of its own; the bundled copy is another."""
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
