"""How a training went: loss, agreement of the views, ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fdgcl.report.numerals import number, plural
from fdgcl.report.page import Figure, Section, Series, Text
from fdgcl.training.records import count_ranks

#: What an epoch's record may hold and how it is called, by figure.
_COSINES = {
    "alignment": "alignment of the views",
    "principal_cosine": "cosine of the principal directions",
}


def training_section(
    history: Sequence[Mapping[str, float]], orders: Sequence[float], *, finished: bool
) -> Section:
    """How training went, epoch by epoch.

    Args:
        history: One record an epoch: `epoch`, `loss`, `seconds` and the measures.
        orders: The orders of the views, for their names; empty where they have none.
        finished: Whether the run came to its end.
    """
    if not history:
        summary = (
            "The encoder was not trained." if finished else "No epoch is over yet."
        )
        return Section("Training", [Text(summary)])
    epochs = [record["epoch"] for record in history]
    seconds = sum(record["seconds"] for record in history)
    first, last = history[0], history[-1]
    summary = (
        f"{plural(len(history), 'epoch')} in {number(round(seconds, 2))} s; the loss "
        f"went from {number(first['loss'])} to {number(last['loss'])}."
    )
    if not finished:
        summary += " The run is not finished: this is how far it has come."
    names = {
        f"effective_rank_{place}": f"view {place}"
        + (f" (order {orders[place - 1]:g})" if orders else "")
        for place in count_ranks(first)
    }
    return Section(
        "Training",
        [
            Text(summary),
            Figure(
                "loss",
                "Loss",
                [Series("loss", epochs, [record["loss"] for record in history])],
                x_label="epoch",
                y_label="loss",
                caption="Mean over the batches of an epoch, before its update.",
            ),
            Figure(
                "alignment",
                "Agreement of the views",
                _curves(history, epochs, _COSINES),
                x_label="epoch",
                y_label="cosine",
                caption="Alignment is the mean cosine between two views of a node. The "
                "other curve compares the directions in which the views vary most: "
                "where both come near 1, the views collapse onto one direction.",
            ),
            Figure(
                "effective-ranks",
                "Effective ranks of the views",
                _curves(history, epochs, names),
                x_label="epoch",
                y_label="effective rank",
                caption="The number of equally strong directions with the same spread "
                "of variance as the view, on a sample of the nodes.",
            ),
        ],
    )


def _curves(
    history: Sequence[Mapping[str, float]],
    epochs: Sequence[float],
    names: Mapping[str, str],
) -> list[Series]:
    return [
        Series(name, epochs, [record[key] for record in history])
        for key, name in names.items()
    ]
