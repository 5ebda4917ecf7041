"""The paper's tables and figures: experiments as data, and what measures them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fdgcl.report.page import Page


def page_of_run(folder: Path) -> Page:
    """The page of what a run of `fdgcl reproduce` has measured so far.

    Raises:
        InputError: The folder's measurements are damaged, or there are none.
    """
    from fdgcl.experiments.pages import page_of_file
    from fdgcl.experiments.runner import RECORDS

    return page_of_file(folder / RECORDS)
