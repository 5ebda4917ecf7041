"""Two views of the same nodes, made by two orders of diffusion."""

from fdgcl.views.activations import ACTIVATIONS
from fdgcl.views.encoder import ViewPair
from fdgcl.views.sources import Diffused, InLoop, ViewSource, diffuse_features

__all__ = [
    "ACTIVATIONS",
    "Diffused",
    "InLoop",
    "ViewPair",
    "ViewSource",
    "diffuse_features",
]
