"""What an import was asked for, noted in the store so that only the same goes on."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from fdgcl._checks import InputError, check_count, choose
from fdgcl._files import explain, write_json
from fdgcl.graphs.files.opening import Column, Header
from fdgcl.graphs.files.table import existing_file
from fdgcl.graphs.operators import Direction
from fdgcl.scale.importing.edgefile import EdgeFile

FORMAT = "fdgcl-import-1"


@dataclass(frozen=True)
class Request:
    """All that the result depends on; `import_graph` says what each is."""

    edges: Path
    features: Path | None = None
    source: Column = None
    target: Column = None
    weight: Column = None
    id_column: Column = None
    header: Header = "auto"
    direction: str = "symmetric"
    name: str | None = None
    seed: int = 0

    def check(self) -> None:
        """Refuse files that are not there, and choices that are none."""
        existing_file(self.edges, "edges")
        if self.features is not None:
            existing_file(self.features, "features")
        choose("direction", self.direction, dict.fromkeys(get_args(Direction)))
        check_count("seed", self.seed, minimum=0)

    @property
    def edge_file(self) -> EdgeFile:
        """The edge list."""
        columns = (self.source, self.target, self.weight, self.header)
        return EdgeFile(self.edges, *columns)

    @property
    def called(self) -> str:
        """The graph's name."""
        return self.name or self.edges.name.split(".")[0] or "graph"

    def to_dict(self) -> dict[str, Any]:
        """As plain values, with what tells a file from a later one of its name."""
        options = ("source", "target", "weight", "id_column", "header")
        return {
            "format": FORMAT,
            "edges": _described(self.edges),
            "features": None if self.features is None else _described(self.features),
            **{name: getattr(self, name) for name in options},
            "direction": self.direction,
            "name": self.called,
            "seed": self.seed,
        }

    def compare(self, folder: Path) -> bool:
        """Whether a folder holds what was made by this request, maybe unfinished.

        Raises:
            InputError: It holds something else.
        """
        path = note_path(folder)
        if not path.is_file():
            if not _is_free(folder):
                message = (
                    f"{folder} must be a new or empty folder, or one that an import "
                    "began: it holds other files"
                )
                raise InputError(message)
            return False
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["format"] != FORMAT:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            message = f"{path} was not written by fdgcl, or is damaged"
            raise InputError(message) from None
        wanted = self.to_dict()
        for key, value in wanted.items():
            if known.get(key) != value:
                message = (
                    f"{folder} holds an import of other input: {key} was "
                    f"{_words(known.get(key))} and is {_words(value)}; take another "
                    "folder, or remove this one"
                )
                raise InputError(message)
        return True

    def note(self, folder: Path) -> None:
        """Write down what was asked for."""
        write_json(note_path(folder), self.to_dict())


def note_path(folder: Path) -> Path:
    """The file that says what a store was made from."""
    return folder / "import.json"


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Keep other imports out of a folder while the block runs.

    Raises:
        InputError: One is at work there.
    """
    path = folder / "import" / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise explain(error, path) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        message = f"another import is at work in {folder}: wait until it is done"
        raise InputError(message) from None
    finally:
        os.close(handle)


def _is_free(folder: Path) -> bool:
    if folder.exists() and not folder.is_dir():
        message = f"{folder} must be a folder, but is a file"
        raise InputError(message)
    # An import that was killed at once leaves its lock, and nothing else.
    return not folder.is_dir() or all(
        path.relative_to(folder).parts in (("import",), ("import", "lock"))
        for path in folder.rglob("*")
    )


def _described(path: Path) -> dict[str, Any]:
    found = path.stat()
    place = str(path.absolute())
    return {"path": place, "bytes": found.st_size, "modified": found.st_mtime_ns}


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return (
            f"{value['path']} ({value['bytes']:,} bytes, modified {value['modified']})"
        )
    return repr(value)
