"""`fdgcl demo`: what it does, on the bundled graph."""

from __future__ import annotations

from pathlib import Path

from fdgcl import workflows
from fdgcl.cli import options
from fdgcl.cli.embed import resumable, show_embedded
from fdgcl.cli.suggestions import command, free_path
from fdgcl.cli.terminal import Terminal

GRAPH = "cora-bundled"
SEEDS = 3


def demo(
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Embed a citation graph that comes along, and show what the embedding is worth."""
    terminal = Terminal(quiet=quiet, json=json)
    terminal.say(
        "Cora: 2,708 papers, the words they use, and who cites whom. fdgcl learns one "
        "vector per paper without seeing a label; a linear classifier on these vectors "
        "then tells the papers' seven topics apart. Beside it: the same classifier on "
        "what needs no training.\n"
    )
    again = command("embed", GRAPH, "--seeds", SEEDS, "--evaluate")
    with resumable(again), terminal.bars() as bars:
        found = workflows.embed(
            GRAPH,
            seeds=SEEDS,
            evaluate=True,
            command=again,
            progress=bars,
            on_notice=terminal.notice,
        )
    following = command(
        *("embed", "EDGES.csv", "--features", "FEATURES.parquet"),
        *("-o", free_path(Path("z.parquet"))),
    )
    show_embedded(found, terminal, following)
    terminal.say("           your own graph; without features it works as well")
