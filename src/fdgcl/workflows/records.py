"""What embedding a graph did, kept in the run folder for those who come later."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl._version import __version__
from fdgcl.graphs.files.options import TableOptions
from fdgcl.workflows.outputs import checksum
from fdgcl.workflows.reading import Reading
from fdgcl.workflows.source import Source

FILE = "job.json"
FORMAT = "fdgcl-job-3"
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Record:
    """An embedding job that is done.

    Attributes:
        command: What was typed, or which function was called.
        source: Where the graph was.
        in_memory: Whether it was a graph in memory, which no file can be read for.
        reading: How it was read.
        embedding: Where the embedding went.
        seconds: Spent diffusing and training.
        notices: What was decided for the user.
        scores: Names, means and spreads, if the embedding was scored.
        scored: Whose labels, which splits.
        versions: Of Python and packages.
        level: What one row of the embedding stands for, `node` or `graph`.
        checksum: Of the embedding as it was written; None where it was not noted.
    """

    command: str
    source: Source
    in_memory: bool
    reading: Reading
    embedding: Path
    seconds: float
    notices: tuple[str, ...]
    scores: tuple[Mapping[str, Any], ...]
    scored: str
    versions: Mapping[str, str]
    level: str
    checksum: str | None

    def wrote(self, path: Path) -> bool:
        """Whether a file, or folder, is the embedding as this run left it."""
        return self.checksum is not None and self.checksum == checksum(path)


def write_record(
    folder: Path,
    *,
    command: str,
    source: Source,
    reading: Reading,
    embedding: Path,
    seconds: float,
    notices: Sequence[str],
    scores: Sequence[Mapping[str, Any]] = (),
    scored: str = "",
    level: str = "node",
    model: str | None = None,
) -> None:
    """Write the record of a job to its run folder; paths are made absolute.

    An embedding in parts that are still to be written is known by its model.
    """
    # Here, as `--help` need not load it.
    from importlib.metadata import version

    files: dict[str, Any] = {
        name: None if value is None else str(Path(value).absolute())
        for name, value in (
            ("labels", reading.labels),
            ("data_root", reading.data_root),
            ("graph_ids", reading.graph_ids),
        )
    }
    files["features"] = [
        *([] if reading.made is None else [reading.made]),
        *(f"{kind}={file.absolute()}" for kind, file in reading.feature_files.items()),
    ]
    path = None if source.path is None else str(source.path.absolute())
    value = {
        "format": FORMAT,
        "command": command,
        "graph": {
            "name": source.name,
            "path": path,
            "in_memory": source.data is not None,
        },
        "reading": {
            **files,
            "tables": reading.options(),
            "graph_column": reading.graph_column,
        },
        "embedding": str(embedding.absolute()),
        "checksum": model or checksum(embedding),
        "seconds": round(seconds, 3),
        "notices": list(notices),
        "scores": list(scores),
        "scored": scored,
        "level": level,
        "versions": {
            "fdgcl": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
    }
    write_json(folder / FILE, value)


def read_record(folder: Path) -> Record | None:
    """Read the record of the job that left this run folder; None if it left none.

    Raises:
        InputError: The file is damaged.
    """
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        if value["format"] != FORMAT:
            raise ValueError
        path = value["graph"]["path"]
        return Record(
            command=str(value["command"]),
            source=Source(value["graph"]["name"], None if path is None else Path(path)),
            in_memory=bool(value["graph"]["in_memory"]),
            reading=_reading(value["reading"]),
            embedding=Path(value["embedding"]),
            seconds=float(value["seconds"]),
            notices=tuple(map(str, value["notices"])),
            scores=tuple(dict(one) for one in value["scores"]),
            scored=str(value["scored"]),
            versions={str(k): str(v) for k, v in value["versions"].items()},
            level=str(value["level"]),
            checksum=value.get("checksum"),
        )
    except (
        *(ValueError, KeyError, TypeError, AttributeError),
        *(RecursionError, OverflowError),
    ):
        message = f"{file} was not written by this version of fdgcl, or is damaged"
        raise InputError(message) from None


def _reading(value: Mapping[str, Any]) -> Reading:
    files: dict[str, Any] = {
        name: None if value[name] is None else Path(value[name])
        for name in ("labels", "data_root", "graph_ids")
    }
    return Reading(
        **files,
        features=tuple(map(str, value["features"])),
        tables=TableOptions.of(value["tables"]),
        graph_column=value["graph_column"],
    )


def is_own(folder: Path | None, embedding: Path) -> bool:
    """Whether a file is the embedding that the run in a folder wrote last."""
    record = None if folder is None else read_record(folder)
    return (
        record is not None
        and record.embedding == embedding.absolute()
        and record.wrote(embedding)
    )
