"""Views of the same nodes, each made by an order of diffusion of its own."""

from fdgcl.methods.fdgcl.activations import ACTIVATIONS
from fdgcl.methods.fdgcl.combination import (
    COMBINATIONS,
    KEPT,
    Combination,
    view_weights,
)
from fdgcl.methods.fdgcl.diffused_features import DiffusedFeatures
from fdgcl.methods.fdgcl.encoder import Encoders
from fdgcl.methods.fdgcl.in_loop import InLoop
from fdgcl.methods.fdgcl.pairs import PAIRS, pairs_of
from fdgcl.methods.fdgcl.sources import ViewSource
from fdgcl.methods.fdgcl.stepped import Stepped

__all__ = [
    "ACTIVATIONS",
    "COMBINATIONS",
    "KEPT",
    "PAIRS",
    "Combination",
    "DiffusedFeatures",
    "Encoders",
    "InLoop",
    "Stepped",
    "ViewSource",
    "pairs_of",
    "view_weights",
]
