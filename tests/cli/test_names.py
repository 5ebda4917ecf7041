"""Workflows name arguments; the command line names its options."""

from __future__ import annotations

import pytest
from smallgraph import Command

from fdgcl.cli.names import as_options


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`features`: x.csv is not there", "--features: x.csv is not there"),
        (
            "`graph_column` goes with `graph_ids`",
            "--graph-column goes with --graph-ids",
        ),
        ("add `overwrite=True` to replace it", "add --overwrite to replace it"),
        ("use `splits='random'`", "use --splits random"),
        ("`resume` needs `run=DIR`, the", "--resume needs --run DIR, the"),
        ("`run_folder` must be a run folder", "RUN must be a run folder"),
        ("`graph` is empty", "GRAPH is empty"),
        ("`settings_file` takes the place", "--settings takes the place"),
        ("(`loop_epochs=0` leaves it out)", "(--no-loop leaves it out)"),
        ("run `fdgcl data convert cora -o x`", "run `fdgcl data convert cora -o x`"),
    ],
)
def test_arguments_are_named_as_options(text: str, expected: str) -> None:
    assert as_options(text) == expected


def test_errors_and_notices_name_options(fdgcl: Command) -> None:
    refused = fdgcl("embed", "edges.csv", "--features", "no.csv")
    assert refused.stderr.startswith("error: --features: no.csv is not there (a file,")
    small = ("--dim", "8", "--epochs", "1", "--time", "2", "--step", "1")
    words = ("embed", "edges.csv", "--features", "x.parquet", *small, "--run", "r")
    assert fdgcl(*words, "-o", "z.parquet").exit_code == 0
    told = fdgcl("report", "r", "--embedding", "x.parquet", "--labels", "none.csv")
    assert told.stderr.startswith("error: --labels: none.csv is not there")
