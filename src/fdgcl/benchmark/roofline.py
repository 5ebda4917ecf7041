"""What no epoch of these shapes can undercut on a machine, and by what count.

An epoch on N diffused rows of F features, with two views of d columns, must at least

- multiply `V_v W_v` forward and `V_v' G_v` backward for both views: 4 products of
  `2 N F d` operations each, `8 N F d` in all;
- read V_1 and V_2 once in each direction, `4 N F` numbers; and per weight, of which
  there are `2 F d`, read it for the product, write its gradient, and let Adam read
  gradient, weight and both moments and write weight and moments: 9 numbers.

What lies between (hidden rows, standardisation, activation, loss) might be done without
memory of its own, so it is not counted. The two counts, over the rates that a matrix
product of these very shapes and a large copy reach in the same run, give two times; the
larger one is the floor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch

from fdgcl._checks import check_count
from fdgcl.benchmark.clock import now
from fdgcl.methods.fdgcl.precision import dense_products

VIEWS = 2
NUMBERS_PER_WEIGHT = 9
COPY_BYTES = {"cpu": 2**28, "cuda": 2**31}
_LEAST_SECONDS = 0.2  # of each rate's measurement, however short one round is


@dataclass(frozen=True)
class Rates:
    """What a machine reaches, the best of several rounds.

    Attributes:
        flop_per_second: Of the matrix products of an epoch, forward and backward.
        bytes_per_second: Of a large copy, reads and writes counted.
    """

    flop_per_second: float
    bytes_per_second: float


@dataclass(frozen=True)
class Floor:
    """The least that an epoch takes.

    Attributes:
        flop: Operations that cannot be avoided.
        bytes: Memory traffic that cannot be avoided.
        rates: What the machine reaches.
    """

    flop: int
    bytes: int
    rates: Rates

    @property
    def compute_seconds(self) -> float:
        """Seconds of the operations alone."""
        return self.flop / self.rates.flop_per_second

    @property
    def memory_seconds(self) -> float:
        """Seconds of the traffic alone."""
        return self.bytes / self.rates.bytes_per_second

    @property
    def seconds(self) -> float:
        """The larger of both: they may overlap."""
        return max(self.compute_seconds, self.memory_seconds)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "flop": self.flop,
            "bytes": self.bytes,
            **asdict(self.rates),
            "compute_seconds": self.compute_seconds,
            "memory_seconds": self.memory_seconds,
            "seconds": self.seconds,
        }


def count_flop(nodes: int, features: int, dim: int) -> int:
    """Operations of an epoch's products; see this module."""
    return VIEWS * 2 * (2 * nodes * features * dim)


def count_bytes(nodes: int, features: int, dim: int, itemsize: int) -> int:
    """Memory traffic of an epoch; see this module."""
    rows = VIEWS * 2 * nodes * features
    weights = VIEWS * NUMBERS_PER_WEIGHT * features * dim
    return itemsize * (rows + weights)


def floor_of(
    nodes: int,
    features: int,
    dim: int,
    *,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
    precision: str = "float32",
    copy_bytes: int | None = None,
) -> Floor:
    """Count an epoch, and measure what the machine reaches at these shapes.

    Args:
        nodes: Rows, N.
        features: Columns of the diffused features, F.
        dim: Columns of a view, d.
        device: Where.
        dtype: Of all numbers.
        precision: Of products on CUDA; with `float16` features are read so, too.
        copy_bytes: Size of the copy; by default far beyond any cache.
    """
    for name, value in (("nodes", nodes), ("features", features), ("dim", dim)):
        check_count(name, value)
    size = copy_bytes or COPY_BYTES[device.type]
    if precision == "float16" and device.type == "cuda":
        dtype = torch.float16
    rates = Rates(
        _product_rate(nodes, features, dim, device, dtype, precision),
        _copy_rate(size, device),
    )
    return Floor(
        count_flop(nodes, features, dim),
        count_bytes(nodes, features, dim, dtype.itemsize),
        rates,
    )


def _product_rate(
    nodes: int,
    features: int,
    dim: int,
    device: torch.device,
    dtype: torch.dtype,
    precision: str,
) -> float:
    generator = torch.Generator(device).manual_seed(0)
    shapes = ((nodes, features), (features, dim), (nodes, dim))
    x, weight, gradient = (
        torch.randn(shape, generator=generator, dtype=dtype, device=device)
        for shape in shapes
    )
    hidden, back = torch.empty_like(gradient), torch.empty_like(weight)

    def both_ways() -> None:
        torch.mm(x, weight, out=hidden)
        torch.mm(x.T, gradient, out=back)

    with dense_products(precision):
        return 4 * nodes * features * dim / _best_seconds(both_ways, device)


def _copy_rate(size: int, device: torch.device) -> float:
    source = torch.ones(size // 4, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    return 2 * size / _best_seconds(lambda: target.copy_(source), device)


def _best_seconds(work: Callable[[], object], device: torch.device) -> float:
    """The shortest of at least three rounds: a floor is what the machine can do."""
    work()
    found: list[float] = []
    end = time.perf_counter() + _LEAST_SECONDS
    while len(found) < 3 or time.perf_counter() < end:
        started = now(device)
        work()
        found.append(now(device) - started)
    return min(found)
