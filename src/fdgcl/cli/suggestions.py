"""Commands to suggest: they must work when pasted, so all that decides is in them.

Words in capitals are for the user to fill in.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from fdgcl.cli.options import FDGCL, METHOD
from fdgcl.cli.tables import words_of
from fdgcl.graphs.files.options import TableOptions
from fdgcl.workflows.labels import targets_of
from fdgcl.workflows.reading import Reading
from fdgcl.workflows.source import Source, has_many

if TYPE_CHECKING:
    from fdgcl.workflows.choose_settings import ChosenSettings
    from fdgcl.workflows.embedded import Embedded
    from fdgcl.workflows.tuned import TunedSettings


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


def after_embedding(found: Embedded) -> str:
    """What to do with an embedding that was made."""
    labels = [] if found.scores else _label_words(found)
    if labels:
        return command("evaluate", path_word(found.embedding), *labels)
    if found.made_features != "spectral":
        return _transform(found)
    if not found.scores and found.level == "node":
        # Spectral features belong to one graph: there is no other to embed.
        return command("evaluate", path_word(found.embedding), "--labels", "LABELS")
    again = replace(found.reading, features=("degree",))
    return command("embed", *graph_words(found.source, again))


def after_tuning(outcome: TunedSettings | ChosenSettings) -> str:
    """What to do with settings that were found: embed the graph by them."""
    words = graph_words(outcome.source, outcome.reading)
    if outcome.method != FDGCL:
        words += option_words(METHOD, outcome.method)
    words += option_words("--settings", outcome.settings_file)
    return command("embed", *words, "--evaluate")


def _label_words(found: Embedded) -> list[str]:
    """Where labels of the rows are, if they are known."""
    reading, path = found.reading, found.source.path
    many = has_many(found.source, reading)
    if targets_of(found.graph) is None or (many and found.level == "node"):
        return []
    if reading.labels is not None:
        return [
            *option_words("--labels", reading.labels),
            *(["--level", "graph"] if many else []),
            *words_of(reading.tables, "labels"),
        ]
    if path is None:
        return [*option_words("--dataset", found.source.name), *_root_words(reading)]
    return option_words("--dataset", path) if path.suffix == ".npz" else []


def _transform(found: Embedded) -> str:
    """The same model on another graph, in files like those it was trained on."""
    reading, path = found.reading, found.source.path
    many = has_many(found.source, reading)
    words = [path_word(found.run), "NEW_EDGES"]
    if found.source.is_store:
        return command("transform", words[0], "NEW_STORE")
    if path is None or path.suffix.lower() == ".npz":
        words[1] = "NEW_GRAPHS.npz" if many else "NEW_GRAPH.npz"
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
    words += ["--level", "node"] if many and found.level == "node" else []
    return command("transform", *words, "-o", free_path(Path("z2.parquet")))


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
