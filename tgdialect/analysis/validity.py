"""Which values may have invalid cells: those that depend on a PAD without `fill` or on `const
invalid`.

A rewrite that drops an operand must know that it is valid: `x * 0` is invalid where x is.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from tgdialect.ops import tg

MATERIALISING = frozenset(
    {"tg.contiguous", "tg.load", "tg.copy", "tg.reduce", "tg.call", "tg.scan"}
)
"""Ops whose result is valid whatever their operands are: invalid cells become 0, or are skipped."""


class Validity(tg.Computed[bool]):
    """Whether all cells of a value are valid; computed on demand and cached per value.

    `known` says so of some values, such as the PARAMs of a body that is no FUNCTION's.
    """

    def _sources(self, value: SSAValue) -> Sequence[SSAValue]:
        """The values that must be valid for `value` to be valid."""
        owner = value.owner
        # Most are ops of ours: `isinstance` with Block, an abstract class, is slow.
        if not isinstance(owner, tg.TgOp) and isinstance(owner, Block):
            return ()
        if owner.name in MATERIALISING:
            return ()
        if isinstance(owner, tg.FunctionOp):
            return (owner.body.block.last_op.results[0],) if owner.body.block.last_op else ()
        if isinstance(owner, tg.ParamOp) and isinstance(call := owner.parent_op(), tg.FunctionOp):
            return (call.arguments[owner.slot.data],)
        return owner.operands

    def _compute(self, value: SSAValue) -> bool:
        owner = value.owner
        if isinstance(owner, tg.ConstOp):
            return owner.value.__class__ is not tg.InvalidAttr
        if isinstance(owner, tg.PadOp) and "fill" not in owner.properties:
            return False
        return all(self._known[source] for source in self._sources(value))
