"""The `llvm` dialect as an output. In reading order:

* `types.py` maps dtypes to LLVM types, and `emitter.py` builds a function;
* `arithmetic.py` is the table of elementwise ops, and `exponentials.py` is EXP2 where a CPU scales
  by powers of two;
* `accesses.py` has loads and stores; `streams.py` finds what bypasses the caches, and what is
  prefetched;
* `custom.py` calls intrinsics, and functions of the process and of the caller;
* `matrices.py` has the sums of matrix instructions of CPUs;
* `threads.py` runs a THREAD axis on threads;
* `function.py` has control flow and calls, and is the output of the walker;
* `program.py` renders the symbols of a module.
"""

from tgdialect.lowering.render.llvm.custom import is_intrinsic
from tgdialect.lowering.render.llvm.program import render_symbols

__all__ = ["is_intrinsic", "render_symbols"]
