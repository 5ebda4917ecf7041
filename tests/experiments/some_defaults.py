"""Experiments of the table of defaults on a dataset that is nowhere."""

from __future__ import annotations

from typing import Any

from fdgcl import FDGCL
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.defaults import Defaults
from fdgcl.experiments.measures.defaults_page import FREE_NAMES

MEASURE = Defaults()
PLACE = {
    "device": "cpu",
    "hardware": "an abacus",
    "cores": 1,
    "threads": 1,
    "commit": "abc",
    "versions": {"fdgcl": "1"},
}


def variant_of(
    variant: str = "default", dataset: str = "mine", **options: Any
) -> Experiment:
    return Experiment(
        table="defaults",
        dataset=dataset,
        variant=variant,
        label=variant.upper(),
        settings=FDGCL(dim=8, epochs=2).get_params(),
        options={**MEASURE.options, **options},
    )


def rows_of(dataset: str = "mine", **options: Any) -> Experiment:
    return variant_of("free", dataset, parts=list(FREE_NAMES), always=True, **options)
