"""`fdgcl data generate`: files of a large random graph, to try out what scales."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fdgcl import workflows
from fdgcl.cli import options
from fdgcl.cli.options import DATA, option
from fdgcl.cli.suggestions import command, free_path, option_words, path_word
from fdgcl.cli.terminal import Terminal


def generate(
    nodes: Annotated[
        int,
        option(
            "--nodes",
            kind=int,
            panel=DATA,
            text="Number of nodes.",
            show_default=False,
        ),
    ],
    edges: Annotated[
        int,
        option(
            "--edges",
            kind=int,
            panel=DATA,
            text="Number of edges.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        option(
            "--output",
            "-o",
            kind=Path,
            metavar="FOLDER",
            text="Where edges.parquet and features.parquet go.",
            show_default=False,
        ),
    ],
    features: Annotated[
        int,
        option(
            "--features",
            kind=int,
            panel=DATA,
            text="Number of features; 0 for no file of them.",
        ),
    ] = 64,
    seed: Annotated[
        int,
        option(
            "--seed",
            kind=int,
            panel=DATA,
            text="The same seed and sizes give the same files.",
        ),
    ] = 0,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Write a random graph whose degrees follow a power law, of any size.

    It has eight communities, a node's number modulo 8: half of the edges stay within
    one, and features lean towards its own direction.

    fdgcl data generate --nodes 1000000 --edges 10000000 -o big
    """
    from fdgcl._memory import describe_size

    terminal = Terminal(quiet=quiet, json=json)
    with terminal.bars() as bars:
        made = workflows.generate(
            nodes,
            edges,
            output,
            features=features,
            seed=seed,
            overwrite=overwrite,
            progress=bars,
        )
    terminal.emit(made.to_dict())
    named = " and ".join(map(str, made.files))
    size = describe_size(made.bytes)
    terminal.say(f"wrote {named}: {size} in {made.seconds:.1f} s")
    words = [path_word(made.files[0])]
    words += option_words("--features", made.files[1] if features else None)
    words += option_words("--store", free_path(output / "store"))
    terminal.say(f"next: {command('data', 'import', *words)}")
