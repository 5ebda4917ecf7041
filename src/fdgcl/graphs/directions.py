"""Names of the directions a node gathers from, and of the normalisations."""

from __future__ import annotations

from typing import Literal

Direction = Literal["symmetric", "out", "in"]
Normalization = Literal["symmetric", "row", "column"]
