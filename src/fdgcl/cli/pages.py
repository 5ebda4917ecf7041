"""A report's page on the terminal: its texts and tables; figures are for files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fdgcl.cli.terminal import Terminal

if TYPE_CHECKING:
    import rich.table

    from fdgcl.report.page import Page, Table


def show_page(page: Page, terminal: Terminal) -> None:
    """Write a page's texts and tables."""
    from fdgcl.report.page import Table, Text

    for section in page.sections:
        blocks = [b for b in section.blocks if isinstance(b, Table | Text)]
        if not blocks:
            continue
        terminal.say(f"\n{section.title}")
        for block in blocks:
            if isinstance(block, Table):
                terminal.show(_table(block))
            else:
                terminal.say(block.text)


def _table(table: Table) -> rich.table.Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(
        caption=table.caption,
        caption_justify="left",
        caption_style="dim",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for heading in table.columns:
        shown.add_column(heading, overflow="fold")
    for line, row in enumerate(table.rows):
        cells = [
            Text(cell, style="bold" if (line, column) in table.strong else "")
            for column, cell in enumerate(row)
        ]
        shown.add_row(*cells)
    return shown
