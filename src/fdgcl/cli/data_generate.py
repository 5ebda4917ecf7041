"""`fdgcl data generate`: files of a large random graph, to try out what scales."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from fdgcl.cli import options
from fdgcl.cli.options import DATA, option
from fdgcl.cli.outputs import refuse_existing
from fdgcl.cli.suggestions import command, free_path, option_words, path_word
from fdgcl.cli.talk import Talk


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
    from fdgcl.graphs.generating import PowerLawFiles

    talk = Talk(quiet=quiet, json=json)
    files = PowerLawFiles(nodes, edges, features, seed=seed)
    for path in files.paths(output):
        refuse_existing(path, overwrite=overwrite)
    start = time.perf_counter()
    with talk.bars() as bars:
        paths = files.write(output, bars)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in paths)
    talk.emit(
        {
            "files": [str(path) for path in paths],
            "nodes": nodes,
            "edges": edges,
            "features": features,
            "seed": seed,
            "bytes": size,
            "seconds": round(seconds, 2),
        }
    )
    named = " and ".join(map(str, paths))
    talk.say(f"wrote {named}: {describe_size(size)} in {seconds:.1f} s")
    words = [path_word(paths[0])]
    words += option_words("--features", paths[1] if features else None)
    words += option_words("--store", free_path(output / "store"))
    talk.say(f"next: {command('data', 'import', *words)}")
