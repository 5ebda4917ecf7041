"""`fdgcl evaluate`: what an embedding is worth for a known set of labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl._checks import InputError, choose
from fdgcl.cli import options
from fdgcl.cli.options import DATA, option
from fdgcl.cli.scores import percent
from fdgcl.cli.source import Reading, Source
from fdgcl.cli.talk import Talk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.graphs import Splits

EXAMPLES = 3


@dataclass(frozen=True)
class Truth:
    """Class codes (-1 for none) of some nodes, and how they are split."""

    name: str
    ids: npt.NDArray[Any]
    y: npt.NDArray[np.int64]
    splits: Splits | None


def evaluate(
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="Z.parquet", help="What `fdgcl embed` wrote.", show_default=False
        ),
    ],
    dataset: Annotated[
        str | None,
        option(
            "--dataset",
            panel=DATA,
            metavar="NAME|FILE.npz",
            text="Take labels and splits from a dataset or a compact file.",
        ),
    ] = None,
    labels: options.Labels = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    splits: Annotated[
        str | None,
        option(
            "--splits",
            panel=DATA,
            metavar="dataset|random",
            text="The dataset's own splits, or ten random ones: 10 % of the labelled "
            "nodes to train, 10 % to choose, 80 % to test.",
            show_default="the dataset's, if it has any",
        ),
    ] = None,
    data_root: options.DataRoot = None,
    seed: Annotated[
        int, option("--seed", panel=DATA, text="Seed of random splits and k-means.")
    ] = 0,
    quiet: Annotated[
        bool, option("--quiet", "-q", text="Show the result only.")
    ] = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Score an embedding: linear probe, nearest neighbours, k-means.

    Ids in the embedding are matched to those of the labels. Every choice is made on
    validation nodes; test nodes are scored once.

    fdgcl evaluate z.parquet --dataset cora

    fdgcl evaluate z.parquet --labels y.csv
    """
    talk = Talk(json=json)
    notes = Talk(quiet=quiet, json=json)
    if (dataset is None) == (labels is None):
        message = "say where the labels are, by either --dataset NAME or --labels FILE"
        raise InputError(message)
    if splits is not None:
        choose("kind of splits", splits, dict.fromkeys(("dataset", "random")))
    reading = Reading(labels=labels, id_column=id_column, label_column=label_column)
    reading.check()
