"""From a graph to embeddings: read, train once per seed, write, score."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.workflows.embed_task import EmbeddingTask
from fdgcl.workflows.embedded import Embedded, EmbeddingPlan, Trained
from fdgcl.workflows.feedback import (
    Feedback,
    Interrupted,
    OnNotice,
    ProgressArgument,
    feedback,
)
from fdgcl.workflows.models import Start
from fdgcl.workflows.outputs import refuse_existing
from fdgcl.workflows.reading import Features, as_path, new_reading
from fdgcl.workflows.records import is_own, write_record
from fdgcl.workflows.rows import row_ids
from fdgcl.workflows.run_folders import (
    EMBEDDING,
    STORE_EMBEDDING,
    check_output,
    check_run,
    run_folder,
)
from fdgcl.workflows.source import open_store, readings, summary

if TYPE_CHECKING:
    from fdgcl.embedder import GraphEmbedder
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.workflows.scores import ScoreTable
    from fdgcl.workflows.source import Data

CALLED = "fdgcl.workflows.embed"


def embed(
    graph: str | Path | Data,
    *,
    features: Features | None = None,
    labels: str | Path | None = None,
    tables: TableOptions | None = None,
    graph_ids: str | Path | None = None,
    graph_column: str | None = None,
    data_root: str | Path | None = None,
    preset: str | None = None,
    variant: str | None = None,
    method: str = "fdgcl",
    settings_file: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    level: str | None = None,
    evaluate: bool = False,
    seeds: int = 1,
    memory: int | str | None = None,
    run: str | Path | None = None,
    resume: bool = False,
    output: str | Path | None = None,
    overwrite: bool = False,
    command: str = CALLED,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> Embedded:
    """Turn a graph into embeddings, one vector per node, without labels.

    Of many graphs, one vector per graph: a dataset such as proteins, a compact file of
    many graphs, a GraphDataset, or an edge list with `graph_ids`.

    Args:
        graph: An edge list, a compact file, a store, a dataset by name; or a Graph,
            GraphDataset or Store.
        features: Of an edge list: a file, or several by type of node; or `degree`,
            `spectral` or `random`, made from the edges alone.
        labels: A file with an id and a label per node, or per graph.
        tables: How columns of these files are understood.
        graph_ids: For many graphs in one edge list: a file with a node id and a graph
            id per node.
        graph_column: The column of graph ids in it.
        data_root: The folder of datasets.
        preset: Start from this dataset's settings; None takes the dataset's own.
        variant: Of the preset: `best` or `paper`.
        method: Name of the method, of `fdgcl.methods.METHODS`; presets of others than
            FD-GCL are what their authors published.
        settings_file: Start from the settings in this file instead.
        settings: Settings of the model that override those.
        level: What a row stands for, `node` or `graph`.
        evaluate: Score the embedding beside training-free ones; needs labels.
        seeds: How often to train, with the model's seed and those after it; the first
            is written.
        memory: Bound on what training may hold, in bytes or as in "6GB".
        run: The run folder; None for a new one in `runs`.
        resume: Go on with what is in the run folder.
        output: The embedding, as Parquet; None for `z.parquet` in the run folder. Of a
            store, a folder of Parquet files; None for `z` in the run folder.
        overwrite: Replace an output that is there.
        command: What the record of the run says that it was made by.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: Files, settings or places do not fit together.
        Interrupted: Ctrl-C; an epoch that was done is kept in the run folder.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import embed
        >>> folder, small = tempfile.mkdtemp(), {"epochs": 2, "dim": 16}
        >>> found = embed("cora-bundled", run=f"{folder}/run", settings=small)
        >>> found.z.shape, found.epochs, found.embedding.name
        ((2708, 16), 2, 'z.parquet')
    """
    with feedback(progress, on_notice) as told:
        reading = new_reading(
            features,
            labels,
            tables=tables,
            data_root=data_root,
            graph_ids=graph_ids,
            graph_column=graph_column,
        )
        task = EmbeddingTask.of(
            graph, reading, level, seeds, evaluate=evaluate, memory=memory
        )
        folder, target = as_path(run), as_path(output)
        check_run(folder, resume=resume)
        start = Start(preset, variant, as_path(settings_file), method)
        if task.source.is_store:
            model = task.model(start, settings, told)
            with run_folder(folder, task.source.name) as place:
                return _embed_store(
                    task, model, place, target, overwrite, command, told
                )
        if target is not None:
            check_output(target)
            own = resume and is_own(folder, target)
            refuse_existing(target, overwrite=overwrite or own)
        model = task.model(start, settings, told)
        data = task.read(told)
        with run_folder(folder, task.source.name) as place:
            return _run(task, model, data, place, target, resume, command, told)


def plan_embedding(
    graph: str | Path | Data,
    *,
    features: Features | None = None,
    labels: str | Path | None = None,
    tables: TableOptions | None = None,
    graph_ids: str | Path | None = None,
    graph_column: str | None = None,
    data_root: str | Path | None = None,
    preset: str | None = None,
    variant: str | None = None,
    method: str = "fdgcl",
    settings_file: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    level: str | None = None,
    evaluate: bool = False,
    seeds: int = 1,
    memory: int | str | None = None,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> EmbeddingPlan:
    """Say what `embed` would do with these arguments and take, and write nothing.

    Example:
        >>> from fdgcl.workflows import plan_embedding
        >>> plan = plan_embedding("cora-bundled", settings={"dim": 16})
        >>> plan.stability is not None
        True
    """
    with feedback(progress, on_notice) as told:
        reading = new_reading(
            features,
            labels,
            tables=tables,
            data_root=data_root,
            graph_ids=graph_ids,
            graph_column=graph_column,
        )
        task = EmbeddingTask.of(
            graph, reading, level, seeds, evaluate=evaluate, memory=memory
        )
        start = Start(preset, variant, as_path(settings_file), method)
        model = task.model(start, settings, told)
        data = task.read(told)
        plan = model.plan(data, memory=task.memory)
        told.notice(*model.notices_)
        return EmbeddingPlan(
            graph=data,
            plan=plan,
            stability=model.stability_,
            stability_notes=tuple(model.stability_notes_),
            settings=model.get_params(),
            notices=tuple(told.notices),
        )


def _run(
    task: EmbeddingTask,
    model: GraphEmbedder,
    data: Data,
    place: Path,
    output: Path | None,
    resume: bool,
    command: str,
    told: Feedback,
) -> Embedded:
    try:
        runs = _train(task, model, data, place, told, resume=resume)
    except KeyboardInterrupt:
        raise Interrupted(place, kept=any(place.iterdir())) from None
    first, ids = runs[0], row_ids(data, task.level)
    target = output or place / EMBEDDING
    _write(target, ids, first.embedding, place)
    remember = partial(
        write_record,
        place,
        command=command,
        source=task.source,
        reading=task.reading,
        embedding=target,
        seconds=first.seconds,
        level=task.level,
    )
    # At once, so that a run that is stopped here knows its own file.
    remember(notices=told.notices)
    scores = _score(task, data, runs, told)
    if scores is not None:
        rows = [row.to_dict() for row in scores.rows]
        remember(notices=told.notices, scores=rows, scored=scores.caption)
    return Embedded(
        embedding=target,
        run=place,
        rows=len(first.embedding),
        dim=first.embedding.shape[1],
        level=task.level,
        model=first.model,
        seconds=first.seconds,
        graph=data,
        source=task.source,
        reading=task.reading,
        scores=scores,
        notices=tuple(told.notices),
        held=(ids, first.embedding),
    )


def _embed_store(
    task: EmbeddingTask,
    model: GraphEmbedder,
    place: Path,
    output: Path | None,
    overwrite: bool,
    command: str,
    told: Feedback,
) -> Embedded:
    """Train on a store and write the embedding of its nodes as a folder of parts."""
    from fdgcl.workflows.train_store import fit_store

    store = open_store(task.source)
    told.notice(summary(store), *readings(store))
    target = output or place / STORE_EMBEDDING
    try:
        written = fit_store(
            store,
            model,
            target,
            run=place,
            memory=task.memory,
            overwrite=overwrite,
            command=command,
            told=told,
        )
    except KeyboardInterrupt:
        raise Interrupted(place, kept=any(place.iterdir())) from None
    return Embedded(
        embedding=target,
        run=place,
        rows=store.num_nodes,
        dim=written.width,
        level=task.level,
        model=model,
        seconds=written.seconds,
        graph=store,
        source=task.source,
        reading=task.reading,
        notices=tuple(told.notices),
    )


def _train(
    task: EmbeddingTask,
    first: GraphEmbedder,
    data: Data,
    folder: Path,
    told: Feedback,
    *,
    resume: bool,
) -> list[Trained]:
    runs, settings = [], first.get_params()
    for number in range(task.seeds):
        seed = settings["seed"] + number
        model = type(first)(**{**settings, "seed": seed})
        place = folder if number == 0 else folder / f"seed-{seed}"
        if task.seeds > 1:
            told.bars.part(f"seed {seed}")
        start = time.perf_counter()
        embedding = model.fit_transform(
            data,
            level=task.level,
            run=place,
            resume=resume and place.is_dir(),
            memory=task.memory,
            progress=partial(_tell, model, told),
        )
        runs.append(Trained(model, embedding, time.perf_counter() - start))
        told.notice(*model.notices_)
    told.bars.part("")
    return runs


def _tell(
    model: GraphEmbedder, told: Feedback, stage: str, done: int, total: int
) -> None:
    from fdgcl.fitting import tell_epoch

    # What was decided for the user is known by now, long before training ends.
    told.notice(*model.notices_)
    if stage == "train":
        tell_epoch(told.bars, model.history_[-1], total)
    else:
        told.bars(stage, done, total)


def _score(
    task: EmbeddingTask, data: Data, runs: Sequence[Trained], told: Feedback
) -> ScoreTable | None:
    from fdgcl.graphs.store.store import Store
    from fdgcl.workflows.scores import score_runs

    if not task.scored or isinstance(data, Store):
        return None
    models = [run.model for run in runs]
    return score_runs(models, (run.embedding for run in runs), data, told.bars)


def _write(target: Path, ids: Any, embedding: Any, folder: Path) -> None:
    from fdgcl.embeddings import write_embeddings

    try:
        write_embeddings(target, ids, embedding)
    except InputError as error:
        message = f"{error}; the trained model is kept in {folder}"
        raise type(error)(message) from None
