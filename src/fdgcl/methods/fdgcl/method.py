"""FD-GCL as a method: from settings to encoders, and from a graph to their training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

from fdgcl._progress import Progress
from fdgcl.graphs.data import GraphData
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.store.store import Store
from fdgcl.methods.base import Config, Method
from fdgcl.methods.fdgcl.combination import Combination, view_weights
from fdgcl.methods.fdgcl.decisions import ViewPreparation
from fdgcl.methods.fdgcl.edge_types import as_trained
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.encoder import Encoders
from fdgcl.methods.fdgcl.feature_columns import feature_columns
from fdgcl.methods.fdgcl.kept_blocks import AVERAGED, KEPT, block_weights
from fdgcl.methods.fdgcl.preparation import check_batches, prepare
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.stored import prepare_store
from fdgcl.methods.fdgcl.training import TrainingOptions, ViewTraining
from fdgcl.methods.preparation import Preparation
from fdgcl.methods.reuse import check_schema, check_store, matched


@final
class FdgclMethod(Method[Settings, Encoders]):
    """Views of several fractional orders, trained to agree without negatives."""

    name = "fdgcl"
    title = "FD-GCL"
    has_views = True
    settings = Settings

    def prepare(
        self, data: GraphData, settings: Settings, columns: FeatureMap | None = None
    ) -> ViewPreparation:
        """See the base class."""
        if isinstance(data, Store):
            return prepare_store(data, settings, columns)
        return prepare(self.need_memory(data), settings, columns)

    def prepare_other(
        self,
        data: GraphData,
        settings: Settings,
        schema: dict[str, Any],
        columns: FeatureMap,
        decisions: dict[str, Any],
    ) -> ViewPreparation:
        """See the base class; edge types must be those of training, too."""
        kept = decisions["kept"]
        settings = replace(settings, reduce_views=decisions["reduced_views"])
        if isinstance(data, Store):
            check_store(data, schema)
            other = prepare_store(data, settings, columns, kept)
            check_schema(schema, other)
            return other
        graph = self.need_memory(data)
        graph, told = as_trained(graph, schema["relations"], settings)
        graph, made, ignored = matched(graph, settings, schema)
        prepared = prepare(graph, made, columns, kept)
        check_schema(schema, prepared)
        return prepared.also_telling(*told, *ignored)

    def check_training(self, prepared: Preparation[Settings]) -> None:
        """See the base class."""
        super().check_training(prepared)
        check_batches(prepared.settings, prepared.data.num_nodes)

    def check_decisions(self, decisions: dict[str, Any]) -> bool:
        """See the base class."""
        beta = decisions["beta"]
        each = beta if isinstance(beta, list) else [beta]
        if not isinstance(decisions["reduced_views"], bool):
            return False
        numbers = all(isinstance(one, int | float) and 0 <= one <= 1 for one in each)
        kept, weights = decisions["kept"], decisions["keep_weight"]
        named = isinstance(kept, list) and {*KEPT, *AVERAGED}.issuperset(kept)
        paired = isinstance(weights, list) and len(weights) == len(kept)
        return (
            named
            and paired
            and all(isinstance(one, int | float) and one > 0 for one in weights)
            and numbers
            and (beta is not each or sum(each) > 0)
        )

    def sizes(self, config: Config) -> set[int]:
        """See the base class."""
        settings: Settings = config.settings
        given = config.num_features
        parts = Parts.of_run(config)
        compressed = {*parts.widths} if parts.is_compressed else set[int]()
        columns, of_views = feature_columns(
            settings, given, reduced_views=config.decisions["reduced_views"]
        )
        reduced = {given, columns} if columns < given else set[int]()
        width = of_views * config.num_relations
        return {width, settings.hidden_columns, *reduced, *compressed}

    def new_model(self, config: Config) -> Encoders:
        """See the base class."""
        return new_views(
            config.settings,
            config.num_features,
            config.decisions["beta"],
            config.num_relations,
            config.decisions["kept"],
            config.decisions["keep_weight"],
            reduced_views=config.decisions["reduced_views"],
        )

    def on_graph(
        self,
        model: Encoders,
        prepared: Preparation[Settings],
        config: Config,
        *,
        progress: Progress | None = None,
    ) -> ViewTraining:
        """See the base class."""
        assert isinstance(prepared, ViewPreparation)
        source = prepared.source(model.mean.device, model.dynamics, progress)
        group = prepared.resources.group
        return ViewTraining(model, source, options_of(config), group)


def options_of(config: Config) -> TrainingOptions:
    """How views are trained, by the settings and by what the graph decided."""
    settings: Settings = config.settings
    return TrainingOptions(
        # Made when training begins: a model whose loss is gone still embeds.
        settings.new_loss,
        lr=config.decisions["lr"],
        weight_decay=settings.weight_decay,
        batch_size=config.decisions["batch_size"],
        seed=settings.seed,
        pairs=settings.pairs,
        fast=settings.fast,
        precision=settings.precision,
    )


def new_views(
    settings: Settings,
    num_features: int,
    beta: float | Sequence[float],
    relations: int = 1,
    kept: Sequence[str] | None = None,
    keep_weight: Sequence[float] | None = None,
    *,
    reduced_views: bool = False,
) -> Encoders:
    """Untrained encoders, on their device.

    Args:
        settings: The model's, with no scaling left open.
        num_features: Columns of the features, before they are reduced.
        beta: Weight of the first view, or weights of all.
        relations: How many times these stand side by side once diffused.
        kept: The blocks beside the views; None for those that the settings name.
        keep_weight: The weight of each; None for those of the settings.
        reduced_views: Whether views are made of reduced features.
    """
    kept = settings.keep if kept is None else kept
    count = len(settings.orders)
    reduced, columns = feature_columns(
        settings, num_features, reduced_views=reduced_views
    )
    if keep_weight is None:
        given = 1.0 if settings.keep_weight is None else settings.keep_weight
        keep_weight = block_weights(kept, settings.keep, given)
    combination = Combination(
        view_weights(beta, count),
        Parts.of(settings, beta, num_features, relations, kept),
        settings.combine,
        kept,
        keep_weight,
        settings.torch_dtype,
    )
    dynamics = () if settings.is_fixed_linear else range(count)
    views = Encoders(
        num_features,
        settings.hidden_columns,
        count=count,
        init_scale=settings.init_scale,
        activation=settings.activation,
        standardize=settings.standardize,
        combination=combination,
        feature_scaling=settings.feature_scaling,
        reduced=reduced if reduced < num_features else None,
        columns=columns,
        dynamics=[
            settings.new_dynamics(settings.hidden_columns, view) for view in dynamics
        ],
        relations=relations,
        seed=settings.seed,
        dtype=settings.torch_dtype,
    )
    return views.to(settings.torch_device)
