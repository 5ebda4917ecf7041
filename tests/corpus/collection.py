"""All cases, and running one of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from fdgcl._checks import InputError
from fdgcl.cli import app
from fdgcl.graphs import read_graph

from . import (
    cases_alignment,
    cases_columns,
    cases_edges,
    cases_formats,
    cases_frames,
    cases_ids,
    cases_import,
    cases_labels,
    cases_options,
    cases_runs,
    cases_scales,
    cases_text,
)
from .case import GRAPH, Call, Case, fingerprint
from .making import write

MODULES = (
    cases_text,
    cases_edges,
    cases_ids,
    cases_columns,
    cases_scales,
    cases_alignment,
    cases_labels,
    cases_formats,
    cases_options,
    cases_frames,
    cases_runs,
    cases_import,
)
CASES: list[Any] = [case for module in MODULES for case in module.group.cases]
RECORD = Path(__file__).with_name("readings.json")
_NOISE = re.compile(r"Traceback|Exception ignored|terminate called|inside fdgcl")


def recorded() -> dict[str, Any]:
    """Return what each case that succeeds was read as when it was recorded."""
    return dict(json.loads(RECORD.read_text()))


def run(case: Case | Call, folder: Path) -> dict[str, Any] | None:
    """Run a case in a folder; return what was read, for those that say.

    Raises:
        AssertionError: Something else happened than must.
    """
    return _call(case) if isinstance(case, Call) else _command(case, folder)


def _call(case: Call) -> dict[str, Any] | None:
    try:
        graph = case.call()
    except InputError as error:
        text = str(error)
        assert case.refused, text
        assert len(text.splitlines()) == 1, text
        _check_phrases(case, text)
        return None
    assert not case.refused, f"read as {graph.reading}"
    _check_phrases(case, "\n".join(graph.reading))
    return _found(case, graph, list(graph.reading))


def _command(case: Case, folder: Path) -> dict[str, Any] | None:
    for name, content in case.files.items():
        write(folder / name, content)
    for words in case.before:
        first = _invoke(words)
        assert first.exit_code == 0, first.stderr
    before = _everything(folder)
    result = _invoke(case.words)
    told = result.stdout + result.stderr
    assert not _NOISE.search(told), told
    if case.refused:
        assert result.exit_code == 2, told
        assert result.stdout == "", told
        # What was read is told before training, or what comes after, is refused.
        *notices, sentence = result.stderr.splitlines()
        assert sentence.startswith("error: "), told
        assert not notices or case.words[0] in ("embed", "transform"), told
        assert result.stderr.count("error: ") == 1, told
        # An import that is refused midway keeps what it has, to go on with.
        store = folder / "G" if case.words[:2] == ("data", "import") else None
        assert _everything(folder, store) == before
        _check_phrases(case, result.stderr)
        return None
    assert result.exit_code == 0, told
    _check_phrases(case, told)
    for phrase in case.never:
        assert phrase not in told
    if not (folder / GRAPH).is_file():
        return None
    lines = [
        line for line in result.stdout.splitlines() if not line.startswith("wrote")
    ]
    return _found(case, read_graph(folder / GRAPH), lines)


def _found(case: Any, graph: Any, lines: list[str]) -> dict[str, Any]:
    found = fingerprint(graph)
    for count, size in zip(case.counts, found["sizes"], strict=False):
        assert count in (None, size), (found["sizes"], lines)
    return {"lines": lines, **found}


def _check_phrases(case: Any, text: str) -> None:
    for phrase in case.says:
        assert phrase in text, f"{phrase!r} is not in: {text}"


def _invoke(words: tuple[str, ...]) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="fdgcl")


def _everything(folder: Path, without: Path | None = None) -> dict[Path, bytes]:
    """All files and folders, hidden ones as well, with their contents."""
    return {
        path: path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
        if without is None or (path != without and without not in path.parents)
    }
