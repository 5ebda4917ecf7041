"""A trained model on new nodes or another graph, without training again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl._memory import allowed_bytes
from fdgcl.workflows.embedded import Rows
from fdgcl.workflows.feedback import Feedback, OnNotice, ProgressArgument, feedback
from fdgcl.workflows.outputs import refuse_existing, refuse_parts
from fdgcl.workflows.reading import Features, as_path, new_reading
from fdgcl.workflows.rows import find_level, row_ids
from fdgcl.workflows.run_folders import check_output, check_parts
from fdgcl.workflows.source import (
    Source,
    find_source,
    open_store,
    read_data,
    readings,
    refuse_files,
    summary,
)

if TYPE_CHECKING:
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.workflows.source import Data


@dataclass(frozen=True, eq=False, kw_only=True)
class Transformed(Rows):
    """An embedding of a graph by a model trained before.

    `seconds` are what it took, reading and writing included.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return paths and sizes, ready for JSON."""
        return {
            "embedding": str(self.embedding),
            "run": str(self.run),
            f"{self.level}s": self.rows,
            "dim": self.dim,
            "seconds": round(self.seconds, 3),
            "notices": list(self.notices),
        }


def transform(
    run_folder: str | Path,
    graph: str | Path | Data,
    *,
    features: Features | None = None,
    tables: TableOptions | None = None,
    graph_ids: str | Path | None = None,
    graph_column: str | None = None,
    data_root: str | Path | None = None,
    level: str | None = None,
    memory: int | str | None = None,
    output: str | Path | None = None,
    overwrite: bool = False,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> Transformed:
    """Embed new nodes or another graph with a trained model, without training again.

    The features must be those the model was trained on, by name and in any order: same
    columns, same meaning.

    Args:
        run_folder: What `embed` left behind.
        graph: What to embed, as `embed` takes it, and the five arguments after it.
        features: As of `embed`.
        tables: As of `embed`.
        graph_ids: As of `embed`.
        graph_column: As of `embed`.
        data_root: As of `embed`.
        level: What a row stands for, `node` or `graph`.
        memory: Bound on what embedding a store may hold, in bytes or as in "6GB".
        output: The embedding, as Parquet; None for `z-NAME.parquet` in the run folder.
            Of a store, a folder of Parquet files; None for `z-NAME` in the run folder.
        overwrite: Replace an output that is there.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: There is no trained model, or the graph does not fit it.

    Example:
        >>> import fdgcl, tempfile
        >>> from fdgcl.workflows import embed, transform
        >>> folder, small = tempfile.mkdtemp(), {"epochs": 2, "dim": 16}
        >>> graph = fdgcl.load_dataset("cora-bundled")
        >>> run = embed(graph, run=f"{folder}/run", settings=small).run
        >>> transform(run, graph).z.shape
        (2708, 16)
    """
    source, run = find_source(graph), Path(run_folder)
    reading = new_reading(
        features,
        tables=tables,
        data_root=data_root,
        graph_ids=graph_ids,
        graph_column=graph_column,
    )
    reading.check()
    refuse_files(source, reading)
    chosen = find_level(source, reading, level)
    if not run.is_dir():
        message = (
            "`run_folder` must be the run folder of an embedding; "
            f"{run} is not a folder"
        )
        raise InputError(message)
    target = as_path(output)
    if source.is_store:
        with feedback(progress, on_notice) as told:
            return _transform_store(run, source, target, memory, overwrite, told)
    target = target or run / f"z-{source.name}.parquet"
    check_output(target)
    refuse_existing(target, overwrite=overwrite)

    from fdgcl.embeddings import write_embeddings
    from fdgcl.estimators import load_model

    model = load_model(run)
    start = time.perf_counter()
    with feedback(progress, on_notice) as told:
        with told.bars.waiting("read"):
            data = read_data(source, reading, model.feature_schema_)
        told.notice(summary(data), *readings(data))
        embedding = model.transform(
            data, level=chosen, memory=memory, progress=told.bars
        )
        told.notice(*model.notices_)
    ids = row_ids(data, chosen)
    write_embeddings(target, ids, embedding)
    return Transformed(
        embedding=target,
        run=run,
        rows=len(ids),
        dim=embedding.shape[1],
        level=chosen,
        seconds=time.perf_counter() - start,
        notices=tuple(told.notices),
        held=(ids, embedding),
    )


def _transform_store(
    run: Path,
    source: Source,
    output: Path | None,
    memory: int | str | None,
    overwrite: bool,
    told: Feedback,
) -> Transformed:
    """Write the embedding of a store's nodes as a folder of parts."""
    target = output or run / f"z-{source.name}"
    check_parts(target)
    refuse_parts(target, overwrite=overwrite)

    from fdgcl.embedding_folder import embed_to_folder
    from fdgcl.estimators import load_model
    from fdgcl.methods.resources import Resources

    model, store = load_model(run), open_store(source)
    told.notice(summary(store), *readings(store))
    written = embed_to_folder(
        model,
        store,
        target,
        resources=Resources(allowed_bytes(memory, "`memory`")),
        replace_parts=overwrite,
        progress=told.bars,
    )
    told.notice(*model.notices_)
    return Transformed(
        embedding=target,
        run=run,
        rows=store.num_nodes,
        dim=written.width,
        level="node",
        seconds=written.seconds,
        notices=tuple(told.notices),
    )
