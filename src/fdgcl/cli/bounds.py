"""What commands on stores have in common: the store, and a bound on memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdgcl.cli.options import RUN, option

# Of the memory to spare, where no bound is given.
_SHARE = 0.6

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


def allowed_bytes(memory: str | None) -> int:
    """The bound in bytes, as given or by what this machine has to spare."""
    from fdgcl._memory import available_bytes, parse_size

    if memory is not None:
        return parse_size(memory, "--memory")
    return int(_SHARE * available_bytes())
