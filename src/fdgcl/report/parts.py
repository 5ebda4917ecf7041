"""What an embedding is made of, and how much each part counts in it."""

from __future__ import annotations

from collections.abc import Sequence

from fdgcl.methods.base import Config
from fdgcl.methods.fdgcl.combination import view_weights
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.weighing import Weighing
from fdgcl.operators.neighbour_information import NeighbourInformation
from fdgcl.report.page import Block, Listing, Section, Table, Text

#: What kept blocks are, for people.
_KEPT = {
    "features": "the features",
    "local": "the features, diffused by the first order",
    "global": "the features, diffused by the last order",
    "out": "means over the nodes that a node points to",
    "in": "means over the nodes that point to a node",
    "neighbours": "means over neighbours",
}


def parts_section(
    config: Config, columns: Sequence[int] | None = None
) -> Section | None:
    """The parts of an embedding; None where it is the mixture of the views alone.

    Args:
        config: Of the run.
        columns: Columns of the embedding that each part has; None where the model is
            not at hand.
    """
    settings: Settings = config.settings
    kept = config.decisions["kept"]
    if settings.combine == "sum" and not kept:
        return None
    parts = Parts.of_run(config)
    names, weights = _views(config)
    names += [_KEPT[name] for name in kept]
    weights += config.decisions["keep_weight"]
    most = max(weights)
    if columns is None and not parts.is_compressed:
        columns = parts.widths
    known = ["not known"] * len(names)
    if columns is not None:
        known = [f"{one:,}" for one in columns]
    rows = [
        (name, f"{made:,}", kept_columns, f"{weight / most:.2f}")
        for name, made, kept_columns, weight in zip(
            names, parts.widths, known, weights, strict=True
        )
    ]
    blocks: list[Block] = [
        Text(
            "Trained views and what training leaves alone stand side by side. Each "
            "part is brought to rows of mean square norm 1, times its weight."
        ),
        Table(
            ("part", "columns made", "columns kept", "weight"),
            rows,
            "Weights as shares of the largest. Where parts have more columns together "
            "than the embedding, PCA keeps those directions of all parts that vary "
            "most once they are weighted.",
        ),
    ]
    told = _told(config)
    if told:
        blocks += [
            Text("The graph decided the weights, without labels:"),
            Listing(told),
        ]
    return Section("The parts of the embedding", blocks)


def _views(config: Config) -> tuple[list[str], list[float]]:
    settings = config.settings
    if settings.combine == "sum":
        return ["the views, mixed"], [1.0]
    found = view_weights(config.decisions["beta"], len(settings.orders))
    unit = sum(one**2 for one in found) ** 0.5
    pairs = zip(settings.orders, found, strict=True)
    named = [(f"view of order {order:g}", one / unit) for order, one in pairs if one]
    return [name for name, _ in named], [weight for _, weight in named]


def _told(config: Config) -> list[str]:
    found = config.decisions["weighing"]
    if found is None:
        return []
    told = None
    if found["neighbours"] is not None:
        told = NeighbourInformation(found["own"], found["neighbours"])
    made = Weighing(told, found["trust"], found["edges_tell"])
    return made.describe(config.decisions["kept"])
