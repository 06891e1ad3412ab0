"""Optimize: decide how each range of a kernel is executed.

Kernels level to kernels level. In reading order:

* `axes.py` is a kernel as the OptOps see it: its ranges, by their axis ids;
* `optops/` has the OptOps: what each does, and when it is legal;
* `nests.py` finds the loop nests of a kernel, for heuristics and searches, and has the loops be as
  few as possible, without divisions;
* `cpu/` finds OptOps from the target's description for loops of threads, `grid/` for workgroups;
* `expected.py` is the time that the cost model expects of a kernel;
* `search.py` finds them by timing candidates with a function that its caller gives;
* `stage.py` is the pass: its modes, OptOps that a user has written, and which heuristic it asks.
"""

from tgdialect.lowering.optimize.stage import OptimizePass, Scheduled, settled

__all__ = ["OptimizePass", "Scheduled", "settled"]
