"""Instruction selection, from the tiles level to the target level (docs/ir.md).

Afterwards a kernel has only ops that the target supports, on vectors of widths that it supports.
In reading order:

* `indices.py`: symbolic indices that need no register yet (constants, sums, ramps along lanes);
* `scalars.py`: emits elementwise ops or their decompositions, with value numbering;
* `narrow.py`: computes f16, bf16 and fp8 in f32;
* `tiles.py`: register tiles, and movement ops on them;
* `locations.py`: the address of a cell of memory; `bounds_checks.py`: which accesses need a gate;
* `accesses.py`: loads and stores of pieces of a tile, and of whole tiles by columns;
* `kernel.py`: the kernel under construction; `structure.py`, `arithmetic.py`: a rule per op;
* `instructions.py`: the rules of INS and of WMMA of fragments;
* `stage.py`: the pass, which has masks of vectors in 32 bits.
"""

from tgdialect.lowering.select.stage import SelectPass

__all__ = ["SelectPass"]
