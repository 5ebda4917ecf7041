"""Time, memory and results of training: ours beside the solver in the loop.

`comparison` does both in one process on the same data, `roofline` says what no epoch
can undercut, `scaling` how time and memory grow; `timing` serves the table of costs.
"""

from fdgcl.benchmark.comparison import Comparison, Order, compare

__all__ = ["Comparison", "Order", "compare"]
