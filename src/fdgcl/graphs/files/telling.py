"""Sentences on features and ids, the same for readers of whole tables and of parts."""

from __future__ import annotations

from fdgcl._checks import InputError
from fdgcl.graphs.files.roles import ignored
from fdgcl.graphs.schema import FeatureSchema

OR_BY_ORDER = ", or, where row i belongs to the node i, say --by-order (by_order)"


def table_line(schema: FeatureSchema, id_name: str | None) -> str:
    """Return how many columns of a table are features, and how rows find their node."""
    taken = len(schema.features)
    by = "by order" if id_name is None else f"by {id_name}"
    line = f"features: {taken:,} column{'s'[: taken != 1]} {by}"
    return line + ignored(f"{name} ({why})" for name, why in schema.ignored())


def array_line(name: str, columns: int) -> str:
    """Return the same of a file without names of columns."""
    return f"features: {columns:,} columns of {name} by order"


def compared_as_written(edges: str, features: str) -> str:
    """Return the line for ids of two types."""
    return (
        f"ids are whole numbers in one of {edges} and {features} and text in the "
        "other: they are compared as they are written"
    )


def rows_do_not_fit(
    features: str, edges: str, rows: int, *, ends: tuple[int, int] | None, shown: str
) -> InputError:
    """Return the refusal of rows by order that do not fit and were not asked for.

    Args:
        features: The table of features.
        edges: The edge list.
        rows: Rows of the features.
        ends: The smallest and the largest id of the edges; None where one is text.
        shown: Some ids, to be shown where one is text.
    """
    if ends is None:
        named, otherwise = shown, ""
    else:
        named = f"whole numbers from {ends[0]} to {ends[1]}"
        otherwise = OR_BY_ORDER
    return InputError(
        f"{features} has no column with the ids of {edges} ({named}), and its "
        f"{rows:,} rows do not fit nodes counted from 0: name the column of ids by "
        f"--id-column (id_column){otherwise}"
    )
