"""Commands to suggest: they must work when pasted, so all that decides is in them.

Words in capitals are for the user to fill in.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from fdgcl.cli.source import Reading, Source, has_many
from fdgcl.cli.tables import words_of
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from fdgcl.cli.level import Level
    from fdgcl.cli.source import Data


def command(*words: object) -> str:
    """One line for a shell; None is left out."""
    return shlex.join(["fdgcl", *(str(word) for word in words if word is not None)])


def path_word(path: Path | str) -> str:
    """A path that no command takes for an option."""
    text = str(path)
    return f"./{text}" if text.startswith("-") else text


def option_words(name: str, value: object) -> list[str]:
    """An option and its value; nothing for no value."""
    if value is None:
        return []
    text = path_word(value) if isinstance(value, Path) else str(value)
    return [f"{name}={text}"] if text.startswith("-") else [name, text]


def free_path(path: Path) -> Path:
    """The path itself, or with a number if something is there."""
    if not path.exists():
        return path
    return next(
        one
        for number in count(2)
        if not (one := path.with_name(f"{path.stem}{number}{path.suffix}")).exists()
    )


def graph_words(source: Source, reading: Reading) -> list[str]:
    """The graph as it was read: name or file, and all options that say how."""
    graph = source.name if source.path is None else path_word(source.path)
    return [
        graph,
        *(
            word
            for text in reading.features
            for word in option_words("--features", text)
        ),
        *option_words("--labels", reading.labels),
        *option_words("--graph-ids", reading.graph_ids),
        *option_words("--graph-column", reading.graph_column),
        *words_of(reading.tables, "edges", "features", "labels"),
        *_root_words(reading),
    ]


def resumed(typed: str, folder: Path) -> str:
    """The command that goes on with a run: as typed, with the run's folder."""
    words = shlex.split(typed)
    # What comes after `--` is no option any more.
    place = words.index("--") if "--" in words else len(words)
    words[place:place] = [*option_words("--run", folder), "--resume"]
    return shlex.join(words)


@dataclass(frozen=True)
class Done:
    """An embedding that was made.

    Attributes:
        source: Where the graph was.
        reading: How it was read.
        data: What was read.
        level: What a row of the embedding stands for.
        structural: The kind of features made from the edges; None for the graph's own.
        target: Where the embedding is.
        folder: Of the run.
        scored: Whether it was scored.
    """

    source: Source
    reading: Reading
    data: Data
    level: Level
    structural: str | None
    target: Path
    folder: Path
    scored: bool

    def next_command(self) -> str:
        """What to do with it."""
        labels = [] if self.scored else self._labels()
        if labels:
            return command("evaluate", path_word(self.target), *labels)
        if self.structural != "spectral":
            return self._transform()
        if not self.scored and self.level == "node":
            # Spectral features belong to one graph: there is no other to embed.
            return command("evaluate", path_word(self.target), "--labels", "LABELS")
        again = replace(self.reading, features=("degree",))
        return command("embed", *graph_words(self.source, again))

    def _labels(self) -> list[str]:
        """Where labels of the rows are, if they are known."""
        reading, path = self.reading, self.source.path
        if not self._has_labels or (self._many and self.level == "node"):
            return []
        if reading.labels is not None:
            return [
                *option_words("--labels", reading.labels),
                *(["--level", "graph"] if self._many else []),
                *words_of(reading.tables, "labels"),
            ]
        if path is None:
            name: str | Path = self.source.name
            return [*option_words("--dataset", name), *_root_words(reading)]
        return option_words("--dataset", path) if path.suffix == ".npz" else []

    def _transform(self) -> str:
        """The same model on another graph, in files like those it was trained on."""
        reading, path = self.reading, self.source.path
        words = [path_word(self.folder), "NEW_EDGES"]
        if path is None or path.suffix.lower() == ".npz":
            words[1] = "NEW_GRAPHS.npz" if self._many else "NEW_GRAPH.npz"
        # Features that were made are made again.
        words += option_words("--features", reading.made)
        files = list(reading.feature_files)
        for kind in files:
            new = f"{kind}=NEW_FEATURES" if len(files) > 1 else "NEW_FEATURES"
            words += ["--features", new]
        if reading.graph_ids is not None:
            words += ["--graph-ids", "NEW_GRAPH_IDS"]
        words += option_words("--graph-column", reading.graph_column)
        tables = ("edges", "features") if files else ("edges",)
        words += words_of(_of_training(reading.tables), *tables)
        words += ["--level", "node"] if self._many and self.level == "node" else []
        return command("transform", *words, "-o", free_path(Path("z2.parquet")))

    @property
    def _has_labels(self) -> bool:
        targets = None if self._many else getattr(self.data, "targets", None)
        return self.data.y is not None or targets is not None

    @property
    def _many(self) -> bool:
        return has_many(self.source, self.reading)


def _of_training(tables: TableOptions) -> TableOptions:
    """Without what the model remembers of its features: their columns and scales."""
    return replace(
        tables,
        columns=None,
        drop=(),
        categorical=(),
        numeric=(),
        column_scaling="auto",
    )


def _root_words(reading: Reading) -> Sequence[str]:
    """The data root, unless the environment names it for the next command as well."""
    root = reading.data_root
    if root is None or str(root) == os.environ.get("FDGCL_DATA"):
        return []
    return option_words("--data-root", root)
