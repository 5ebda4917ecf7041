"""Readouts: one row per graph, whatever the order of its nodes, with gradient."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.methods.readout import READOUTS, pool
from tolerances import assert_within, sum_bound

PTR = [0, 4, 5, 12, 14]


def some_rows(dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(PTR[-1], 3, generator=generator, dtype=torch.float64).to(dtype)


def by_hand(rows: Tensor, ptr: list[int], readouts: list[str]) -> np.ndarray:
    """A plain loop over graphs, columns and nodes."""
    values, result = rows.tolist(), []
    for start, end in pairwise(ptr):
        columns = list(zip(*values[start:end], strict=True))
        row: list[float] = []
        for readout in readouts:
            for column in columns:
                if readout == "mean":
                    row.append(sum(column) / len(column))
                elif readout == "sum":
                    row.append(sum(column))
                else:
                    row.append(max(column))
        result.append(row)
    return np.array(result)


@pytest.mark.parametrize(
    "readouts", [["mean"], ["sum"], ["max"], ["max", "mean"], ["mean", "sum", "max"]]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_agrees_with_a_loop(readouts: list[str], dtype: torch.dtype) -> None:
    rows = some_rows(dtype)
    got = pool(rows, torch.tensor(PTR), readouts)
    assert got.dtype == dtype
    assert got.shape == (4, 3 * len(readouts))
    bound = float(sum_bound(rows, dtype).max() + sum_bound(rows, np.float64).max())
    assert_within(got, by_hand(rows, PTR, readouts), bound)


def test_every_readout_is_tried_here() -> None:
    assert set(READOUTS) == {"mean", "sum", "max"}


@pytest.mark.parametrize("readout", READOUTS)
def test_the_gradient_is_right(readout: str) -> None:
    rows = some_rows().requires_grad_()
    ptr = torch.tensor(PTR)
    assert torch.autograd.gradcheck(lambda x: pool(x, ptr, [readout]), rows)


@pytest.mark.parametrize("readout", READOUTS)
def test_the_order_of_nodes_in_a_graph_does_not_matter(readout: str) -> None:
    rows = some_rows()
    order = [3, 1, 0, 2, 4, 11, 5, 10, 6, 9, 7, 8, 13, 12]
    expected = pool(rows, torch.tensor(PTR), [readout])
    got = pool(rows[order], torch.tensor(PTR), [readout])
    assert_within(got, expected, 2 * sum_bound(rows, rows.dtype))
    swapped = rows.clone()
    swapped[[0, 4]] = swapped[[4, 0]]  # between two graphs, it does
    assert not torch.allclose(pool(swapped, torch.tensor(PTR), [readout]), expected)


@pytest.mark.parametrize("readout", READOUTS)
def test_a_graph_alone_gives_the_same(readout: str) -> None:
    rows = some_rows()
    together = pool(rows, torch.tensor(PTR), [readout])
    for at, (start, end) in enumerate(pairwise(PTR)):
        alone = pool(rows[start:end], torch.tensor([0, end - start]), [readout])
        assert_within(alone[0], together[at], 2 * sum_bound(rows, rows.dtype))


def test_negative_rows_have_a_negative_maximum() -> None:
    rows = -torch.ones(3, 2) - torch.arange(3)[:, None]
    assert pool(rows, torch.tensor([0, 2, 3]), ["max"]).tolist() == [[-1, -1], [-3, -3]]


@pytest.mark.parametrize(
    ("ptr", "sentence"),
    [
        ([0, 4, 13], "from 0 to the number of rows, 14"),
        ([1, 14], "from 0 to the number of rows"),
        ([0], "one more than there are graphs"),
        ([0.0, 14.0], "whole numbers"),
        ([0, 5, 5, 14], "no graph may be empty"),
        ([0, 9, 5, 14], "must increase"),
    ],
)
def test_a_ptr_that_does_not_fit(ptr: list[float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        pool(some_rows(), torch.tensor(ptr), ["mean"])


@pytest.mark.parametrize(
    ("readouts", "sentence"),
    [
        (["median"], r"unknown readout 'median'.*known: mean, sum, max"),
        ([], "some of mean, sum, max"),
        ("mean", "must be a list"),
        (["mean", "mean"], "each once"),
    ],
)
def test_readouts_that_are_none(readouts: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        pool(some_rows(), torch.tensor(PTR), readouts)


@pytest.mark.gpu
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_same_on_a_gpu(readout: str, dtype: torch.dtype) -> None:
    rows = some_rows(dtype)
    there = rows.cuda().requires_grad_()
    got = pool(there, torch.tensor(PTR), [readout])
    assert got.is_cuda
    expected = pool(rows, torch.tensor(PTR), [readout])
    assert_within(got, expected, 2 * sum_bound(rows, dtype))
    got.sum().backward()
    assert there.grad is not None
