"""Instruction selection: only ops that a target has, on the widths that it has.

Tiles level to target level (docs/ir.md). In reading order:

* `scalars.py` emits scalar ops, or their decompositions, each one once;
* `narrow.py` computes f16, bf16 and fp8 in f32;
* `lanes.py` moves elements of values, `indices.py` keeps index arithmetic symbolic until it is
  used, `locations.py` finds cells of memory, and `bounds.py` decides which of them need a gate;
* `kernel.py` is a kernel under construction, `structure.py` and `arithmetic.py` are the rules;
* `stage.py` is the pass.
"""

from tgdialect.lowering.select.stage import SelectPass

__all__ = ["SelectPass"]
