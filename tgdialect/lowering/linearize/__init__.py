"""Linearize: a total order of execution. In reading order:

* `stage.py`: the pass; `analysis/loop_nest.py` finds the order;
* `peel.py`: on a CPU, iterations that need masks are apart from their loops;
* `branches.py`: on a CPU, long alternatives of WHEREs are skipped where nothing selects them;
* `grid.py`: for grids, loops over workgroups and work items become indices of them;
* `shared_registers.py`: registers that work items share become LOCAL buffers;
* `registers.py`: LOCAL buffers that work items do not share become registers;
* `loads.py`: what several loops load is loaded once, and kept in registers;
* `shared_memory.py`: clears the LOCAL buffers that are not zero by themselves;
* `shared_indices.py`: what several loops compute from the place of a work item is computed once.
"""

from tgdialect.lowering.linearize.stage import LinearizePass, is_per_lane, linearize_kernel

__all__ = ["LinearizePass", "is_per_lane", "linearize_kernel"]
