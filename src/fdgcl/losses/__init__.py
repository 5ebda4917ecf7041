"""Losses that make two views of the same nodes agree, without negative samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fdgcl._parts import class_of, made
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


def build_loss(
    name: str, eta: float = 0.15, options: Mapping[str, Any] | None = None
) -> Loss:
    """Build a loss by its name.

    Args:
        name: A key of `LOSSES`, or the import path of a class: `package.module:Class`.
        eta: Weight of the regulariser of `regularized-cosmean`, unless the options
            have it; the other losses have no such term and do not use it.
        options: The loss's own options.

    Raises:
        InputError: The name or an option is unknown, or a value is not allowed.

    Example:
        >>> build_loss("vicreg", options={"variance": 10})
        VICReg(25.0, 10.0, 1.0)
    """
    kind = class_of("loss", name, LOSSES, Loss)
    given = dict(options or {})
    if kind is RegularizedCosmean:
        given = {"eta": eta, **given}
    return made("loss", kind, given, name)
