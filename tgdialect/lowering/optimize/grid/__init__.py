"""The heuristic for targets that run a grid of workgroups: GPUs. In reading order:

* `nests.py`: the loops that one END closes, how they are split into work items and registers, and
  how many work items the workgroups of a kernel have;
* `matrix.py`: products by matrix instructions, for warps; blocks of their steps, which the warps of
  a workgroup copy to LOCAL memory; and instructions that read both factors from there;
* `products.py`: register tiles, and blocks of steps that are staged in LOCAL memory;
* `blocks.py`: nests over LOCAL buffers in a loop over blocks of steps, as in an attention;
* `heuristic.py` is the whole: also a workgroup for each row, or for each result of a long
  reduction, and transposes, whose squares go through LOCAL memory.
"""

from tgdialect.lowering.optimize.grid.heuristic import schedule_grid

__all__ = ["schedule_grid"]
