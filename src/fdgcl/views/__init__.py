"""Two views of the same nodes, made by two orders of diffusion."""

from fdgcl.views.activations import ACTIVATIONS
from fdgcl.views.combination import COMBINATIONS, KEPT, Combination
from fdgcl.views.encoder import ViewPair
from fdgcl.views.sources import Diffused, InLoop, ViewSource
from fdgcl.views.stepped import Stepped

__all__ = [
    "ACTIVATIONS",
    "COMBINATIONS",
    "KEPT",
    "Combination",
    "Diffused",
    "InLoop",
    "Stepped",
    "ViewPair",
    "ViewSource",
]
