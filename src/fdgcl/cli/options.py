"""The options that commands share: reading, output, how they look in the help."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from fdgcl.methods import METHODS

DATA, DIFFUSION, TRAINING, RUN, OUTPUT = (
    "Data",
    "Diffusion",
    "Training",
    "Run",
    "Output",
)

DEBUG = "fdgcl.debug"  # keys of the parser's `meta`, which all commands share
GIVEN = "fdgcl.given"
METHOD, FDGCL = "--method", "fdgcl"


def _remember_debug(context: typer.Context, wanted: bool) -> bool:
    if wanted:
        context.meta[DEBUG] = True
    return wanted


def typed(
    context: typer.Context, *, flags: Sequence[str] = (), valued: Sequence[str] = ()
) -> str:
    """The command as the user typed it.

    Args:
        context: Of the command.
        flags: Options without a value that are left out.
        valued: Options that are left out with their value.
    """
    words = iter(context.meta.get(GIVEN, ()))
    kept = ["fdgcl"]
    for word in words:
        if word == "--":  # no word after it is an option
            return shlex.join([*kept, word, *words])
        name, equals, _ = word.partition("=")
        if name in valued:
            if not equals:
                next(words, None)
        elif word not in flags:
            kept.append(word)
    return shlex.join(kept)


def method_of(context: typer.Context) -> str:
    """The method that is named on the command line: its settings are the options."""
    words = context.meta.get(GIVEN, ())
    for word, following in pairwise((*words, "")):
        if word == "--":
            break
        if word == METHOD:
            return str(following)
        if word.startswith(f"{METHOD}="):
            return str(word.partition("=")[2])
    return FDGCL


def whole_number(text: str) -> int:
    """Parse an option; the parser's own message does not show what it got."""
    try:
        return int(text)
    except ValueError:
        message = f"{text!r} is not a whole number"
        raise typer.BadParameter(message) from None


def number(text: str) -> float:
    """Parse an option that may have a fraction."""
    try:
        return float(text)
    except ValueError:
        message = f"{text!r} is not a number"
        raise typer.BadParameter(message) from None


_PARSERS: dict[type, dict[str, Any]] = {
    int: {"parser": whole_number, "metavar": "N"},
    float: {"parser": number, "metavar": "NUMBER"},
    str: {"metavar": "NAME"},
    Path: {"metavar": "PATH"},
    bool: {},
}


def option(
    *names: str, text: str, panel: str = OUTPUT, kind: type = bool, **more: Any
) -> Any:
    """Return an option, shown in a panel of the help."""
    options = {**_PARSERS[kind], **more}
    return typer.Option(*names, help=text, rich_help_panel=panel, **options)


GraphName = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="An edge list (CSV or Parquet, also gzipped), a compact .npz file, "
        "a store (see `fdgcl data import`), or a dataset (see `fdgcl data list`).",
        show_default=False,
    ),
]
Features = Annotated[
    list[str] | None,
    option(
        "--features",
        panel=DATA,
        metavar="FILE|KIND",
        text="Node features: a Parquet, CSV, npy or npz file; or degree, spectral or "
        "random, made from the edges alone. Of several types of nodes: several, or "
        "TYPE=FILE each.",
    ),
]
Labels = Annotated[
    Path | None,
    option(
        "--labels",
        kind=Path,
        panel=DATA,
        text="An id and a label per node, or per graph.",
    ),
]
GraphIds = Annotated[
    Path | None,
    option(
        "--graph-ids",
        kind=Path,
        panel=DATA,
        text="For many graphs in one edge list: a file with a node id and a graph id "
        "per node. Labels are then those of graphs.",
    ),
]
GraphColumn = Annotated[
    str | None,
    option(
        "--graph-column",
        panel=DATA,
        metavar="COLUMN",
        text="Graph id in the file of --graph-ids.",
    ),
]
Level = Annotated[
    str | None,
    option(
        "--level",
        panel=OUTPUT,
        metavar="node|graph",
        text="What one vector stands for.",
        show_default="graph where there are many graphs, else node",
    ),
]
DataRoot = Annotated[
    Path | None,
    option(
        "--data-root",
        kind=Path,
        panel=DATA,
        envvar="FDGCL_DATA",
        text="Folder that holds datasets in the compact format.",
        show_envvar=True,
    ),
]
Output = Annotated[
    Path | None,
    option(
        "--output",
        "-o",
        kind=Path,
        text="Where the embedding goes, as Parquet; of a store, a folder.",
    ),
]
Overwrite = Annotated[
    bool,
    option("--overwrite", text="Replace output files that are there already."),
]
StoreFolder = Annotated[
    Path,
    typer.Argument(
        metavar="STORE",
        help="A folder that `fdgcl data import` made.",
        show_default=False,
    ),
]
Memory = Annotated[
    str | None,
    option(
        "--memory",
        kind=str,
        panel=RUN,
        metavar="SIZE",
        text="What all processes here may hold together, as in 6GB.",
        show_default="60 % of what is to spare",
    ),
]
SettingsFile = Annotated[
    Path | None,
    option(
        "--settings",
        kind=Path,
        metavar="FILE.toml",
        text="Start from the settings in this file, as fdgcl tune writes it.",
        panel=RUN,
    ),
]
MethodName = Annotated[
    str,
    option(
        "--method",
        kind=str,
        text=f"How to embed: {', '.join(METHODS)}; --method NAME --help-all shows "
        "its settings.",
        panel=RUN,
    ),
]
Preset = Annotated[
    str | None,
    option(
        "--preset",
        text="Start from this dataset's settings; other options override them.",
        metavar="NAME",
        show_default="that of the dataset",
        panel=RUN,
    ),
]
Variant = Annotated[
    str | None,
    option(
        "--variant",
        text="Which settings of the preset: best (ours) or paper.",
        metavar="best|paper",
        show_default="best",
        panel=RUN,
    ),
]
Device = Annotated[
    str, option("--device", kind=str, panel=RUN, text="auto, cpu or cuda.")
]
Quiet = Annotated[
    bool, option("--quiet", "-q", text="Say nothing but warnings and errors.")
]
QuietResult = Annotated[bool, option("--quiet", "-q", text="Show the result only.")]
Json = Annotated[
    bool, option("--json", text="Print one JSON object instead of text and tables.")
]
Debug = Annotated[
    bool,
    option("--debug", text="Show a traceback on errors.", callback=_remember_debug),
]
