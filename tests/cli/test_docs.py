"""What the README and the docs tell people to type works as written.

A fence after the line `<!-- runs -->` is run: lines that start with `fdgcl ` of a bash
fence, the whole of a python fence, in one folder per page. Commands in any other bash
fence must at least exist, with the options they name.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from smallgraph import Command, write_graph

from fdgcl.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARK = "<!-- runs -->"
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fence of a page."""

    language: str
    text: str
    runs: bool

    @property
    def commands(self) -> list[list[str]]:
        """The fdgcl commands in it, as words; comments and continued lines undone."""
        joined = self.text.replace("\\\n", " ")
        lines = (line.strip().removeprefix("$ ") for line in joined.splitlines())
        return [
            shlex.split(line, comments=True)[1:]
            for line in lines
            if line.startswith("fdgcl ")
        ]


def blocks(page: str) -> Iterator[Block]:
    """Yield the fences of a page."""
    for match in FENCE.finditer(page):
        above = page[: match.start()].rstrip()
        yield Block(match[1], match[2], above.endswith(MARK))


def test_fences_are_found() -> None:
    page = f"""
text
{MARK}

```bash
pip install fdgcl
fdgcl embed a.csv \\
    -o z.parquet   # where it goes
```
```console
$ fdgcl --version
```
{MARK}
```python
x = 1
```
"""
    first, second, third = blocks(page)
    assert first.runs
    assert first.commands == [["embed", "a.csv", "-o", "z.parquet"]]
    assert not second.runs
    assert second.commands == [["--version"]]
    assert (third.language, third.text, third.runs) == ("python", "x = 1\n", True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        for words in block.commands:
            known = _options(words)
            for word in words:
                if word.startswith("--"):
                    assert word.partition("=")[0] in known, shlex.join(words)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_marked_examples_run(page: Path, folder: Path, fdgcl: Command) -> None:
    write_graph(folder, seed=1, prefix="m")
    for name, new in (("edges.csv", "edges2.csv"), ("x.parquet", "x2.parquet")):
        (folder / name).rename(folder / new)
    write_graph(folder)
    for block in blocks(page.read_text(encoding="utf-8")):
        if not block.runs:
            continue
        for words in block.commands:
            result = fdgcl(*words)
            assert result.exit_code == 0, f"{shlex.join(words)}\n{result.output}"
        if block.language == "python":
            _run_python(block.text, folder)


def _options(words: list[str]) -> set[str]:
    command = typer.main.get_command(app)
    context = typer.Context(command)
    known = {name for param in command.params for name in param.opts}
    for word in words:
        sub = getattr(command, "get_command", lambda *_: None)(context, word)
        if sub is None:
            break
        command = sub
        for param in command.params:
            known.update(param.opts, param.secondary_opts)
    return known | {"--help"}


def _run_python(text: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"
