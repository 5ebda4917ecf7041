"""Mutations of files: by bytes, and by what the bytes mean."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any, TypeAlias

Mutation: TypeAlias = Callable[[random.Random, bytes], bytes]

_WIDTHS = (1, 2, 4, 8)
_NUMBERS = (
    *("0", "-1", "1", "255", "65536", "2147483647", "2147483648", "4294967296"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616"),
    *("1e308", "1e999", "-1e999", "1e-320", "0.1", "nan", "inf", "-inf", "007", "+5"),
    *("1" * 40, "9" * 400, "1_000", "0x10", "1,5", "--1", "1e", ".", "-"),
)
_WORDS = (
    *("", " ", "null", "None", "NaN", "NA", "<NA>", "true", "false", "yes", "no"),
    *("source", "target", "id", "label", "weight", "type", "node_id", "Unnamed: 0"),
    *("2024-01-02", "2024-13-45", "0001-01-01", "9999-12-31T23:59:59.999999999Z"),
    *("é", "\u200b", "🦀", "a\nb", '"', '""', "'", "\t", "\r", "\\", "#", "%", "=1+1"),
    *("a" * 300, "[1, 2]", "{}", "\x1f", "\x7f", "\ufeff"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 2**31, 2**53, 2**63, 2**64, 10**12, 10**30, 0.5),
    *(-0.0, 1e308, float("nan"), float("inf"), "", "0", "x", "é", "a" * 300, [], {}),
    *([0], [[]], [1, 2, 3], {"a": 1}, [None], ["x"], "../../x", "/dev/null", "\0"),
)


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """Change, insert, remove, repeat or cut some bytes."""
    changed = bytearray(data)
    for _ in range(1 + int(rng.expovariate(0.8))):
        place = rng.randrange(len(changed) + 1)
        kind = rng.randrange(8)
        length = min(1 + int(rng.expovariate(0.15)), 64)
        if kind == 0 and place < len(changed):
            changed[place] ^= 1 << rng.randrange(8)
        elif kind == 1 and place < len(changed):
            changed[place] = rng.choice((0, 1, 127, 128, 255, 10, 13, 34, 44))
        elif kind == 2:
            changed[place:place] = rng.randbytes(length)
        elif kind == 3:
            del changed[place : place + length]
        elif kind == 4:
            changed[place:place] = changed[place : place + length]
        elif kind == 5:
            number = rng.choice(
                (0, 1, -1, 2**7, 2**15, 2**31, 2**32, 2**63 - 1, -(2**63))
            )
            width = rng.choice(_WIDTHS)
            changed[place : place + width] = (number % 256**width).to_bytes(
                width, rng.choice(("little", "big"))
            )
        elif kind == 6 and rng.random() < 0.3:
            del changed[place:]
        else:
            other = rng.randrange(len(changed) + 1)
            changed[place : place + length] = changed[other : other + length]
    return bytes(changed)


def mutate_end(rng: random.Random, data: bytes) -> bytes:
    """Change bytes of the last part only, where Parquet and zip say what is where."""
    start = len(data) * rng.choice((5, 7, 9)) // 10
    # The last bytes say that it is such a file at all.
    stop = len(data) - rng.choice((0, 4, 8))
    return data[:start] + mutate_bytes(rng, data[start:stop]) + data[stop:]


def mutate_text(rng: random.Random, data: bytes) -> bytes:
    """Change cells and rows of delimited text."""
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(1 + int(rng.expovariate(0.7))):
        row = rng.randrange(len(lines))
        cells = lines[row].split(",")
        cell = rng.randrange(len(cells))
        kind = rng.randrange(8)
        if kind <= 2:
            cells[cell] = rng.choice(_NUMBERS if kind else _WORDS)
        elif kind == 3:
            cells.insert(cell, rng.choice(_WORDS))
        elif kind == 4:
            del cells[cell]
        elif kind == 5:
            lines.insert(row, rng.choice((*lines, "", ",", "#", " ", ",,,,,")))
        elif kind == 6:
            word = rng.choice(_WORDS)
            lines = [_with_cell(line, cell, word, rng.random() < 0.8) for line in lines]
            continue
        else:
            separator = rng.choice((";", "\t", "|", " ", ", "))
            lines = [line.replace(",", separator) for line in lines]
            continue
        lines[min(row, len(lines) - 1)] = ",".join(cells)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _with_cell(line: str, cell: int, word: str, wanted: bool) -> str:
    cells = line.split(",")
    if wanted and cell < len(cells):
        cells[cell] = word
    return ",".join(cells)


def mutate_numbers(rng: random.Random, data: bytes) -> bytes:
    """Replace a number or a word of what is written as text, wherever it stands."""
    found = list(re.finditer(rb"[0-9.]+|[A-Za-z_]+|[\[\](){}:,]", data))
    if not found:
        return mutate_bytes(rng, data)
    match = rng.choice(found)
    new = rng.choice(_NUMBERS if match[0][:1].isdigit() else _WORDS).encode()
    return data[: match.start()] + new + data[match.end() :]


def mutate_json(rng: random.Random, data: bytes) -> bytes:
    """Replace, remove or add values of JSON."""
    try:
        value = json.loads(data)
    except ValueError:
        return mutate_bytes(rng, data)
    for _ in range(1 + int(rng.expovariate(1.2))):
        value = _changed(rng, value)
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _changed(rng: random.Random, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value or rng.random() < 0.05:
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and rng.random() < 0.5
        ):
            return value + rng.choice((-1, 1, 7, 2**31, 10**9))
        return rng.choice(_VALUES)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = rng.choice(keys)
    kind = rng.random()
    if kind < 0.1:
        del value[key]
    elif kind < 0.15 and isinstance(value, dict):
        value[rng.choice(("", "x", "format", *map(str, keys)))] = rng.choice(_VALUES)
    elif kind < 0.2 and isinstance(value, list):
        value.insert(key, rng.choice(value))
    else:
        value[key] = _changed(rng, value[key])
    return value


def mutate_json_lines(rng: random.Random, data: bytes) -> bytes:
    """Change one of several lines of JSON."""
    lines = data.split(b"\n")
    row = rng.randrange(len(lines))
    lines[row] = mutate_json(rng, lines[row])
    return b"\n".join(lines)


def mutate_npy_header(rng: random.Random, data: bytes) -> bytes:
    """Change the header of a NumPy array, whose length stays right."""
    size = int.from_bytes(data[8:10], "little")
    header = mutate_numbers(rng, data[10 : 10 + size])
    if rng.random() < 0.3:
        kinds = (b"'<f4'", b"'>i8'", b"'|O'", b"'<U9'", b"'<M8[D]'", b"'|V9'", b"'<c8'")
        header = re.sub(rb"'[<>|][a-zA-Z][0-9]+'", rng.choice(kinds), header)
    header = header[:60_000]
    return data[:8] + len(header).to_bytes(2, "little") + header + data[10 + size :]


def mutate_zip(rng: random.Random, data: bytes) -> bytes:
    """Change a file inside a zip archive, which is packed again as it should be."""
    sink = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except zipfile.BadZipFile:
        return mutate_bytes(rng, data)
    name = rng.choice(list(files))
    kind = rng.random()
    if kind < 0.1:
        del files[name]
    elif kind < 0.2:
        files[rng.choice(("x.npy", "y.npy", "ptr.npy", name))] = files.pop(name)
    else:
        change = rng.choice((mutate_npy_header, mutate_bytes))
        files[name] = change(rng, files[name])
    with zipfile.ZipFile(sink, "w", rng.choice((0, 8))) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


def mutate_safetensors(rng: random.Random, data: bytes) -> bytes:
    """Change the header of a safetensors file, whose length stays right."""
    size = int.from_bytes(data[:8], "little")
    change = rng.choice((mutate_json, mutate_numbers))
    header = change(rng, data[8 : 8 + size])
    return len(header).to_bytes(8, "little") + header + data[8 + size :]
