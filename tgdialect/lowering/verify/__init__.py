"""The level verifier: what a program may hold after each stage (docs/ir.md, "Levels").

In reading order:

* `table.py` says for each level which containers a module holds, which ops are in their bodies,
  and which rules these obey, and applies it: the pass `tg-verify`;
* `rules.py` has the rules.

What holds for an op at every level is in the op's own verifier.
"""

from tgdialect.lowering.verify.rules import argument_attributes_are_typed
from tgdialect.lowering.verify.table import LEVELS, Body, VerifyLevelPass, verify_level

__all__ = ["LEVELS", "Body", "VerifyLevelPass", "argument_attributes_are_typed", "verify_level"]
