"""What training from a store takes, before anything runs.

Nothing here is chosen by the memory there is, so that results do not depend on it:
where what is needed does not fit, training is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from fdgcl._memory import resident_bytes
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.agreement import can_be_fused
from fdgcl.methods.fdgcl.batching import batch_rows, block_rows
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.feature_columns import view_columns
from fdgcl.methods.fdgcl.kept_blocks import kept_blocks
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.shuffling import Shuffle
from fdgcl.methods.fdgcl.statistics import BLOCK_ROWS
from fdgcl.planning import Plan
from fdgcl.planning.cost import (
    embed_seconds,
    embedding_bytes,
    train_flops,
    train_seconds,
)

# Of a process, beside what is counted: libraries that load later, and what an allocator
# keeps of what was freed; the latter, and stacks, for each thread.
LATER_BYTES = 250e6
THREAD_BYTES = 16e6
# Matrices of a view's size: those of a plain step, and of a block that is embedded.
PLAIN_MATRICES = 14
EMBEDDED_MATRICES = 8
# Copies of the weights: Adam's, gradients, the last good ones, those folded.
WEIGHT_COPIES = 12
# Bytes of an entry of the covariances while they are made, and then as they are used.
COVARIANCE_BYTES = 64


@dataclass(frozen=True, kw_only=True)
class TrainingPlan(Plan):
    """What training from a store takes.

    Attributes:
        width: Columns of the embedding.
    """

    width: int


def plan_training(
    store: Store,
    settings: Settings,
    *,
    memory: int,
    members: int = 1,
    here: int | None = None,
    kept: Sequence[str] | None = None,
) -> TrainingPlan:
    """Count what training takes.

    Args:
        store: The graph.
        settings: The model's.
        memory: The bound, for this machine.
        members: Processes that train together.
        here: How many of them run on this machine; None for all.
        kept: The blocks beside the views; None for those the settings make of it.
    """
    if kept is None:
        kept = kept_blocks(settings.keep, store.manifest.direction)
    nodes, given = store.manifest.nodes, store.num_features
    features = view_columns(settings, given, nodes)
    count = len(settings.orders)
    hidden = settings.hidden_columns
    parts = Parts.of(settings, settings.beta, given, kept=kept)
    width = parts.width
    batch = batch_rows(settings, nodes)
    item = settings.torch_dtype.itemsize
    numbers = _trained_numbers(settings, nodes, features, batch, members)
    numbers += WEIGHT_COPIES * count * features * hidden
    block = block_rows(parts.made, features)
    embedded = block * (4 * features + EMBEDDED_MATRICES * parts.made)
    looked = 3 * BLOCK_ROWS * features
    if parts.is_compressed:
        looked += BLOCK_ROWS * (2 * parts.made + max(parts.widths))
    each = resident_bytes() + LATER_BYTES + COVARIANCE_BYTES * features**2
    each += THREAD_BYTES * torch.get_num_threads()
    each += parts.fitting_bytes
    each += item * (max(numbers, embedded, looked) + 2 * parts.directions)
    peak = int(each * (members if here is None else here))
    seconds = train_seconds(nodes, features, hidden, settings.epochs)
    seconds += embed_seconds(nodes, features, width)
    rows = f"{nodes if batch is None else batch:,}"
    reduced = settings.reduced(given)
    fewer = f" (--reduce-views makes them {reduced:,})" if reduced < features else ""
    together = f", {members} processes" if members > 1 else ""
    return TrainingPlan(
        does=(
            f"{settings.epochs} epochs over {nodes:,} nodes in batches of about "
            f"{rows}{together}",
            f"an embedding of {width:,} columns",
        ),
        peak_bytes=peak,
        memory=memory,
        least_bytes=peak,
        purpose=f"for {features:,} features{fewer}, views of {hidden:,} columns and "
        f"batches of {rows} nodes",
        disk_bytes=embedding_bytes(nodes, width),
        seconds=seconds,
        dense_flops=train_flops(nodes, features, hidden, settings.epochs, width),
        width=width,
    )


def _trained_numbers(
    settings: Settings, nodes: int, features: int, batch: int | None, members: int
) -> int:
    """Numbers that a member holds in a step."""
    if batch is None:
        held = rows = -(-nodes // members) + Shuffle(nodes, nodes).chunk_rows
    else:
        shuffle = Shuffle.of(nodes, features, batch, members)
        # Two windows, and the positions of their rows, which are twice as long.
        held = 2 * shuffle.largest_window
        rows = shuffle.largest_batch
    loss = settings.new_loss()
    fused = settings.fast and can_be_fused(
        loss, settings.activation, settings.standardize
    )
    views = len(settings.orders)
    chosen = 0 if batch is None else views * features
    if fused:
        # Of several pairs, each has copies of its views beside all gradients.
        held_views = views if views == 2 else 2 * views + 2
        step = rows * (chosen + held_views * settings.hidden_columns + 8)
    else:
        # Every member has the whole batch for the loss.
        whole = min(nodes, rows * members)
        step = (
            rows * chosen
            + PLAIN_MATRICES * views * whole * settings.hidden_columns // 2
        )
    return held * (views * features + 4) + step
