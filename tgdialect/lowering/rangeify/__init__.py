"""Rangeify: split a function into kernels, and break everything in them down to shape ().

Function level to kernels level (docs/ir.md). In reading order:

* `views.py` rewrites views that a kernel cannot store to, or a call cannot pass;
* `residues.py` leaves out the zeros between the cells of a dilated value;
* `maxima.py` lets the maxima that softmaxes subtract be relaxed;
* `partial.py` splits a reduction into parts, for threads to share or for a cache;
* `closed_form.py` finds the reductions that need no loop;
* `planning/` chooses the values that are stored in buffers, and the loops of kernels;
* `schedule.py` makes a task of each such value, STORE and CALL, and orders the tasks;
* `emitter.py` appends scalar ops and loops to a kernel, `cells.py` says how each op is computed at
  an index, and `kernel.py` makes the kernel of a task of both;
* `online.py` makes the kernel of sums that go over blocks of steps in one pass, as in attention;
* `masked_blocks.py` leaves out the blocks that a mask hides;
* `index_sets.py` makes several kernels of one whose conditions change along a loop;
* `phases.py` makes several kernels of one for a grid, of which one part waits for another;
* `updates.py` puts the updates of a scatter into the loops that store to their cells before;
* `alike.py` recognises tasks that are like one before, which has the kernels for them;
* `donated.py` finds the results that may take the memory of arguments;
* `host.py` makes the function that calls the kernels;
* `stage.py` is the pass.
"""

from tgdialect.lowering.rangeify.stage import RangeifyPass

__all__ = ["RangeifyPass"]
