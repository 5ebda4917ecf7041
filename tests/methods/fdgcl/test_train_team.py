"""Several processes train as one: the same losses, weights and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from fdgcl._checks import InputError
from fdgcl.embeddings import read_embeddings
from fdgcl.methods.fdgcl import shuffling as shuffle
from fdgcl.training import SingleProcess, group_of_environment
from helpers.team_member import train
from helpers.teams import run_team
from helpers.trainings import diffused_store
from tolerances import half_digits

NODES = 120
CASES: dict[str, dict[str, Any]] = {
    "all rows": {},
    "batches": {"batch_size": 30},
    "plain": {"batch_size": 30, "fast": False},
    "many columns": {"batch_size": 60, "dim": 600},
    "vicreg": {"batch_size": 50, "loss": "vicreg"},
    "not standardised": {"batch_size": 40, "standardize": False, "activation": "relu"},
    "no rows for some": {"batch_size": 3, "epochs": 1},
    "no rows, plain": {"batch_size": 3, "epochs": 1, "fast": False},
    "kept": {
        "batch_size": 50,
        "combine": "concat",
        "keep": ["features", "global"],
        "dim": 100,
        "hidden": 16,
    },
    "compressed": {"batch_size": 50, "combine": "concat", "keep": ["features"]},
}
TEAMS = (1, 2, 3)
WINDOW = 48


def train_all(folder: Path) -> None:
    """All cases, by one process and by teams, in folders `TEAM/CASE`."""
    store, diffusion = diffused_store(folder / "G", nodes=NODES, ids="int64")
    before = shuffle.WINDOW_ROWS
    for members in TEAMS:
        jobs = [
            {
                "settings": {"epochs": 2, **settings},
                "folder": str(folder / str(members) / name),
            }
            for name, settings in CASES.items()
        ]
        told = {"store": str(store.folder), "jobs": jobs, "window_rows": WINDOW}
        if members > 1:
            run_team(members, told, folder)
            continue
        try:
            shuffle.WINDOW_ROWS = WINDOW
            for job in jobs:
                train(told["store"], job, SingleProcess())
        finally:
            shuffle.WINDOW_ROWS = before
        # The teams' first member makes them anew, while the others wait.
        (diffusion.folder / "statistics.safetensors").unlink()


def losses(folder: Path, members: int, case: str, rank: int = 0) -> np.ndarray:
    text = (folder / str(members) / case / f"losses-{rank}.json").read_text()
    return np.array(json.loads(text))


def weights(folder: Path, members: int, case: str) -> dict[str, torch.Tensor]:
    return load_file(folder / str(members) / case / "run" / "model.safetensors")


def check_losses_and_weights(trained: Path, members: int, case: str) -> None:
    alone = losses(trained, 1, case)
    for rank in range(members):
        found = losses(trained, members, case, rank)
        np.testing.assert_array_equal(found, losses(trained, members, case), case)
        allowed = half_digits(np.float32) * max(1, np.abs(alone).max())
        np.testing.assert_allclose(found, alone, rtol=0, atol=allowed, err_msg=case)
    expected = weights(trained, 1, case)
    for name, value in weights(trained, members, case).items():
        torch.testing.assert_close(
            value,
            expected[name],
            rtol=0,
            atol=half_digits(torch.float32),
            msg=lambda text: f"{case}, {members} members: {text}",
        )


def check_parts(trained: Path, members: int, case: str) -> None:
    out = trained / str(members) / case / "Z"
    assert len(list(out.glob("part-*.parquet"))) == -(-NODES // 70)
    ids, z = read_embeddings(out)
    np.testing.assert_array_equal(ids, 10 + 7 * np.arange(NODES))
    expected = read_embeddings(trained / "1" / case / "Z")[1]
    allowed = half_digits(np.float32) * np.abs(expected).max()
    np.testing.assert_allclose(z, expected, rtol=0, atol=allowed, err_msg=case)


# One test: starting the processes takes longer than all that they do.
def test_teams_train_as_one_process_does(tmp_path: Path) -> None:
    train_all(tmp_path)
    for members in TEAMS:
        for case in CASES:
            check_losses_and_weights(tmp_path, members, case)
            check_parts(tmp_path, members, case)
        for fused, plain in (
            ("batches", "plain"),
            ("no rows for some", "no rows, plain"),
        ):
            np.testing.assert_allclose(
                losses(tmp_path, members, fused),
                losses(tmp_path, members, plain),
                rtol=0,
                atol=half_digits(np.float32),
                err_msg=f"{members} members, {fused}",
            )


def test_an_incomplete_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with (
        pytest.raises(InputError, match="start all processes by torchrun"),
        group_of_environment(torch.device("cpu")),
    ):
        pass
    monkeypatch.setenv("WORLD_SIZE", "1")
    with group_of_environment(torch.device("cpu")) as group:
        assert isinstance(group, SingleProcess)
