"""Generated graphs to time, and the model that is timed on them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fdgcl._checks import InputError, check_count
from fdgcl.graphs import Graph, block_model
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.model import FDGCL
from fdgcl.presets import paper_defaults


def check_edges(nodes: int, edges: int, name: str = "edges") -> None:
    """Refuse more edges than a sparse graph of so many nodes holds."""
    most = nodes * (nodes - 1) // 4
    if edges > most:
        message = (
            f"{name} must be at most {most:,}, half of all pairs of {nodes:,} nodes, "
            f"got {edges:,}"
        )
        raise InputError(message)


@dataclass(frozen=True)
class Sizes:
    """The size of a problem; edges are counted once."""

    nodes: int
    edges: int
    features: int
    dim: int
    steps: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            check_count(name, value, minimum=2 if name == "nodes" else 1)
        check_edges(self.nodes, self.edges)


def generate(nodes: int, edges: int, features: int, seed: int) -> Graph:
    """A graph of two classes; a few of its edges fall together and are lost."""
    return block_model(
        nodes,
        num_classes=2,
        degree=2 * edges / nodes,
        num_features=features,
        num_splits=0,
        seed=seed,
    )


def bench_settings(**changes: Any) -> Settings:
    """The model that is timed: the paper's, on ten steps of length 1 by default."""
    chosen = {
        **paper_defaults(),
        "orders": (0.01, 1.0),
        "time": 10.0,
        "step": 1.0,
        "rate": 0.5,
        "direction": "symmetric",
        "dim": 256,
        "init_scale": 1.0,
        "activation": "relu",
        "beta": 0.5,
        "eta": 0.15,
        "epochs": 55,
    }
    return FDGCL(**{**chosen, **changes}).check()
