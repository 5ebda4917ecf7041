"""A graph in a store under FD-GCL's settings: the same as one in memory, by parts.

What must be known of the graph as a whole is found once and kept in the store, in the
recipe of its diffused features; so are these, so that another training with the same
diffusion starts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.diffusion import Dynamics
from fdgcl.diffusion.stability import Bounds, CommonBounds
from fdgcl.executors.base import cores
from fdgcl.graphs.diagnosis import FeatureFindings
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.store.features import StoredFeatures
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.decisions import ViewPreparation
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffused_features import DiffusedFeatures
from fdgcl.methods.fdgcl.diffusing import check_settings
from fdgcl.methods.fdgcl.kept_blocks import AVERAGED, NEIGHBOURS, kept_blocks
from fdgcl.methods.fdgcl.recipe import Recipe
from fdgcl.methods.fdgcl.running import diffuse_store
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.stored_statistics import load_statistics
from fdgcl.methods.fdgcl.training_plan import TrainingPlan, plan_training
from fdgcl.methods.fdgcl.windows_on_disk import RowsOnDisk
from fdgcl.methods.preparation import chosen_scaling
from fdgcl.operators.feature_correlation import FeatureCorrelation
from fdgcl.operators.neighbour_information import NeighbourInformation
from fdgcl.operators.stored import StoredOperator


@dataclass(frozen=True, eq=False)
class StoredPreparation(ViewPreparation):
    """A store under a model's settings."""

    @property
    def store(self) -> Store:
        """The graph."""
        assert isinstance(self.data, Store)
        return self.data

    @cached_property
    def diffusion(self) -> Diffusion:
        """The features as they are diffused, whether that is done or not."""
        return Diffusion.of(self.store, self.settings, self.columns)

    @property
    def recipe(self) -> Recipe:
        """What was found out of the graph as a whole, in `begin`."""
        return self.diffusion.recipe

    def begin(self, progress: Progress | None = None) -> None:
        """See the base class; several processes must find all features diffused.

        Raises:
            InputError: Memory does not suffice, or several processes would have to
                diffuse the same.
        """
        self.plan.check()
        if self.diffusion.is_begun and not self.diffusion.missing:
            return
        self.resources.group.by_first(self._refuse_several)
        diffuse_store(
            self.store,
            self.settings,
            memory=self.resources.bound,
            columns=self.columns,
            progress=progress,
        )

    def _refuse_several(self) -> None:
        if self.resources.group.size > 1:
            message = (
                f"the features of {self.store.folder} are not diffused by these "
                "settings yet, which several processes cannot do here: run `fdgcl "
                f"diffuse {self.store.folder}` with them first"
            )
            raise InputError(message)

    @cached_property
    def operator(self) -> StoredOperator:
        """The graph's operator."""
        return StoredOperator(
            self.store,
            self.settings.self_loops,
            self.settings.normalization,
            cores(),
            dtype=self.settings.torch_dtype,
        )

    @property
    def spectrum(self) -> Bounds:
        """See the base class; of a graph not looked at yet, where any graph's lies."""
        top = self.recipe.lambda_max if self.diffusion.is_begun else 2.0
        return CommonBounds(self.store.manifest.direction == "symmetric", top)

    @property
    def findings(self) -> FeatureFindings:
        """See the base class."""
        return self.recipe.findings

    @property
    def correlations(self) -> Sequence[FeatureCorrelation]:
        """See the base class; of directed edges, known one way only, nothing."""
        found = self.recipe.correlation
        return [] if found is None else [found]

    def correlates_without(self, column: int) -> bool:  # noqa: ARG002
        """See the base class; the recipe knows whether neighbours tell."""
        return self.informative

    @property
    def informative(self) -> bool:
        """See the base class; as it was found when the graph was looked at."""
        return self.recipe.informative

    def neighbour_information(self) -> NeighbourInformation:
        """See the base class; as it was found when the graph was looked at."""
        return self.recipe.neighbours

    def warnings(self) -> list[str]:
        """See the base class; a graph not looked at yet gives no reason to warn."""
        return super().warnings() if self.diffusion.is_begun else []

    def describe_decisions(self) -> list[str]:
        """See the base class."""
        return super().describe_decisions() if self.diffusion.is_begun else []

    def describe_stability(self) -> list[str]:
        """See the base class."""
        found = super().describe_stability()
        if not self.diffusion.is_begun:
            found.append(
                "stability is by the largest frequency that any graph has, 2; once "
                "features are diffused, by this graph's own"
            )
        return found

    @cached_property
    def plan(self) -> TrainingPlan:
        """What training takes, beside the diffusion before it."""
        resources = self.resources
        return plan_training(
            self.store,
            self.settings,
            memory=resources.bound,
            members=resources.group.size,
            here=resources.here,
            kept=self.kept,
        )

    @property
    def feature_map(self) -> FeatureMap:
        """See the base class."""
        return self.diffusion.feature_map

    def check_memory(self) -> None:
        """See the base class."""
        self.plan.check()

    def source(
        self,
        device: torch.device,
        dynamics: Sequence[Dynamics] = (),  # noqa: ARG002
        progress: Progress | None = None,
    ) -> DiffusedFeatures:
        """See the base class; features that are not diffused yet are diffused now."""
        self.begin(progress)
        group = self.resources.group
        statistics = load_statistics(self.diffusion, group, progress)
        rows = RowsOnDisk(self.diffusion, statistics.means, device)
        return DiffusedFeatures(rows, statistics, rank=group.rank, members=group.size)


def prepare_store(
    store: Store,
    settings: Settings,
    columns: FeatureMap | None = None,
    kept: Sequence[str] | None = None,
) -> StoredPreparation:
    """Check a store against the settings.

    Args:
        store: The graph.
        settings: The model's; the direction of edges was chosen on import.
        columns: What was done to those of the graph it was trained on.
        kept: The blocks that a model keeps beside its views; None for those that the
            settings make of this store.

    Raises:
        InputError: They ask for what cannot be done out of core.
    """
    check_settings(store, settings)
    if tuple(settings.readout) != ("mean",):
        message = (
            "a store is one graph, its rows are nodes: readout is for datasets of "
            f"graphs, got {','.join(settings.readout)}"
        )
        raise InputError(message)
    manifest = store.manifest
    told: list[str] = []
    if columns is None:
        features = StoredFeatures(store.features)
        settings, told = chosen_scaling(store, features, settings, manifest.structural)
    else:
        settings = replace(settings, feature_scaling=columns.scaling)
    chosen = replace(settings, direction=manifest.direction)
    if kept is None:
        kept = kept_blocks(settings.keep, manifest.direction)
        told += _left_out(store, settings.keep, kept)
    else:
        _check_kept(store, kept)
    return StoredPreparation(
        store, manifest.structural, chosen, tuple(told), columns, kept=tuple(kept)
    )


def _left_out(store: Store, keep: Sequence[str], kept: Sequence[str]) -> list[str]:
    """What to tell of blocks that are averaged over edges which a store lacks."""
    direction = store.manifest.direction
    if direction == "symmetric":
        return []
    return [
        f"keep {name!r} is left out: {store.folder} was imported with direction "
        f"{direction!r}, and has no other edges; import them with direction {name!r} "
        "for this block instead, or 'symmetric' for one mean over neighbours both ways"
        for name in keep
        if name not in kept
    ]


def _check_kept(store: Store, kept: Sequence[str]) -> None:
    """Refuse a store that cannot have a block of a trained model.

    Raises:
        InputError: It is a mean over edges that the store lacks.
    """
    direction = store.manifest.direction
    if direction == "symmetric":
        return
    for name in kept:
        if AVERAGED.get(name, direction) != direction:
            asked = "over neighbours both ways" if name == NEIGHBOURS else f"{name!r}"
            message = (
                f"the model keeps the mean {asked}, which {store.folder}, imported "
                f"with direction {direction!r}, does not have: import the edges with "
                f"direction 'symmetric' or {AVERAGED[name]!r}, or transform the graph "
                "in memory"
            )
            raise InputError(message)
