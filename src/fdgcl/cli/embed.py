"""`fdgcl embed`: from a graph to embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl import workflows
from fdgcl.cli import options
from fdgcl.cli.failures import interruption
from fdgcl.cli.options import RUN, option, typed
from fdgcl.cli.score_tables import score_table
from fdgcl.cli.settings import Kind, given_settings, settings_of_method, with_settings
from fdgcl.cli.suggestions import after_embedding, command, path_word, resumed
from fdgcl.cli.tables import with_tables
from fdgcl.cli.terminal import Terminal
from fdgcl.graphs.files.options import TableOptions
from fdgcl.workflows.embedded import describe_training
from fdgcl.workflows.feedback import Interrupted

if TYPE_CHECKING:
    from fdgcl.workflows.embedded import Embedded


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
    method: options.MethodName = "fdgcl",
    preset: options.Preset = None,
    variant: options.Variant = None,
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
            text="Score the embedding beside training-free ones on labels: a "
            "linear probe, or an SVM of graphs.",
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
    memory: options.Memory = None,
    **settings: Any,
) -> None:
    """Turn a graph into embeddings: one vector per node, without labels.

    Of many graphs (such as proteins, or with --graph-ids): one vector per graph.

    fdgcl embed edges.csv --features x.parquet -o z.parquet

    fdgcl embed cora --method cca-ssg -o z.parquet
    """
    terminal = Terminal(quiet=quiet, json=json)
    wanted: dict[str, Any] = {
        "features": features,
        "labels": labels,
        "tables": tables,
        "graph_ids": graph_ids,
        "graph_column": graph_column,
        "data_root": data_root,
        "preset": preset,
        "variant": variant,
        "settings_file": settings_file,
        "method": method,
        "settings": given_settings(settings, settings_of_method(method), method),
        "memory": memory,
        "level": level,
        "evaluate": evaluate,
        "seeds": seeds,
    }
    if dry_run:
        _plan(graph, wanted, terminal)
        return
    line = typed(context, flags=("--resume",), valued=("--run",))
    with resumable(line), terminal.bars() as bars:
        found = workflows.embed(
            graph,
            **wanted,
            run=run,
            resume=resume,
            output=output,
            overwrite=overwrite,
            command=line,
            progress=bars,
            on_notice=terminal.notice,
        )
    show_embedded(found, terminal, after_embedding(found))


def for_settings(kind: Kind) -> Callable[..., None]:
    """The command with one option for each setting of a method."""
    tables = with_tables("edges", "features", "labels")
    command: Callable[..., None] = tables(with_settings(embed, (kind,)))
    return command


@contextmanager
def resumable(line: str) -> Iterator[None]:
    """Say how to go on with an embedding that is interrupted.

    Args:
        line: The command that began it, as typed.
    """
    try:
        yield
    except Interrupted as stopped:
        rest = " before there was anything to keep"
        if stopped.kept:
            rest = f"; go on where it stopped with: {resumed(line, stopped.run)}"
        raise interruption(rest) from None


def show_embedded(found: Embedded, terminal: Terminal, following: str) -> None:
    """Show an embedding that was made.

    Args:
        found: The embedding.
        terminal: Where text goes.
        following: The command to suggest next.
    """
    size = f"{found.rows:,} {found.level}s x {found.dim}"
    terminal.say(f"embedding  {found.embedding}  ({size})")
    terminal.say(f"run        {found.run}")
    terminal.say(f"training   {describe_training(found.facts)}")
    if found.scores is not None:
        terminal.show(score_table(found.scores))
    terminal.say(f"look       {command('report', path_word(found.run))}")
    terminal.say(f"next       {following}")
    told = {"notices": terminal.notices, "next": following}
    terminal.emit({**found.to_dict(), **told})


def _plan(graph: str, wanted: dict[str, Any], terminal: Terminal) -> None:
    with terminal.bars() as bars:
        plan = workflows.plan_embedding(
            graph, **wanted, progress=bars, on_notice=terminal.notice
        )
    for sentence in plan.describe():
        terminal.say(sentence)
    plan.plan.check()
    terminal.say("dry run: nothing was trained, nothing written")
    terminal.emit({**plan.to_dict(), "notices": terminal.notices})
