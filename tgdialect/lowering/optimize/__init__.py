"""Optimize: decide how each range of a kernel is executed.

Kernels level to kernels level. In reading order:

* `axes.py` is a kernel as the OptOps see it: its ranges, by their axis ids;
* `strides.py` says how far apart in memory the iterations of a range access;
* `optops/` has the OptOps: what each does, and when it is legal;
* `explicit.py` applies OptOps that a user has written;
* `heuristics.py` finds OptOps from what the target is like: `cpu/` does so for loops of threads;
* `search.py` finds them by trying, for whoever can time kernels;
* `stage.py` is the pass.
"""

from tgdialect.lowering.optimize.stage import OptimizePass

__all__ = ["OptimizePass"]
