"""The reference semantics of every op of the `tg` dialect at every level, in NumPy.

`run` executes a module; backends are tested against it. docs/semantics.md says in words what the
ops mean where the specification leaves room. A kernel can be run in two ways: one iteration at a
time, which is the definition, and many iterations at once as *lanes*, which is faster and what
`run` does unless told otherwise. In reading order:

The oracle of kernels:

* `scalar.py`: a kernel as nested Python loops; work items take turns from BARRIER to BARRIER;
* `scalar_memory.py`, `scalar_races.py`: its loads and stores, one element at a time, and their
  races, which `instances.py` reports;
* `nesting.py`: the order of a kernel's ops, as a tree of loops;
* `block_analysis.py`, from `scopes.py` (which loops an op is in), `memory_uses.py` (what it reads
  and writes) and `graph_versions.py` (how AFTER orders reads and writes).

What an op computes:

* `pure.py`: ops without state, from `elementwise.py`, `threefry.py`, `movement.py`, `reduction.py`
  and `wmma.py`; `warps.py`: what the work items of a warp exchange; `values.py`: arrays in which
  cells may be invalid;
* `kernel.py`: the ops of a kernel that take no part in loops; `cell_maps.py`: the cells that a view
  of memory shows; `live.py`: memory that a kernel changes as it runs;
* `custom.py`: code of the caller; `sorting.py`: the built-in sorts; `instructions.py`: what each
  instruction of a target computes.

Vectorised lanes:

* `lane_schedule.py`: which loops become lanes; `lane_run.py`, `lane_ops.py`: running them;
  `lane_races.py`: races between them.

Whole programs:

* `host.py`: functions on tensors and memory, on `host_values.py` and `versions.py` (memory that is
  a value); `execution.py`: a kernel or LINEAR in one of the two ways;
* `calls.py`, `linear.py`, `run_context.py`: CALLs;
* `signature.py`, `entry.py`: inputs, and `run`; `registration.py`: the same for xDSL's own
  interpreter.
"""

from tgdialect.interpreter.entry import run
from tgdialect.interpreter.registration import register_tg_implementations

__all__ = ["register_tg_implementations", "run"]
