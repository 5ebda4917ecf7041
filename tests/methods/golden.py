"""Numbers made with the authors' code on a graph of 30 nodes: how they are read.

`../shared/golden/node/README.md` says what is in the files. Here their edges, sorted by
source, become those of `Edges`, sorted by target, and their names those of a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor, nn

from fdgcl import Graph

FOLDER = Path(__file__).parents[3] / "shared" / "golden" / "node"
#: Plain names hold the code's numbers in float32, these the same in float64.
PREFIXES = {"float32": "", "float64": "f64."}
#: In float32 the differences to be expected are below 4e-6 (gradients of CCA-SSG).
TOLERANCES = {"float32": 1e-5, "float64": 1e-9}


class Golden:
    """One fixture, its numbers for one dtype.

    Args:
        name: Of the file.
        dtype: `float32` or `float64`.
        names: From the fixture's names of tensors to the model's.
    """

    def __init__(self, name: str, dtype: str, names: Mapping[str, str]) -> None:
        file = FOLDER / f"{name}.npz"
        if not file.is_file():
            pytest.skip(f"golden numbers not found: {file} (shared/golden)")
        with np.load(file) as stored:
            self._values = dict(stored)
        self._prefix, self._names = PREFIXES[dtype], names
        self.torch_dtype = getattr(torch, dtype)
        self.tolerance = TOLERANCES[dtype]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A number of the code in this dtype, or one that has none."""
        return self._values.get(self._prefix + name, self._values.get(name))

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def value(self, name: str) -> float:
        """A single number."""
        return float(self[name])

    @property
    def graph(self) -> Graph:
        """The graph; messages go from source to target: direction `in`."""
        sources, targets = self["edge_index"]
        x = self["x"]
        ones = np.ones(len(sources))
        adjacency = csr_array((ones, (sources, targets)), shape=(len(x), len(x)))
        return Graph(adjacency, x)

    def edges_kept(self, view: int) -> Tensor:
        """Which edges a view keeps, in the order of `Edges`."""
        sources, targets = self["edge_index"]
        order = np.lexsort((sources, targets))
        return torch.from_numpy(self[f"draw.view{view}.edge_keep"][order])

    def columns_kept(self, view: int) -> Tensor:
        """Which columns a view keeps."""
        return torch.from_numpy(self[f"draw.view{view}.feature_keep"])

    def load(self, model: nn.Module) -> None:
        """Give a model the fixture's weights and statistics."""
        state = model.state_dict()
        for name in self.stored("param"):
            given = torch.from_numpy(self[f"param.{name}"])
            place = state[self._names[name]]
            assert place.shape == given.shape, name
            place.copy_(given)

    def stored(self, kind: str) -> list[str]:
        """The names of tensors under `param`, `grad` or `after`."""
        start = f"{kind}."
        return [
            name.removeprefix(start)
            for name in self._values
            if name.startswith(start) and name.removeprefix(start) in self._names
        ]

    def check(self, found: Any, name: str, tolerance: float | None = None) -> None:
        """Assert that numbers are those stored, within the tolerance of the dtype."""
        found = found.detach().numpy() if isinstance(found, Tensor) else found
        expected = self[name]
        assert expected is not None, name
        np.testing.assert_allclose(
            found, expected, rtol=0, atol=tolerance or self.tolerance, err_msg=name
        )

    def check_gradients(self, model: nn.Module) -> None:
        """Assert that a model's gradients are those stored, and that there are none
        where none are."""
        weights = dict(model.named_parameters())
        found = {
            name
            for name, place in self._names.items()
            if place in weights and weights[place].grad is not None
        }
        assert found == set(self.stored("grad"))
        for name in found:
            self.check(weights[self._names[name]].grad, f"grad.{name}")

    def check_after(self, model: nn.Module, noisy: Sequence[str]) -> None:
        """Assert that a model after one step is as stored.

        Args:
            model: The model.
            noisy: Tensors whose gradient is rounding noise, by which Adam divides: in
                float32 they may be anywhere within a learning rate, and averages of
                them within a hundredth.
        """
        state = model.state_dict()
        for name in self.stored("after"):
            of_noise = name.endswith(tuple(noisy)) and not self._prefix
            tolerance = 2 * self.value("hyper.lr") if of_noise else None
            self.check(state[self._names[name]], f"after.{name}", tolerance)

    def take_noise(self, model: nn.Module, noisy: Sequence[str]) -> None:
        """Give a model after one step the fixture's values of what is rounding noise.

        Where its sign falls depends on the kernels and their threads, and an embedding
        by running averages shows it, which batch normalisation hides in training.

        Args:
            model: The model.
            noisy: As in `check_after`.
        """
        state = model.state_dict()
        for name in self.stored("after"):
            if name.endswith(tuple(noisy)):
                given = torch.from_numpy(self[f"after.{name}"])
                state[self._names[name]].copy_(given)


def config(settings: Any, graph: Graph) -> Any:
    """What a method makes a model from."""
    return SimpleNamespace(
        settings=settings, num_features=graph.num_features, decisions={}
    )


def prepared(settings: Any, graph: Graph) -> Any:
    """A graph that needs no preparation."""
    return SimpleNamespace(graph=graph, settings=settings, columns=None)


def on_graph(method: Any, settings: Any, graph: Graph) -> Any:
    """An untrained method on a graph."""
    of_run = config(settings, graph)
    model = method.new_model(of_run)
    return method.on_graph(model, prepared(settings, graph), of_run)


def embedding(trainable: Any) -> NDArray[Any]:
    """The embedding of all nodes."""
    return torch.cat([*trainable.blocks()]).cpu().numpy()


def train(trainable: Any, first: int, last: int) -> list[list[float]]:
    """Train from one epoch to another; what was logged for each."""
    logged = []
    for epoch in range(first, last + 1):
        for batch in trainable.batches(epoch):
            logged.append(trainable.gradient(batch).tolist())
            trainable.update()
    return logged
