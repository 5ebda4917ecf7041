"""A page as one HTML file that needs nothing else: no network, no other file.

Every value of the page is text, never markup: escaped in HTML, in the JSON that figures
are drawn from, and in the markup that Plotly itself reads. Should some text slip
through all the same, the page's policy runs no script but the two written here, known
by their hashes, and fetches nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from fdgcl._files import atomic_path
from fdgcl._version import __version__
from fdgcl.report.page import (
    Block,
    Figure,
    Listing,
    Page,
    Section,
    Table,
    Text,
    check_names,
)
from fdgcl.report.palette import DARK, LIGHT, QUIET_DARK, QUIET_LIGHT
from fdgcl.report.plots import draw

LONG = 4  # sections from which on a page has a list of contents
PROSE = 40  # characters of a cell from which on its column is one of text

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# A number, perhaps with a sign or bound, a spread, a unit, a word on it in brackets and
# a star; what stands for none.
_NUMBER = re.compile(
    r"[-\u2212+<>≤≥~≈]?\s?[\d.,]+(e[-+\u2212]?\d+)?(\s?±\s?[\d.,]+)?"
    r"(\s?(%|\u00d7|[a-zA-Zµ]{1,8}))?(\s?\([^()]{1,12}\))?(\s?\*)?"
)
_EMPTY = ("", "-", "\u2013", "\u2014", "n/a", "nan", "not here")


def write_page(page: Page, path: Path) -> None:
    """Write a page as one self-contained HTML file, whole or not at all.

    Raises:
        InputError: The file cannot be written, or two figures have the same name.
    """
    content = render(page).encode()
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def render(page: Page) -> str:
    """The whole HTML file."""
    names = check_names(page)
    body = [
        _header(page),
        *(_section(section, i) for i, section in enumerate(page.sections)),
        _footer(page),
    ]
    scripts = [_plotly(), _part("page.js")] if names else []
    long = " long" if len(page.sections) >= LONG else ""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            _policy(scripts),
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text(page.title)}</title>",
            f"<style>{_part('page.css')}</style>",
            "</head>",
            "<body>",
            f'<div class="sheet{long}">',
            *body,
            "</div>",
            _json_block(_palettes(), 'id="palettes"') if scripts else "",
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>",
            "",
        ]
    )


def text(value: str) -> str:
    """Escape text for HTML; characters that HTML cannot hold are replaced."""
    return html.escape(_CONTROL.sub("\ufffd", value), quote=True)


def _json_block(value: Any, attributes: str = "") -> str:
    # Escaped beyond ASCII, and without a < to end the element or start a comment.
    content = json.dumps(value, allow_nan=False, separators=(",", ":"))
    content = content.replace("<", "\\u003c").replace(">", "\\u003e")
    space = " " if attributes else ""
    return f'<script type="application/json"{space}{attributes}>{content}</script>'


def _policy(scripts: Sequence[str]) -> str:
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in scripts
    ]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def _palettes() -> dict[str, Any]:
    return {
        "light": {"colors": LIGHT, "quiet": QUIET_LIGHT},
        "dark": {"colors": DARK, "quiet": QUIET_DARK},
    }


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _part(name: str) -> str:
    return (resources.files("fdgcl.report") / name).read_text(encoding="utf-8")


def _header(page: Page) -> str:
    summary = f'<p class="summary">{text(page.summary)}</p>' if page.summary else ""
    header = f"<header><h1>{text(page.title)}</h1>{summary}</header>"
    if len(page.sections) < LONG:
        return header
    entries = "".join(
        f'<li><a href="#section-{i}">{text(section.title)}</a></li>'
        for i, section in enumerate(page.sections)
    )
    return f'{header}\n<nav aria-label="Contents"><ol>{entries}</ol></nav>'


def _section(section: Section, index: int) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    title = text(section.title)
    return f'<section id="section-{index}">\n<h2>{title}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return f"<p>{text(block.text)}</p>"
    if isinstance(block, Listing):
        items = "".join(f"<li>{text(line)}</li>" for line in block.lines)
        return f"<ul>{items}</ul>"
    if isinstance(block, Table):
        return _table(block)
    return _figure(block)


def _figure(figure: Figure) -> str:
    kind = "drawing map" if figure.map else "drawing"
    title = text(figure.title)
    return (
        f'<figure class="{kind}" id="figure-{figure.name}">\n<h3>{title}</h3>\n'
        f'<div class="plot" role="img" aria-label="{title}">'
        "<noscript>This figure is drawn by a script, and scripts are off.</noscript>"
        f"</div>\n{_json_block(draw(figure))}\n{_caption(figure.caption)}</figure>"
    )


def _table(table: Table) -> str:
    columns = range(len(table.columns))
    kinds = [_kind([row[i] for row in table.rows]) for i in columns]
    head = "".join(
        f'<th scope="col"{_classes(kind)}>{text(name)}</th>'
        for kind, name in zip(kinds, table.columns, strict=True)
    )
    rows = "\n".join(
        f"<tr>{''.join(_cell(table, r, i, kinds[i]) for i in columns)}</tr>"
        for r in range(len(table.rows))
    )
    label = text(table.caption or table.columns[0] or "table")
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
        f"</div>{_caption(table.caption)}</figure>"
    )


def _cell(table: Table, row: int, column: int, kind: str) -> str:
    classes = _classes(kind, "strong" if (row, column) in table.strong else "")
    tag, scope = ("th", ' scope="row"') if column == 0 else ("td", "")
    return f"<{tag}{scope}{classes}>{text(table.rows[row][column])}</{tag}>"


def _classes(*names: str) -> str:
    found = " ".join(name for name in names if name)
    return f' class="{found}"' if found else ""


def _kind(cells: Sequence[str]) -> str:
    """How a column is set: numbers to the right, long texts with room."""
    filled = [cell.strip() for cell in cells if cell.strip().lower() not in _EMPTY]
    if filled and all(_NUMBER.fullmatch(cell) for cell in filled):
        return "number"
    return "prose" if max(map(len, filled), default=0) > PROSE else ""


def _caption(caption: str) -> str:
    return f"<figcaption>{text(caption)}</figcaption>" if caption else ""


def _footer(page: Page) -> str:
    facts = "".join(
        f"<dt>{text(name)}</dt><dd>{text(value)}</dd>"
        for name, value in page.facts.items()
    )
    listed = f"<h2>How it was made</h2><dl>{facts}</dl>" if facts else ""
    return f"<footer>{listed}<p>Made by fdgcl {__version__}.</p></footer>"
