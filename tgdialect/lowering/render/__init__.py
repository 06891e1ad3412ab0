"""Render: programs in order of execution leave for an output language.

Planned (or linear) level to llvm level (docs/ir.md). In reading order:

* `output.py`: the interface of an output language, for one function;
* `elementwise.py`: tables of elementwise ops;
* `memory.py`: views of memory, their indices and alignments;
* `calls.py`: checks that the arguments of a CALL are what the program needs;
* `dynamic_local.py`: LOCAL memory that a launch allocates;
* `matrix_factors.py`: factors that WMMAs read from memory, and chains of these WMMAs;
* `reserved.txt`, `reserved.py`, `names.py`: the names that the output languages take, and what
  symbols are called there;
* `walker.py`: the walk over a LINEAR, which appends its ops to an output;
* `ptx.py`: inline assembly of matrix instructions, which two outputs share;
* `grid_loops.py`: makes loops of the SPECIALs of a grid, and moves SHUFFLEs through LOCAL memory,
  for outputs that have none;
* `work_items.py`: splits work-item loops at BARRIERs, after that;
* `llvm/`, `gpu/`, `source/`: the `llvm` dialect, the `gpu` dialect and C-like languages as outputs;
* `stage.py`: the pass.
"""

from tgdialect.lowering.render.stage import RenderPass

__all__ = ["RenderPass"]
