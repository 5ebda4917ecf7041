"""Schemes for fractional equations, by name. They know nothing of graphs."""

from fdgcl.diffusion.solvers.base import Solver, SteppingScheme, Weights
from fdgcl.diffusion.solvers.corrector import Corrector
from fdgcl.diffusion.solvers.exact import Exact
from fdgcl.diffusion.solvers.gl import GruenwaldLetnikov
from fdgcl.diffusion.solvers.l1 import L1
from fdgcl.diffusion.solvers.predictor import Predictor

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (Predictor(), Corrector(), L1(), GruenwaldLetnikov(), Exact())
}

__all__ = ["SOLVERS", "Solver", "SteppingScheme", "Weights"]
