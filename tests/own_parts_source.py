"""Parts of a user's own, as the source of a module that a test puts on the path."""

OWN = """
import numpy as np
import torch
from torch import nn

from fdgcl.diffusion.dynamics import Dynamics, Flow
from fdgcl.diffusion.dynamics.base import change
from fdgcl.diffusion.solvers import SteppingScheme, Weights
from fdgcl.losses import Loss


class Distance(Loss):
    def __init__(self, power=2.0, margin=0.0):
        super().__init__()
        self.power, self.margin = power, margin

    def score(self, z1, z2):
        return ((z1 - z2).abs() ** self.power).mean() + self.margin * z1.var()


class Forgetful(Loss):
    def __init__(self, power=2.0):
        super().__init__()

    def score(self, z1, z2):
        return (z1 - z2).square().mean()


NOT_A_LOSS = 3


class Leak(Dynamics):
    is_fixed_linear = True

    def __init__(self, *, leak=0.1, **common):
        super().__init__(**common)
        self.leak = leak

    def start(self, graph, x):
        return Flow(x, lambda t, z: (change(graph, z) - z * self.leak) * self.rate)


class TrainedLeak(Dynamics):
    is_fixed_linear = False

    def __init__(self, *, spread=0.1, **common):
        super().__init__(**common)
        self.spread = spread
        self.leak = self.new_parameter(self.dim, scale=spread)

    def start(self, graph, x):
        def rhs(t, z):
            return (change(graph, z) - z * self.leak) * self.rate

        return Flow(x, rhs, (self.leak,))


class TakesNoRate(Dynamics):
    is_fixed_linear = True

    def __init__(self):
        super().__init__()

    def start(self, graph, x):
        return Flow(x, lambda t, z: change(graph, z))


class Euler(SteppingScheme):
    keeps = "state"

    def predict(self, k, order, window):
        return Weights(initial=0.0, past=np.empty(0), slope=1.0, newest=1.0)

    def convergence_order(self, order):
        return 1.0

    def stability_limit(self, order):
        return 2.0


class Damped(Euler):
    def __init__(self, by=0.5):
        self.by = by


def squash(x):
    return x / (1 + x.abs())


class Squash(nn.Module):
    def forward(self, x):
        return squash(x)


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.weight


def total(x):
    return x.sum()
"""
