"""Blocks compressed together: by every path, against NumPy's SVD and closed forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from fdgcl.methods.fdgcl import principal_directions as module
from fdgcl.methods.fdgcl.compression import Compression, Pass
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.principal_directions import fitting_bytes, searched
from fdgcl.training.process_group import ProcessGroup
from tolerances import gamma

# Rounding of float32, of rows of 40 columns that are multiplied twice, with room.
CLOSE = 1e-5


def rows_of(width: int, count: int = 200, seed: int = 0) -> Tensor:
    """Correlated columns off their origin, whose variances fall by half."""
    rng = np.random.default_rng(seed)
    scale = 0.5 ** np.arange(width).clip(max=20)
    turn = np.linalg.qr(rng.normal(size=(width, width)))[0]
    rows = rng.normal(size=(count, width)) * scale @ turn + 3
    return torch.from_numpy(rows.astype(np.float32))


def by_blocks(blocks: Sequence[Tensor], step: int) -> Pass:
    def rows(wanted: Sequence[int]) -> Iterator[list[Tensor]]:
        for start in range(0, len(blocks[0]), step):
            yield [blocks[number][start : start + step] for number in wanted]

    return rows


def expected(block: Tensor, share: int) -> np.ndarray:
    centred = block.double().numpy() - block.double().numpy().mean(0)
    _, values, turned = np.linalg.svd(centred, full_matrices=False)
    assert share == len(values) or values[share - 1] > values[share] * 1.1
    return centred @ turned[:share].T


def assert_same_up_to_signs(found: Tensor, wanted: np.ndarray, close: float) -> None:
    signs = np.sign((found.double().numpy() * wanted).sum(0))
    np.testing.assert_allclose(found.numpy(), wanted * signs, rtol=0, atol=close)


def signed(variances: Sequence[float]) -> Tensor:
    """Rows whose covariance is diagonal, with these variances exactly.

    Each column has its size in one pair of rows, once with either sign, and zeros
    elsewhere: means and products of two columns are 0.
    """
    pairs = len(variances)
    rows = torch.zeros(2 * pairs, pairs, dtype=torch.float64)
    for column, variance in enumerate(variances):
        size = (variance * pairs) ** 0.5
        rows[2 * column, column], rows[2 * column + 1, column] = size, -size
    return rows


@pytest.mark.parametrize("step", [200, 64, 1])
def test_each_block_is_compressed_by_its_own_directions(step: int) -> None:
    # The second varies a thousand times less, and is none the worse for it: blocks are
    # of one size in the embedding. Each direction has about a quarter of the variance
    # of the one before, so that all have three before any has five.
    blocks = [rows_of(40), rows_of(12, seed=1) / 1000, rows_of(3, seed=2)]
    compression = Compression((40, 12, 3), 12, (1, 1, 1))
    squares = compression.fit(by_blocks(blocks, step))
    found = compression(blocks)
    widths = compression.columns
    assert [one.shape[1] for one in found] == [*widths]
    assert widths in ((5, 4, 3), (4, 5, 3))
    for number, close in enumerate((CLOSE, CLOSE / 100, CLOSE)):
        wanted = expected(blocks[number], widths[number])
        assert_same_up_to_signs(found[number], wanted, close)
        mean = found[number].double().square().sum(1).mean()
        assert abs(mean / squares[number] - 1) < CLOSE


@pytest.mark.parametrize("scale", [1, 1e-3, 1e4])
def test_columns_go_where_they_carry_most(scale: float) -> None:
    """By hand: shares of a block's variance, times its weight squared.

    The first has 32, 16, 8, 4, 2 and 1 of 63; the second, of weight 2, four quarters
    times 4; the third, of weight 1/2, eight eighths over 4. Of 12 columns each has two.
    Then there are 8, 4, 2 and 1 of 63, twice 1, and six times 1/32, of which the six
    largest are 1, 1, 8/63, 4/63, 2/63 and one of 1/32.
    """
    first = signed([32, 16, 8, 4, 2, 1])
    second, third = signed([0.25] * 4) * scale, signed([0.125] * 8) * scale
    rows = max(map(len, (first, second, third)))
    # Rows of zeros change variances by one factor, which shares do not know.
    blocks = [
        torch.cat([one, one.new_zeros(rows - len(one), one.shape[1])])
        for one in (first, second, third)
    ]
    compression = Compression((6, 4, 8), 12, (1, 2, 0.5), torch.float64)
    compression.fit(by_blocks(blocks, 5))
    assert compression.columns == (5, 4, 3)


def test_a_block_of_little_weight_has_the_least_columns() -> None:
    """Of rows at random no direction has a thousandth of another's variance."""
    rng = np.random.default_rng(0)
    blocks = [torch.from_numpy(rng.normal(size=(500, 100))) for _ in range(3)]
    compression = Compression((100, 100, 100), 150, (1, 0.01, 1), torch.float64)
    compression.fit(by_blocks(blocks, 500))
    first, second, third = compression.columns
    assert second == 8
    assert first + third == 142


def test_blocks_that_vary_alike_are_taken_in_their_order() -> None:
    """A rounding of the features does not decide which of two blocks is cut."""
    rng = np.random.default_rng(0)
    turn = torch.from_numpy(np.linalg.qr(rng.normal(size=(6, 6)))[0])
    blocks = [signed([1.0] * 6), signed([1.0] * 6) @ turn, signed([1.0] * 6) * 3]
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        compression = Compression((6, 6, 6), 11, (1, 1, 1), torch.float64)
        compression.fit(by_blocks([blocks[n] for n in order], 12))
        # One each, as 11 // 6 is 1, and eight more: the first block's five, then three.
        assert compression.columns == (6, 4, 1)


def test_a_block_that_keeps_its_columns_is_rotated() -> None:
    narrow, wide = rows_of(3), rows_of(40, seed=1)
    compression = Compression((3, 40), 20, (1, 1), torch.float64)
    blocks = [narrow.double(), wide.double()]
    compression.fit(by_blocks(blocks, 200))
    assert compression.columns[0] == 3
    centred = blocks[0] - blocks[0].mean(0)
    found = compression(blocks)[0]
    # Three products of three terms each way, by directions orthonormal to rounding:
    # each entry of the Gram matrix is off by no more than a dozen roundings of norms.
    allowed = gamma(64, np.float64) * float(centred.square().sum(1).max())
    assert (found @ found.T - centred @ centred.T).abs().max() <= allowed


def test_directions_that_do_not_vary_come_last() -> None:
    """A block that is constant has its least columns, which are zeros."""
    constant = torch.full((200, 50), 3.0)
    varied = torch.from_numpy(np.random.default_rng(0).normal(size=(200, 40)))
    blocks = [constant, varied.float()]
    for dim, weights, columns in (
        (44, (1, 0.01), (8, 36)),
        (88, (1, 1), (48, 40)),
    ):
        compression = Compression((50, 40), dim, weights)
        compression.fit(by_blocks(blocks, 64))
        assert compression.columns == columns
        assert not compression(blocks)[0].any()


@pytest.mark.parametrize("blocks", [1, 2, 5, 16])
@pytest.mark.parametrize("dim", [16, 17, 31])
def test_any_number_of_blocks_fills_the_embedding(dim: int, blocks: int) -> None:
    widths = [40, *([6] * (blocks - 1))]
    rows = [rows_of(width, seed=width) for width in widths]
    compression = Compression(widths, dim, [1.0] * blocks)
    assert sum(compression.columns) == min(dim, sum(widths))
    compression.fit(by_blocks(rows, 200))
    assert sum(compression.columns) == min(dim, sum(widths))
    found = compression(rows)
    assert [one.shape[1] for one in found] == [*compression.columns]
    assert all(one.any() for one in found)


@pytest.mark.parametrize("step", [200, 7])
def test_wide_blocks_come_to_the_same(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = rows_of(120)
    exact = Compression((120,), 6, (1,))
    squares = exact.fit(by_blocks([block], step))
    monkeypatch.setattr(module, "WIDEST_EXACT", 100)
    for _ in range(2):
        sketch = Compression((120,), 6, (1,))
        found = sketch.fit(by_blocks([block], step))
        # Variances fall by four and more a direction: five products leave nothing.
        assert_same_up_to_signs(sketch([block])[0], exact([block])[0].numpy(), CLOSE)
        assert abs(found / squares - 1) < CLOSE
    again = Compression((120,), 6, (1,))
    again.fit(by_blocks([block], step))
    assert torch.equal(again([block])[0], sketch([block])[0])


def test_a_flat_spectrum_loses_little_to_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    block = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 300)))
    exact = Compression((300,), 30, (1,), torch.float64)
    best = exact.fit(by_blocks([block], 100))
    monkeypatch.setattr(module, "WIDEST_EXACT", 100)
    found = Compression((300,), 30, (1,), torch.float64).fit(by_blocks([block], 100))
    assert 0.97 * best < found <= best


@pytest.mark.parametrize("widest", [2048, 10])
def test_what_does_not_vary_is_no_column(
    widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two directions alone vary: the others are zeros, of unseen rows as well."""
    monkeypatch.setattr(module, "WIDEST_EXACT", widest)
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 30)) + 7
    block = torch.from_numpy(plane.astype(np.float32))
    compression = Compression((30,), 6, (1,))
    compression.fit(by_blocks([block], 20))
    unseen = torch.from_numpy(rng.normal(size=(9, 30)).astype(np.float32))
    for rows in (block, unseen):
        (found,) = compression([rows])
        assert found[:, :2].abs().min() > 0
        assert not found[:, 2:].any()


@pytest.mark.parametrize("widest", [2048, 10])
def test_constant_and_broken_blocks(
    widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WIDEST_EXACT", widest)
    compression = Compression((30,), 6, (1,))
    assert compression.fit(by_blocks([torch.full((8, 30), 2.0)], 8)) == 0
    assert not compression([torch.rand(4, 30)])[0].any()
    broken = torch.rand(8, 30)
    broken[3, 3] = torch.inf
    compression.fit(by_blocks([broken], 8))
    assert compression([torch.rand(4, 30)])[0].isnan().all()


def test_a_wide_block_counts_what_was_not_found() -> None:
    """Its total variance is that of all columns, by the definition."""
    block = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 300)) + 2)
    search = module.Sketch(300, 30)
    while search.passes:
        for rows in block.split(70):
            search.add(rows)
        search.end_pass()
    total = float(block.var(0, correction=0).sum())
    assert search.variances.sum() < total / 2
    # Of squares that are added no term meets more roundings than there are terms; each
    # is of a difference, of numbers below 10, that carries the mean's roundings.
    off = gamma(400 + 2, np.float64) * 10
    allowed = gamma(block.numel() + 3, np.float64) * total + 300 * 2 * 10 * off
    assert abs(float(search.total) - total) <= 2 * allowed
    wanted = search.variances.numpy() / float(search.total) * 0.25
    np.testing.assert_allclose(search.counted(0.5), wanted, rtol=gamma(4, np.float64))


def test_enough_directions_are_looked_for() -> None:
    assert searched((300, 2048), 1000) == (300, 1000)
    assert searched((9000, 9000, 9000), 2048) == (1024, 1024, 1024)
    # Together they must fill the embedding.
    for widths, dim in (((9000,), 4096), ((2100, 9000), 6000), ((10, 9000), 3000)):
        assert sum(searched(widths, dim)) >= dim


def saved_and_loaded(state: dict[str, Tensor]) -> Compression:
    loaded = Compression((40, 12, 3), 12, (1, 1, 1))
    loaded.load_state_dict(state)
    return loaded


def test_a_state_is_loaded_with_its_columns() -> None:
    blocks = [rows_of(40), rows_of(12, seed=1), rows_of(3, seed=2)]
    compression = Compression((40, 12, 3), 12, (1, 0.1, 1))
    begun = compression.columns
    compression.fit(by_blocks(blocks, 64))
    assert compression.columns != begun
    loaded = saved_and_loaded(compression.state_dict())
    assert loaded.columns == compression.columns
    for one, other in zip(loaded(blocks), compression(blocks), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    "shapes",
    [
        ((40, 6), (12, 3), (3, 2)),  # one column less than there are
        ((40, 7), (12, 3), (3, 3)),  # one more
        ((39, 6), (12, 3), (3, 3)),  # rows that the block does not have
        ((40, 5), (12, 3), (3, 4)),  # more columns than the block has
        ((40, 9), (12, 3), (3, 0)),  # none
        ((40, 6, 1), (12, 3), (3, 3)),
        ((12, 3), (40, 6), (3, 3)),
        ((40, 9), (12, 3)),
    ],
)
def test_states_that_cannot_be_are_refused(shapes: Sequence[tuple[int, ...]]) -> None:
    compression = Compression((40, 12, 3), 12, (1, 1, 1))
    state = compression.state_dict()
    for number in range(3):
        del state[f"directions_{number}"]
    whole = {0: (40, 6), 1: (12, 3), 2: (3, 3)}
    saved_and_loaded({**state, **named(whole)})
    with pytest.raises(RuntimeError, match="directions_"):
        saved_and_loaded({**state, **named(dict(enumerate(shapes)))})


def named(shapes: dict[int, tuple[int, ...]]) -> dict[str, Tensor]:
    return {f"directions_{n}": torch.zeros(shape) for n, shape in shapes.items()}


class OneAfterTheOther(ProcessGroup):
    """Two who meet: what the first gives is there when the second comes."""

    size = 2

    def __init__(self) -> None:
        self.rank, self.given = 0, list[Tensor]()

    def sum(self, tensor: Tensor) -> Tensor:
        if self.is_first:
            self.given.append(tensor.clone())
            return tensor
        before = self.given.pop(0)
        assert before.shape == tensor.shape
        return tensor.add_(before)

    def gather_rows(self, tensor: Tensor) -> Tensor:
        raise NotImplementedError

    def barrier(self) -> None:
        """Nobody waits."""


def test_the_others_take_what_the_first_found() -> None:
    blocks = [rows_of(40), rows_of(12, seed=1), rows_of(3, seed=2)]
    first, second = (
        Compression((40, 12, 3), 12, weights) for weights in ((1, 1, 1), (1, 5, 1))
    )
    for one in (first, second):
        one.fit(by_blocks(blocks, 64))
    assert first.columns != second.columns
    wanted = [one.clone() for one in first(blocks)]
    group = OneAfterTheOther()
    first.agree(group)
    group.rank = 1
    second.agree(group)
    assert not group.given
    for one, other, found in zip(wanted, first(blocks), second(blocks), strict=True):
        assert torch.equal(one, other)
        assert torch.equal(one, found)


def test_nothing_is_kept_where_nothing_is_compressed() -> None:
    one = Compression((3, 4), 7, (1, 1))
    assert not one.state_dict()
    assert not one.is_needed
    assert one.columns == (3, 4)
    assert fitting_bytes((3000,), 3000) == 0
    # A wide block takes far less than all of its products.
    assert fitting_bytes((10_000,), 100) < 8 * 10_000**2 / 4


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_directions_are_no_more_than_was_counted(blocks: int) -> None:
    widths, dim = (60, 50, 40, 3)[:blocks], 48
    compression = Compression(widths, dim, [1.0] * blocks)
    rows = [rows_of(width, seed=width) for width in widths]
    for _ in range(2):
        held = sum(one.numel() for one in compression.buffers() if one.ndim == 2)
        assert held <= Parts(widths, dim).directions
        compression.fit(by_blocks(rows, 200))


def test_what_is_told() -> None:
    (told,) = Parts((8, 2, 9), 10).notices()
    assert "have 19 columns; these are compressed by PCA, to 10 in all" in told
    assert not Parts((8, 2), 10).notices()
