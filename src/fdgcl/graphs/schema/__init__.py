"""Typed columns of a table to a matrix of features, by a schema that can be kept.

`fit_schema` (or `SchemaFitter`, by batches) looks at a table and decides for each
column: numbers scaled, categories one-hot, dates as cycles, text left out.
`FeatureSchema.encode` does it, to the same table or another one with such columns.
Nothing here opens files.
"""

from __future__ import annotations

from fdgcl.graphs.schema.columns import (
    CATEGORIES,
    ColumnSchema,
    Overrides,
)
from fdgcl.graphs.schema.feature_schema import FeatureSchema
from fdgcl.graphs.schema.fitting import SchemaFitter, fit_schema
from fdgcl.graphs.schema.matrices import encode_matrix, fit_matrix
from fdgcl.graphs.schema.several import Schemas, schema_from_dict, schema_to_dict
from fdgcl.graphs.schema.surprises import Encoded, Surprises

__all__ = [
    "CATEGORIES",
    "ColumnSchema",
    "Encoded",
    "FeatureSchema",
    "Overrides",
    "SchemaFitter",
    "Schemas",
    "Surprises",
    "encode_matrix",
    "fit_matrix",
    "fit_schema",
    "schema_from_dict",
    "schema_to_dict",
]
