"""In place of `fdgcl`: takes its words, and leaves files as its commands do.

`python standin.py TEMPLATE data import ...`: a manifest and a recipe are copied from
the folder TEMPLATE, so that nothing slow needs to be imported here.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path


def main(template: Path, words: list[str]) -> None:
    print("command", *words)
    # Commands take seconds; one that takes none may be gone before it is looked at.
    time.sleep(0.25)
    if words[:2] == ["data", "generate"]:
        _generate(words[2:])
    elif words[:2] == ["data", "import"]:
        _import(template, words[2:])
    elif words[0] == "diffuse":
        _diffuse(template, words[1:])
    else:
        _train(words[1:])


def _generate(words: list[str]) -> None:
    given = _options(words, "--nodes", "--edges", "--features", "--seed", "-o")
    if given.seed == "13":
        sys.exit("error: thirteen is not a number to begin with")
    for name in ("edges.parquet", "features.parquet"):
        _write(Path(given.o) / name)


def _import(template: Path, words: list[str]) -> None:
    given = _options(words[1:], "--features", "--store", "--memory")
    for file in (words[0], given.features):
        Path(file).read_bytes()
    Path(given.store).mkdir()
    shutil.copy(template / "manifest.json", given.store)


def _diffuse(template: Path, words: list[str]) -> None:
    names = ("--settings", "--memory", "--time", "--step", "--orders")
    _options(words[1:], *names)
    shutil.copytree(template / "diffused", Path(words[0]) / "diffused")


def _train(words: list[str]) -> None:
    names = ("--settings", "--memory", "--time", "--step", "--orders", "--dim")
    names += ("--hidden", "--epochs", "--seed", "--run", "-o")
    given = _options(words[1:], *names)
    _write(Path(given.run) / "config.json")
    _write(Path(given.o) / "part-00000.parquet")


def _write(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(1000))


def _options(words: list[str], *names: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in names:
        parser.add_argument(name, required=name != "--orders")
    return parser.parse_args(words)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
