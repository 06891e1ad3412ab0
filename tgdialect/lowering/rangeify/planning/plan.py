"""The plan of a function: which values are stored, and the loops of kernels, as attributes of ops.

| attribute | on | meaning |
|---|---|---|
| `tg.realised` | a value | a kernel of its own stores it |
| `tg.local_axes = array<i64: 1>` | a value | its kernel keeps these axes of it in a LOCAL buffer |
| `tg.axis_order = array<i64: 1, 0>` | a stored value | the axes of its buffer, outermost first |
| `tg.loop_order = array<i64: 1, 0>` | a root | the axes of its loops, outermost first |
| `tg.loop_splits = [array<i64: 4>]` | a root | per axis, where its loop is split, greatest first |
| `tg.holds_source` | a stored PAD | what it pads is stored inside of its buffer |
| `tg.online_blocks = array<i64: 64, 32>` | a maximum | rows and steps of the blocks of its sums |

A root is a STORE, or a value that a kernel of its own stores. A value without an attribute is
fused: computed again wherever it is used. No attribute names another op: which value a PAD pads,
and which sums go over the exponentials of a maximum, follow from the ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from xdsl.dialects import builtin
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.planning.online import OnlineSums
from tgdialect.lowering.rangeify.planning.online_blocks import Blocks
from tgdialect.lowering.rangeify.planning.online_recognition import online_sums_of
from tgdialect.lowering.rangeify.planning.padding import Padded, may_hold, padded_value
from tgdialect.ops import tg
from tgdialect.ops.properties import index_array
from tgdialect.ops.properties.values import array_values

REALISED = "tg.realised"
LOCAL_AXES = "tg.local_axes"
AXIS_ORDER = "tg.axis_order"
LOOP_ORDER = "tg.loop_order"
LOOP_SPLITS = "tg.loop_splits"
HOLDS_SOURCE = "tg.holds_source"
ONLINE_BLOCKS = "tg.online_blocks"

ATTRIBUTES: Mapping[str, type[Attribute]] = {
    REALISED: builtin.UnitAttr,
    LOCAL_AXES: builtin.DenseArrayBase,
    AXIS_ORDER: builtin.DenseArrayBase,
    LOOP_ORDER: builtin.DenseArrayBase,
    LOOP_SPLITS: builtin.ArrayAttr,
    HOLDS_SOURCE: builtin.UnitAttr,
    ONLINE_BLOCKS: builtin.DenseArrayBase,
}
"""The class of each attribute."""

AxisList = tuple[int, ...]
"""AxisList of a value by number."""


@dataclass
class Fusion:
    """The plan as the planner makes it and as kernels are built by it."""

    realised: set[Operation] = field(default_factory=set[Operation])
    """Values that are stored by a kernel of their own."""
    local_axes: dict[Operation, AxisList] = field(default_factory=dict[Operation, AxisList])
    """The axes of each local value that its LOCAL buffer has. Along the other axes the loops around
    the buffer fix the index."""
    splits: dict[Operation, Sequence[Sequence[int]]] = field(
        default_factory=dict[Operation, Sequence[Sequence[int]]]
    )
    """For each axis of a root, the divisors at which its loop is split, the greatest first."""
    orders: dict[Operation, AxisList] = field(default_factory=dict[Operation, AxisList])
    """For roots whose loops are not in the order of the axes: the axes, outermost first."""
    axis_orders: dict[Operation, AxisList] = field(default_factory=dict[Operation, AxisList])
    """For realised values whose buffers do not have the axes in order: the axes, outermost
    first."""
    online: dict[Operation, tuple[OnlineSums, Blocks]] = field(
        default_factory=dict[Operation, tuple[OnlineSums, Blocks]]
    )
    """For roots that are computed in one pass over blocks of steps (`online.py`): how."""
    paddings: dict[Operation, Padded] = field(default_factory=dict[Operation, Padded])
    """Realised values whose kernels store them inside of the buffer of a PAD, and where. The PAD is
    realised by kernels that store the border around the value."""

    @property
    def axis_lists(self) -> Mapping[str, dict[Operation, AxisList]]:
        """Lists of axes by their attributes."""
        return {LOCAL_AXES: self.local_axes, AXIS_ORDER: self.axis_orders, LOOP_ORDER: self.orders}


def realise(*ops: Operation) -> None:
    """Have the plan store values, whatever it would cost to compute them again."""
    for op in ops:
        op.attributes[REALISED] = builtin.UnitAttr()


def is_realised(op: Operation) -> bool:
    """Whether the plan stores a value by a kernel of its own."""
    return REALISED in op.attributes


def erase_plan(ops: Sequence[Operation]) -> None:
    """Take the plan away from ops."""
    for op in ops:
        if op.attributes:
            for name in ATTRIBUTES:
                op.attributes.pop(name, None)


def write_plan(block: Block, plan: Fusion) -> None:
    """State a plan on the ops of a function, in place of what they state."""
    erase_plan(ops_of(block))
    realise(*plan.realised)
    for name, lists in plan.axis_lists.items():
        for op, axes in lists.items():
            op.attributes[name] = index_array(axes)
    for op, splits in plan.splits.items():
        op.attributes[LOOP_SPLITS] = builtin.ArrayAttr(map(index_array, splits))
    for inside in plan.paddings.values():
        inside.pad.attributes[HOLDS_SOURCE] = builtin.UnitAttr()
    for group, blocks in plan.online.values():
        group.greatest.attributes[ONLINE_BLOCKS] = index_array(blocks)


def read_plan(
    block: Block, is_valid: Callable[[SSAValue], bool], online: Mapping[Operation, OnlineSums]
) -> Fusion:
    """The plan that the ops of a function state. `is_valid` says of a value whether all of its
    cells are valid, and `online` has the sums that are known, by their maxima.

    Raises PassFailedException, located at the op, for an attribute that is malformed, or that does
    not fit the op.
    """
    plan = Fusion()
    stated = [op for op in ops_of(block) if op.attributes]
    for op in stated:
        for name in op.attributes.keys() & ATTRIBUTES.keys():
            if not isinstance(op.attributes[name], ATTRIBUTES[name]):
                raise _error(op, f"{name} is no {ATTRIBUTES[name].name}")
        if REALISED in op.attributes:
            _check(op, REALISED, len(op.results) == 1 and tg.is_tensor(op.results[0].type))
            _check(op, REALISED, not tg.is_storage(op.results[0]))
            plan.realised.add(op)
    for op in stated:
        for name, lists in plan.axis_lists.items():
            if name in op.attributes:
                lists[op] = _read_axes(op, name)
        if (splits := op.attributes.get(LOOP_SPLITS)) is not None:
            plan.splits[op] = _read_splits(op, cast("builtin.ArrayAttr[Attribute]", splits))
        if HOLDS_SOURCE in op.attributes:
            inside = padded_value(op) if isinstance(op, tg.PadOp) and is_realised(op) else None
            may = inside is not None and may_hold(inside, is_valid) and is_realised(inside.op)
            if inside is None or not may or inside.op in plan.paddings:
                raise _error(op, f"{HOLDS_SOURCE} needs a PAD and a source that are {REALISED}")
            plan.paddings[inside.op] = inside
        if ONLINE_BLOCKS in op.attributes:
            group = online.get(op) or online_sums_of(op, is_valid)
            sizes = array_values(op.attributes[ONLINE_BLOCKS])
            fits = len(sizes) == 2 and min(sizes) > 0
            _check(op, ONLINE_BLOCKS, fits and group is not None and is_realised(group.root))
            assert group is not None
            plan.online[group.root] = group, Blocks(*sizes)
    return plan


def _read_axes(op: Operation, name: str) -> AxisList:
    """Read a list of axes: of a LOCAL buffer, or all axes in another order."""
    axes: AxisList = array_values(op.attributes[name])
    shape = _loop_shape(op)
    _check(op, name, len({*axes}) == len(axes) and all(0 <= axis < len(shape) for axis in axes))
    if name == LOCAL_AXES:
        _check(op, name, bool(op.results) and bool(axes) and all(shape[a] >= 0 for a in axes))
    else:
        _check(op, name, len(axes) == len(shape))
    return axes


def _read_splits(op: Operation, attribute: builtin.ArrayAttr[Attribute]) -> list[AxisList]:
    """Read the divisors at which loops are split: each divides the one before, or the extent."""
    shape = _loop_shape(op)
    _check(op, LOOP_SPLITS, all(isinstance(each, builtin.DenseArrayBase) for each in attribute))
    splits = [array_values(each) for each in attribute]
    _check(op, LOOP_SPLITS, len(splits) == len(shape))
    for extent, divisors in zip(shape, splits, strict=True):
        chain = (extent, *divisors)
        fits = all(b > 0 and a >= 0 and a % b == 0 for a, b in pairwise(chain))
        _check(op, LOOP_SPLITS, not divisors or fits)
    return splits


def _loop_shape(op: Operation) -> Sequence[int]:
    """The shape of what an op gives, or of what a STORE writes."""
    value = op.operands[0] if isinstance(op, tg.StoreOp) else next(iter(op.results), None)
    if value is None or not tg.is_tensor(value.type):
        raise _error(op, f"{op.name} has no axes to plan")
    return tg.tensor(value).get_shape()


def _check(op: Operation, name: str, fits: bool) -> None:
    if not fits:
        raise _error(op, f"{name} does not fit this op")


def _error(op: Operation, message: str) -> PassFailedException:
    return locate(PassFailedException(message), op)
