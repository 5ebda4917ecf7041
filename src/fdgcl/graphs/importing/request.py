"""What an import was asked for, noted in the store so that only the same goes on."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from fdgcl._checks import InputError, check_seed, choose
from fdgcl._files import explain, write_json
from fdgcl.graphs.directions import Direction
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.files.table import existing_file
from fdgcl.graphs.importing.edgefile import EdgeFile
from fdgcl.graphs.importing.featurefile import FeatureFile
from fdgcl.graphs.structural import STRUCTURAL, check_structural

FORMAT = "fdgcl-import-2"
_REFUSED = "refused"


@dataclass(frozen=True)
class Request:
    """All that the result depends on.

    Attributes:
        edges: The edge list, Parquet or text.
        features: Parquet, text or `.npy`; None for features that are made.
        tables: How to read both; of `missing`, error and drop-edges.
        direction: Whom a node gathers from: `symmetric` (from both sides, each pair at
            its larger weight), `out` (those it points to) or `in`.
        name: Short name; by default the edge list's file name without suffixes.
        seed: Seed of features that are made.
        made: The kind of features to make, as `structural_features` has it: `spectral`
            (also without any), `degree` or `random`, of which a store of one direction
            has `random` ones alone.
    """

    edges: Path
    features: Path | None = None
    tables: TableOptions = field(default_factory=TableOptions)
    direction: str = "symmetric"
    name: str | None = None
    seed: int = 0
    made: str | None = None

    def check(self) -> None:
        """Refuse files that are not there, and options that no import has."""
        existing_file(self.edges, "edges")
        if self.features is not None:
            existing_file(self.features, "features")
        choose("direction", self.direction, dict.fromkeys(get_args(Direction)))
        check_seed("seed", self.seed)
        if self.structural is not None:
            check_structural(self.structural, self.direction)
        self.tables.refuse_unused(self.features, None)
        _refuse_not_in_a_store(self.tables)

    @cached_property
    def edge_file(self) -> EdgeFile:
        """The edge list."""
        return EdgeFile(self.edges, self.tables)

    @cached_property
    def feature_file(self) -> FeatureFile | None:
        """The features, if there are any."""
        if self.features is None:
            return None
        return FeatureFile(self.features, self.tables, self.edge_file)

    @property
    def structural(self) -> str | None:
        """The kind of features made from the edges; None where a file has them."""
        return (self.made or "spectral") if self.features is None else None

    @property
    def called(self) -> str:
        """The graph's name."""
        return self.name or self.edges.name.split(".")[0] or "graph"

    def to_dict(self) -> dict[str, Any]:
        """As plain values, with what tells a file from a later one of its name."""
        return {
            "format": FORMAT,
            "edges": _described(self.edges),
            "features": None if self.features is None else _described(self.features),
            "structural": self.structural,
            "tables": self.tables.to_dict(),
            "direction": self.direction,
            "name": self.called,
            "seed": self.seed,
        }

    def compare(self, folder: Path) -> bool:
        """Whether a folder holds what was made by this request, maybe unfinished.

        What another request left when it was refused is as good as nothing.

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
            message = f"{path} was not written by this version of fdgcl, or is damaged"
            raise InputError(message) from None
        wanted, known = _flat(self.to_dict()), _flat(known)
        for key, value in wanted.items():
            if key != "tables" and known.get(key) != value:
                if known.get(_REFUSED) is True:
                    return False
                message = (
                    f"{folder} holds an import of other input: {key} was "
                    f"{_words(known.get(key))} and is {_words(value)}; take another "
                    "folder, or remove this one"
                )
                raise InputError(message)
        return True

    def note(self, folder: Path, *, refused: bool = False) -> None:
        """Write down what was asked for, and whether it was refused."""
        write_json(note_path(folder), {**self.to_dict(), _REFUSED: refused})


def kind_to_make(features: Any) -> str | None:
    """The kind of features to make from the edges, if one is named."""
    if isinstance(features, list | tuple) and len(features) == 1:
        features = features[0]
    named = isinstance(features, str) and features in STRUCTURAL
    return features if named else None


def one_table(features: Any) -> Path | None:
    """The file of features; None for those that are made.

    Raises:
        InputError: There are several, or it is something else than a file.
    """
    if isinstance(features, list | tuple) and len(features) < 2:
        features = features[0] if features else None
    if features is None or kind_to_make(features) is not None:
        return None
    if isinstance(features, list | tuple | Mapping):
        message = (
            f"a store has one table of features, got {len(features)}: several types of "
            "nodes are read into memory only (fdgcl embed, read_graph)"
        )
        raise InputError(message)
    if not isinstance(features, str | os.PathLike):
        message = f"features must be a file here, got {type(features).__name__}"
        raise InputError(message)
    return Path(features)


def _refuse_not_in_a_store(tables: TableOptions) -> None:
    """Refuse what is done in memory only."""
    message = ""
    if tables.edge_type is not None:
        message = (
            f"--edge-type-column {tables.edge_type} (edge_type) cannot be used in a "
            "store: all edges count alike there"
        )
    elif tables.missing in ("zero", "mean"):
        message = (
            f"--missing {tables.missing} (missing) cannot be done in a store, whose "
            "nodes are the rows of the features: choose error or drop-edges"
        )
    if message:
        raise InputError(message)


def _flat(note: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, each choice about tables by its own name."""
    tables = note.get("tables")
    return {**note, **tables} if isinstance(tables, dict) else note


def note_path(folder: Path) -> Path:
    """The file that says what a store was made from."""
    return folder / "import.json"


def clear(folder: Path) -> None:
    """Remove what an import left in a folder that is claimed."""
    for path in folder.iterdir():
        if path.name != "import":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (folder / "import").iterdir():
        if path.name != "lock":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


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
