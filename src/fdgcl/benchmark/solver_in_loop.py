"""Training with the solver in the loop, as fractional graph networks are trained.

In every epoch the features are multiplied by the weights first, then stepped through
the graph by the fractional Adams-Bashforth rule with all of its history, and autograd
goes back through every step. Nothing here uses what makes `fdgcl` fast, so that the
two can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import torch
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.losses import Loss
from fdgcl.methods.fdgcl import Encoders, ViewSource
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.operators.sparse import csr_tensor

_KEPT_VIEWS = {"local": 0, "global": 1}


def predictor_states(
    rhs: Callable[[Tensor], Tensor],
    initial: Tensor,
    *,
    order: float,
    step: float,
    steps: int,
) -> Iterator[tuple[Tensor, Sequence[Tensor]]]:
    r"""Step `D^order y = rhs(y)`: yield each state and the right-hand sides so far.

    .. math:: y_{k+1} = y_0 + \frac{h^a}{\Gamma(1+a)}
        \sum_{j=0}^{k} \left[(k+1-j)^a - (k-j)^a\right] F(y_j)

    The sum runs over the whole history at every order; at order 1, where all weights
    are equal and Euler's step would do, too.
    """
    scale = step**order / math.gamma(1 + order)
    history: list[Tensor] = []
    state = initial
    for k in range(steps):
        history.append(rhs(state))
        state = initial
        for j, slope in enumerate(history):
            weight = scale * ((k + 1 - j) ** order - (k - j) ** order)
            state = torch.add(state, slope, alpha=weight)
        yield state, history


@final
class SolverInLoop(ViewSource):
    """Hidden features of each view, stepped anew whenever they are asked for."""

    def __init__(self, prepared: DiffusionPreparation) -> None:
        settings = prepared.settings
        check_can_be_stepped(settings)
        self._orders, self._schedule = settings.orders, settings.schedule
        self._rate = settings.rate
        place, dtype = settings.torch_device, settings.torch_dtype
        features = prepared.view_features
        dense = features.toarray() if isinstance(features, csr_array) else features
        self._x = torch.tensor(dense, dtype=dtype, device=place)
        matrix = prepared.operator.matrix.matrix
        self._graph = _to_torch(matrix, dtype, place)
        # Gradients flow back through the transpose; turning it round in every step
        # would make the loop slower than it needs to be.
        self._transposed = _to_torch(csr_array(matrix.T), dtype, place)
        self.num_rows, self.num_features = self._x.shape
        self._kept = prepared.kept_features(place)

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class; chosen rows cost as much as all of them."""
        stepped = self._step(view, self._x @ weight)
        return stepped if rows is None else stepped[rows]

    def kept(self, name: str) -> Tensor:
        """See the base class."""
        if name in self._kept.averages:
            return self._kept.averages[name]
        x, view = self._kept.dense().to(self._x), _KEPT_VIEWS.get(name)
        return x if view is None else self._step(view, x)

    def _step(self, view: int, initial: Tensor) -> Tensor:
        state = initial
        for _ in range(max(self._schedule.segments, 1)):
            for reached, _history in predictor_states(
                self._right_hand_side,
                state,
                order=self._orders[view],
                step=self._schedule.step,
                steps=self._schedule.steps_per_segment,
            ):
                ahead = reached
            state = ahead + initial if self._schedule.segments else ahead
        return state

    def _right_hand_side(self, state: Tensor) -> Tensor:
        gathered: Tensor = _Product.apply(  # type: ignore[no-untyped-call]
            state, self._graph, self._transposed
        )
        return self._rate * (gathered - state)


def train_in_loop(
    views: Encoders,
    source: SolverInLoop,
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    *,
    epochs: int,
    on_epoch: Callable[[float], None],
) -> None:
    """Train on all rows at once, calling `on_epoch` with each epoch's loss."""
    for _ in range(epochs):
        value = loss(*views(source))
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        optimizer.step()
        on_epoch(float(value.detach()))


def check_can_be_stepped(settings: Settings) -> None:
    """Refuse settings that this loop has no steps for."""
    wanted = {"dynamics": "grand", "solver": "predictor", "window": None}
    for name, value in wanted.items():
        found = getattr(settings, name)
        if found != value:
            message = (
                f"the solver in the loop has steps for {name} {value!r} only, got "
                f"{found!r}"
            )
            raise InputError(message)


class _Product(torch.autograd.Function):
    """A sparse product of torch's, its gradient by the transposed matrix."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transposed @ gradient.contiguous(), None, None


def _to_torch(matrix: csr_array, dtype: torch.dtype, place: torch.device) -> Tensor:
    rows, columns = matrix.shape
    return csr_tensor(
        torch.tensor(matrix.indptr, dtype=torch.int32, device=place),
        torch.tensor(matrix.indices, dtype=torch.int32, device=place),
        torch.tensor(matrix.data, dtype=dtype, device=place),
        (int(rows), int(columns)),
    )
