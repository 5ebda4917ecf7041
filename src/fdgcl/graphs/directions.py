"""Whom a node gathers from, and how what it gathers is weighed: words and no code."""

from __future__ import annotations

from typing import Literal

Direction = Literal["symmetric", "out", "in"]
Normalization = Literal["symmetric", "row", "column"]
