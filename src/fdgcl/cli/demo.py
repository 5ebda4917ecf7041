"""`fdgcl demo`: what it does, on the bundled graph."""

from __future__ import annotations

from pathlib import Path

from fdgcl.cli import options
from fdgcl.cli.job import Job
from fdgcl.cli.run_folders import RUNS, check_writable
from fdgcl.cli.source import Reading, find_source
from fdgcl.cli.start import Start, build_model
from fdgcl.cli.suggestions import command, free_path
from fdgcl.cli.talk import Talk

GRAPH = "cora-bundled"
SEEDS = 3


def demo(
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Embed a citation graph that comes along, and show what the embedding is worth."""
    talk = Talk(quiet=quiet, json=json)
    talk.say(
        "Cora: 2,708 papers, the words they use, and who cites whom. fdgcl learns one "
        "vector per paper without seeing a label; a linear classifier on these vectors "
        "then tells the papers' seven topics apart. Beside it: the same classifier on "
        "what needs no training.\n"
    )
    check_writable(RUNS)
    source = find_source(GRAPH)
    reading = Reading()
    model = build_model(source, Start(), {}, reading, talk)
    job = Job(
        source,
        reading,
        model,
        talk,
        seeds=SEEDS,
        scored=True,
        following=command(
            *("embed", "EDGES.csv", "--features", "FEATURES.parquet"),
            *("-o", free_path(Path("z.parquet"))),
        ),
    )
    again = command("embed", GRAPH, "--seeds", SEEDS, "--evaluate")
    job.run(None, None, resume=False, command=again)
    talk.say("           your own graph; without features it works as well")
