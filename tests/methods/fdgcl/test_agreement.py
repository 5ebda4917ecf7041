"""The loss and its gradient in place, against autograd through the plain loss."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from fdgcl.losses import RegularizedCosmean, principal_direction
from fdgcl.methods.fdgcl import agreement, agreement_blocks
from fdgcl.methods.fdgcl.activations import ACTIVATIONS, IN_PLACE
from fdgcl.methods.fdgcl.agreement import GRAM_COLUMNS, activate, agree
from tolerances import assert_agree, assert_within, gamma

ITERATIONS = 8


def standardized(
    nodes: int, dim: int, seed: int = 0, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor]:
    """Two views with a few strong directions, columns of mean 0 and variance 1."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    views = [
        normal(nodes, 4) @ normal(4, dim) + 0.5 * normal(nodes, dim) for _ in range(2)
    ]
    first, second = ((v - v.mean(0)) / v.std(0, correction=0) for v in views)
    return first.to(dtype), second.to(dtype)


def plain(
    views: tuple[Tensor, Tensor], activation: str, eta: float
) -> tuple[Tensor, list[Tensor]]:
    leaves = [view.clone().requires_grad_() for view in views]
    activated = [ACTIVATIONS[activation](leaf) for leaf in leaves]
    value = RegularizedCosmean(eta, ITERATIONS)(*activated)
    return value.detach(), list(torch.autograd.grad(value, leaves))


def in_place(
    views: tuple[Tensor, Tensor], activation: str, eta: float, gain: float = 1.0
) -> tuple[agreement.Agreement, tuple[Tensor, Tensor]]:
    copies = views[0].clone(), views[1].clone()
    found = agree(
        copies,
        activate(copies, activation),
        activation=activation,
        eta=eta,
        iterations=ITERATIONS,
        sample=slice(0, 12, 3),
        gain=gain,
    )
    return found, copies


# Below and above the width from which Gram matrices are too dear, and odd widths.
SHAPES = [(40, 3), (700, 33), (300, GRAM_COLUMNS["cpu", False] + 1), (2, 5)]


@pytest.mark.parametrize("activation", IN_PLACE)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eta", [0.0, 0.15, 3.0])
def test_equals_autograd_through_the_plain_loss(
    activation: str, shape: tuple[int, int], eta: float
) -> None:
    views = standardized(*shape)
    value, gradients = plain(views, activation, eta)
    found, copies = in_place(views, activation, eta)
    assert_agree(found.value, value, size=1 + eta)
    for ours, theirs in zip(copies, gradients, strict=True):
        assert_agree(ours, theirs)


@pytest.mark.parametrize("activation", IN_PLACE)
@pytest.mark.parametrize("dim", [32, 500])
def test_float32_loses_no_more_than_rounding(activation: str, dim: int) -> None:
    views = standardized(2000, dim)
    value, gradients = plain(views, activation, 0.15)
    single = views[0].float(), views[1].float()
    found, copies = in_place(single, activation, 0.15)
    # The mean of 2,000 cosines, each from three inner products of dim terms.
    assert_within(found.value, value, gamma(2000 + 3 * dim + 10, torch.float32))
    for ours, theirs in zip(copies, gradients, strict=True):
        assert_agree(ours, theirs)


def test_what_is_watched_is_that_of_all_rows() -> None:
    views = standardized(900, 20)
    found, _ = in_place(views, "relu", 0.15)
    first, second = (torch.relu(view) for view in views)
    cosines = torch.nn.functional.cosine_similarity(first, second)
    torch.testing.assert_close(found.alignment, cosines.mean())
    principal = principal_direction(first) @ principal_direction(second)
    assert found.principal_cosine is not None
    torch.testing.assert_close(found.principal_cosine, principal.abs())
    torch.testing.assert_close(found.sample[0], first[:12:3])
    torch.testing.assert_close(found.sample[1], second[:12:3])
    assert in_place(views, "relu", 0.0)[0].principal_cosine is None


def test_blocks_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    views = standardized(333, 7)
    whole, gradients = in_place(views, "elu", 0.2)
    monkeypatch.setattr(agreement_blocks, "BLOCK_NUMBERS", {"cpu": 1})
    parts, copies = in_place(views, "elu", 0.2)
    torch.testing.assert_close(parts.value, whole.value)
    for ours, theirs in zip(copies, gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_threads_share_the_rows_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agreement_blocks, "BLOCK_NUMBERS", {"cpu": 640})
    monkeypatch.setattr(agreement_blocks, "BLOCKS_TO_SHARE", 2)
    views = standardized(1001, 9)
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(in_place(views, "relu", 0.2))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    (one, gradients), (several, copies) = found
    torch.testing.assert_close(several.value, one.value)
    for ours, theirs in zip(copies, gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_gram_matrices_and_passes_give_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    views = standardized(333, 16)
    by_gram, gradients = in_place(views, "relu", 0.2)
    monkeypatch.setattr(agreement, "GRAM_COLUMNS", {})
    by_passes, copies = in_place(views, "relu", 0.2)
    torch.testing.assert_close(by_passes.value, by_gram.value)
    for ours, theirs in zip(copies, gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_gain_is_a_factor_on_the_gradient_alone() -> None:
    views = standardized(50, 6)
    once, gradients = in_place(views, "tanh", 0.3)
    more, copies = in_place(views, "tanh", 0.3, gain=800.0)
    torch.testing.assert_close(more.value, once.value)
    for ours, theirs in zip(copies, gradients, strict=True):
        torch.testing.assert_close(ours, 800 * theirs)


@pytest.mark.parametrize("activation", IN_PLACE)
def test_rows_and_columns_without_anything_in_them(activation: str) -> None:
    """Rows without a direction, constant columns: no gradient, nothing infinite."""
    first, second = standardized(60, 8)
    first[7], second[9], first[:, 3], second[:, 0] = 0, 0, 0, 0
    value, gradients = plain((first, second), activation, 0.2)
    found, copies = in_place((first, second), activation, 0.2)
    torch.testing.assert_close(found.value, value)
    for ours, theirs in zip(copies, gradients, strict=True):
        assert ours.isfinite().all()
        assert_agree(ours, theirs)


def test_views_that_do_not_vary_have_no_principal_direction() -> None:
    zeros = torch.zeros(30, 4, dtype=torch.float64)
    found, copies = in_place((zeros, zeros), "relu", 0.5)
    assert found.value == 1
    assert found.principal_cosine == 0
    assert not any(copy.any() for copy in copies)


class LargestTensors(TorchDispatchMode):
    """Counts the numbers in new tensors as large as a view."""

    def __init__(self, numbers: int) -> None:
        super().__init__()
        self.numbers, self.found = numbers, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        out = func(*args, **(kwargs or {}))
        known = {
            t.untyped_storage().data_ptr()
            for t in itertools.chain(args, (kwargs or {}).values())
            if isinstance(t, Tensor)
        }
        if (
            isinstance(out, Tensor)
            and out.untyped_storage().data_ptr() not in known
            and out.numel() >= self.numbers
        ):
            self.found += 1
        return out


@pytest.mark.parametrize("dim", [16, GRAM_COLUMNS["cpu", False] + 1])
def test_makes_no_second_matrix_of_a_views_size(dim: int) -> None:
    views = standardized(4_000_000 // dim, dim, dtype=torch.float32)
    notes = activate(views, "relu")
    with LargestTensors(views[0].numel()) as large:
        agree(
            views,
            notes,
            activation="relu",
            eta=0.1,
            iterations=ITERATIONS,
            sample=slice(0, 4),
        )
    assert large.found == 0


@pytest.mark.gpu
@pytest.mark.parametrize("activation", IN_PLACE)
@pytest.mark.parametrize("dim", [3, 20, 256, 500, 1500, 5000])
@pytest.mark.parametrize("eta", [0.0, 0.15])
def test_kernels_on_a_gpu_equal_the_plain_loss(
    activation: str, dim: int, eta: float
) -> None:
    pytest.importorskip("triton", reason="there is no Triton for this GPU")
    views = standardized(1001, dim)
    value, gradients = plain(views, activation, eta)
    single = views[0].float().cuda(), views[1].float().cuda()
    assert agreement._passes(single[0]).__name__.endswith("triton")
    found, copies = in_place(single, activation, eta)
    assert_agree(found.value, value, size=1)
    for ours, theirs in zip(copies, gradients, strict=True):
        assert_agree(ours, theirs)


@pytest.mark.gpu
@pytest.mark.parametrize("activation", IN_PLACE)
@pytest.mark.parametrize("dim", [20, 256, 1500])
def test_kernels_on_float16_round_and_no_more(activation: str, dim: int) -> None:
    pytest.importorskip("triton", reason="there is no Triton for this GPU")
    half = tuple(view.half() for view in standardized(1001, dim))
    # The same rounded numbers in float64: what is left is the kernels' own error.
    value, gradients = plain((half[0].double(), half[1].double()), activation, 0.15)
    found, copies = in_place((half[0].cuda(), half[1].cuda()), activation, 0.15, 16e3)
    # A handful of roundings to float16 each; sums are float32.
    assert_within(found.value, value, gamma(4, torch.float16))
    for ours, theirs in zip(copies, gradients, strict=True):
        error = (ours.cpu().double() / 16e3 - theirs).norm() / theirs.norm()
        assert error < gamma(10, torch.float16)


@pytest.mark.gpu
def test_torch_alone_on_a_gpu_equals_the_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    views = tuple(view.float().cuda() for view in standardized(1001, 40))
    _, by_kernels = in_place((views[0], views[1]), "relu", 0.15)
    monkeypatch.setattr(agreement, "find_spec", lambda name: None)
    _, by_torch = in_place((views[0], views[1]), "relu", 0.15)
    for ours, theirs in zip(by_kernels, by_torch, strict=True):
        assert_agree(ours, theirs)
