"""What FD-GCL decides by a graph, in memory or in a store, before it is trained."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import torch

from fdgcl._progress import Progress
from fdgcl.diffusion import Dynamics
from fdgcl.diffusion.stability import Bounds, StabilityReport, stability_report
from fdgcl.graphs.diagnosis import FeatureFindings
from fdgcl.methods.fdgcl.batching import batch_lr, batch_rows
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.feature_columns import (
    needs_reduction,
    reduces_views,
    view_columns,
)
from fdgcl.methods.fdgcl.kept_blocks import block_weights
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.sources import ViewSource
from fdgcl.methods.fdgcl.weighing import Weighing
from fdgcl.methods.preparation import Preparation
from fdgcl.operators.feature_correlation import FeatureCorrelation
from fdgcl.operators.neighbour_information import LEAST_EXPLAINED, NeighbourInformation

UNINFORMATIVE_BETA = 1.0


@dataclass(frozen=True, eq=False)
class ViewPreparation(Preparation[Settings], abc.ABC):
    """A graph under a model's settings: stability, weights of the views, batches.

    Attributes:
        kept: The blocks beside the views, as `kept_blocks` names them.
    """

    kept: tuple[str, ...] = ()

    def trained_otherwise(self, settings: Settings, kept: Sequence[str]) -> Self:
        """The same graph, diffused alike, under settings of training and embedding.

        What was found out of the graph is not looked for again.

        Args:
            settings: Those of the diffusion are as they were.
            kept: The blocks beside the views.
        """
        made = replace(self, settings=settings, kept=tuple(kept))
        known = ("feature_map", "features", "findings", "correlations", "weighing")
        vars(made).update(
            {name: vars(self)[name] for name in known if name in vars(self)}
        )
        return made

    @cached_property
    def dynamics(self) -> Dynamics:
        """The equation's right-hand side as it is before training."""
        return self.settings.new_dynamics(self.settings.hidden_columns)

    @property
    @abc.abstractmethod
    def spectrum(self) -> Bounds:
        """Where the spectra of all operators lie."""

    @cached_property
    def stability(self) -> StabilityReport | None:
        """What the diffusion does to each frequency; None where it is not linear."""
        settings = self.settings
        if not settings.is_fixed_linear:
            return None
        return stability_report(
            self.dynamics, self.spectrum, settings.schedule, settings.orders
        )

    def describe_stability(self) -> list[str]:
        """Plain sentences on what the diffusion does to each frequency."""
        if self.stability is not None:
            return self.stability.describe()
        return [
            f"dynamics {self.settings.dynamics!r} is not linear, or is trained: "
            "whether steps are stable depends on the features; smaller ones are safer"
        ]

    @property
    @abc.abstractmethod
    def correlations(self) -> Sequence[FeatureCorrelation]:
        """How features correlate along the edges, or along those of each type."""

    @abc.abstractmethod
    def correlates_without(self, column: int) -> bool:
        """Whether the features tell of their neighbours', one column left out."""

    @abc.abstractmethod
    def source(
        self,
        device: torch.device,
        dynamics: Sequence[Dynamics] = (),
        progress: Progress | None = None,
    ) -> ViewSource:
        """Where the views' hidden features come from, as planned.

        Args:
            device: Where diffused features go.
            dynamics: Of each view, where training changes them.
            progress: Called while features are diffused.
        """

    @property
    def is_homophilic(self) -> bool:
        """Whether linked nodes are alike, by the edges of some type at least."""
        return any(one.is_homophilic for one in self.correlations)

    @cached_property
    def informative(self) -> bool:
        """Whether the features of neighbours tell of a node's own."""
        return neighbours_tell(
            self.structural, self.correlations, self.findings, self.correlates_without
        )

    @property
    def beta(self) -> float | Sequence[float]:
        """The views' weights; where they were left open, the graph decides.

        Where views are mixed and a node's neighbours tell nothing of it, other views
        are noise and the local view stands alone.
        """
        if self.settings.beta is not None:
            return self.settings.beta
        count = len(self.settings.orders)
        if self.settings.combine == "concat":
            return self.weighing.of_views(count)
        return 1 / count if self.informative else UNINFORMATIVE_BETA

    @abc.abstractmethod
    def neighbour_information(self) -> NeighbourInformation:
        """What a node's neighbours tell of it; the features are not made from edges."""

    @cached_property
    def weighing(self) -> Weighing:
        """What the weights of the embedding's parts are made of."""
        sizes = self.data.num_nodes, self.data.num_features
        if self.structural is not None:
            return Weighing.of(None, *sizes)
        told = self.neighbour_information()
        # Features that hardly predict one another show little of what neighbours tell;
        # then it is asked by another measure, with less noise.
        shown = max(told.neighbours.values()) >= LEAST_EXPLAINED
        return Weighing.of(told, *sizes, edges_tell=shown or self.informative)

    @property
    def keep_weight(self) -> list[float]:
        """The weight of each block beside the views, decided by the graph if left open.

        Weights of views are shares of the embedding, those of blocks are beside them.
        """
        settings = self.settings
        if settings.keep_weight is not None:
            return block_weights(self.kept, settings.keep, settings.keep_weight)
        if settings.combine != "concat":
            return [1.0] * len(self.kept)
        unit = math.hypot(*self.weighing.of_views(len(settings.orders)))
        return [one / unit for one in self.weighing.of_kept(self.kept)]

    @property
    def is_weighed(self) -> bool:
        """Whether the graph decides on weights of parts that stand side by side."""
        settings = self.settings
        if settings.combine != "concat":
            return False
        return settings.beta is None or (
            settings.keep_weight is None and len(self.kept) > 0
        )

    @property
    def width(self) -> int:
        """See the base class; with what is kept beside the views."""
        return self.parts.width

    @property
    def sizes(self) -> str:
        """See the base class."""
        given = self.settings.hidden is not None
        return "hidden, dim or batch_size" if given else super().sizes

    @property
    def parts(self) -> Parts:
        """What the embedding is made of."""
        settings, relations = self.settings, self.num_relations
        features = self.data.num_features
        return Parts.of(settings, settings.beta, features, relations, self.kept)

    @property
    def num_columns(self) -> int:
        """Columns of the features that views are made of."""
        sizes = self.data.num_features, self.data.num_nodes
        return view_columns(self.settings, *sizes)

    @property
    def is_reduced(self) -> bool:
        """Whether something is made of fewer columns of features than there are."""
        sizes = self.data.num_features, self.data.num_nodes
        return needs_reduction(self.settings, *sizes)

    @property
    def num_relations(self) -> int:
        """How many operators the features are diffused by, side by side."""
        return 1

    @property
    def batch_size(self) -> int | None:
        """Rows of a batch; None for all."""
        return batch_rows(self.settings, self.data.num_nodes)

    @property
    def lr(self) -> float:
        """The learning rate of a batch."""
        return batch_lr(self.settings, self.data.num_nodes)

    def decisions(self) -> dict[str, Any]:
        """What was left open in the settings and decided by the graph."""
        beta = self.beta
        return {
            "beta": [*beta] if isinstance(beta, Sequence) else beta,
            "batch_size": self.batch_size,
            "reduced_views": reduces_views(self.settings, self.data.num_nodes),
            "lr": self.lr,
            "kept": [*self.kept],
            "keep_weight": self.keep_weight,
            "weighing": self.weighing.to_dict() if self.is_weighed else None,
        }

    def describe_decisions(self) -> list[str]:
        """See the base class."""
        given, held = self.data.num_features, None
        if self.feature_map.reduction is not None:
            held = self.feature_map.reduction.held
        reduced, of_views = self.settings.reduced(given), self.num_columns < given
        return [
            *reduction_notices(given, reduced, held, of_views=of_views),
            *beta_notices(self.settings, self.beta),
            *(self.weighing.describe(self.kept) if self.is_weighed else ()),
            *self.parts.notices(),
        ]

    def warnings(self) -> list[str]:
        """See the base class; also of a high-pass filter where linked nodes agree."""
        texts = super().warnings()
        amplifies = self.stability is not None and self.stability.amplifies
        if amplifies and self.is_homophilic:
            texts.append(
                "the diffusion amplifies high frequencies on a graph whose linked "
                f"nodes look alike ({'; '.join(self.describe_stability())}); if that "
                "is not what you want, choose a smaller step or solver='exact'"
            )
        return texts


def neighbours_tell(
    structural: str | None,
    correlations: Sequence[FeatureCorrelation],
    findings: FeatureFindings,
    correlates_without: Callable[[int], bool],
) -> bool:
    """Whether the features of neighbours tell of a node's own.

    Args:
        structural: The kind of features made from the edges: no evidence of anything.
        correlations: How features correlate along the edges, or those of each type.
        findings: What the columns of the features tell.
        correlates_without: The same with a column left out; asked where one column
            hides what the others say, which training does hear.
    """
    if structural is not None or any(one.is_informative for one in correlations):
        return True
    alone = findings.outweighing
    return alone is not None and correlates_without(alone)


def beta_notices(settings: Settings, beta: float | Sequence[float]) -> list[str]:
    """What the views' weights tell, where the graph decided them."""
    alone = len(settings.orders) == 1 or settings.combine == "concat"
    if settings.beta is not None or beta != UNINFORMATIVE_BETA or alone:
        return []
    return [
        "the features of linked nodes tell nothing of each other: the embedding is the "
        "local view alone (beta 1)"
    ]


def reduction_notices(
    given: int, reduced: int, held: float | None, *, of_views: bool
) -> list[str]:
    """What to tell of features that were reduced; nothing where they were not.

    Args:
        given: Columns of the features.
        reduced: Columns that are left.
        held: Share of their variance that these hold; None where it is not known.
        of_views: Whether views are made of these, too.

    Example:
        >>> reduction_notices(1433, 512, 0.83, of_views=True)[0].partition(", which")[2]
        ' hold 83 % of their variance'
    """
    if held is None:
        return []
    told = (
        f"{given:,} columns of features are reduced to {reduced:,} by their principal "
        f"directions, which hold {100 * held:.0f} % of their variance"
    )
    if not of_views:
        told += "; views are trained on all, what is kept beside them is made of these"
    return [told]
