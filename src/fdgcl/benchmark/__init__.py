"""Time, memory and results of training: ours beside the solver in the loop.

`comparison` does both in one process on the same data, `roofline` says what no epoch
can undercut, `scaling` how time and memory grow; `timing` serves the table of costs.
"""

from fdgcl.benchmark.comparison import Comparison, Order, compare
from fdgcl.benchmark.growth import Growth, fit_growth
from fdgcl.benchmark.roofline import Floor, Rates, floor_of

__all__ = [
    "Comparison",
    "Floor",
    "Growth",
    "Order",
    "Rates",
    "compare",
    "fit_growth",
    "floor_of",
]
