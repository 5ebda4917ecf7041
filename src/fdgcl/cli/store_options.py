"""The options of commands on stores: the store, and a bound on memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdgcl.cli.options import RUN, option

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
