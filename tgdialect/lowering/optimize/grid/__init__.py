"""The heuristic for targets that run a grid of workgroups: GPUs. It yields candidates, which
`analysis/launches.py` prices. In reading order:

* `nests.py`: the loops that one END closes, how a candidate is chosen, and how its loops become
  work items and registers;
* `heuristic.py` is the whole: candidates for rows, which have loops of their own, and for results;
* `staged.py`: register tiles of products, and squares of transposes, in blocks of LOCAL memory;
* `matrix.py`: products by matrix instructions of warps;
* `blocks.py`: nests over LOCAL buffers in a loop over blocks of steps, as in an attention.
"""

from tgdialect.lowering.optimize.grid.heuristic import schedule_grid

__all__ = ["schedule_grid"]
