"""Ops as xDSL's `Operation.create` makes them, in half of the time.

Most ops that a compilation makes have operands, properties and results, and neither successors nor
regions: what `create` does about those is half of its time, and making sequences anew of what are
sequences most of the rest. A test compares what both make field by field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue
from xdsl.ir.core import SSAValues

OpT = TypeVar("OpT", bound=Operation)

_UNKNOWN = UnknownLoc()


def initialize(
    op: Operation,
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
    result_types: Sequence[Attribute] = (),
    regions: Sequence[Region] = (),
) -> None:
    """Fill in an op that is new."""
    op.operands = operands
    op.results = SSAValues([OpResult(type, op, i) for i, type in enumerate(result_types)])
    op.properties, op.attributes = {**properties}, {}
    op.location = _UNKNOWN
    op.regions = ()
    for region in regions:
        op.add_region(region)
    op.__post_init__()


def created(
    kind: type[OpT],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute] = {},
) -> OpT:
    """A new op."""
    op = kind.__new__(kind)
    initialize(op, operands, properties, result_types)
    return op
