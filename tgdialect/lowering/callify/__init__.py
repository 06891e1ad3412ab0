"""Callify: turn each function on tensors into one stateless function on memory.

Tensor level to function level (docs/ir.md). In reading order:

* `arguments.py` makes the arguments of the new function: of old arguments, PARAMs, BUFFERs,
  BINARYs and results;
* `outlining.py` decides which FUNCTIONs become functions of their own;
* `scan.py` makes kernels of SCANs, which call the functions of their bodies;
* `function.py` rebuilds the body: FUNCTIONs and calls are substituted, markers resolved, and a
  device tuple becomes one memory, of which shards are views;
* `stage.py` is the pass.
"""

from tgdialect.lowering.callify.stage import CallifyPass

__all__ = ["CallifyPass"]
