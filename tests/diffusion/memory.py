"""A count of the tensors that are alive while something runs."""

from __future__ import annotations

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveTensors(TorchDispatchMode):
    """Counts memory made inside it and not given back, in numbers of some size.

    Memory is what is counted, not Python objects: what autograd saves for its backward
    pass counts as well, and two views of the same numbers count once.

    Attributes:
        most: The most that was alive at any time, in multiples of `numbers`.
    """

    def __init__(self, numbers: int = 1) -> None:
        super().__init__()
        self._numbers = numbers
        self._alive: dict[int, tuple[StorageWeakRef, float]] = {}
        self._total = 0.0
        self.most = 0.0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **kwargs or {})
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided:
                self._see(tensor)
        return result

    def _see(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._alive and not self._alive[key][0].expired():
            return
        size = storage.nbytes() / tensor.element_size() / self._numbers
        self._total += size - self._alive.get(key, (None, 0.0))[1]
        self._alive[key] = (StorageWeakRef(storage), size)
        # Looking for the dead takes time: it can wait until it could matter.
        if self._total > self.most:
            for old in [k for k, (ref, _) in self._alive.items() if ref.expired()]:
                self._total -= self._alive.pop(old)[1]
            self.most = max(self.most, self._total)
