"""Linearize: a total order of execution. In reading order:

* `stage.py`: the pass; `analysis/loop_nest.py` finds the order;
* `peel.py`: on a CPU, iterations that need masks are apart from their loops;
* `branches.py`: on a CPU, long alternatives of WHEREs are skipped where nothing selects them;
* `grid.py`: for grids, loops over workgroups and work items become indices of them; what several
  loops compute from these is computed once, and LOCAL buffers are cleared that have to be;
* `registers.py`: LOCAL buffers that work items do not share become registers, registers that they
  share become LOCAL buffers, and what several loops load is loaded once and kept in registers.
"""

from tgdialect.lowering.linearize.stage import LinearizePass, is_per_lane, linearize_kernel

__all__ = ["LinearizePass", "is_per_lane", "linearize_kernel"]
