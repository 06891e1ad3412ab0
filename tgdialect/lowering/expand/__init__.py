"""Expand: UPCAST and UNROLL ranges become shape, and reductions become accumulators.

Kernels level to tiles level (docs/ir.md). In reading order:

* `transforms/private_ranges.py` gives every loop its own RANGE;
* `expansion.py` knows which axes a value has, and broadcasts;
* `rules.py` has a rule for each op;
* `reduction.py` makes accumulators of REDUCEs;
* `fragments.py` makes WMMAs of the REDUCEs that matrix instructions compute, and finds their
  factors in LOCAL memory, for instructions that read them there;
* `group_reductions.py` has work items of a grid reduce parts, and exchange them: those of a warp by
  shuffles;
* `stage.py` is the pass, which removes loops of one iteration.
"""

from tgdialect.lowering.expand.stage import ExpandPass

__all__ = ["ExpandPass"]
