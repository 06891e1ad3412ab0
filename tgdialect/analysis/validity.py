"""Which values may have invalid cells: those that depend on a PAD without `fill` or on `const
invalid`.

A rewrite that drops an operand must know that it is valid: `x * 0` is invalid where x is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.base import TgOp
from tgdialect.ops.walk import computed

MATERIALISING = frozenset(
    {"tg.contiguous", "tg.load", "tg.copy", "tg.reduce", "tg.call", "tg.scan"}
)
"""Ops whose result is valid whatever their operands are: invalid cells become 0, or are skipped."""


class Validity:
    """Whether all cells of a value are valid; computed on demand and cached per value.

    `known` says so of some values, such as the PARAMs of a body that is no FUNCTION's.
    """

    def __init__(self, known: Mapping[SSAValue, bool] | None = None) -> None:
        self._known: dict[SSAValue, bool] = dict(known or {})

    def __getitem__(self, value: SSAValue) -> bool:
        known = self._known
        if (is_valid := known.get(value)) is not None:
            return is_valid
        return computed(
            value,
            known,
            _sources,
            lambda v: not _makes_invalid(v) and all(known[s] for s in _sources(v)),
        )


def _sources(value: SSAValue) -> Sequence[SSAValue]:
    """The values that must be valid for `value` to be valid."""
    owner = value.owner
    # Most are ops of ours: `isinstance` with Block, an abstract class, is slow.
    if not isinstance(owner, TgOp) and isinstance(owner, Block):
        return ()
    if owner.name in MATERIALISING:
        return ()
    if isinstance(owner, tg.FunctionOp):
        return (owner.body.block.last_op.results[0],) if owner.body.block.last_op else ()
    if isinstance(owner, tg.ParamOp) and isinstance(function := owner.parent_op(), tg.FunctionOp):
        return (function.arguments[owner.slot.data],)
    return owner.operands


def _makes_invalid(value: SSAValue) -> bool:
    owner = value.owner
    if isinstance(owner, tg.ConstOp):
        return owner.value.__class__ is tg.InvalidAttr
    return isinstance(owner, TgOp) and owner.name == "tg.pad" and "fill" not in owner.properties
