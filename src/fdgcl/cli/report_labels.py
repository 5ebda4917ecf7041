"""Labels for the nodes of a report: what to colour by, and what to score against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.graphs import Graph, Splits
    from fdgcl.report.embedding_map import Groups
    from fdgcl.report.run_page import Embedded


@dataclass(frozen=True)
class Labelled:
    """The labels of an embedding's rows.

    Attributes:
        name: Where they come from.
        y: Class codes, -1 for none.
        class_names: What the codes stand for.
        splits: How the rows are split, if that is known.
    """

    name: str
    y: npt.NDArray[np.int64]
    class_names: tuple[str, ...]
    splits: Splits | None = None

    @property
    def groups(self) -> Groups:
        """The labels as groups of a map."""
        from fdgcl.report.embedding_map import Groups

        return Groups(self.y, self.class_names, f"label, of {self.name}")

    def with_splits(self) -> Splits:
        """The splits; without any, ten random ones, 10 / 10 / 80 % of the labelled."""
        from fdgcl.graphs import random_splits

        if self.splits is not None:
            return self.splits
        return random_splits(self.y, train=0.1, val=0.1, count=10, seed=0)


def from_graph(graph: Graph) -> Labelled:
    """Take the labels of a graph that has some."""
    assert graph.y is not None
    names = graph.class_names or tuple(f"class {i}" for i in range(graph.num_classes))
    return Labelled(f"{graph.name} ({graph.source})", graph.y, names, graph.splits)


def from_labels(
    path: Path, id_column: str | None, label_column: str | None, ids: Any
) -> Labelled:
    """Take labels from a table; rows of the embedding may lack one.

    Raises:
        InputError: The table has labels of ids that the embedding does not have.
    """
    from fdgcl.graphs.files.labels import read_label_table
    from fdgcl.graphs.files.table import existing_file
    from fdgcl.graphs.ids import from_values

    table = read_label_table(existing_file(path, "labels"), id_column, label_column)
    y = table.for_ids(from_values(ids), "those of the embedding")
    return Labelled(str(path), y, table.class_names)


def in_order_of(graph: Graph, embedded: Embedded, name: str) -> Embedded:
    """The embedding with its rows in the graph's order.

    Raises:
        InputError: Its ids are not those of the graph.
    """
    from fdgcl.graphs.ids import from_values, positions
    from fdgcl.report.run_page import Embedded

    here, there = from_values(embedded.ids), from_values(graph.ids)
    if here.type != there.type:
        message = (
            f"the embedding is not one of {name}: its ids are {here.type}, those of "
            f"the nodes {there.type}"
        )
        raise InputError(message)
    rows = positions(there, here)
    if (rows < 0).any() or len(here) != len(there):
        missing = graph.ids[rows < 0]
        examples = ", ".join(repr(value) for value in missing[:3].tolist())
        message = (
            f"the embedding is not one of {name}: {len(missing):,} of its nodes are "
            f"not in it, such as {examples}"
        )
        raise InputError(message)
    return Embedded(graph.ids, embedded.z[rows])
