"""Losses that make two views of the same nodes agree, without negative samples."""

from __future__ import annotations

from fdgcl._checks import choose
from fdgcl.losses.barlow_twins import BarlowTwins
from fdgcl.losses.base import Loss
from fdgcl.losses.cosmean import Cosmean, row_cosines
from fdgcl.losses.euclidean import Euclidean
from fdgcl.losses.principal import (
    Directions,
    principal_direction,
    principal_directions,
)
from fdgcl.losses.regularized_cosmean import RegularizedCosmean
from fdgcl.losses.vicreg import VICReg

__all__ = [
    "LOSSES",
    "BarlowTwins",
    "Cosmean",
    "Directions",
    "Euclidean",
    "Loss",
    "RegularizedCosmean",
    "VICReg",
    "build_loss",
    "principal_direction",
    "principal_directions",
    "row_cosines",
]

LOSSES: dict[str, type[Loss]] = {
    "regularized-cosmean": RegularizedCosmean,
    "cosmean": Cosmean,
    "euclidean": Euclidean,
    "barlow-twins": BarlowTwins,
    "vicreg": VICReg,
}


def build_loss(name: str, eta: float = 0.15) -> Loss:
    """Build a loss by its name.

    Args:
        name: A key of `LOSSES`.
        eta: Weight of the regulariser of `regularized-cosmean`; the other losses
            have no such term and do not use it.

    Raises:
        InputError: The name is unknown, or `eta` is negative.
    """
    kind = choose("loss", name, LOSSES)
    return RegularizedCosmean(eta) if kind is RegularizedCosmean else kind()
