"""A page as Markdown, for documents kept beside the code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fdgcl.report.page import Block, Figure, Listing, Page, Table


def to_markdown(
    page: Page, *, level: int = 1, images: Mapping[str, str] | None = None
) -> str:
    """Write a page as Markdown.

    Args:
        page: The page.
        level: Of its title's heading; sections are one below.
        images: Where the pictures of figures lie, by the figures' names; those that
            have none are left out.
    """
    parts = [f"{'#' * level} {_line(page.title)}", _line(page.summary)]
    for section in page.sections:
        blocks = [_block(block, images or {}) for block in section.blocks]
        shown = [block for block in blocks if block]
        if shown:
            parts += [f"{'#' * (level + 1)} {_line(section.title)}", *shown]
    if page.facts:
        facts = page.facts.items()
        parts.append("\n".join(f"- {_line(k)}: {_line(v)}" for k, v in facts))
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, images: Mapping[str, str]) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        if block.name not in images:
            return ""
        picture = f"![{_line(block.title)}]({images[block.name]})"
        return f"{picture}\n\n{_line(block.caption)}" if block.caption else picture
    if isinstance(block, Listing):
        return "\n".join(f"- {_line(line)}" for line in block.lines)
    return _line(block.text)


def _table(table: Table) -> str:
    lines = [_row(table.columns), "|" + "---|" * len(table.columns)]
    for number, row in enumerate(table.rows):
        cells = [
            f"**{cell}**" if cell and (number, column) in table.strong else cell
            for column, cell in enumerate(row)
        ]
        lines.append(_row(cells))
    text = "\n".join(lines)
    return f"{text}\n\n{_line(table.caption)}" if table.caption else text


def _row(cells: Sequence[str]) -> str:
    escaped = [_line(cell).replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def _line(text: str) -> str:
    """Everything on one line, and nothing that would be read as HTML."""
    return " ".join(text.split()).replace("<", "&lt;")
