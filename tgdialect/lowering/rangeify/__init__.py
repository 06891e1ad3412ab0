"""Rangeify: split a function into kernels, and break everything in them down to shape ().

Function level to kernels level (docs/ir.md). `stage.py` is the sequence of the passes, of which
each is a file of its name (`function_pass.py` is their base, `analyses.py` what they know):

* `demote_f64.py` computes f64 values in f32, for a target without f64;
* `relax_maxima.py` lets the maxima that softmaxes subtract be relaxed;
* `copy_non_contiguous.py` copies views that a CALL cannot pass;
* `split_residues.py` leaves out the zeros between the cells of a dilated value;
* `store_before_movement.py` moves views from values to where these are stored;
* `split_reductions.py` splits a reduction into parts, for threads to share or for a cache;
* `plan_fusion.py` plans which values are stored in buffers, and the loops of kernels: `planning/`
  decides, and `planning/plan.py` states it as attributes of ops;
* `build_kernels.py` builds the kernels, and the function that calls them.

In reading order, the building of kernels:

* `analyses.py` also finds the reductions that need no loop;
* `tasks.py` makes a task of each stored value, STORE and CALL, and orders the tasks;
* `emitter.py` appends scalar ops and loops to a kernel, `cells.py` says how each op is computed at
  an index, and `kernel.py` breaks values down by both;
* `task_kernels.py` makes the kernel of a task, and `results.py` finds the results it may store to,
  and those that may take the memory of arguments;
* `online.py` makes the kernel of sums that go over blocks of steps in one pass, as in attention;
* `masked_blocks.py` leaves out the blocks that a mask hides;
* `kernel_set.py` finishes kernels, of which equal ones are one;
* `kernel_parts.py` makes several kernels of one whose conditions change along a loop, or of which
  one part waits for another, and nests the updates of a scatter;
* `alike.py` recognises tasks that are like one before by their structure and by what was read of
  them;
* `host.py` makes the function that calls the kernels.
"""

from tgdialect.lowering.rangeify.stage import RangeifyPass

__all__ = ["RangeifyPass"]
