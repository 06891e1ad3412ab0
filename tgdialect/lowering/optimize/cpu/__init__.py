"""The heuristic for targets whose loop nests are loops of threads: CPUs. In reading order:

* `costs.py` says how long the ops of a kernel take;
* `vectors.py` chooses the range that vectors lie along, `tiles.py` the tile in registers, and
  `reduction_tiles.py` that of a reduction;
* `loops.py` chooses the loops around the tile and their order, `threads.py` the one for threads;
* `copies.py` packs what a tile loads, `blocks.py` blocks reductions so that caches suffice;
* `matrices.py` multiplies by matrix instructions where a CPU has them;
* `heuristic.py` is the whole.
"""

from tgdialect.lowering.optimize.cpu.heuristic import schedule_loops

__all__ = ["schedule_loops"]
