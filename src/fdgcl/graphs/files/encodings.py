"""Text that is no table in UTF-8: other encodings, other formats, none at all."""

from __future__ import annotations

import codecs
import json

#: Kind, what it is for people, what to do about it.
Found = tuple[str, str, str]

_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),  # begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# Text of wide characters without a mark, by which of four bytes are zero, mostly.
_ZEROS = 0.6
_WIDE = {
    (False, True, False, True): ("UTF-16", "UTF-16LE"),
    (True, False, True, False): ("UTF-16", "UTF-16BE"),
    (False, True, True, True): ("UTF-32", "UTF-32LE"),
    (True, True, True, False): ("UTF-32", "UTF-32BE"),
}
_BINARY = ("binary", "binary data, not text", "a table or a matrix is expected")
_GRAPH = "read it with NetworkX and write its edges as CSV"
_JSON = (
    "write it as a table, for lines of JSON by pyarrow.json.read_json and "
    "pyarrow.parquet.write_table"
)
_STARTS: tuple[tuple[bytes, Found], ...] = (
    (
        b"version https://git-lfs.github.com/",
        ("git-lfs", "a pointer of Git LFS, not the file itself", "run git lfs pull"),
    ),
    *(
        (
            start,
            (
                "html",
                "a web page (HTML), maybe instead of a download",
                "download the file itself",
            ),
        )
        for start in (b"<!doctype html", b"<html")
    ),
    (b"graph [", ("gml", "a graph in GML", _GRAPH)),
    (b"*vertices", ("pajek", "a graph in Pajek's format", _GRAPH)),
)
_MARKUP = (b"<?xml", b"<graphml", b"<gexf")


def describe_text(head: bytes) -> Found | None:
    """What text is by its first bytes; None for what may be a table in UTF-8.

    Text in an encoding of one byte for each character is of the kind `latin-1`: of a
    table in it, columns without such characters can be read nonetheless.
    """
    for mark, name in _BOMS:
        if head.startswith(mark):
            return _encoded(name)
    if b"\0" in head:
        return _with_zeros(head)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    for word, found in _STARTS:
        if start[: len(word)].lower() == word:
            return found
    if start[:9].lower().startswith(_MARKUP):
        return _describe_markup(start)
    return _describe_json(start) or _describe_bytes(head)


def _encoded(name: str, by: str = "") -> Found:
    encoding = by or name
    return (
        name.lower(),
        f"text in {name}",
        f"convert it with iconv -f {encoding} -t UTF-8",
    )


def _with_zeros(head: bytes) -> Found:
    size = max(len(head) // 4, 1)
    zeros = tuple(head[place::4].count(0) / size >= _ZEROS for place in range(4))
    if zeros in _WIDE:
        return _encoded(*_WIDE[zeros])
    if not _controls(head.replace(b"\0", b"")) and _first_wrong(head) is None:
        line = head.count(b"\n", 0, head.index(0)) + 1
        return (
            "nul",
            f"text with bytes of zero, the first in line {line}",
            "it may be damaged; tr -d '\\000' takes them out",
        )
    return _BINARY


def _controls(head: bytes) -> int:
    """Bytes that no text has."""
    return sum(head.count(byte) for byte in range(32) if byte not in b"\t\n\r\f\x1a")


def _first_wrong(head: bytes) -> int | None:
    """The first byte that is not UTF-8; a character may be cut off at the end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError as error:
        return error.start
    return None


def _describe_bytes(head: bytes) -> Found | None:
    wrong = _first_wrong(head)
    if wrong is None:
        return None
    if _controls(head):
        return _BINARY
    line = head.count(b"\n", 0, wrong) + 1
    return (
        "latin-1",
        f"not text in UTF-8 (byte 0x{head[wrong]:02x} in line {line})",
        "if it is Latin-1, convert it with iconv -f WINDOWS-1252 -t UTF-8",
    )


def _describe_markup(start: bytes) -> Found:
    for word, name in ((b"<graphml", "GraphML"), (b"<gexf", "GEXF")):
        if word in start[:4096].lower():
            return name.lower(), f"a graph in {name}", _GRAPH
    return "xml", "XML", "write it as a table, in CSV or Parquet"


def _describe_json(start: bytes) -> Found | None:
    inside = start[1:].lstrip()[:1]
    if not (
        (start[:1] == b"{" and inside in (b'"', b"}"))
        or (start[:1] == b"[" and inside in (b"{", b"[", b'"', b"]"))
    ):
        return None
    first, _, rest = start.partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return "json", "JSON", _JSON
    if rest.lstrip()[:1] == start[:1]:
        return "json-lines", "lines of JSON", _JSON
    return "json", "JSON", _JSON
