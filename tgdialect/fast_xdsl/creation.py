"""Creates ops as xDSL's `Operation.create` does, in half of the time, and puts them into blocks.

Most ops have operands, properties and results, but neither successors nor regions. Half of the time
of `create` is for these, and most of the rest for copying sequences. A test compares the ops that
both make, field by field.
"""

# Fields of xDSL's ops and blocks.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, OptionalDef

from tgdialect.fast_xdsl.accessors import FastResult, Values

OpT = TypeVar("OpT", bound=Operation)

_UNKNOWN, _NONE = UnknownLoc(), Values()


def initialize(
    op: Operation,
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
    result_types: Sequence[Attribute] = (),
    regions: Sequence[Region] = (),
) -> None:
    """Initialise the fields of a new op."""
    op.operands = operands
    op.results = (
        Values([FastResult(type, op, i) for i, type in enumerate(result_types)])
        if result_types
        else _NONE
    )
    op.properties, op.attributes = {**properties}, {}
    op.location = _UNKNOWN
    op.regions = ()
    for region in regions:
        op.add_region(region)
    for name, value in _defaults(op.__class__):
        op.properties.setdefault(name, value)


def put_before(op: Operation, block: Block, following: Operation | None) -> None:
    """Insert an op without a parent into a block, before an op of it, or at its end. xDSL's methods
    take ten calls of Python code for that."""
    if op.parent is not None or op.regions or block._first_op is None:
        # It may contain the block.
        if following is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, following)
        return
    if following is not None and following.parent is not block:
        raise ValueError("Can't insert operation before operation not in current block")
    preceding = block._last_op if following is None else following._prev_op
    op.parent, op._prev_op, op._next_op = block, preceding, following
    if preceding is None:
        block._first_op = op
    else:
        preceding._next_op = op
    if following is None:
        block._last_op = op
    else:
        following._prev_op = op


def erase(op: Operation) -> None:
    """Erase an op of a block. xDSL's methods take fifteen calls of Python code for that, and make a
    value for each result that replaces no use."""
    block = op.parent
    assert block is not None
    uses = [result.first_use for result in op.results]
    if op.regions or op._successors or any(uses):
        block.erase_op(op)  # Raises if there are uses.
        return
    block.detach_op(op)
    for operand, use in zip(op._operands, op._operand_uses, strict=True):
        operand.remove_use(use)
    op._operand_uses = ()


@cache
def _defaults(kind: type[Operation]) -> Sequence[tuple[str, Attribute]]:
    """The properties that ops of a class have by default, as xDSL's `__post_init__` sets them."""
    if not issubclass(kind, IRDLOperation):
        return ()
    fields = kind.get_irdl_definition().properties.items()
    return [
        (name, field.default_value)
        for name, field in fields
        if field.default_value is not None and not isinstance(field, OptionalDef)
    ]


def created(
    kind: type[OpT],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute] = {},
    regions: Sequence[Region] = (),
) -> OpT:
    """A new op."""
    op = kind.__new__(kind)
    initialize(op, operands, properties, result_types, regions)
    return op
