"""The reference semantics of every op of the `tg` dialect at every level, in NumPy.

`run` executes a module; backends are tested against it. docs/semantics.md says in words what the
ops mean where the specification leaves room. A kernel can be run in two ways: one iteration at a
time, which is the definition, and many iterations at once as *lanes*, which is faster and what
`run` does unless told otherwise. In reading order:

The oracle of kernels:

* `scalar.py`: a kernel as nested Python loops; work items take turns from BARRIER to BARRIER. Its
  loads and stores are of one element at a time;
* `nesting.py`: the order of a kernel's ops, as a tree of loops, and which loops become lanes;
* `block_analysis.py`: which loops an op is in, what it reads and writes, and errors of races.

What an op computes:

* `pure.py`: reductions and other ops without state, from `elementwise.py`, `movement.py` and
  `wmma.py`, with what the work items of a warp exchange; `values.py`: arrays in which cells may be
  invalid;
* `kernel.py`: the ops of a kernel that take no part in loops; `memory.py`: the cells that a view of
  memory shows, and memory that a kernel changes as it runs;
* `instructions.py`: code of the caller, the built-in sorts, and what each instruction of a target
  computes.

Vectorised lanes:

* `lane_run.py`: running loops as lanes; `lane_races.py`: races between them.

Whole programs:

* `host.py`: functions on tensors and memory, and LINEARs; `versions.py`: memory that is a value,
  and the other values of a host program;
* `calls.py`, `run_context.py`: CALLs, and `run`, also for xDSL's own interpreter; `signature.py`:
  the inputs of `run`.
"""

from tgdialect.interpreter.calls import register_tg_implementations, run

__all__ = ["register_tg_implementations", "run"]
