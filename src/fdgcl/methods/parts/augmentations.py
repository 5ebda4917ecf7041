"""Graphs with some edges dropped and some columns of the features masked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import torch
from torch import Tensor

from fdgcl._checks import InputError, check_fraction
from fdgcl.graphs import Graph
from fdgcl.methods.fdgcl.features import FeatureMatrix
from fdgcl.methods.parts.propagation import Edges, Propagation, Rule
from fdgcl.methods.settings import MethodSettings


@final
class MaskedFeatures:
    """Features with some of their columns set to 0, to be multiplied by weights.

    It is the weights of those columns that are set to 0: the features are not copied,
    and sparse ones stay sparse.

    Args:
        matrix: The features.
        kept: (columns,) which are left as they are; None for all.

    Example:
        >>> matrix = FeatureMatrix(np.ones((1, 3), np.float32))
        >>> masked = MaskedFeatures(matrix, torch.tensor([True, False, True]))
        >>> (masked @ torch.tensor([[1.0], [10.0], [100.0]])).tolist()
        [[101.0]]
    """

    def __init__(self, matrix: FeatureMatrix, kept: Tensor | None = None) -> None:
        self._matrix, self._kept = matrix, kept

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Return the product with (columns, outputs), with gradient."""
        if self._kept is not None:
            weight = weight * self._kept[:, None]
        return self._matrix.times(weight)


@final
@dataclass(frozen=True, eq=False)
class View:
    """A graph as it was drawn.

    Attributes:
        features: Of the nodes.
        edges: All of the graph's.
        kept: (edges,) which of them there are; None for all.
        rule: How they are weighed.
    """

    features: MaskedFeatures
    edges: Edges
    kept: Tensor | None
    rule: Rule

    @cached_property
    def propagate(self) -> Propagation:
        """What nodes gather along the edges, for encoders that use them."""
        return self.rule(self.edges, self.kept)


@final
class AugmentedGraph:
    """A graph to draw views of.

    Args:
        graph: It has features.
        settings: Its direction, device and dtype are used.
        rule: How edges are weighed: `gcn` or `graphconv`.

    Example:
        >>> from fdgcl import block_model
        >>> from fdgcl.methods.parts.propagation import gcn
        >>> graph = block_model(50, 2, num_features=4, seed=0)
        >>> augmented = AugmentedGraph(graph, MethodSettings(device="cpu"), gcn)
        >>> view = augmented.draw(generator_of(0, epoch=1, view=0), 0.5, 0.25)
        >>> tuple(view.propagate(view.features @ torch.ones(4, 3)).shape)
        (50, 3)
    """

    def __init__(self, graph: Graph, settings: MethodSettings, rule: Rule) -> None:
        assert graph.features is not None
        self._matrix = FeatureMatrix(graph.features)
        self._columns = graph.features.shape[1]
        self._rule = rule
        self._device = settings.torch_device
        self.edges = Edges(
            graph.adjacency,
            settings.direction or "symmetric",
            dtype=settings.torch_dtype,
            device=self._device,
        )

    def view(self, edges: Tensor | None = None, columns: Tensor | None = None) -> View:
        """The graph with some edges and columns; None for all of them."""
        features = MaskedFeatures(self._matrix, columns)
        return View(features, self.edges, edges, self._rule)

    def draw(
        self, generator: torch.Generator, drop_edges: float, drop_features: float
    ) -> View:
        """A view of edges and columns that are dropped one by one, each by a chance.

        An edge of an undirected graph is two, one each way, and may lose one of them.
        """
        edges = draw_kept(len(self.edges), drop_edges, generator)
        columns = draw_kept(self._columns, drop_features, generator)
        return self.view(self._moved(edges), self._moved(columns))

    def _moved(self, kept: Tensor | None) -> Tensor | None:
        return None if kept is None else kept.to(self._device)


def draw_kept(count: int, rate: float, generator: torch.Generator) -> Tensor | None:
    """Draw which of so many are kept; None, and nothing is drawn, where all are.

    Example:
        >>> kept = draw_kept(1000, 0.25, generator_of(0, epoch=1, view=0))
        >>> 700 < int(kept.sum()) < 800
        True
    """
    return None if rate == 0 else torch.rand(count, generator=generator) >= rate


def generator_of(seed: int, epoch: int, view: int) -> torch.Generator:
    """Where a view of an epoch is drawn from; it depends on these three alone.

    Example:
        >>> one, same = generator_of(0, 5, 1), generator_of(0, 5, 1)
        >>> torch.equal(torch.rand(3, generator=one), torch.rand(3, generator=same))
        True
    """
    # Torch's generators differ little for seeds that do.
    mixed = np.random.SeedSequence([seed, epoch, view]).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(mixed[0]))


def check_rate(name: str, value: float) -> float:
    """Return a chance of being dropped, or refuse it unless it lies in [0, 1).

    Example:
        >>> check_rate("drop_edges", 0.2)
        0.2
    """
    if check_fraction(name, value) == 1:
        message = f"{name} must be below 1, where nothing would be left, got {value!r}"
        raise InputError(message)
    return value
