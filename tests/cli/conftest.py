"""The command line, run inside a folder with a small graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from smallgraph import Command, write_graph
from typer.testing import CliRunner, Result

from fdgcl.cli import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with edges.csv, x.parquet and y.csv; ids are strings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FDGCL_DATA", raising=False)
    write_graph(tmp_path)
    return tmp_path


@pytest.fixture
def fdgcl(folder: Path) -> Command:
    """Run the command line in the folder; nothing may ever end in a traceback."""

    def run(*arguments: object) -> Result:
        words = [str(argument) for argument in arguments]
        result = CliRunner().invoke(app, words, prog_name="fdgcl")
        assert "Traceback" not in result.stderr
        return result

    return run
