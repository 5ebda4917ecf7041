"""Schemas of one table, or of several: one for each type of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from fdgcl._checks import InputError
from fdgcl.graphs.schema.feature_schema import FeatureSchema

#: Of one table, or of each type's table by the type's name.
Schemas: TypeAlias = FeatureSchema | Mapping[str, FeatureSchema]

_TYPES = "types"


def schema_to_dict(schema: Schemas | None) -> dict[str, Any] | None:
    """Return schemas as JSON has them; None where there are none.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs.schema import fit_schema, schema_to_dict
        >>> users = pa.table({"age": [31.0, 44.0, 58.0]})
        >>> schema = fit_schema(users, typed=True, where="users.parquet")
        >>> list(schema_to_dict({"user": schema})["types"])
        ['user']
    """
    if schema is None or isinstance(schema, FeatureSchema):
        return None if schema is None else schema.to_dict()
    return {_TYPES: {name: one.to_dict() for name, one in schema.items()}}


def schema_from_dict(saved: Any, where: str = "") -> Schemas | None:
    """Return what `schema_to_dict` gave.

    Args:
        saved: As read from JSON.
        where: The file, for messages.

    Raises:
        InputError: It is damaged, or of another version.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs.schema import (
        ...     fit_schema, schema_from_dict, schema_to_dict
        ... )
        >>> users = pa.table({"age": [31.0, 44.0, 58.0]})
        >>> schema = fit_schema(users, typed=True, where="users.parquet")
        >>> schema_from_dict(schema_to_dict({"user": schema})) == {"user": schema}
        True
    """
    if saved is None:
        return None
    if isinstance(saved, Mapping) and _TYPES in saved:
        types = saved[_TYPES]
        if not isinstance(types, Mapping):
            message = f"{where or 'the schema'} was not written by fdgcl, or is damaged"
            raise InputError(message)
        return {
            str(name): FeatureSchema.from_dict(one, where)
            for name, one in types.items()
        }
    return FeatureSchema.from_dict(saved, where)
