"""Views of the same nodes, each made by an order of diffusion of its own."""

from fdgcl.views.activations import ACTIVATIONS
from fdgcl.views.combination import COMBINATIONS, KEPT, Combination, view_weights
from fdgcl.views.encoder import Encoders
from fdgcl.views.pairs import PAIRS, pairs_of
from fdgcl.views.sources import Diffused, InLoop, ViewSource
from fdgcl.views.stepped import Stepped

__all__ = [
    "ACTIVATIONS",
    "COMBINATIONS",
    "KEPT",
    "PAIRS",
    "Combination",
    "Diffused",
    "Encoders",
    "InLoop",
    "Stepped",
    "ViewSource",
    "pairs_of",
    "view_weights",
]
