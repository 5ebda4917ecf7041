"""Accuracy of a linear probe: trained embeddings beside those that need no training."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, final

from fdgcl._checks import choose
from fdgcl.embedder import GraphEmbedder
from fdgcl.estimators import estimator_of
from fdgcl.experiments import baselines
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.accuracy_grid import by_encoder
from fdgcl.experiments.measures.accuracy_tables import by_dataset
from fdgcl.experiments.measures.accuracy_words import orders_in_words, worth_of_training
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.probing import probed
from fdgcl.graphs import Graph
from fdgcl.model import FDGCL


def _trained(model: GraphEmbedder, graph: Graph) -> Any:
    return model.fit_transform(graph)


def _gcn(model: FDGCL, graph: Graph) -> Any:
    """The same settings, but those of the diffusion, with GCN encoders in its place."""
    given, gcn = model.get_params(), estimator_of("gcn")
    shared = {name: given[name] for name in gcn().get_params() if name in given}
    return gcn(**shared, encoders=len(given["orders"])).fit_transform(graph)


ENCODERS = {"diffusion": _trained, "gcn": _gcn}
FREE = {
    "untrained": baselines.untrained,
    "smoothed": baselines.smoothed,
    "features": baselines.features,
}
PARTS = ("trained", *FREE)
_WITHOUT_SEED = ("smoothed", "features")  # nothing in them is random


class _Probed(Measure):
    """Embeds, then scores by the probe: one record a split."""

    options: Mapping[str, Any] = {"encoder": "diffusion", "parts": ["trained"]}

    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        """See the base class; what is not random is measured once."""
        choose("encoder", experiment.options["encoder"], ENCODERS)
        units = []
        for part in experiment.options["parts"]:
            choose("part", part, dict.fromkeys(PARTS))
            count = 1 if part in _WITHOUT_SEED else seeds
            units += [Unit(experiment.name, part, seed) for seed in range(count)]
        return units

    def run(
        self, experiment: Experiment, unit: Unit, graph: Graph, device: str
    ) -> list[Record]:
        """See the base class."""
        model = experiment.model(seed=unit.seed, device=device)
        encoder = ENCODERS[experiment.options["encoder"]]
        embed = encoder if unit.part == "trained" else FREE[unit.part]
        return probed(lambda: embed(model, graph), graph, device, measure="accuracy")


@final
class Accuracy(_Probed):
    """One row a dataset: the paper's number, its settings, ours, and no training."""

    show = staticmethod(by_dataset)


@final
class OrderAccuracy(_Probed):
    """One row an encoder, one column a dataset."""

    show = staticmethod(partial(by_encoder, findings=orders_in_words))


@final
class DynamicsAccuracy(_Probed):
    """One row a dynamics, one column a dataset."""

    show = staticmethod(partial(by_encoder, findings=worth_of_training))


@final
class MethodAccuracy(_Probed):
    """One row a method, one column a dataset."""

    show = staticmethod(partial(by_encoder, findings=worth_of_training, kind="method"))
