"""Rangeify: split a function into kernels, and break everything in them down to shape ().

Function level to kernels level (docs/ir.md). In reading order:

* `partial.py` splits long reductions into parts that threads share;
* `analysis/fusion.py` chooses the values that get a buffer;
* `schedule.py` makes a task of each of them and of each STORE, and orders the tasks;
* `emitter.py` emits ops and index arithmetic into a kernel;
* `cells.py` lowers one element of a value; `kernel.py` writes the kernel of a task with it;
* `arguments.py` passes views of memory to CALLs;
* `stage.py` is the pass: it puts the calls into the function.
"""

from tgdialect.lowering.rangeify.stage import RangeifyPass

__all__ = ["RangeifyPass"]
