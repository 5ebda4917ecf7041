"""Commands on files that are something else: one sentence, and nothing before it."""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from smallgraph import SMALL, Command, everything

COMMANDS = {
    "embed": ("embed", "{0}", *SMALL),
    "import": ("data", "import", "{0}", "--store", "G"),
    "convert": ("data", "convert", "{0}", "-o", "g.npz"),
    "features": ("embed", "edges.csv", "--features", "{0}", *SMALL),
}
CSV = b"source,target\n" + b"".join(b"n%d,n%d\n" % (i, i + 1) for i in range(30))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("packed.csv", gzip.compress(CSV), "packed by gzip"),
        ("packed.csv.xz", lzma.compress(CSV), "packed by xz"),
        ("wide.csv", CSV.decode().encode("utf-16"), "text in UTF-16"),
        ("bytes.csv", np.arange(999.0).tobytes(), "binary data"),
    ],
    ids=["gzip", "xz", "utf-16", "bytes"],
)
def test_one_sentence(
    fdgcl: Command, folder: Path, command: str, name: str, content: bytes, word: str
) -> None:
    (folder / name).write_bytes(content)
    before = everything(folder)
    result = fdgcl(*(part.format(name) for part in COMMANDS[command]))
    assert result.exit_code == 2, result.output
    assert name in result.stderr
    assert word in result.stderr
    assert result.stderr.count("\n") == 1
    assert everything(folder) == before


def test_rows_that_are_no_text_are_told_of_by_one_sentence(folder: Path) -> None:
    # As a process, since what Python ignores it writes around the command line.
    (folder / "e.csv").write_bytes(b"source,target\na,b\n\xff\xfe,b,c\nb,c\n")
    for words in (
        ("convert", "e.csv", "-o", "g.npz"),
        ("import", "e.csv", "--store", "G"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "fdgcl", "data", *words],
            capture_output=True,
            cwd=folder,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: e.csv has 3 values in row 2")
        assert done.stderr.count(b"\n") == 1
