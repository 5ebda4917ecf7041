"""Facts as a small table of HTML, as notebooks show objects."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

#: What stands beside a word: nothing, a text, a number, or several texts, a line each.
Fact: TypeAlias = str | int | tuple[str, ...] | list[str] | None

# No colours: those of the page, dark or light, are the right ones.
_LEFT = ' style="text-align:left;vertical-align:top"'


def table(title: str, facts: Iterable[tuple[str, Fact]]) -> str:
    """Return a table of one fact a row; those that are None or empty are left out.

    Whatever the texts hold stays text.

    >>> print(table("<toy>", [("nodes", 1200), ("source", None)]))
    <table>
    <caption style="text-align:left;vertical-align:top"><b>&lt;toy&gt;</b></caption>
    <tr><th style="text-align:left;vertical-align:top">nodes</th><td \
style="text-align:left;vertical-align:top">1,200</td></tr>
    </table>
    """
    rows = [
        f"<tr><th{_LEFT}>{_text(name)}</th><td{_LEFT}>{_lines(fact)}</td></tr>"
        for name, fact in facts
        if fact is not None and fact not in ("", (), [])
    ]
    caption = f"<caption{_LEFT}><b>{_text(title)}</b></caption>"
    return "\n".join(["<table>", caption, *rows, "</table>"])


def _lines(fact: Fact) -> str:
    if isinstance(fact, int):
        return f"{fact:,}"
    return "<br>".join(map(_text, [fact] if isinstance(fact, str) else fact or ()))


def _text(text: str) -> str:
    # Half of a surrogate pair, as names in files may hold, cannot be sent to a page.
    return escape(str(text).encode("utf-8", "replace").decode())
