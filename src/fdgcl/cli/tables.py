"""How tables are to be understood, as options: written once, for every command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from fdgcl.cli.options import DATA, option
from fdgcl.cli.parameters import Command, own_parameters, with_parameters
from fdgcl.graphs.files.options import TableOptions


@dataclass(frozen=True)
class TableOption:
    """One field of `TableOptions` as an option.

    Attributes:
        name: The option, without dashes in front.
        table: Which table it is about: edges, features or labels.
        text: The help.
        metavar: What stands for its value; None for a flag.
        default: Shown in the help.
        several: Whether it may be given more than once.
        field: The field of `TableOptions`, unless it is called as the option is.
    """

    name: str
    table: str
    text: str
    metavar: str | None = "COLUMN"
    default: str | bool = False
    several: bool = False
    field: str = ""

    def __post_init__(self) -> None:
        field = self.field or self.name.replace("-", "_")
        object.__setattr__(self, "field", field)

    def parameter(self) -> inspect.Parameter:
        """Return it as a parameter that is None unless given."""
        more: dict[str, Any] = {"metavar": self.metavar} if self.metavar else {}
        wanted = option(
            f"--{self.name}",
            text=self.text,
            panel=DATA,
            show_default=self.default,
            **more,
        )
        kind: Any = bool if self.metavar is None else str
        kind = list[str] if self.several else kind
        return inspect.Parameter(
            self.field,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind | None, wanted],
        )


OPTIONS = (
    TableOption("source-column", "edges", "Where an edge starts.", field="source"),
    TableOption("target-column", "edges", "Where an edge ends.", field="target"),
    TableOption("weight-column", "edges", "Weight of an edge.", field="weight"),
    TableOption("edge-type-column", "edges", "Type of an edge.", field="edge_type"),
    TableOption(
        "shared-ids",
        "edges",
        "An id that comes in both columns of two kinds of things, such as users and "
        "items, is the same node.",
        metavar=None,
    ),
    TableOption("id-column", "nodes", "Node id in the feature and label files."),
    TableOption(
        "label-column",
        "labels",
        "Label in the label file; several for several labels per node.",
        several=True,
    ),
    TableOption(
        "by-order",
        "features",
        "Row i of the features belongs to the node i.",
        metavar=None,
    ),
    TableOption(
        "columns",
        "features",
        "Take these columns as features, and no other.",
        several=True,
        metavar="A,B,...",
    ),
    TableOption(
        "drop", "features", "Leave these columns out.", several=True, metavar="A,B,..."
    ),
    TableOption(
        "categorical",
        "features",
        "Encode these columns as categories.",
        several=True,
        metavar="A,B,...",
    ),
    TableOption(
        "numeric",
        "features",
        "Read these columns as numbers.",
        several=True,
        metavar="A,B,...",
    ),
    TableOption(
        "column-scaling",
        "features",
        "How columns of numbers are brought to one scale.",
        metavar="auto|none|standard|robust",
        default="auto",
    ),
    TableOption(
        "missing",
        "features",
        "What becomes of edges whose node has no features: drop-edges, or the node's "
        "features are zero or the mean of the others.",
        metavar="error|drop-edges|zero|mean",
        default="error",
    ),
    TableOption(
        "missing-labels",
        "labels",
        "What becomes of labels of unknown ids.",
        metavar="error|drop",
        default="error",
    ),
    TableOption(
        "task",
        "labels",
        "What labels are.",
        metavar="auto|classify|regress|multilabel",
        default="auto",
    ),
    TableOption(
        "header/--no-header",
        "all",
        "Whether the first row of text files names the columns.",
        metavar=None,
        default="found out",
        field="header",
    ),
    TableOption(
        "allow-null-ids", "all", "Take words such as nan and NA as ids.", metavar=None
    ),
)


def with_tables(*tables: str) -> Callable[[Command], Command]:
    """Give a command the options about its tables, in place of its argument `tables`.

    Args:
        tables: Which tables it reads: edges, features, labels.
    """
    added = _about(tables)

    def decorate(command: Command) -> Command:
        kept = [p for p in own_parameters(command) if p.name != "tables"]
        # Options of settings are many; those of tables stand before them.
        first = [p for p in kept if p.kind is not p.KEYWORD_ONLY]
        last = [p for p in kept if p.kind is p.KEYWORD_ONLY]

        def call(**arguments: Any) -> None:
            given = {one.field: arguments.pop(one.field) for one in added}
            command(**arguments, tables=given_tables(given))

        parameters = [*first, *(one.parameter() for one in added), *last]
        return with_parameters(command, parameters, call)

    return decorate


def _about(tables: Sequence[str]) -> list[TableOption]:
    about = {*tables, "all"}
    if about & {"features", "labels"}:
        about.add("nodes")
    return [one for one in OPTIONS if one.table in about]


def given_tables(given: dict[str, Any]) -> TableOptions:
    """Return the options that were given as `TableOptions`.

    Raises:
        InputError: One of them has a value that it does not take.
    """
    found = {name: value for name, value in given.items() if value is not None}
    for name in ("columns", "drop", "categorical", "numeric"):
        if name in found:
            found[name] = _names(found[name])
    labels = found.get("label_column")
    if labels is not None:
        found["label_column"] = labels[0] if len(labels) == 1 else tuple(labels)
    return TableOptions(**found)


def words_of(options: TableOptions, *tables: str) -> list[str]:
    """Return the options about tables that were given, as one would type them."""
    words: list[str] = []
    defaults = {one.name: one.default for one in fields(options)}
    for one in _about(tables):
        value = getattr(options, one.field)
        if value == defaults[one.field]:
            continue
        if one.field == "header":
            words.append("--header" if value else "--no-header")
        elif one.metavar is None:
            words.append(f"--{one.name}")
        elif one.field == "label_column":
            listed = value if isinstance(value, tuple) else (value,)
            words += [word for each in listed for word in _pair(one.name, each)]
        elif one.several:
            words += _pair(one.name, ",".join(value))
        else:
            words += _pair(one.name, value)
    return words


def _pair(name: str, value: object) -> list[str]:
    """An option and its value, which no command takes for another option."""
    text = str(value)
    return [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]


def _names(values: list[str]) -> tuple[str, ...]:
    """Names separated by commas, or one in each of several options."""
    return tuple(
        name.strip() for value in values for name in value.split(",") if name.strip()
    )
