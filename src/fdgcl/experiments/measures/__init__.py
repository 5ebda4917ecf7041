"""The tables and figures that can be reproduced, and what measures each of them.

A table is a folder of experiments in `tables/` and one line here. Measures are named,
not imported, so that listing the tables costs nothing.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fdgcl.experiments.measures.base import Measure

_HERE = "fdgcl.experiments.measures"


@dataclass(frozen=True)
class Table:
    """A table or figure.

    Attributes:
        title: For people.
        regenerates: The paper's table or figure; empty for one of our own.
        about: What it shows, in one line.
        measure: Where its measure is, as `module:class`.
        alone: Whether units are done one at a time, so that no other disturbs a clock.
    """

    title: str
    regenerates: str
    about: str
    measure: str
    alone: bool = False


TABLES: dict[str, Table] = {
    "homophilic": Table(
        "Accuracy on homophilic graphs",
        "Table 1",
        "Linear probe on graphs whose linked nodes mostly share their class.",
        f"{_HERE}.accuracy:Accuracy",
    ),
    "heterophilic": Table(
        "Accuracy on heterophilic graphs",
        "Table 2",
        "Linear probe on graphs whose linked nodes mostly differ.",
        f"{_HERE}.accuracy:Accuracy",
    ),
    "orders": Table(
        "Equal, near and distant orders",
        "Table 3",
        "What it is worth that the two orders differ; a GCN as encoder beside them.",
        f"{_HERE}.accuracy:OrderAccuracy",
    ),
    "dynamics": Table(
        "Other right-hand sides",
        "the table of dynamics in the appendix",
        "GRAND, CDE and GREAD as encoders, by the paper's settings and ours.",
        f"{_HERE}.accuracy:DynamicsAccuracy",
    ),
    "methods": Table(
        "Compared methods, measured here",
        "columns of Tables 1 and 2",
        "CCA-SSG, BGRL and GCN beside FD-GCL, under the same probe.",
        f"{_HERE}.accuracy:MethodAccuracy",
    ),
    "defaults": Table(
        "What the defaults give on any graph",
        "",
        "Estimators without settings beside what needs no training, on every graph "
        "of the data root.",
        f"{_HERE}.defaults:Defaults",
    ),
    "graphs": Table(
        "Classification of whole graphs",
        "the table of graph classification in the appendix",
        "Support vector machine on embeddings of graphs, ten folds.",
        f"{_HERE}.graphs:GraphAccuracy",
    ),
    "losses": Table(
        "Accuracy over epochs, loss by loss",
        "Figures 5 and 6",
        "Whether accuracy keeps while each of five losses is trained.",
        f"{_HERE}.losses:LossCurves",
    ),
    "cost": Table(
        "Time and memory of an epoch",
        "Tables 4 and 5",
        "Seconds and memory, beside the solver in the training loop.",
        f"{_HERE}.cost:Cost",
        alone=True,
    ),
    "views": Table(
        "What the two views look like",
        "Figures 1 to 3 and 7 to 11",
        "Maps of single classes, principal components, distances between classes.",
        f"{_HERE}.views:Views",
    ),
    "theorem": Table(
        "What the theorem says of the orders",
        "Theorem 1",
        "Energy in the smooth components as time and order grow.",
        f"{_HERE}.theorem:Theorem",
    ),
}


def build_measure(place: str) -> Measure:
    """Import and make the measure at `module:class`."""
    module, _, name = place.partition(":")
    measure: Measure = getattr(importlib.import_module(module), name)()
    return measure
