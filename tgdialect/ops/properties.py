"""The specification's "Derived Properties" table, as code.

One row per op gives dtype, shape, device, addrspace, axis (`ops.md`, section "axis") and min_max;
`result_type` puts the first five together. Nothing else in the code base computes any of them.

A rule for dtype, device, addrspace or axis reads the op; a shape rule also gets the shapes of the
operands, whose dynamic dimensions are SSA values, so that two `?` can be told apart; a min_max rule
gets the intervals of the operands (`analysis/min_max.py` walks the graph for them).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops import intervals
from tgdialect.ops.attributes import (
    VOID,
    AddrSpace,
    Device,
    InvalidAttr,
    PlaceAttr,
    TupleType,
)
from tgdialect.ops.dtypes import BOOL, DTYPES, INDEX, UI8, UI64, DType, dtype_names
from tgdialect.ops.intervals import Interval

Dim = int | SSAValue
"""A static extent, or the `tensor<index>` value that a dynamic one has."""
Shape = tuple[Dim, ...]

DTypeRule = Callable[[Operation], Attribute]
ShapeRule = Callable[[Operation, Sequence[Shape]], Shape]
DeviceRule = Callable[[Operation], Device]
AddrSpaceRule = Callable[[Operation], AddrSpace | None]
AxisRule = Callable[[Operation], int | None]
MinMaxRule = Callable[[Operation, Sequence[Interval]], Interval]


# -- reading types -------------------------------------------------------------------------------

_NOWHERE = PlaceAttr.of()


def tensor(value: SSAValue) -> TensorType[Attribute]:
    """The tensor type of an operand; anything else is an error of the program."""
    type = value.type
    if not isinstance(type, TensorType):
        raise VerifyException(f"expected a tensor, got {type}")
    return cast(TensorType[Attribute], type)


def place_of(type: TensorType[Any]) -> PlaceAttr:
    """Where a tensor lives; no encoding means nowhere in particular."""
    encoding = type.encoding
    if isinstance(encoding, PlaceAttr):
        return encoding
    if isinstance(encoding, NoneAttr):
        return _NOWHERE
    raise VerifyException(f"the encoding of {type} is not a #tg.place")


def place(value: SSAValue) -> PlaceAttr:
    return place_of(tensor(value))


def is_memory(value: SSAValue) -> bool:
    """Whether a value is memory: it has an address space, so it can be loaded and stored."""
    return isinstance(value.type, TensorType) and place(value).addrspace is not None


def dtype_of(value: SSAValue) -> DType:
    """The row of the dtype table for a tensor's elements."""
    element = tensor(value).element_type
    if (dtype := DTYPES.get(element)) is None:
        raise VerifyException(f"{element} is not a dtype: {dtype_names()}")
    return dtype


@cache
def tensor_type(
    dtype: Attribute, shape: tuple[int, ...] = (), place: PlaceAttr | None = None
) -> TensorType[Attribute]:
    """The (cached) tensor type; a place that says nothing is no encoding."""
    if place is None or place == _NOWHERE:
        return TensorType(dtype, shape)
    if place.axis is not None and not place.axis < len(shape):
        raise VerifyException(f"the sharding axis {place.axis} is not an axis of shape {shape}")
    return TensorType(dtype, shape, place)


def integers(op: Operation, name: str) -> tuple[int, ...]:
    """A property that is a dense array of integers."""
    return tuple(cast(DenseArrayBase[Any], op.properties[name]).get_values())


def mixed(op: Operation, name: str, dynamic: Sequence[SSAValue]) -> Shape:
    """A static list in a property, its dynamic entries replaced by values in order."""
    values = iter(dynamic)
    static = integers(op, name)
    if static.count(DYNAMIC_INDEX) != len(dynamic):
        raise VerifyException(
            f"{name} has {static.count(DYNAMIC_INDEX)} dynamic entries but {len(dynamic)} values"
        )
    return tuple(next(values) if v == DYNAMIC_INDEX else v for v in static)


# -- shape ---------------------------------------------------------------------------------------


def shape_of(value: SSAValue) -> Shape:
    """The shape of a value, dynamic dimensions as the index values they come from.

    A dynamic dimension whose origin is unknown (a function result) stands for itself: it is the
    value, which equals nothing else.
    """
    known: dict[SSAValue, Shape] = {}
    stack = [value]
    while stack:
        v = stack[-1]
        if v in known:
            stack.pop()
            continue
        owner = v.owner
        if not isinstance(v.type, TensorType):
            known[v] = ()
        elif v.type.has_static_shape():
            known[v] = v.type.get_shape()
        elif isinstance(owner, Block):
            known[v] = _argument_shape(v, owner)
        elif not isinstance(row := TABLE.get(owner.name), Row):
            known[v] = tuple(v if d == DYNAMIC_INDEX else d for d in v.type.get_shape())
        elif missing := [o for o in owner.operands if o not in known]:
            stack.extend(missing)
            continue
        else:
            known[v] = row.shape(owner, [known[o] for o in owner.operands])
        stack.pop()
    return known[value]


def _argument_shape(argument: SSAValue, block: Block) -> Shape:
    """A function argument says which index arguments its `?` are: `{tg.dims = array<i64: 0>}`."""
    assert isinstance(argument, BlockArgument)
    static = tensor(argument).get_shape()
    function = block.parent_op()
    attributes = None if function is None else function.properties.get("arg_attrs")
    dims = None
    if isinstance(attributes, ArrayAttr):
        dims = cast(Any, attributes).data[argument.index].data.get("tg.dims")
    if not isinstance(dims, DenseArrayBase):
        return tuple(argument if d == DYNAMIC_INDEX else d for d in static)
    names = iter(cast(tuple[int, ...], cast(Any, dims).get_values()))
    return tuple(block.args[next(names)] if d == DYNAMIC_INDEX else d for d in static)


def _show(dim: Dim) -> str:
    return str(dim) if isinstance(dim, int) else f"%{dim.name_hint or '?'}"


def show_shape(shape: Shape) -> str:
    """A shape as error messages print it: `4x?x8`, and `()` for a scalar."""
    return "x".join(_show(d) for d in shape) or "()"


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """Right-align, then per axis the greater extent; each axis must be equal or 1."""
    rank = max(len(s) for s in shapes)
    result: list[Dim] = []
    for axis in range(rank):
        extent: Dim = 1
        for shape in shapes:
            position = axis - rank + len(shape)
            dim = shape[position] if position >= 0 else 1
            if isinstance(dim, int) and dim == 1:
                continue
            if isinstance(extent, int) and extent == 1:
                extent = dim
            elif dim is not extent and dim != extent:
                raise VerifyException(
                    f"axis {axis}: {_show(extent)} and {_show(dim)} do not broadcast"
                )
        result.append(extent)
    return tuple(result)


def _scalar(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return ()


def _source_shape(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return shapes[0]


def _written_shape(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """The shape is an argument: the result type says it, with an index operand for each `?`."""
    static = tensor(op.results[0]).get_shape()
    if static.count(DYNAMIC_INDEX) != len(op.operands):
        raise VerifyException(
            f"{static.count(DYNAMIC_INDEX)} dynamic dimensions but {len(op.operands)} index values"
        )
    dynamic = iter(op.operands)
    return tuple(next(dynamic) if d == DYNAMIC_INDEX else d for d in static)


def _broadcast(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return broadcast_shapes(shapes)


def _permuted(op: Operation, shapes: Sequence[Shape]) -> Shape:
    order, shape = integers(op, "order"), shapes[0]
    if sorted(order) != list(range(len(shape))):
        raise VerifyException(f"order {list(order)} is not a permutation of {len(shape)} axes")
    return tuple(shape[axis] for axis in order)


def _flipped(op: Operation, shapes: Sequence[Shape]) -> Shape:
    if len(integers(op, "flags")) != len(shapes[0]):
        raise VerifyException(
            f"{len(integers(op, 'flags'))} flags for a tensor of {len(shapes[0])} axes"
        )
    return shapes[0]


def product(shape: Shape) -> tuple[int, tuple[SSAValue, ...]]:
    """The number of elements, symbolically: a constant factor and the sorted dynamic factors."""
    static = math.prod(d for d in shape if isinstance(d, int))
    dynamic = sorted((d for d in shape if isinstance(d, SSAValue)), key=id)
    return (0, ()) if static == 0 else (static, tuple(dynamic))


def _nonnegative(shape: Shape) -> Shape:
    for axis, dim in enumerate(shape):
        if isinstance(dim, int) and dim < 0:
            raise VerifyException(f"axis {axis} of the new shape is negative: {dim}")
    return shape


def _reshaped(op: Operation, shapes: Sequence[Shape]) -> Shape:
    old, new = shapes[0], _nonnegative(mixed(op, "shape", op.operands[1:]))
    if product(old) != product(new):
        raise VerifyException(
            f"reshape from {show_shape(old)} to {show_shape(new)} changes the number of elements"
        )
    return new


def _expanded(op: Operation, shapes: Sequence[Shape]) -> Shape:
    old, new = shapes[0], _nonnegative(mixed(op, "shape", op.operands[1:]))
    _same_rank("expand", old, new)
    for axis, (a, b) in enumerate(zip(old, new, strict=True)):
        if a != 1 and a is not b and a != b:
            raise VerifyException(f"axis {axis}: {_show(a)} does not expand to {_show(b)}")
    return new


def _same_rank(name: str, old: Shape, new: Shape) -> None:
    if len(old) != len(new):
        raise VerifyException(f"{name} from {len(old)} to {len(new)} axes; the rank is kept")


def window(op: Operation) -> tuple[Shape, Shape]:
    """The offsets and the new shape of a PAD or SHRINK."""
    n_dynamic = integers(op, "offsets").count(DYNAMIC_INDEX)
    dynamic = op.operands[1:]
    offsets = mixed(op, "offsets", dynamic[:n_dynamic])
    return offsets, _nonnegative(mixed(op, "shape", dynamic[n_dynamic:]))


def _windowed(inner_is_source: bool, name: str) -> ShapeRule:
    """PAD: 0 <= o and o + s <= s'. SHRINK: 0 <= o and o + s' <= s. Dynamic ones hold at run time."""

    def rule(op: Operation, shapes: Sequence[Shape]) -> Shape:
        old = shapes[0]
        offsets, new = window(op)
        _same_rank(name, old, new)
        _same_rank(name, old, offsets)
        for axis, (o, s, s_new) in enumerate(zip(offsets, old, new, strict=True)):
            inner, outer = (s, s_new) if inner_is_source else (s_new, s)
            if isinstance(o, int) and o < 0:
                raise VerifyException(f"axis {axis}: offset {o} is negative")
            if not (isinstance(o, int) and isinstance(inner, int) and isinstance(outer, int)):
                continue
            if o + inner > outer:
                raise VerifyException(
                    f"axis {axis}: offset {o} plus extent {inner} exceeds {outer}"
                )
        return new

    return rule


def _indexed(op: Operation, shapes: Sequence[Shape]) -> Shape:
    source, indices = shapes[0], shapes[1:]
    if len(indices) > len(source):
        raise VerifyException(f"{len(indices)} indices into a tensor of {len(source)} axes")
    for position, shape in enumerate(indices):
        if len(shape) > 1:
            raise VerifyException(f"index {position} has shape {show_shape(shape)}; () or (k,)")
    return tuple(d for shape in indices for d in shape) + source[len(indices) :]


def _stacked(op: Operation, shapes: Sequence[Shape]) -> Shape:
    if not shapes:
        raise VerifyException("stack needs at least one operand")
    return (len(shapes), *shapes[0])


def _bitcast_shape(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """The last axis is scaled so that the total number of bytes stays the same."""
    old = dtype_of(op.operands[0]).itemsize
    new = DTYPES[_dtype_argument(op)].itemsize
    shape = shapes[0]
    if old == new:
        return shape
    if not shape:
        raise VerifyException(f"bitcast from {old} to {new} bytes needs an axis to scale")
    last = shape[-1]
    if not isinstance(last, int):
        raise VerifyException("bitcast to another size needs a static last axis")
    if last * old % new:
        raise VerifyException(f"bitcast of {last} x {old} bytes is no multiple of {new} bytes")
    return (*shape[:-1], last * old // new)


def _reduced(op: Operation, shapes: Sequence[Shape]) -> Shape:
    axes, shape = integers(op, "axes"), shapes[0]
    for axis in axes:
        if not 0 <= axis < len(shape):
            raise VerifyException(f"axis {axis} is out of range for {len(shape)} axes")
    if len(set(axes)) != len(axes):
        raise VerifyException(f"axes {list(axes)} are not unique")
    return tuple(1 if axis in axes else d for axis, d in enumerate(shape))


def _replicated_shape(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """The sharding axis has one entry per device, and goes."""
    axis = cast(Any, op.properties["axis"]).data
    (devices, sharded), shape = _sharding(op), shapes[0]
    if axis != sharded:
        raise VerifyException(f"axis {axis} is not the sharding axis ({sharded})")
    if shape[axis] != len(devices):
        raise VerifyException(
            f"the sharding axis has {_show(shape[axis])} entries for {len(devices)} devices"
        )
    return (*shape[:axis], *shape[axis + 1 :])


def _byte_count(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return (len(cast(StringAttr, op.properties["data"]).data) // 2,)


# -- dtype ---------------------------------------------------------------------------------------


def _dtype_argument(op: Operation) -> Attribute:
    dtype = op.properties["dtype"]
    if dtype not in DTYPES:
        raise VerifyException(f"{dtype} is not a dtype: {dtype_names()}")
    return dtype


def _source_dtype(op: Operation) -> Attribute:
    return tensor(op.operands[0]).element_type


def _second_dtype(op: Operation) -> Attribute:
    return tensor(op.operands[1]).element_type


def _written_dtype(op: Operation) -> Attribute:
    return tensor(op.results[0]).element_type


def _constant_dtype(op: Operation) -> Attribute:
    value = op.properties["value"]
    if isinstance(value, InvalidAttr):
        return value.dtype
    if isinstance(value, FloatAttr | IntegerAttr):
        return cast(Attribute, cast(Any, value).type)
    raise VerifyException(f"{value} is not a number")


def _always(dtype: Attribute) -> DTypeRule:
    return lambda op: dtype


# -- device and addrspace ------------------------------------------------------------------------


def _null(op: Operation) -> None:
    return None


def _source_device(op: Operation) -> Device:
    return place(op.operands[0]).device


def _common_device(op: Operation) -> Device:
    """Devices are equal or null."""
    device: Device = None
    for operand in op.operands:
        other = place(operand).device
        if other is None or other == device:
            continue
        if device is not None:
            raise VerifyException(f"operands are on different devices: {device} and {other}")
        device = other
    return device


def device_argument(op: Operation) -> Device:
    """A device property: a string, or an array of strings."""
    match op.properties.get("device"):
        case StringAttr(data=name):
            return name
        case ArrayAttr(data=names):
            return tuple(cast(StringAttr, n).data for n in names)
        case _:
            return None


def _loaded_device(op: Operation) -> Device:
    return device_argument(op) or _source_device(op)


def _written_device(op: Operation) -> Device:
    return place(op.results[0]).device


def _source_addrspace(op: Operation) -> AddrSpace | None:
    return place(op.operands[0]).addrspace


def _written_addrspace(op: Operation) -> AddrSpace | None:
    return place(op.results[0]).addrspace


def _loaded_addrspace(op: Operation) -> AddrSpace | None:
    space = op.properties.get("addrspace")
    return AddrSpace(space.data) if isinstance(space, StringAttr) else None


# -- axis ----------------------------------------------------------------------------------------


def _source_axis(op: Operation) -> int | None:
    return place(op.operands[0]).axis


def _written_axis(op: Operation) -> int | None:
    return place(op.results[0]).axis


def _sharding(op: Operation) -> tuple[tuple[str, ...], int | None]:
    where = place(op.operands[0])
    return (where.device if isinstance(where.device, tuple) else ()), where.axis


def _inherited_axis(op: Operation) -> int | None:
    """Elementwise ops inherit; two different axes, counted from the right, are an error."""
    result: int | None = None
    rank = max(len(tensor(o).get_shape()) for o in op.operands)
    for operand in op.operands:
        axis = place(operand).axis
        if axis is None:
            continue
        axis += rank - len(tensor(operand).get_shape())
        if result is not None and axis != result:
            raise VerifyException(f"operands are sharded on different axes: {result} and {axis}")
        result = axis
    return result


def _permuted_axis(op: Operation) -> int | None:
    axis = _source_axis(op)
    return None if axis is None else integers(op, "order").index(axis)


def _uncut_axis(op: Operation) -> int | None:
    """EXPAND, PAD and SHRINK keep the axis and may not change its extent."""
    axis = _source_axis(op)
    if axis is not None:
        old, new = tensor(op.operands[0]).get_shape()[axis], integers(op, "shape")[axis]
        if old != new:
            raise VerifyException(f"the sharding axis {axis} may not change from {old} to {new}")
    return axis


def _unflipped_axis(op: Operation) -> int | None:
    axis = _source_axis(op)
    if axis is not None and integers(op, "flags")[axis]:
        raise VerifyException(f"the sharding axis {axis} may not be flipped")
    return axis


def _reshaped_axis(op: Operation) -> int | None:
    """The axis that starts where the old one starts and can still be cut into equal shards."""
    devices, axis = _sharding(op)
    if axis is None:
        return None
    old, new = tensor(op.operands[0]).get_shape(), integers(op, "shape")
    before = math.prod(old[:axis])
    for candidate, extent in enumerate(new):
        if math.prod(new[:candidate]) == before and extent % len(devices) == 0 and extent:
            return candidate
    raise VerifyException(
        f"reshape from {show_shape(old)} to {show_shape(new)} moves the shard boundaries "
        f"of axis {axis}"
    )


def _indexed_axis(op: Operation) -> int | None:
    axis = _source_axis(op)
    if axis is None:
        return None
    indices = op.operands[1:]
    if axis < len(indices):
        raise VerifyException(f"the sharding axis {axis} may not be indexed")
    return axis - len(indices) + sum(len(tensor(i).get_shape()) for i in indices)


def _stacked_axis(op: Operation) -> int | None:
    axis = _source_axis(op)
    return None if axis is None else axis + 1


def _bitcast_axis(op: Operation) -> int | None:
    devices, axis = _sharding(op)
    if axis is not None and axis == len(tensor(op.operands[0]).get_shape()) - 1:
        (last,) = _bitcast_shape(op, [tensor(op.operands[0]).get_shape()])[-1:]
        if not isinstance(last, int) or last % len(devices):
            raise VerifyException(f"bitcast of the sharding axis {axis} moves shard boundaries")
    return axis


def _reduced_axis(op: Operation) -> int | None:
    axis = _source_axis(op)
    return None if axis in integers(op, "axes") else axis


def _copied_axis(op: Operation) -> int | None:
    return 0 if isinstance(device_argument(op), tuple) else None


def _loaded_axis(op: Operation) -> int | None:
    return _source_axis(op) if device_argument(op) is None else _copied_axis(op)


# -- min_max -------------------------------------------------------------------------------------


def _result_dtype(op: Operation) -> DType:
    return dtype_of(op.results[0])


def _dtype_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    return intervals.dtype_range(_result_dtype(op))


def _source_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    return sources[0]


def _materialised_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    """An invalid cell that is made into memory is 0."""
    return sources[0].union(intervals.constant(0))


def _loaded_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    """What the buffer holds, `alt` where it is gated off, and 0 where neither is there."""
    result = _materialised_range(op, sources)
    return result.union(sources[1]) if len(sources) > 1 else result


def _union_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    result = sources[0]
    for source in sources[1:]:
        result = result.union(source)
    return result


def _indexed_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    """src[0], and 0 where an index is not proven in range."""
    shape = tensor(op.operands[0]).get_shape()
    proven = all(
        extent != DYNAMIC_INDEX and index.within(0, extent - 1)
        for extent, index in zip(shape, sources[1:], strict=False)
    )
    return sources[0] if proven else _materialised_range(op, sources)


def _padded_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    fill = op.properties.get("fill")
    return sources[0] if fill is None else sources[0].union(intervals.constant(number(fill)))


def number(value: Attribute) -> int | float:
    """The Python number of an integer or float attribute; a bool is 0 or 1."""
    if isinstance(value, IntegerAttr):
        data = cast(int, cast(Any, value).value.data)
        return data & 1 if cast(Any, value).type == BOOL else data
    if isinstance(value, FloatAttr):
        return cast(float, cast(Any, value).value.data)
    raise VerifyException(f"{value} is not a number")


def _constant_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    value = op.properties["value"]
    if isinstance(value, InvalidAttr):
        return _dtype_range(op, sources)
    return intervals.constant(number(value))


def _parameter_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    result = intervals.dtype_range(_result_dtype(op))
    low, high = op.properties.get("min"), op.properties.get("max")
    return Interval(
        low.data if isinstance(low, IntAttr) else result.lo,
        high.data if isinstance(high, IntAttr) else result.hi,
        nan=result.nan,
    )


def _iterated_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    """[0, n - 1]; an empty range has no value, and [0, 0] excludes none."""
    return Interval(0, max(sources[0].hi - 1, 0))


def _bitcast_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    return sources[0] if _source_dtype(op) == _dtype_argument(op) else _dtype_range(op, sources)


def _cast_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    return intervals.cast(dtype_of(op.operands[0]), _result_dtype(op), sources[0])


def _of_dtype(function: Callable[..., Interval]) -> MinMaxRule:
    """A rule from an interval function of the dtype and the operands' intervals."""
    return lambda op, sources: function(_result_dtype(op), *sources)


def _bool_or(numeric: MinMaxRule, logical: MinMaxRule) -> MinMaxRule:
    """ADD, MUL and MAX of bools are or, and, or."""
    return lambda op, sources: (logical if _result_dtype(op).is_bool else numeric)(op, sources)


_or_range = _of_dtype(intervals.bitwise_or)
_and_range = _of_dtype(intervals.bitwise_and)


def _max_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    return intervals.maximum(*sources)


def _compared(
    function: Callable[[Interval, Interval], Interval], *, swap: bool = False, negate: bool = False
) -> MinMaxRule:
    """A comparison out of `less_than` or `not_equal`, its operands swapped, its result negated.

    CMPGE and CMPLE are the negations of CMPLT that the specification writes, on NaN as well.
    """

    def rule(op: Operation, sources: Sequence[Interval]) -> Interval:
        a, b = reversed(sources) if swap else sources
        result = function(a, b)
        return intervals.logical_not(result) if negate else result

    return rule


def _not_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    return intervals.logical_not(sources[0])


def _negated_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    dtype = _result_dtype(op)
    return intervals.representable(dtype, -sources[0].hi, -sources[0].lo, nan=sources[0].nan)


def _where_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    condition, a, b = sources
    if condition.is_constant:
        return a if condition.lo else b
    return a.union(b)


def _mulacc_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    """As MUL then ADD; a float may also be fused, which only rounds less."""
    dtype = _result_dtype(op)
    a, b, c = sources
    if dtype.is_bool:
        return intervals.bitwise_or(dtype, intervals.bitwise_and(dtype, a, b), c)
    if dtype.is_float:
        return intervals.dtype_range(dtype)
    return intervals.add(dtype, intervals.mul(dtype, a, b), c)


def _exp2(x: float) -> float:
    return math.inf if x >= 1100 else 2.0**x if x > -1200 else 0.0


def _log2(x: float) -> float:
    return -math.inf if x <= 0 else x if math.isinf(x) else math.log2(x)


def _exp2_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    result = intervals.monotone(_result_dtype(op), _exp2, sources[0])
    return Interval(max(result.lo, 0.0), result.hi, nan=result.nan)


def _log2_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    result = intervals.monotone(_result_dtype(op), _log2, sources[0])
    return Interval(result.lo, result.hi, nan=result.nan or sources[0].lo < 0)


def _sqrt_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    result = intervals.monotone(_result_dtype(op), lambda x: math.sqrt(max(x, 0.0)), sources[0])
    return Interval(max(result.lo, 0.0), result.hi, nan=result.nan or sources[0].lo < 0)


def _sin_range(op: Operation, sources: Sequence[Interval]) -> Interval:
    a = sources[0]
    return Interval(-1.0, 1.0, nan=a.nan or math.isinf(a.lo) or math.isinf(a.hi))


# -- the table -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """How the properties of one op's result are derived. Null is the default."""

    dtype: DTypeRule
    shape: ShapeRule
    device: DeviceRule = _null
    addrspace: AddrSpaceRule = _null
    axis: AxisRule = _null
    min_max: MinMaxRule = _dtype_range


def _leaf(min_max: MinMaxRule = _dtype_range) -> Row:
    """An op whose argument is its type."""
    return Row(
        _written_dtype,
        _written_shape,
        _written_device,
        _written_addrspace,
        _written_axis,
        min_max,
    )


def _movement(
    shape: ShapeRule, axis: AxisRule = _source_axis, min_max: MinMaxRule = _source_range
) -> Row:
    """A movement of memory is memory: it can be stored through."""
    return Row(_source_dtype, shape, _source_device, _source_addrspace, axis, min_max)


def _elementwise(min_max: MinMaxRule = _dtype_range, dtype: DTypeRule = _source_dtype) -> Row:
    return Row(dtype, _broadcast, _common_device, _null, _inherited_axis, min_max)


def _comparison(min_max: MinMaxRule) -> Row:
    return _elementwise(min_max, _always(BOOL))


_IDENTITY = _movement(_source_shape)
_INDEX_LEAF = Row(_always(INDEX), _scalar)


def _void(op: Operation) -> Attribute:
    return VOID


def _written_type(op: Operation) -> Attribute:
    return op.results[0].type


def _tuple_type(op: Operation) -> Attribute:
    return TupleType(ArrayAttr(o.type for o in op.operands))


def _element_type(op: Operation) -> Attribute:
    types = op.operands[0].type
    index = cast(IntAttr, op.properties["index"]).data
    if not isinstance(types, TupleType):
        raise VerifyException(f"expected a !tg.tuple, got {types}")
    if not 0 <= index < len(types.types):
        raise VerifyException(f"index {index} is out of range for {len(types.types)} elements")
    return types.types.data[index]


def _body_type(op: Operation) -> Attribute:
    """A FUNCTION has the type of the TUPLE that its body ends in."""
    last = op.regions[0].block.last_op
    if last is None or last.name != "tg.tuple":
        raise VerifyException("the body of a function ends in a tg.tuple")
    return last.results[0].type


TABLE: dict[str, Row | Callable[[Operation], Attribute]] = {
    # source
    "tg.param": _leaf(_parameter_range),
    "tg.buffer": _leaf(),
    "tg.const": Row(_constant_dtype, _scalar, min_max=_constant_range),
    "tg.binary": Row(_always(UI8), _byte_count),
    # movement
    "tg.permute": _movement(_permuted, _permuted_axis),
    "tg.flip": _movement(_flipped, _unflipped_axis),
    "tg.reshape": _movement(_reshaped, _reshaped_axis),
    "tg.expand": _movement(_expanded, _uncut_axis),
    "tg.pad": _movement(_windowed(True, "pad"), _uncut_axis, _padded_range),
    "tg.shrink": _movement(_windowed(False, "shrink"), _uncut_axis),
    "tg.index": _movement(_indexed, _indexed_axis, _indexed_range),
    "tg.stack": Row(
        _source_dtype, _stacked, _common_device, axis=_stacked_axis, min_max=_union_range
    ),
    "tg.bitcast": Row(
        _dtype_argument,
        _bitcast_shape,
        _source_device,
        _source_addrspace,
        _bitcast_axis,
        _bitcast_range,
    ),
    # reduce
    "tg.reduce": Row(_source_dtype, _reduced, _source_device, axis=_reduced_axis),
    # call
    "tg.function": _body_type,
    "tg.call": _written_type,
    "tg.tuple": _tuple_type,
    "tg.gettuple": _element_type,
    # load and store
    "tg.load": Row(
        _source_dtype,
        _source_shape,
        _loaded_device,
        _loaded_addrspace,
        _loaded_axis,
        _loaded_range,
    ),
    "tg.store": _void,
    "tg.copy": Row(
        _source_dtype,
        _source_shape,
        device_argument,
        axis=_copied_axis,
        min_max=_materialised_range,
    ),
    # ordering
    "tg.range": Row(_always(INDEX), _scalar, min_max=_iterated_range),
    "tg.end": _void,
    "tg.after": _IDENTITY,
    "tg.group": _void,
    "tg.sink": _void,
    "tg.linear": _void,
    # elementwise
    "tg.recip": _elementwise(),
    "tg.trunc": _elementwise(_of_dtype(intervals.truncate)),
    "tg.cast": _elementwise(_cast_range, _dtype_argument),
    "tg.add": _elementwise(_bool_or(_of_dtype(intervals.add), _or_range)),
    "tg.mul": _elementwise(_bool_or(_of_dtype(intervals.mul), _and_range)),
    "tg.max": _elementwise(_bool_or(_max_range, _or_range)),
    "tg.mod": _elementwise(_of_dtype(intervals.modulo)),
    "tg.idiv": _elementwise(_of_dtype(intervals.floor_divide)),
    "tg.cmplt": _comparison(_compared(intervals.less_than)),
    "tg.cmpne": _comparison(_compared(intervals.not_equal)),
    "tg.xor": _elementwise(_of_dtype(intervals.bitwise_xor)),
    "tg.or": _elementwise(_or_range),
    "tg.and": _elementwise(_and_range),
    "tg.shr": _elementwise(_of_dtype(intervals.shift_right)),
    "tg.shl": _elementwise(_of_dtype(intervals.shift_left)),
    "tg.where": _elementwise(_where_range, _second_dtype),
    # decomposed elementwise
    "tg.neg": _elementwise(_negated_range),
    "tg.sub": _elementwise(_of_dtype(intervals.sub)),
    "tg.div": _elementwise(),
    "tg.cmpgt": _comparison(_compared(intervals.less_than, swap=True)),
    "tg.cmpge": _comparison(_compared(intervals.less_than, negate=True)),
    "tg.cmple": _comparison(_compared(intervals.less_than, swap=True, negate=True)),
    "tg.cmpeq": _comparison(_compared(intervals.not_equal, negate=True)),
    "tg.not": _elementwise(_not_range),
    "tg.exp2": _elementwise(_exp2_range),
    "tg.log2": _elementwise(_log2_range),
    "tg.sin": _elementwise(_sin_range),
    "tg.sqrt": _elementwise(_sqrt_range),
    "tg.pow": _elementwise(),
    "tg.mulacc": _elementwise(_mulacc_range),
    "tg.threefry": _elementwise(dtype=_always(UI64)),
    # marker
    "tg.contiguous": Row(
        _source_dtype,
        _source_shape,
        _source_device,
        _source_addrspace,
        _source_axis,
        _materialised_range,
    ),
    "tg.contiguous_backward": _IDENTITY,
    "tg.detach": _IDENTITY,
    # codegen
    "tg.barrier": _void,
    "tg.ins": _written_type,
    "tg.special": Row(_always(INDEX), _scalar, min_max=_iterated_range),
    "tg.if": _void,
    "tg.endif": _void,
    "tg.wmma": lambda op: op.operands[2].type,
    "tg.custom": _written_type,
    "tg.atomicadd": _void,
    "tg.customfunction": _void,
    "tg.source": _void,
    # multi-device
    "tg.replicated": Row(_source_dtype, _replicated_shape, _source_device, min_max=_source_range),
}
"""A row for each op with a tensor result; for the others, the rule for its type."""


def is_type_written(op: Operation) -> bool:
    """Whether an op's result type is an argument of it rather than derived from operands."""
    row = TABLE[op.name]
    return row.dtype is _written_dtype if isinstance(row, Row) else row is _written_type


def result_type(op: Operation) -> Attribute:
    """The type that an op's result must have. Raises VerifyException where its rule is broken."""
    row = TABLE[op.name]
    if not isinstance(row, Row):
        return row(op)
    shape = row.shape(op, [shape_of(operand) for operand in op.operands])
    where = PlaceAttr.of(row.device(op), row.addrspace(op), row.axis(op))
    static = tuple(d if isinstance(d, int) else DYNAMIC_INDEX for d in shape)
    return tensor_type(row.dtype(op), static, where)
