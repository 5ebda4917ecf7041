"""What a dynamics is: the right-hand side F, and the state it evolves."""

from __future__ import annotations

import abc
from typing import ClassVar

from torch import Tensor

from fdgcl.graphs.operators import Operator


class Dynamics(abc.ABC):
    """The right-hand side of `D^order Z = F(t, Z)` on a graph.

    Attributes:
        name: The name users choose it by.
        is_fixed_linear: Whether `F(Z) = f(L) Z` with a function f that no training
            changes. Such dynamics are applied as a polynomial, once, before training.
    """

    name: ClassVar[str]
    is_fixed_linear: ClassVar[bool]

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    @abc.abstractmethod
    def initial_state(self, x: Tensor) -> Tensor:
        """The state at time 0 from the encoded features."""

    @abc.abstractmethod
    def rhs(self, t: float, state: Tensor) -> Tensor:
        """F at time t."""

    @abc.abstractmethod
    def readout(self, state: Tensor) -> Tensor:
        """The features that a state stands for."""


class FixedLinearDynamics(Dynamics):
    """Dynamics `F(Z) = f(L) Z`, f a fixed polynomial of the Laplacian `L = I - A`.

    Attributes:
        degree: The degree of f: products with the graph in one evaluation.
    """

    is_fixed_linear = True
    degree: ClassVar[int]

    @abc.abstractmethod
    def symbol(self, frequency: Tensor) -> Tensor:
        """F at the given frequencies (eigenvalues of L), real or complex."""

    def initial_state(self, x: Tensor) -> Tensor:
        """See the base class."""
        return x

    def readout(self, state: Tensor) -> Tensor:
        """See the base class."""
        return state
