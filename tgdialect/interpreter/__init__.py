"""The reference semantics of every op of the `tg` dialect at every level, in NumPy.

`run` executes a module; backends are tested against it. docs/semantics.md says in words what the
ops mean where the specification leaves room. A kernel can be run in two ways: one iteration at a
time, which is the definition, and many iterations at once as *lanes*, which is faster and what
`run` does unless told otherwise. In reading order:

The oracle of kernels
* `scalar`: a kernel as nested Python loops; work items take turns from BARRIER to BARRIER.
* `scalar_memory`, `scalar_races`: its loads and stores, one element at a time, and their races.
* `nesting`: the order of a kernel's ops, as a tree of loops.
* `block_analysis`, from `scopes` (which loops an op is in), `memory_uses` (what it reads and
  writes) and `graph_versions` (what AFTER says of the order of reads and writes).

What an op computes
* `pure`: ops without state, from `elementwise`, `threefry`, `movement`, `reduction` and `wmma`.
* `values`: arrays in which cells may be invalid.
* `kernel`: the ops of a kernel that take no part in loops; `cell_maps` and `live`: the cells that a
  view of memory shows, and memory that a kernel changes as it runs.
* `custom`: code of the caller.

Vectorised lanes
* `lane_schedule`: which loops become lanes; `lane_run`, `lane_ops`: running them;
  `thread_races`: races between the work items of a workgroup.

Whole programs
* `host`: functions on tensors and memory, on `host_values` and `versions` (memory that is a value).
* `execution`: a kernel or LINEAR in one of the two ways. `calls`, `linear`, `run_context`: CALLs.
* `signature`, `entry`: inputs, and `run`. `registration`: the same for xDSL's own interpreter.
"""

from tgdialect.interpreter.entry import run
from tgdialect.interpreter.registration import register_tg_implementations

__all__ = ["register_tg_implementations", "run"]
