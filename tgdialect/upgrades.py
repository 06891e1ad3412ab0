"""Programs in other vocabularies become programs in `tg`, by passes of plug-ins."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tgdialect.diagnostics import verify_module
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.registry import universe

_OURS = frozenset({"tg", "builtin", "func", "llvm", "gpu"})
"""The dialects that the compiler knows. For others all installed plug-ins are looked through."""


def upgrades_for(module: ModuleOp) -> Mapping[str, str]:
    """The passes that rewrite ops of a module into `tg`, by their dialects."""
    kinds: set[type[Operation]] = {type(op) for op in nested_ops(module)}
    dialects = {kind.name.partition(".")[0] for kind in kinds}
    if not (others := dialects - _OURS):
        return {}
    known = universe().all_upgrades
    return {dialect: known[dialect] for dialect in sorted(others) if dialect in known}


def upgrade(module: ModuleOp, ctx: Context) -> None:
    """Rewrite the ops of other vocabularies in a module into `tg`, in place, and verify it.

    Raises PassFailedException, located, for what a pass cannot say in `tg`.
    """
    done: set[str] = set()
    while left := [each for each in upgrades_for(module).values() if each not in done]:
        done.add(left[0])
        universe().all_passes[left[0]]()().apply(ctx, module)
        verify_module(module)
