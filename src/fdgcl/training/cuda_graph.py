"""Work on a GPU that is recorded once and replayed: launching costs no time then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, final

import torch

Result = TypeVar("Result")


@final
class CudaGraph(Generic[Result]):
    """A function of nothing, replayed as a CUDA graph from its second call on.

    The first call is run as it is: libraries make themselves ready, and an optimiser
    its state. Tensors must then stay where they are; what the function returned when
    it was recorded is what every later call returns, with new values in it.
    """

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function = function
        self._is_ready = False
        self._recorded: tuple[torch.cuda.CUDAGraph, Result] | None = None

    def __call__(self) -> Result:
        """Do the work."""
        if not self._is_ready:
            self._is_ready = True
            return self._function()
        graph, result = self._recorded = self._recorded or self._record()
        graph.replay()
        return result

    def _record(self) -> tuple[torch.cuda.CUDAGraph, Result]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = self._function()
        return graph, result
