"""Instruction selection: only ops that a target has, on the widths that it has.

Tiles level to target level (docs/ir.md). In reading order:

* `scalars.py` emits scalar ops, or their decompositions, each one once;
* `narrow.py` computes f16, bf16 and fp8 in f32;
* `indices.py` holds indices that need no register: numbers, sums, ramps along lanes;
* `tiles.py` moves elements between registers, `locations.py` finds cells of memory, and
  `bounds.py` decides which accesses need a gate;
* `accesses.py` loads and stores pieces of tiles, `transposes.py` whole tiles by their columns;
* `kernel.py` is a kernel under construction, `structure.py` and `arithmetic.py` are the rules;
* `stage.py` is the pass.
"""

from tgdialect.lowering.select.stage import SelectPass

__all__ = ["SelectPass"]
