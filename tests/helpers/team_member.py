"""One process of a group that trains what it is told; run by `teams.run_team`."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import torch

from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import shuffling as shuffle
from fdgcl.training import ProcessGroup, group_of_environment


def main(orders: Path) -> None:
    warnings.simplefilter("error")
    torch.set_num_threads(1)
    told = json.loads(orders.read_text())
    shuffle.WINDOW_ROWS = told["window_rows"]
    with group_of_environment(torch.device("cpu")) as group:
        check_exchange(group)
        for job in told["jobs"]:
            train(told["store"], job, group)
    # Threads that outlive the group abort the process when they come too late.
    assert not [name for name in threads() if "gloo" in name]


def threads() -> list[str]:
    """The names of this process's threads, where the system tells."""
    return [file.read_text() for file in Path("/proc/self/task").glob("*/comm")]


def train(store: str, job: dict, group: ProcessGroup) -> None:
    from helpers.trainings import MEMORY, small, train_store

    losses = []
    train_store(
        Store.open(store),
        small(**job["settings"]),
        Path(job["folder"], "run"),
        Path(job["folder"], "Z"),
        memory=2 * MEMORY,
        group=group,
        shard_rows=70,
        on_epoch=lambda record: losses.append([record.loss, record.alignment]),
    )
    Path(job["folder"], f"losses-{group.rank}.json").write_text(json.dumps(losses))


def check_exchange(group: ProcessGroup) -> None:
    """Sums, and rows of different numbers with gradients to one's own."""
    ranks = torch.arange(group.size, dtype=torch.float32)
    own = torch.full((2, 3), float(group.rank))
    assert group.sum(own) is own
    assert torch.equal(own, torch.full((2, 3), float(ranks.sum())))
    turned = torch.full((3, 2), float(group.rank)).T  # not contiguous
    assert torch.equal(group.sum(turned), own)
    rows = torch.full((group.rank, 2), float(group.rank), requires_grad=True)
    every = group.gather_rows(rows)
    expected = ranks.repeat_interleave(ranks.long())[:, None].expand(-1, 2)
    assert torch.equal(every, expected)
    every.square().sum().backward()
    assert rows.grad is not None
    assert torch.equal(rows.grad, 2 * rows.detach())
    group.barrier()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
