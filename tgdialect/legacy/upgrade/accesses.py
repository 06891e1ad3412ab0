"""The memory that a LOAD or STORE accesses, and sizes of pointers that a listing does not state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.legacy.ops.indexing import IndexOp
from tgdialect.legacy.ops.memory import CastOp, DefineGlobalOp, LoadOp, StoreOp
from tgdialect.ops import tg
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.properties import tensor
from tgdialect.ops.walk import behind

LARGEST = 2**31 - 1
"""The greatest position that an access may have to say a size: that of 32-bit integers of which
nothing else is known."""


class Access(NamedTuple):
    """An access of elements from a position on, where the conditions hold."""

    op: Operation
    buffer: SSAValue
    position: SSAValue | None
    lanes: int
    """The number of neighbouring elements; 1 for a vector of positions."""
    conditions: tuple[SSAValue, ...]


def access_of(op: LoadOp | StoreOp) -> Access:
    """The access of a LOAD or STORE, through INDEX and CAST of its location."""
    value = op.result if isinstance(op, LoadOp) else op.value
    lanes = tensor(value).get_shape()
    gates = [] if op.gate is None else [op.gate]
    buffer, position = op.buffer, op.at
    if position is None:
        location = buffer.owner
        if isinstance(location, CastOp):
            location = location.element.owner
        if not isinstance(location, IndexOp):
            return Access(op, buffer, None, 1, tuple(gates))
        buffer, position = location.buffer, location.position
        gates += [] if location.valid is None else [location.valid]
    is_vector = is_tensor(position.type) and lanes != tensor(position).get_shape()
    count = lanes[0] if is_vector else 1
    return Access(op, buffer, position, count, tuple(gates))


def accesses(ops: Iterable[Operation]) -> Iterator[Access]:
    """The accesses of ops."""
    return (access_of(op) for op in ops if isinstance(op, LoadOp | StoreOp))


def memory_of(buffer: SSAValue) -> SSAValue:
    """The memory that an AFTER, or several, passes on."""
    return behind(buffer, tg.AfterOp)


def pointer_sizes(ops: Iterable[Operation], intervals: MinMax) -> dict[SSAValue, int]:
    """The number of elements of each DEFINE_GLOBAL: what it states, else one more than the greatest
    position that is accessed.

    Accesses without a condition decide where there are any, since a condition may exclude what the
    interval of a position has. Raises PassFailedException where nothing bounds the positions.
    """
    ops = list(ops)
    found: dict[SSAValue, dict[bool, int]] = defaultdict(dict)
    for access in accesses(ops):
        if access.position is not None and is_tensor(access.position.type):
            sizes = found[memory_of(access.buffer)]
            gated = bool(access.conditions)
            size = int(intervals[access.position].hi) + access.lanes
            sizes[gated] = max(sizes.get(gated, 1), size)
    result: dict[SSAValue, int] = {}
    for op in ops:
        if isinstance(op, DefineGlobalOp):
            (stated,) = tensor(op.result).get_shape()
            sizes = found[op.result]
            size = sizes.get(False, sizes.get(True, 1)) if stated == DYNAMIC_INDEX else stated
            if size > LARGEST:
                message = (
                    f"nothing bounds the positions at which argument {op.slot.data} is accessed, "
                    "and it does not state its size: write its dtype with a size, as "
                    "dtypes.float.ptr(16)"
                )
                raise locate(PassFailedException(message), op)
            result[op.result] = size
    return result
