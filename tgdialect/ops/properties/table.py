"""The table of derived properties: a row per op, a column per property."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, NoneAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import SHAPES, facts
from tgdialect.ops import intervals
from tgdialect.ops.arguments import argument_attributes, dims_attribute
from tgdialect.ops.attributes import VOID, NumberAttr, PlaceAttr, TupleType, is_tensor
from tgdialect.ops.dtypes import BOOL, INDEX, UI8, UI64
from tgdialect.ops.intervals import Interval
from tgdialect.ops.properties import axis, device, dtype, min_max, shape
from tgdialect.ops.properties.axis import AxisRule
from tgdialect.ops.properties.device import AddrSpaceRule, DeviceRule
from tgdialect.ops.properties.dtype import DTypeRule
from tgdialect.ops.properties.min_max import MinMaxRule, of_dtype
from tgdialect.ops.properties.shape import STATED, ShapeRule
from tgdialect.ops.properties.substitution import function_type, scan_type
from tgdialect.ops.properties.symbolic import Dim, Shape, UnknownDim
from tgdialect.ops.properties.values import (
    integer,
    scan_extent,
    static_shape,
    tensor,
    tensor_type,
)
from tgdialect.ops.walk import computed, operands_of

TypeRule = Callable[[Operation], Attribute]
"""The rule for the result type of an op whose result is no tensor, or whose type is written."""

_NOWHERE = (None, None, None)
_NULL, _DTYPE_RANGE = device.null, min_max.dtype_range


@dataclass(frozen=True, slots=True)
class Row:
    """The rules for the properties of an op's result. By default device, addrspace and axis are
    null, and min_max is the range of the dtype."""

    dtype: DTypeRule
    shape: ShapeRule
    device: DeviceRule = _NULL
    addrspace: AddrSpaceRule = _NULL
    axis: AxisRule = _NULL
    min_max: MinMaxRule = _DTYPE_RANGE


Rules = Mapping[str, Row | TypeRule]
"""For each op with a tensor result, a row; for each other op, the rule for its result type."""


# -- rows that many ops share --------------------------------------------------------------------


def _leaf(interval: MinMaxRule = min_max.dtype_range) -> Row:
    """An op whose result type is an argument."""
    return Row(
        dtype.written,
        shape.written,
        device.written,
        device.written_addrspace,
        axis.written,
        interval,
    )


def _movement(
    new_shape: ShapeRule,
    new_axis: AxisRule = axis.source,
    interval: MinMaxRule = min_max.source,
    new_dtype: DTypeRule = dtype.source,
    new_device: DeviceRule = device.source,
) -> Row:
    """A movement op: its result is memory if the source is memory."""
    return Row(new_dtype, new_shape, new_device, device.source_addrspace, new_axis, interval)


def _elementwise(
    interval: MinMaxRule = min_max.dtype_range, new_dtype: DTypeRule = dtype.source
) -> Row:
    return Row(new_dtype, shape.broadcast, device.common, axis=axis.inherited, min_max=interval)


def _comparison(
    function: Callable[..., Interval], *, swap: bool = False, negate: bool = False
) -> Row:
    interval = min_max.compared(function, swap=swap, negate=negate)
    return _elementwise(interval, dtype.always(BOOL))


_IDENTITY = _movement(shape.source)


# -- ops whose result is no tensor, or whose type is an argument ---------------------------------


def _void(op: Operation) -> Attribute:
    return VOID


def _written_memory(op: Operation) -> Attribute:
    """STORE and ATOMICADD: void. Checks that all operands have one device and one sharding axis."""
    device.common(op)
    axis.inherited(op)
    return VOID


def _written_type(op: Operation) -> Attribute:
    return op.results[0].type


def _written_cells(op: Operation) -> Attribute:
    """INS and CUSTOM: a written tensor or void. They compute cell by cell, so the result is split
    among devices as the operands are."""
    type, inherited = op.results[0].type, axis.inherited(op)
    if type == VOID:
        return type
    if not is_tensor(type):
        raise VerifyException(f"the result is a tensor or !tg.void, not {type}")
    if (own := axis.written(op)) != inherited:
        axes = ["not sharded" if k is None else f"sharded on axis {k}" for k in (inherited, own)]
        raise VerifyException(f"the operands are {axes[0]}, but the result is {axes[1]}")
    return type


def _tuple_type(op: Operation) -> Attribute:
    return TupleType(ArrayAttr(o.type for o in op.operands))


def _element_type(op: Operation) -> Attribute:
    types = op.operands[0].type
    index = cast(NumberAttr, op.properties["index"]).data
    if not isinstance(types, TupleType):
        raise VerifyException(f"expected a !tg.tuple, got {types}")
    if not 0 <= index < len(types.types):
        raise VerifyException(f"index {index} is out of range for {len(types.types)} elements")
    return types.types.data[index]


TABLE: Rules = {
    # source
    "tg.param": _leaf(min_max.parameter),
    "tg.buffer": _leaf(),
    "tg.const": Row(dtype.constant, shape.scalar, min_max=min_max.constant),
    "tg.vconst": Row(dtype.always(INDEX), shape.value_count, min_max=min_max.constants),
    "tg.binary": Row(dtype.always(UI8), shape.byte_count),
    # movement
    "tg.permute": _movement(shape.permuted, axis.permuted),
    "tg.flip": _movement(shape.flipped, axis.unflipped),
    "tg.reshape": _movement(shape.reshaped, axis.reshaped),
    "tg.expand": _movement(shape.expanded, axis.uncut),
    "tg.pad": _movement(shape.padded, axis.uncut, min_max.padded),
    "tg.shrink": _movement(shape.shrunk, axis.uncut),
    "tg.index": _movement(shape.indexed, axis.indexed, min_max.indexed, new_device=device.common),
    "tg.stack": Row(
        dtype.source, shape.stacked, device.common, axis=axis.stacked, min_max=min_max.union
    ),
    "tg.bitcast": _movement(shape.bitcast, axis.bitcast, min_max.bitcast, dtype.argument),
    # reduce
    "tg.reduce": Row(dtype.source, shape.reduced, device.source, axis=axis.reduced),
    # call
    "tg.function": lambda op: function_type(op, result_type),
    "tg.scan": lambda op: scan_type(op, result_type),
    "tg.call": _written_type,
    "tg.tuple": _tuple_type,
    "tg.gettuple": _element_type,
    # load and store
    "tg.load": Row(
        dtype.source,
        shape.source,
        device.loaded,
        device.loaded_addrspace,
        axis.loaded,
        min_max.loaded,
    ),
    "tg.store": _written_memory,
    "tg.copy": Row(
        dtype.source, shape.source, device.argument, axis=axis.copied, min_max=min_max.source
    ),
    # ordering
    "tg.range": Row(dtype.always(INDEX), shape.scalar, min_max=min_max.iterated),
    "tg.end": _void,
    "tg.after": _IDENTITY,
    "tg.group": _void,
    "tg.sink": _void,
    "tg.linear": _void,
    # elementwise
    "tg.recip": _elementwise(),
    "tg.trunc": _elementwise(of_dtype(intervals.truncate)),
    "tg.cast": _elementwise(min_max.cast, dtype.argument),
    "tg.add": _elementwise(min_max.add),
    "tg.mul": _elementwise(min_max.mul),
    "tg.max": _elementwise(min_max.maximum),
    "tg.mod": _elementwise(of_dtype(intervals.modulo)),
    "tg.idiv": _elementwise(of_dtype(intervals.floor_divide)),
    "tg.cmplt": _comparison(intervals.less_than),
    "tg.cmpne": _comparison(intervals.not_equal),
    "tg.xor": _elementwise(of_dtype(intervals.bitwise_xor)),
    "tg.or": _elementwise(of_dtype(intervals.bitwise_or)),
    "tg.and": _elementwise(of_dtype(intervals.bitwise_and)),
    "tg.shr": _elementwise(of_dtype(intervals.shift_right)),
    "tg.shl": _elementwise(of_dtype(intervals.shift_left)),
    "tg.where": _elementwise(min_max.where, dtype.second),
    # decomposed elementwise
    "tg.neg": _elementwise(min_max.negated),
    "tg.sub": _elementwise(of_dtype(intervals.sub)),
    "tg.div": _elementwise(),
    "tg.cmpgt": _comparison(intervals.less_than, swap=True),
    "tg.cmpge": _comparison(intervals.less_than, negate=True),
    "tg.cmple": _comparison(intervals.less_than, swap=True, negate=True),
    "tg.cmpeq": _comparison(intervals.not_equal, negate=True),
    "tg.not": _elementwise(min_max.logical_not),
    "tg.exp2": _elementwise(min_max.increasing(min_max.exp2, low=0.0)),
    "tg.log2": _elementwise(min_max.increasing(min_max.logarithm(math.log2), domain=0.0)),
    "tg.exp": _elementwise(min_max.increasing(min_max.exponential(math.exp), low=0.0)),
    "tg.log": _elementwise(min_max.increasing(min_max.logarithm(math.log), domain=0.0)),
    "tg.log10": _elementwise(min_max.increasing(min_max.logarithm(math.log10), domain=0.0)),
    "tg.expm1": _elementwise(min_max.increasing(min_max.exponential(math.expm1), low=-1.0)),
    "tg.log1p": _elementwise(min_max.increasing(min_max.logarithm(math.log1p, -1.0), domain=-1.0)),
    "tg.softplus": _elementwise(min_max.increasing(min_max.softplus, low=0.0)),
    "tg.sin": _elementwise(min_max.sin),
    "tg.cos": _elementwise(min_max.sin),
    "tg.erf": _elementwise(min_max.increasing(math.erf, low=-1.0, high=1.0)),
    "tg.erfc": _elementwise(min_max.erfc),
    "tg.gate": _elementwise(min_max.gate),
    "tg.gelu": _elementwise(min_max.gelu),
    "tg.sqrt": _elementwise(
        min_max.increasing(lambda x: math.sqrt(max(x, 0.0)), low=0.0, domain=0.0)
    ),
    "tg.pow": _elementwise(),
    "tg.logaddexp": _elementwise(),
    "tg.lgamma": _elementwise(),
    "tg.fmod": _elementwise(),
    "tg.mulacc": _elementwise(min_max.mulacc),
    "tg.threefry": _elementwise(new_dtype=dtype.always(UI64)),
    # marker
    "tg.contiguous": _IDENTITY,
    "tg.contiguous_backward": _IDENTITY,
    "tg.detach": _IDENTITY,
    # codegen
    "tg.barrier": _void,
    "tg.ins": _written_cells,
    "tg.special": Row(dtype.always(INDEX), shape.scalar, min_max=min_max.iterated),
    "tg.if": _void,
    "tg.endif": _void,
    "tg.wmma": Row(dtype.third, shape.third, device.common, axis=axis.unsharded),
    "tg.shuffle": Row(dtype.source, shape.source, device.source, axis=axis.unsharded),
    "tg.custom": _written_cells,
    "tg.atomicadd": _written_memory,
    "tg.customfunction": _void,
    "tg.source": _void,
    # multi-device
    "tg.replicated": Row(dtype.source, shape.replicated, device.source, min_max=min_max.source),
}
"""The specification's table."""

UPSTREAM: Rules = dict.fromkeys(
    (
        *("shard.all_gather", "shard.all_reduce", "shard.all_slice", "shard.all_to_all"),
        *("shard.broadcast", "shard.gather", "shard.recv", "shard.reduce", "shard.reduce_scatter"),
        *("shard.scatter", "shard.send"),
    ),
    Row(dtype.source, shape.exchanged),
)
"""The same for ops of other dialects: collectives, whose operand is one device's own part."""


# -- reading the table ---------------------------------------------------------------------------


def rule_of(op: Operation | Block) -> Row | TypeRule | None:
    """The rule for an op's result: from its class's `RULES` if it has any, as the ops of another
    vocabulary do, else from the specification's table, else from that of upstream's collectives.
    None for other ops, and for blocks."""
    rules: Rules = getattr(op, "RULES", TABLE)
    name = getattr(op, "name", "")
    return rules.get(name, UPSTREAM.get(name))


def is_type_written(op: Operation) -> bool:
    """Whether an op's result type is stated in the IR, not derived from the operands."""
    row = rule_of(op)
    if isinstance(row, Row):
        return row.dtype is dtype.written
    return row is _written_type or row is _written_cells


def result_type(op: Operation) -> Attribute:
    """The type that an op's result must have. Raises VerifyException if a rule is violated."""
    row = rule_of(op)
    assert row is not None, f"{op.name} has no rule"
    if not isinstance(row, Row):
        return row(op)
    new_shape = row.shape(op, [shape_of(operand) for operand in op.operands])
    where = None if _is_nowhere(op, row) else _place(op, row)
    static = tuple(d if isinstance(d, int) else DYNAMIC_INDEX for d in new_shape)
    return tensor_type(row.dtype(op), static, where)


_FOLLOWING = frozenset(
    (
        *(device.null, device.source, device.common, device.source_addrspace),
        *(axis.source, axis.inherited, axis.permuted, axis.unflipped, axis.reshaped, axis.uncut),
        *(axis.indexed, axis.stacked, axis.bitcast, axis.reduced, axis.unsharded),
    )
)
"""Rules that give null if all operands are in no place."""


def _is_nowhere(op: Operation, row: Row) -> bool:
    """Whether it is known without asking the rules that a result is in no place, as most are."""
    return _FOLLOWING.issuperset((row.device, row.addrspace, row.axis)) and all(
        is_tensor(operand.type) and operand.type.encoding.__class__ is NoneAttr
        for operand in op.operands
    )


def _place(op: Operation, row: Row) -> PlaceAttr | None:
    place = row.device(op), row.addrspace(op), row.axis(op)
    return None if place == _NOWHERE else PlaceAttr.of(*place)


def shape_of(value: SSAValue) -> Shape:
    """The shape of a value, with index values for dynamic dimensions."""
    type = value.type
    if is_tensor(type) and DYNAMIC_INDEX not in (static := static_shape(type)):
        return static
    known: dict[SSAValue, Shape] = facts(SHAPES)

    def sources(value: SSAValue) -> Iterable[SSAValue]:
        """The operands whose shapes the rule of a dynamic shape needs."""
        if not is_tensor(value.type) or value.type.has_static_shape():
            return ()
        if (state := _state_of(value)) is not None:
            return (state,)
        row = rule_of(value.owner)
        return operands_of(value) if isinstance(row, Row) and row.shape not in STATED else ()

    def compute(value: SSAValue) -> Shape:
        owner = value.owner
        if not is_tensor(type := value.type):
            return ()
        if DYNAMIC_INDEX not in (static := type.get_shape()):
            return static
        if isinstance(owner, Block):
            return _argument_shape(value, owner)
        if (state := _state_of(value)) is not None:
            return known[state]
        if owner.name == "tg.gettuple":
            return _element_shape(value, owner)
        if isinstance(owner, CallOp):
            return _called_shape(value, owner)
        if not isinstance(row := rule_of(owner), Row):
            return _unknown_shape(value)
        if stated := STATED.get(row.shape):
            return stated(owner)
        return row.shape(owner, [known[o] for o in owner.operands])

    return computed(value, known, sources, compute)


def _unknown_shape(value: SSAValue) -> Shape:
    shape = enumerate(tensor(value).get_shape())
    return tuple(UnknownDim(value, i) if d == DYNAMIC_INDEX else d for i, d in shape)


def _called_shape(value: SSAValue, call: CallOp) -> Shape:
    """The shape of a result of a function. An extent that is an argument of the function is what it
    is called with; other dynamic extents are unknown."""
    unknown = _unknown_shape(value)
    function = SymbolTable.lookup_symbol(call, call.callee)
    if not isinstance(function, FuncOp) or (body := function.body).first_block is None:
        return unknown
    last = body.block.last_op
    assert last is not None
    inner = shape_of(last.operands[call.results.index(cast(OpResult, value))])
    return tuple(
        call.operands[new.index] if isinstance(new, BlockArgument) else old
        for old, new in zip(unknown, inner, strict=True)
    )


def _state_of(value: SSAValue) -> SSAValue | None:
    """The first state of a SCAN, for the last one; None for any other value."""
    element = value.owner
    if isinstance(element, Block) or element.name != "tg.gettuple":
        return None
    scan, position = element.operands[0].owner, integer(element, "index")
    if isinstance(scan, Block) or scan.name != "tg.scan" or position is None:
        return None
    states = integer(scan, "states") or 0
    return scan.operands[position] if 0 <= position < states else None


def _element_shape(value: SSAValue, element: Operation) -> Shape:
    """The shape of an element of the tuple of a FUNCTION, or of what a SCAN stacks. An extent that
    is a PARAM of the body becomes the argument; other dynamic extents are unknown."""
    unknown = _unknown_shape(value)
    function, position = element.operands[0].owner, integer(element, "index")
    if isinstance(function, Block) or position is None:
        return unknown
    if function.name not in ("tg.function", "tg.scan"):
        return unknown
    body = function.regions[0].block.last_op
    assert body is not None

    def argument(outer: Dim, inner: Dim) -> Dim:
        param = inner.owner if isinstance(inner, SSAValue) else None
        if isinstance(outer, int) or not isinstance(param, Operation) or param.name != "tg.param":
            return outer
        slot = integer(param, "slot")
        return outer if slot is None else function.operands[slot]

    inner = shape_of(body.operands[position])
    if function.name == "tg.function":
        return tuple(map(argument, unknown, inner))
    return (scan_extent(function), *map(argument, unknown[1:], inner))


def _argument_shape(argument: SSAValue, block: Block) -> Shape:
    """The shape of a function's argument. Its attribute `tg.dims`, such as `array<i64: 0>`, lists
    the index argument that gives the extent of each `?`."""
    assert isinstance(argument, BlockArgument)
    positions = dims_attribute(argument_attributes(argument))
    if positions is None:
        return _unknown_shape(argument)
    static = tensor(argument).get_shape()
    if static.count(DYNAMIC_INDEX) != len(positions):
        raise VerifyException(
            f"tg.dims names {len(positions)} arguments for the "
            f"{static.count(DYNAMIC_INDEX)} dynamic axes of argument {argument.index}"
        )
    for position in positions:
        if not 0 <= position < len(block.args) or block.args[position].type != _INDEX_SCALAR:
            raise VerifyException(f"tg.dims: argument {position} is not a {_INDEX_SCALAR}")
    names = iter(positions)
    return tuple(block.args[next(names)] if d == DYNAMIC_INDEX else d for d in static)


_INDEX_SCALAR = tensor_type(INDEX)
