"""Views of the same nodes, each made by an order of diffusion of its own.

The names below are loaded when first used: the settings are known without torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdgcl.methods.fdgcl.activations import ACTIVATIONS as ACTIVATIONS
    from fdgcl.methods.fdgcl.combination import COMBINATIONS as COMBINATIONS
    from fdgcl.methods.fdgcl.combination import Combination as Combination
    from fdgcl.methods.fdgcl.combination import view_weights as view_weights
    from fdgcl.methods.fdgcl.diffused_features import (
        DiffusedFeatures as DiffusedFeatures,
    )
    from fdgcl.methods.fdgcl.encoder import Encoders as Encoders
    from fdgcl.methods.fdgcl.in_loop import InLoop as InLoop
    from fdgcl.methods.fdgcl.kept_blocks import KEPT as KEPT
    from fdgcl.methods.fdgcl.pairs import PAIRS as PAIRS
    from fdgcl.methods.fdgcl.pairs import pairs_of as pairs_of
    from fdgcl.methods.fdgcl.sources import ViewSource as ViewSource
    from fdgcl.methods.fdgcl.stepped import Stepped as Stepped

_HOME = {
    "ACTIVATIONS": "activations",
    "COMBINATIONS": "combination",
    "KEPT": "kept_blocks",
    "Combination": "combination",
    "view_weights": "combination",
    "Encoders": "encoder",
    "PAIRS": "pairs",
    "pairs_of": "pairs",
    "DiffusedFeatures": "diffused_features",
    "InLoop": "in_loop",
    "ViewSource": "sources",
    "Stepped": "stepped",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module 'fdgcl.methods.fdgcl' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(f"fdgcl.methods.fdgcl.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
