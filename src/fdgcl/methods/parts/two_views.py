"""Training on two augmented views of the graph, drawn anew in every epoch."""

from __future__ import annotations

import abc
from collections.abc import Generator
from typing import TypeAlias, TypeVar

from fdgcl.graphs import Graph
from fdgcl.methods.base import GraphModel
from fdgcl.methods.parts.augmentations import AugmentedGraph, View, generator_of
from fdgcl.methods.parts.propagation import Rule
from fdgcl.methods.settings import MethodSettings
from fdgcl.methods.whole_graph import WholeGraphTraining

S = TypeVar("S", bound=MethodSettings)
M = TypeVar("M", bound=GraphModel)

Pair: TypeAlias = tuple[View, View]
#: Shares of the edges and of the features' columns that a view loses.
Drops: TypeAlias = tuple[float, float]


class TwoViewTraining(WholeGraphTraining[S, M]):
    """A model on a graph of which an update takes two augmented views.

    Args:
        model: The model.
        graph: With features.
        settings: Of the method.
        rule: How edges are weighed.

    Attributes:
        graph: To draw views of.
    """

    def __init__(self, model: M, graph: Graph, settings: S, rule: Rule) -> None:
        super().__init__(model, graph, settings)
        self.graph = AugmentedGraph(graph, settings, rule)

    @property
    @abc.abstractmethod
    def drops(self) -> tuple[Drops, Drops]:
        """What either view loses."""

    def batches(self, epoch: int) -> Generator[Pair, None, None]:
        """See the base class: one pair of views."""
        seed = self.settings.seed
        first, second = (
            self.graph.draw(generator_of(seed, epoch, view), edges, columns)
            for view, (edges, columns) in enumerate(self.drops)
        )
        yield first, second
