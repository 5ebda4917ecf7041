"""The one training loop, and what it watches."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from fdgcl.losses import Loss, principal_direction, row_cosines
from fdgcl.views import ViewPair, ViewSource

WATCHED_ROWS = 512
COLLAPSED_RANK = 1.5
COLLAPSED_COSINE = 0.98


class TrainingWarning(UserWarning):
    """Something about a run that its user should know."""


class NonFiniteLossError(RuntimeError):
    """The loss left the finite numbers; the last good weights are kept."""


@dataclass(frozen=True)
class EpochRecord:
    """What is known of one epoch, measured before its update.

    Attributes:
        epoch: From 1.
        loss: The loss, mean over the batches.
        alignment: Mean cosine between both views of a node.
        principal_cosine: |cosine| of the two views' first principal directions.
        effective_rank_1: Participation ratio of the first view's directions.
        effective_rank_2: The same of the second view.
        seconds: Wall-clock time of the epoch.
    """

    epoch: int
    loss: float
    alignment: float
    principal_cosine: float
    effective_rank_1: float
    effective_rank_2: float
    seconds: float

    def to_dict(self) -> dict[str, float]:
        """As plain values for JSON."""
        return asdict(self)


def train(
    views: ViewPair,
    source: ViewSource,
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    *,
    epochs: int,
    first_epoch: int = 1,
    batch_size: int | None = None,
    seed: int = 0,
    on_epoch: Callable[[EpochRecord], None],
) -> None:
    """Train the views to agree, calling `on_epoch` after each update.

    The order of the batches depends on the seed and the epoch alone, so a run that
    starts again at `first_epoch` goes on exactly as it would have.

    Raises:
        NonFiniteLossError: The loss is not finite; the weights are put back to the
            last ones whose loss was.
    """
    good: list[Tensor] = []
    for epoch in range(first_epoch, epochs + 1):
        started = time.perf_counter()
        batches = _batches(source.num_rows, batch_size, seed, epoch)
        losses: list[float] = []
        watched: tuple[float, float, float, float] | None = None
        for rows in batches:
            rows = None if rows is None else rows.to(views.mean.device)
            first, second = views(source, rows)
            value = loss(first, second)
            losses.append(float(value.detach()))
            if not torch.isfinite(value):
                _restore(views, good)
                raise NonFiniteLossError(_blame(epoch, first, second))
            good = [weight.detach().clone() for weight in views.parameters()]
            watched = watched or watch(first.detach(), second.detach())
            optimizer.zero_grad(set_to_none=True)
            value.backward()
            optimizer.step()
        assert watched is not None
        seconds = time.perf_counter() - started
        on_epoch(EpochRecord(epoch, sum(losses) / len(losses), *watched, seconds))


def watch(first: Tensor, second: Tensor) -> tuple[float, float, float, float]:
    """Alignment, principal cosine and both effective ranks, from a few hundred rows."""
    stride = max(1, len(first) // WATCHED_ROWS)
    first, second = first[::stride][:WATCHED_ROWS], second[::stride][:WATCHED_ROWS]
    cosine = principal_direction(first) @ principal_direction(second)
    return (
        float(row_cosines(first, second).mean()),
        float(cosine.abs()),
        effective_rank(first),
        effective_rank(second),
    )


def effective_rank(z: Tensor) -> float:
    """How many directions share the energy of the rows: `(sum s)^2 / sum s^2`.

    The s are the squared singular values of the rows as they are, not centred: rows
    that all point the same way have rank one, which is what a collapse looks like.
    """
    z = z.double()
    gram = z @ z.T if len(z) < z.shape[1] else z.T @ z
    energy = gram.square().sum()
    return float(gram.trace() ** 2 / energy) if energy > 0 else 0.0


def warn_of_collapse(record: EpochRecord) -> bool:
    """Warn, and return whether it did, when the views have become one direction."""
    rank = min(record.effective_rank_1, record.effective_rank_2)
    if rank >= COLLAPSED_RANK or record.alignment < COLLAPSED_COSINE:
        return False
    message = (
        f"the views have collapsed by epoch {record.epoch}: effective rank {rank:.2f}, "
        f"cosine between the views {record.alignment:.3f}; try standardize=True, fewer "
        "epochs, a smaller lr, a larger eta, or loss='barlow-twins' or 'vicreg'"
    )
    warnings.warn(message, TrainingWarning, stacklevel=2)
    return True


def _batches(
    num_rows: int, batch_size: int | None, seed: int, epoch: int
) -> list[Tensor | None]:
    if batch_size is None or batch_size >= num_rows:
        return [None]
    generator = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    parts = list(torch.split(torch.randperm(num_rows, generator=generator), batch_size))
    # A single left-over row has no principal direction: it joins the batch before.
    if len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return [*parts]


@torch.no_grad()
def _restore(views: ViewPair, good: list[Tensor]) -> None:
    for weight, value in zip(views.parameters(), good, strict=False):
        weight.copy_(value)


def _blame(epoch: int, first: Tensor, second: Tensor) -> str:
    norms = [float(view.detach().norm()) for view in (first, second)]
    return (
        f"the loss is not finite in epoch {epoch} (norms of the views: "
        f"{norms[0]:.3g} and {norms[1]:.3g}); the weights of the last good epoch are "
        "kept"
    )
