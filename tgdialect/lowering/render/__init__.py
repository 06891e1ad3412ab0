"""Render: programs in order of execution become functions of the `llvm` dialect.

Planned (or linear) level to llvm level (docs/ir.md). In reading order:

* `types.py` maps dtypes to LLVM types, and `emitter.py` builds a function;
* `arithmetic.py` is the table of elementwise ops; `division.py`, `shifts.py` and `conversion.py`
  are its longer rows;
* `memory.py` has buffers, views, loads and stores;
* `threads.py` runs a THREAD axis on threads;
* `calls.py` checks that the arguments of a CALL are what the program needs;
* `function.py` has control flow and calls, and walks over one function;
* `regions.py` and `work_items.py` split work-item loops at BARRIERs, before that;
* `stage.py` is the pass.
"""

from tgdialect.lowering.render.stage import RenderPass

__all__ = ["RenderPass"]
