"""The reference semantics of every op of the `tg` dialect at every level, in NumPy.

`run` executes a module. `register_tg_implementations` gives the same semantics to xDSL's own
interpreter. What the ops mean where the specification leaves room is in docs/semantics.md; the
backends are tested against this. In reading order:

Values and ops without state:

* `values.py`: arrays, some cells of which may be invalid;
* `elementwise.py`, `movement.py`, `reduction.py`, `threefry.py`, `wmma.py`: one op family each;
* `pure.py`: the table of these ops.

Host programs:

* `host_values.py`: tensors, views, ordering edges and tuples;
* `locations.py`: views of memory; `versions.py`: versioned memory;
* `machine.py`: the state of one run; `calls.py`: what a CALL may call; `custom.py`: foreign code;
* `host.py`: ops of a host program; `linear.py`: a LINEAR among them.

Kernels:

* `accesses.py`: which ops access which memory; `scopes.py`: the loops and conditions of each op;
* `graph_versions.py`, `nesting.py`, `schedule.py`: an order of execution;
* `live.py`: memory while a kernel runs; `thread_races.py`: races in it;
* `execution.py`: runs a schedule; `kernel.py`: ops of a kernel.

Entries:

* `signature.py`: checks the inputs of a run; `entry.py`: `run`;
* `registration.py`: implementations for xDSL's interpreter.
"""

from tgdialect.interpreter.entry import run
from tgdialect.interpreter.registration import register_tg_implementations

__all__ = ["register_tg_implementations", "run"]
