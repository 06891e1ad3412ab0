"""Render: programs in order of execution become functions of the `llvm` dialect.

Planned (or linear) level to llvm level (docs/ir.md). In reading order:

* `types.py` maps dtypes to LLVM types, and `emitter.py` builds a function;
* `arithmetic.py` is the table of elementwise ops; `division.py`, `shifts.py` and `conversion.py`
  are its longer rows;
* `memory.py` has buffers, views and access to elements;
* `work_items.py` splits loops at BARRIERs, and `threads.py` starts threads;
* `calls.py` checks that a CALL meets the bounds of the program that it calls;
* `function.py` has control flow and calls, and walks over one function;
* `stage.py` is the pass.
"""

from tgdialect.lowering.render.stage import RenderPass

__all__ = ["RenderPass"]
