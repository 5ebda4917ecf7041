"""What a dynamics is: the right-hand side F, its parameters, the state it evolves."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn

from fdgcl._checks import InputError, check_positive
from fdgcl._parts import arguments_of
from fdgcl.operators.incidence import Incidence

RightHandSide = Callable[[float, Tensor], Tensor]


class Gathering(Protocol):
    """What a dynamics may ask of a graph."""

    def multiply(self, x: Tensor) -> Tensor:
        """`A @ x`, with gradient: each node gathers from its neighbours."""

    @property
    def incidence(self) -> Incidence:
        """The edges one by one, for dynamics that weigh each of them anew."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Stands for a graph where F is a function of frequency: A is `1 - frequency`.

    A fixed linear dynamics started on this gives its response at each frequency, by
    the very code that runs on graphs.
    """

    frequency: Tensor

    def multiply(self, x: Tensor) -> Tensor:
        """See `Gathering`."""
        return (1 - self.frequency) * x

    @property
    def incidence(self) -> Incidence:
        """See `Gathering`."""
        message = "a dynamics that looks at single edges has no frequency response"
        raise InputError(message)


def change(graph: Gathering, x: Tensor) -> Tensor:
    """`A x - x`, with all digits where the graph is its frequencies.

    There `(1 - frequency) x - x` would round small frequencies away, and with them the
    solution late in time.
    """
    if isinstance(graph, Frequencies):
        return graph.frequency * -x
    return graph.multiply(x) - x


def _same(state: Tensor) -> Tensor:
    return state


@dataclass(frozen=True, eq=False)
class Flow:
    """A dynamics under way, from given features on a given graph.

    Attributes:
        initial: The state at time 0.
        rhs: F(t, state).
        tensors: What `rhs` depends on besides the state and wants gradients:
            parameters, and what was computed from them or from the features. `rhs`
            uses these very tensors, not others that were made of them beforehand.
        readout: The features that a state stands for.
    """

    initial: Tensor
    rhs: RightHandSide
    tensors: tuple[Tensor, ...] = ()
    readout: Callable[[Tensor], Tensor] = _same


#: What every dynamics is told; its other keyword arguments are its own options.
COMMON_ARGUMENTS = ("rate", "dim", "generator", "dtype")
DEFAULT_RATE = 0.5


class Dynamics(nn.Module, abc.ABC):
    """The right-hand side of `D^order Z = F(t, Z)`, with whatever it trains.

    A dynamics knows no graph: `start` binds it to one, so that trained parameters
    serve on other graphs too. Options of its own are keyword arguments with defaults,
    and kept as attributes of the same names, so that it can be made again.

    Attributes:
        name: The name users choose it by; by default that of the class.

    Args:
        rate: Factor in front of all of F.
        dim: Columns of the features it will see in training.
        generator: Of its initial parameters.
        dtype: Of its parameters.

    Example:
        >>> class Decay(Dynamics):
        ...     is_fixed_linear = True
        ...     def start(self, graph, x):
        ...         return Flow(x, lambda t, z: -self.rate * z)
        >>> Decay(rate=2).symbol(torch.zeros(1))  # the same at all frequencies
        tensor([-2.])
    """

    name: ClassVar[str]

    def __init__(
        self,
        *,
        rate: float = DEFAULT_RATE,
        dim: int = 1,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.rate = check_positive("rate", rate)
        self.dim = dim
        self._generator = generator or torch.Generator().manual_seed(0)
        self._dtype = dtype

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @property
    @abc.abstractmethod
    def is_fixed_linear(self) -> bool:
        """Whether Z(T) is a polynomial of the graph that no training changes.

        Such a dynamics is applied once, before training, to features of any width;
        any other is stepped in every epoch, on features of width `dim`.
        """

    @property
    def has_symbol(self) -> bool:
        """Whether `F(Z) = f(L) Z`: the exact solution is known, stability too."""
        return self.is_fixed_linear

    @property
    def products(self) -> int:
        """Products with the graph in one evaluation of F."""
        return 1

    @abc.abstractmethod
    def start(self, graph: Gathering, x: Tensor) -> Flow:
        """Begin with the encoded features on a graph."""

    def symbol(self, frequency: Tensor) -> Tensor:
        """The f of `F(Z) = f(L) Z`, at real or complex frequencies of L."""
        if not self.has_symbol:
            message = f"dynamics {self.name!r} is not a function of the Laplacian alone"
            raise InputError(message)
        ones = torch.ones_like(frequency)
        return self.start(Frequencies(frequency), ones).rhs(0.0, ones)

    @classmethod
    def options(cls) -> dict[str, Any]:
        """Its own options and their defaults."""
        return arguments_of(cls, COMMON_ARGUMENTS)

    def __repr__(self) -> str:
        """Show the options that are not as they are by default."""
        given = {name: getattr(self, name, None) for name in self.options()}
        changed = [
            f"{name}={given[name]!r}"
            for name, default in self.options().items()
            if given[name] != default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def new_parameter(self, *shape: int, scale: float = 1.0) -> nn.Parameter:
        """A new parameter, uniform with variance `scale^2 / last dimension`."""
        bound = scale * math.sqrt(3 / shape[-1])
        # Drawn in float32 for every dtype, so that both precisions start alike.
        values = torch.empty(shape).uniform_(-bound, bound, generator=self._generator)
        return nn.Parameter(values.to(self._dtype))
