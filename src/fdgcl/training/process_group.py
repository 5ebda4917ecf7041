"""Those who train one model together: a process alone, or several.

Each has some rows of a batch. What all of them must know (sums over the batch, and the
gradient of the weights) is added up over the group, so that every member makes the same
update and no weights are ever sent.
"""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import final

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous

from fdgcl._checks import InputError

#: A member that is not heard of for so long is taken for lost.
TIMEOUT = timedelta(minutes=30)


class ProcessGroupError(RuntimeError):
    """Another member of the group failed."""


class ProcessGroup(abc.ABC):
    """Who takes part in training.

    Attributes:
        rank: Which of them this one is, from 0.
        size: How many they are.
    """

    rank: int
    size: int

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes files."""
        return self.rank == 0

    @abc.abstractmethod
    def sum(self, tensor: Tensor) -> Tensor:
        """Add up a tensor over the group, in place; it is returned."""

    @abc.abstractmethod
    def gather_rows(self, tensor: Tensor) -> Tensor:
        """The rows of all members, by rank; gradients reach this one's rows alone."""

    @abc.abstractmethod
    def barrier(self) -> None:
        """Wait until all have come here."""

    def any(self, flag: bool) -> bool:
        """Whether it is so for one of them at least."""
        return bool(self.sum(torch.tensor([float(flag)])).item())

    def by_first(self, work: Callable[[], None]) -> None:
        """Let the first do something while the others wait; it fails for all or none.

        Raises:
            ProcessGroupError: The first failed; there the error is that of the work.
        """
        failed = torch.zeros(1)
        try:
            if self.is_first:
                work()
        except Exception:
            self.sum(failed.fill_(1))
            raise
        if self.sum(failed).item():
            message = "the first process of the group failed, and says why"
            raise ProcessGroupError(message)


@final
class SingleProcess(ProcessGroup):
    """A group of one, which has nothing to exchange."""

    rank, size = 0, 1

    def sum(self, tensor: Tensor) -> Tensor:
        """See the base class."""
        return tensor

    def gather_rows(self, tensor: Tensor) -> Tensor:
        """See the base class."""
        return tensor

    def barrier(self) -> None:
        """See the base class."""


@final
class DistributedGroup(ProcessGroup):
    """The processes of torch's default group, which must have been started."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        # NCCL takes nothing that lies elsewhere.
        on_gpu = dist.get_backend() == "nccl"
        self._device = torch.device("cuda" if on_gpu else "cpu")

    def sum(self, tensor: Tensor) -> Tensor:
        """See the base class."""
        whole = tensor.to(self._device).contiguous()
        with _explained():
            dist.all_reduce(whole)
        if whole is not tensor:
            tensor.copy_(whole)
        return tensor

    def gather_rows(self, tensor: Tensor) -> Tensor:
        """See the base class."""
        counts = torch.zeros(self.size, dtype=torch.int64, device=tensor.device)
        counts[self.rank] = len(tensor)
        lengths: list[int] = self.sum(counts).tolist()
        # All must send as many: those with fewer rows fill up.
        own = tensor.new_zeros(max(lengths), *tensor.shape[1:])
        own[: len(tensor)] = tensor.detach()
        found = [torch.empty_like(own) for _ in lengths]
        with _explained():
            dist.all_gather(found, own)
        parts = [part[:count] for part, count in zip(found, lengths, strict=True)]
        parts[self.rank] = tensor
        return torch.cat(parts)

    def barrier(self) -> None:
        """See the base class."""
        self.sum(torch.zeros(1))


@contextmanager
def _explained() -> Iterator[None]:
    """Say what it means when others cannot be reached."""
    try:
        yield
    except RuntimeError as error:
        message = (
            f"another process of the group was lost ({str(error).splitlines()[0]})"
        )
        raise ProcessGroupError(message) from error


@contextmanager
def group_of_environment(device: torch.device) -> Iterator[ProcessGroup]:
    """Yield the group that `torchrun` started, or that of this process alone.

    Args:
        device: Where tensors are; its kind decides how they are exchanged.

    Raises:
        InputError: The environment says that there are others, but not how to reach
            them.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield SingleProcess()
        return
    missing = [
        name
        for name in ("RANK", "MASTER_ADDR", "MASTER_PORT")
        if name not in os.environ
    ]
    if missing:
        message = (
            f"WORLD_SIZE is {os.environ['WORLD_SIZE']}, but {', '.join(missing)} is "
            "not set: start all processes by torchrun"
        )
        raise InputError(message)
    # Its functions keep the group that exists when it is first imported, which torch's
    # optimisers do, as a default. Threads of a group that is kept outlive the run, and
    # end the process by SIGABRT when they want Python while it is exiting.
    import torch.distributed.nn  # noqa: F401

    backend = "nccl" if device.type == "cuda" else "gloo"
    with _explained():
        store, rank, size = next(rendezvous("env://", timeout=TIMEOUT))
        # torchrun may keep its store when it starts all of us again, and in it the
        # addresses of those before us, which must not be taken for ours.
        again = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        own = PrefixStore(f"fdgcl-{size}-{again}", store)
        dist.init_process_group(
            backend, store=own, rank=rank, world_size=size, timeout=TIMEOUT
        )
    try:
        yield DistributedGroup()
    finally:
        dist.destroy_process_group()
