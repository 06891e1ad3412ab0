"""The reference semantics of every op of the `tg` dialect at every level, in NumPy.

`run` executes a module. `register_tg_implementations` gives the same semantics to xDSL's own
interpreter. What the ops mean where the specification leaves room is in docs/semantics.md; the
backends are tested against this.
"""

from tgdialect.interpreter.entry import run
from tgdialect.interpreter.registration import register_tg_implementations

__all__ = ["register_tg_implementations", "run"]
