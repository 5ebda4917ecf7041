"""`fdgcl bench`: ours beside the solver in the training loop."""

from __future__ import annotations


def bench() -> None:
    """Bench."""
