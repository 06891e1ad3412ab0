"""Optimize: decide how each range of a kernel is executed.

Kernels level to kernels level. In reading order:

* `axes.py` is a kernel as the OptOps see it: its ranges, by their axis ids;
* `opts.py` applies OptOps, each with its rule of what is legal (those of PADTO and STAGE are in
  `padding.py` and `packing.py`), and `passes.py` has each as a pass;
* `accesses.py` says how far apart in memory the iterations of a range access;
* `nests.py` says how often what runs, and how long that takes;
* `explicit.py` applies OptOps that a user has written;
* `heuristic.py` finds OptOps from what the machine is like: what vectors lie along
  (`vectors.py`), the tile in registers (`tiles.py`), and the loops around it (`loops.py`);
* `search.py` finds them by trying, for whoever can time kernels;
* `stage.py` is the pass.
"""

from tgdialect.lowering.optimize.stage import OptimizePass

__all__ = ["OptimizePass"]
