"""`fdgcl embed`: from a graph to embeddings."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fdgcl._checks import check_count, check_seed
from fdgcl.cli import options
from fdgcl.cli.job import Job
from fdgcl.cli.level import find_level, refuse_scores_of_nodes
from fdgcl.cli.options import GIVEN, RUN, option
from fdgcl.cli.outputs import refuse_existing
from fdgcl.cli.record import is_own
from fdgcl.cli.run_folders import check_output, check_run
from fdgcl.cli.settings import given_settings, with_settings
from fdgcl.cli.source import Reading, find_source, need_labels, refuse_files
from fdgcl.cli.start import Start, build_model
from fdgcl.cli.tables import with_tables
from fdgcl.cli.talk import Talk
from fdgcl.graphs.files.options import TableOptions


@with_tables("edges", "features", "labels")
@with_settings
def embed(
    context: typer.Context,
    graph: options.GraphName,
    tables: TableOptions,
    features: options.Features = None,
    labels: options.Labels = None,
    graph_ids: options.GraphIds = None,
    graph_column: options.GraphColumn = None,
    data_root: options.DataRoot = None,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    level: options.Level = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
    preset: Annotated[
        str | None,
        option(
            "--preset",
            text="Start from this dataset's settings; other options override them.",
            metavar="NAME",
            show_default="that of the dataset",
            panel=RUN,
        ),
    ] = None,
    variant: Annotated[
        str | None,
        option(
            "--variant",
            text="Which settings of the preset: best (ours) or paper.",
            metavar="NAME",
            show_default="best",
            panel=RUN,
        ),
    ] = None,
    settings_file: options.SettingsFile = None,
    run: Annotated[
        Path | None,
        option(
            "--run",
            kind=Path,
            text="Folder for model, settings and training log.",
            show_default="runs/GRAPH-TIMESTAMP",
            panel=RUN,
        ),
    ] = None,
    resume: Annotated[
        bool, option("--resume", text="Go on with the run in --run.", panel=RUN)
    ] = False,
    dry_run: Annotated[
        bool,
        option(
            "--dry-run",
            text="Only say what would be done, what it takes, and whether the solver "
            "is stable.",
            panel=RUN,
        ),
    ] = False,
    evaluate: Annotated[
        bool,
        option(
            "--evaluate",
            text="Score the embedding beside training-free ones, by a linear probe "
            "(of graphs, an SVM on folds); needs labels.",
            panel=RUN,
        ),
    ] = False,
    seeds: Annotated[
        int,
        option(
            "--seeds",
            kind=int,
            text="Train this often, with seeds from --seed on; the first is written.",
            panel=RUN,
        ),
    ] = 1,
    **settings: Any,
) -> None:
    """Turn a graph into embeddings: one vector per node, without labels.

    Of many graphs, one vector per graph: a dataset such as proteins, a compact file of
    many graphs, or an edge list with --graph-ids.

    fdgcl embed edges.csv --features x.parquet -o z.parquet

    fdgcl embed proteins -o z.parquet
    """
    talk = Talk(quiet=quiet, json=json)
    source = find_source(graph)
    reading = Reading(
        features=tuple(features or ()),
        labels=labels,
        tables=tables,
        data_root=data_root,
        graph_ids=graph_ids,
        graph_column=graph_column,
    )
    reading.check()
    refuse_files(source, reading)
    chosen = find_level(source, reading, level)
    if evaluate:
        need_labels(source, reading)
        refuse_scores_of_nodes(source, reading, chosen)
    check_count("--seeds", seeds)
    if not dry_run:
        check_run(run, resume=resume)
        if output is not None:
            check_output(output)
            own = resume and is_own(run, output)
            refuse_existing(output, overwrite=overwrite or own)
    start = Start(preset, variant, settings_file)
    model = build_model(source, start, given_settings(settings), reading, talk)
    check_seed("the last of the seeds", model.seed + seeds - 1)
    job = Job(source, reading, model, talk, seeds=seeds, scored=evaluate, level=chosen)
    if dry_run:
        job.plan()
    else:
        job.run(run, output, resume=resume, command=_typed(context))


def _typed(context: typer.Context) -> str:
    """Return the command as typed, less what a resumed one says anew."""
    given: list[str] = list(context.meta.get(GIVEN, ()))
    kept: list[str] = []
    skip = False
    end = given.index("--") if "--" in given else len(given)
    for word in given[:end]:
        if skip or word == "--resume" or word.startswith("--run="):
            skip = False
            continue
        if word == "--run":
            skip = True
            continue
        kept.append(word)
    return shlex.join(["fdgcl", *kept, *given[end:]])
