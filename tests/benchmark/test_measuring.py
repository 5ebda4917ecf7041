"""Clock, memory, floor and growth: each against something known beforehand."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
import torch

from fdgcl._checks import InputError
from fdgcl.benchmark.clock import Marks, Parts, now
from fdgcl.benchmark.growth import fit_growth
from fdgcl.benchmark.memory import (
    freed_at_once,
    give_back_free_memory,
    peak_memory,
    resident_bytes,
)
from fdgcl.benchmark.roofline import Floor, Rates, count_bytes, count_flop, floor_of
from tolerances import assert_agree

CPU = torch.device("cpu")
MIB = 2**20


def test_marks_and_parts_see_what_was_slept() -> None:
    marks, parts = Marks(CPU), Parts(CPU)
    marks.mark()
    for seconds in (0.02, 0.05):
        time.sleep(seconds)
        marks.mark()
    parts.end("both")
    first, second = marks.intervals()
    assert 0.02 <= first < 0.2
    assert 0.05 <= second < 0.3
    assert parts.seconds["both"] >= first + second - 1e-3


@pytest.mark.gpu
def test_marks_on_a_gpu_see_its_work() -> None:
    device = torch.device("cuda")
    x = torch.randn(4096, 4096, device=device)
    x @ x
    marks = Marks(device)
    started = now(device)
    marks.mark()
    for _ in range(20):
        x @ x
    marks.mark()
    [seconds] = marks.intervals()
    assert 0 < seconds <= now(device) - started


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only peaks are known")
def test_the_peak_is_what_is_alive_at_a_time() -> None:
    """Twenty blocks of 8 MiB one after the other take 16 MiB, not 160."""
    give_back_free_memory()
    with freed_at_once(), peak_memory(CPU) as peak:
        for _ in range(20):
            block = torch.ones(2 * MIB)
            time.sleep(0.004)
    del block
    assert 7 * MIB < peak[0] < 40 * MIB


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is asked to give it back")
def test_free_memory_is_given_back() -> None:
    before = resident_bytes()
    blocks = [np.ones(2**13) for _ in range(2000)]  # 64 KiB each: from the heap
    grown = resident_bytes() - before
    assert grown > 100 * MIB
    del blocks
    give_back_free_memory()
    assert resident_bytes() - before < grown / 2


def test_counts_by_hand() -> None:
    # 3 nodes, 2 features, 5 columns: V_v W_v is 3 x 5 sums of 2 products each.
    assert count_flop(3, 2, 5) == 4 * (3 * 5 * 2 * 2)
    # Two views of 3 x 2 numbers, read twice; two weights of 2 x 5, nine times each.
    assert count_bytes(3, 2, 5, 4) == 4 * (2 * 2 * 6 + 2 * 9 * 10)
    assert count_bytes(3, 2, 5, 8) == 2 * count_bytes(3, 2, 5, 4)


@pytest.mark.parametrize(("rates", "seconds"), [((10, 5), 20), ((1, 50), 100)])
def test_the_floor_is_the_larger_of_both(
    rates: tuple[float, float], seconds: float
) -> None:
    floor = Floor(100, 100, Rates(*rates))
    assert floor.seconds == seconds
    assert floor.seconds == max(floor.compute_seconds, floor.memory_seconds)


def test_rates_are_of_this_machine() -> None:
    floor = floor_of(500, 40, 30, device=CPU, copy_bytes=2**24)
    assert floor.flop == 8 * 500 * 40 * 30
    assert 1e7 < floor.rates.flop_per_second < 1e14
    assert 1e8 < floor.rates.bytes_per_second < 1e13
    assert floor.to_dict()["seconds"] == floor.seconds > 0


def test_a_floor_needs_sizes() -> None:
    with pytest.raises(InputError, match=r"dim must be a whole number"):
        floor_of(5, 5, 0, device=CPU)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_a_known_exponent_is_found(exponent: float) -> None:
    sizes = [10.0, 20.0, 40.0, 80.0, 160.0]
    found = fit_growth(sizes, [3 * size**exponent for size in sizes])
    assert found is not None
    assert_agree(found.exponent, exponent, size=1)
    assert_agree(found.error, 0, size=10)
    assert found.sizes == (20.0, 40.0, 80.0, 160.0)


def test_noise_shows_in_the_error() -> None:
    """Of many noisy measurements about two thirds lie within one standard error."""
    rng = np.random.default_rng(0)
    sizes = 2.0 ** np.arange(4)
    inside = 0
    for _ in range(400):
        values = sizes * np.exp(0.1 * rng.standard_normal(4))
        found = fit_growth(list(sizes), list(values))
        assert found is not None
        inside += abs(found.exponent - 1) < found.error
    # Student's t with two degrees of freedom: 0.577 of it lies within one.
    assert 0.5 < inside / 400 < 0.66


def test_fixed_costs_are_left_out() -> None:
    sizes = [1.0, 10.0, 100.0, 1000.0, 10000.0]
    found = fit_growth(sizes, [1 + size for size in sizes], fixed=1.0)
    assert found is not None
    assert found.sizes == tuple(sizes[1:])
    assert fit_growth(sizes, [1.5] * 5, fixed=1.0) is None
    with pytest.raises(InputError, match="a value for each size"):
        fit_growth([1.0], [])
