"""A trained model on new nodes or another graph, without training again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.workflows.feedback import OnNotice, ProgressArgument, feedback
from fdgcl.workflows.outputs import refuse_existing
from fdgcl.workflows.reading import Features, new_reading
from fdgcl.workflows.rows import Level, find_level, row_ids
from fdgcl.workflows.run_folders import check_output
from fdgcl.workflows.source import (
    find_source,
    read_data,
    readings,
    refuse_files,
    summary,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.workflows.source import Data


@dataclass(frozen=True, eq=False)
class Transformed:
    """An embedding of a graph by a model trained before.

    Attributes:
        embedding: The file it was written to; of a store, the folder of its parts.
        run: The run folder of the model.
        ids: (N,) ids of the rows.
        z: (N, dim) the embedding.
        level: What a row stands for.
        seconds: What it took, reading and writing included.
        notices: What was read and decided.
    """

    embedding: Path
    run: Path
    ids: npt.NDArray[Any] = field(repr=False)
    z: npt.NDArray[np.float32] = field(repr=False)
    level: Level
    seconds: float
    notices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return paths and sizes, ready for JSON."""
        return {
            "embedding": str(self.embedding),
            "run": str(self.run),
            f"{self.level}s": len(self.z),
            "dim": self.z.shape[1],
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
    target = run / f"z-{source.name}.parquet" if output is None else Path(output)
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
    seconds = time.perf_counter() - start
    return Transformed(
        target, run, ids, embedding, chosen, seconds, tuple(told.notices)
    )
