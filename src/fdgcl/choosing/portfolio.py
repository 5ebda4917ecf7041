"""A few settings that a quick choice tries: all of one diffusion, each for its kind.

They differ in what is trained and in what stands in the embedding, never in what is
diffused: orders, time, scaling and the like stay as they are given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fdgcl.methods.fdgcl.kept_blocks import AVERAGED, KEPT_BY_DEFAULT
from fdgcl.methods.fdgcl.settings import HIDDEN_COLUMNS
from fdgcl.methods.fdgcl.weighing import MEANS_WEIGHT

DEFAULTS = "defaults"
#: Epochs of the longer training.
LONGER = 60
#: Columns of the narrow embedding.
NARROW = 512


@dataclass(frozen=True)
class Candidate:
    """Settings to try.

    Attributes:
        name: What they are called in the table.
        purpose: What they are for, in a phrase.
        changes: What differs from the settings given.
    """

    name: str
    purpose: str
    changes: Mapping[str, Any] = field(default_factory=dict)


def portfolio(views: int = 2) -> tuple[Candidate, ...]:
    """The settings to try, the plain defaults first.

    Args:
        views: How many views, one for each order, the model has.

    Example:
        >>> found = portfolio()
        >>> found[0].name, len(found) <= 30
        ('defaults', True)
        >>> [one.changes for one in found if one.name == "untrained"]
        [{'epochs': 0}]
    """
    return (
        Candidate(DEFAULTS, "what a graph without labels gets"),
        *_trainings(),
        *_kept(),
        *_weights(views),
        Candidate(
            "narrow",
            "few columns, where few labels would be fitted by many",
            {"dim": NARROW},
        ),
        Candidate(
            "mixed",
            "the mean of the views and nothing else, as in the paper",
            {"combine": "sum", "keep": (), "beta": 1 / views, "hidden": HIDDEN_COLUMNS},
        ),
    )


def _trainings() -> tuple[Candidate, ...]:
    return (
        Candidate("untrained", "where training only fits noise", {"epochs": 0}),
        Candidate("longer", "where 20 epochs are few", {"epochs": LONGER}),
        Candidate(
            "linear", "where classes lie on sides of planes", {"activation": "linear"}
        ),
        Candidate("relu", "where they do not", {"activation": "relu"}),
        Candidate("vicreg", "views close by distance, spread kept", {"loss": "vicreg"}),
        Candidate(
            "regularized-cosmean",
            "the paper's loss",
            {"loss": "regularized-cosmean"},
        ),
    )


def _kept() -> tuple[Candidate, ...]:
    purposes = {
        "features": "a node's own features count, edges are noise",
        "features,global": "own features and smoothed ones, no plain means",
        "features,out,in": "neighbours differ from the node in a way that tells",
        "local,global": "diffused features alone, the least noise",
        "global": "homophilic graphs whose features are noisy",
        "out,in": "only the company a node keeps tells",
        "out": "whom a node points to tells",
        "in": "who points to a node tells",
        "": "the trained views alone",
    }
    return tuple(
        Candidate(
            f"keep {names}" if names else "views alone",
            purpose,
            {"keep": tuple(filter(None, names.split(",")))},
        )
        for names, purpose in purposes.items()
    )


def _weights(views: int) -> tuple[Candidate, ...]:
    alike = _weighed(1.0, 1.0, views)
    own, edges = _weighed(1.0, 0.3, views), _weighed(0.3, 1.0, views)
    return (
        Candidate("alike", "all parts count alike", alike),
        Candidate("own more", "own features count three times as much", own),
        Candidate("edges more", "what comes along the edges does", edges),
        Candidate(
            "own much more",
            "hardly anything comes along the edges",
            _weighed(1.0, 0.05, views),
        ),
        Candidate(
            "edges much more",
            "own features are hardly anything",
            _weighed(0.05, 1.0, views),
        ),
        Candidate(
            "untrained, own more",
            "the same without training",
            {**own, "epochs": 0},
        ),
        Candidate(
            "untrained, edges more",
            "the same without training",
            {**edges, "epochs": 0},
        ),
    )


def _weighed(own: float, edges: float, views: int) -> dict[str, Any]:
    """Weights of views and blocks, as the graph would decide them from these two."""
    steps = [view / max(views - 1, 1) for view in range(views)]
    beta = [own + (edges - own) * step for step in steps]
    unit = math.hypot(*beta)
    weights = [
        own
        if name == "features"
        else MEANS_WEIGHT * edges
        if name in AVERAGED
        else edges
        for name in KEPT_BY_DEFAULT
    ]
    return {
        "beta": tuple(round(one / sum(beta), 6) for one in beta),
        "keep": KEPT_BY_DEFAULT,
        "keep_weight": tuple(round(one / unit, 6) for one in weights),
    }
