"""The heuristic for targets that run a grid of workgroups: GPUs. In reading order:

* `nests.py`: the loops that one END closes, and how they are split into work items and registers;
* `workgroups.py`: how many work items the workgroups of a kernel have;
* `rows.py`: a workgroup for each row, or for each result of a long reduction;
* `matrix.py`: products by matrix instructions, for warps;
* `staging.py`: blocks of their steps, which the warps of a workgroup copy to LOCAL memory;
* `local_factors.py`: products by instructions that read both factors from LOCAL memory;
* `products.py`: register tiles, and blocks of steps that are staged in LOCAL memory;
* `blocks.py`: nests over LOCAL buffers in a loop over blocks of steps, as in an attention;
* `transposes.py`: squares that go through LOCAL memory;
* `heuristic.py` is the whole.
"""

from tgdialect.lowering.optimize.grid.heuristic import schedule_grid

__all__ = ["schedule_grid"]
