"""Vectors of neighbouring indices, by how they are computed."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from tgdialect.ops.elementwise import AddOp
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.movement import StackOp
from tgdialect.ops.properties import number, tensor


class RampStart(NamedTuple):
    """The first of some neighbouring indices: a sum of scalars and a constant."""

    terms: tuple[SSAValue, ...]
    constant: int


def ramp_start(index: SSAValue) -> RampStart | None:
    """Where a vector of indices begins that are each one more than the one before; None of others.

    Such a vector is a STACK of constants, to which scalars may have been added.
    """
    if isinstance(op := index.owner, AddOp):
        for vector, scalar in (op.operands, reversed(op.operands)):
            if tensor(scalar).get_shape() or (start := ramp_start(vector)) is None:
                continue
            if (attribute := constant_attribute(scalar)) is not None:
                return start._replace(constant=start.constant + int(number(attribute)))
            return start._replace(terms=(*start.terms, scalar))
    if not isinstance(op, StackOp) or tensor(op.sources[0]).get_shape():
        return None
    attributes = [constant_attribute(source) for source in op.sources]
    numbers = [int(number(a)) for a in attributes if a is not None]
    first = numbers[0] if numbers else 0
    is_ramp = numbers == list(range(first, first + len(attributes)))
    return RampStart((), first) if is_ramp else None
