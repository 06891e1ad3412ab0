"""The heuristic for targets whose loop nests are loops of threads: CPUs. In reading order:

* `vectors.py` says how long ops take, and chooses the range that vectors lie along;
* `tiles.py` chooses the tile in registers;
* `loops.py` chooses the loops around the tile, their order, and the one for threads;
* `copies.py` packs what a tile loads, and blocks reductions so that caches suffice;
* `matrices.py` multiplies by matrix instructions where a CPU has them;
* `heuristic.py` is the whole.
"""

from tgdialect.lowering.optimize.cpu.heuristic import schedule_loops

__all__ = ["schedule_loops"]
