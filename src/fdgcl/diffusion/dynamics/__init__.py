"""Right-hand sides on a graph, by name. They know nothing of solvers."""

from fdgcl.diffusion.dynamics.base import Dynamics, FixedLinearDynamics
from fdgcl.diffusion.dynamics.grand import Grand

DYNAMICS: dict[str, type[Dynamics]] = {"grand": Grand}

__all__ = ["DYNAMICS", "Dynamics", "FixedLinearDynamics", "Grand"]
