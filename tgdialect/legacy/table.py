"""The derived properties of the ops of the older vocabularies, as `ops/properties/table.py` has
those of the specification. Rules that are the same are the specification's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.legacy.alu import ALU, TRUNCATED
from tgdialect.legacy.attributes import ViewAttr, axes_of
from tgdialect.ops import intervals, tg
from tgdialect.ops.attributes import VOID, Device, is_tensor
from tgdialect.ops.dtypes import BOOL, DType
from tgdialect.ops.intervals import Interval
from tgdialect.ops.properties import (
    TABLE,
    Row,
    Rules,
    Shape,
    axis,
    device,
    dtype,
    dtype_of,
    integer,
    integers,
    min_max,
    number,
    place,
    shape,
    tensor,
    tensor_type,
    type_of_number,
)


def producer(value: SSAValue) -> str:
    """The op that a value is the result of, for error messages."""
    return value.owner.name if isinstance(value.owner, Operation) else "a block argument"


# -- shapes --------------------------------------------------------------------------------------


def views_of(op: Operation) -> tuple[ViewAttr, ...]:
    """The views of a VIEW, the one next to the memory first."""
    return cast(ArrayAttr[ViewAttr], op.properties["views"]).data


def _of_view(op: Operation, shapes: Sequence[Shape]) -> Shape:
    """The shape of the VIEW that is the first source, whether that has a tensor or not."""
    view = op.operands[0].owner
    if isinstance(view, Block) or "views" not in view.properties:
        raise VerifyException(f"the source is a VIEW, not {producer(op.operands[0])}")
    return views_of(view)[-1].shape


def _value_count(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return (len(cast("ArrayAttr[Attribute]", op.properties["values"])),)


def _value_count_of_sources(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return (len(shapes),)


def _lanes(op: Operation, shapes: Sequence[Shape]) -> Shape:
    count = len(integers(op, "lanes"))
    return () if count == 1 else (count,)


def _joined(op: Operation, shapes: Sequence[Shape]) -> Shape:
    lanes = 0
    for operand, extents in zip(op.operands, shapes, strict=True):
        if len(extents) != 1 or not isinstance(extents[0], int):
            raise VerifyException(f"CAT joins vectors, not {operand.type}")
        lanes += extents[0]
    return (lanes,)


def _padded(op: Operation, shapes: Sequence[Shape]) -> Shape:
    extents: list[int] = []
    for extent, (before, after) in _pairs(op, shapes[0]):
        if before < 0 or after < 0:
            raise VerifyException(f"PAD puts {before} and {after} zeros around an axis")
        extents.append(before + extent + after)
    return tuple(extents)


def _shrunk(op: Operation, shapes: Sequence[Shape]) -> Shape:
    extents: list[int] = []
    for extent, (start, end) in _pairs(op, shapes[0]):
        if not 0 <= start <= end <= extent:
            raise VerifyException(f"SHRINK from {start} to {end} of an axis of {extent}")
        extents.append(end - start)
    return tuple(extents)


def _pairs(op: Operation, extents: Shape) -> Sequence[tuple[int, tuple[int, int]]]:
    """The extent of each axis, with its pair of numbers."""
    pairs = cast("ArrayAttr[ArrayAttr[tg.NumberAttr]]", op.properties["pairs"])
    if len(pairs) != len(extents) or any(len(pair) != 2 for pair in pairs):
        raise VerifyException(f"{op.name} has a pair of numbers for each of {len(extents)} axes")
    if not all(isinstance(extent, int) for extent in extents):
        raise VerifyException(f"{op.name} takes axes of known extents, not {op.operands[0].type}")
    return [
        (cast(int, extent), (pair.data[0].data, pair.data[1].data))
        for extent, pair in zip(extents, pairs, strict=True)
    ]


def _on_one(op: Operation) -> Device:
    if isinstance(found := device.source(op), tuple):
        raise VerifyException(f"{op.name} takes a value on one device: MULTI has the shards")
    return found


def _size(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return (integer(op, "size") or 0,)


def _location(op: Operation, shapes: Sequence[Shape]) -> Shape:
    return shapes[1]


def _unrolled(op: Operation, shapes: Sequence[Shape]) -> Shape:
    lanes = _count(op)
    if shapes[0] != (lanes,):
        raise VerifyException(
            f"UNROLL of {lanes} iterations takes a vector of as many, not {op.operands[0].type}"
        )
    return ()


def _contracted(op: Operation, shapes: Sequence[Shape]) -> Shape:
    if shapes[0] != ():
        raise VerifyException(f"CONTRACT takes a scalar, got {op.operands[0].type}")
    return (_count(op),)


def _count(op: Operation) -> int:
    count = 1
    for _, size in axes_of(cast("ArrayAttr[ArrayAttr[tg.NumberAttr]]", op.properties["axes"])):
        count *= size
    return count


# -- dtypes and devices --------------------------------------------------------------------------


def _of_values(op: Operation) -> Attribute:
    values = cast("ArrayAttr[Attribute]", op.properties["values"])
    if not values.data:
        raise VerifyException("a VCONST has at least one value")
    types = list(dict.fromkeys(type_of_number(value) for value in values))
    if len(types) != 1:
        raise VerifyException(f"the values are of several dtypes: {', '.join(map(str, types))}")
    return types.pop()


def device_of(value: SSAValue) -> Device:
    """The device that a DEVICE, or a VIEW of one, stands for; None for other values."""
    op = value.owner
    if isinstance(op, Operation) and op.name == "tg_legacy.view" and op.operands:
        op = op.operands[0].owner
    device = op.properties.get("device") if isinstance(op, Operation) else None
    return device.data if isinstance(device, StringAttr) else None


def _second_device(op: Operation) -> Device:
    return device_of(op.operands[1])


def device_of_operands(op: Operation) -> Device:
    """The device of the operands that are tensors. All that are not null must be equal."""
    return device.common_of([o for o in op.operands if is_tensor(o.type)])


# -- intervals -----------------------------------------------------------------------------------


def _between(op: Operation, sources: Sequence[Interval]) -> Interval:
    start, end = sources
    return Interval(start.lo, max(end.hi - 1, start.lo))


def _variable(op: Operation, sources: Sequence[Interval]) -> Interval:
    return Interval(integer(op, "min") or 0, integer(op, "max") or 0)


def _values(op: Operation, sources: Sequence[Interval]) -> Interval:
    first, *rest = cast("ArrayAttr[Attribute]", op.properties["values"]).data
    result = intervals.constant(number(first))
    for value in rest:
        result = result.union(intervals.constant(number(value)))
    return result


def _quotient(dtype: DType, a: Interval, b: Interval) -> Interval:
    """Division that truncates: the floor, or that and 1."""
    floor = intervals.floor_divide(dtype, a, b)
    return floor if a.lo >= 0 and b.lo >= 0 else Interval(floor.lo, floor.hi + 1)


def _remainder(dtype: DType, a: Interval, b: Interval) -> Interval:
    """The remainder of a division that truncates: smaller than b, and of the sign of a."""
    if a.lo >= 0 and b.lo >= 0:
        return intervals.modulo(dtype, a, b)
    most = max(abs(b.lo), abs(b.hi), 1) - 1
    return Interval(max(min(a.lo, 0), -most), min(max(a.hi, 0), most))


# -- types that no row says ----------------------------------------------------------------------


def _void(op: Operation) -> Attribute:
    return VOID


def _same(op: Operation) -> Attribute:
    return op.operands[0].type


def _stored(op: Operation) -> Attribute:
    device_of_operands(op)
    return VOID


def _assigned(op: Operation) -> Attribute:
    device_of_operands(op)
    return op.operands[0].type


def _view(op: Operation) -> Attribute:
    """A VIEW without a source, or of a DEVICE, only says a shape."""
    source = op.operands[0] if op.operands else None
    if source is None or not is_tensor(source.type):
        return VOID
    where = place(source)
    if where.axis is not None:
        raise VerifyException(f"a VIEW is of memory that is not sharded, not {source.type}")
    return tensor_type(tensor(source).element_type, views_of(op)[-1].shape, where)


def _sharded(op: Operation) -> Attribute:
    """MULTI: the shards, joined on the axis, on all of their devices."""
    if len(op.operands) < 2:
        raise VerifyException(f"a MULTI has at least two shards, got {len(op.operands)}")
    types = [tensor(shard) for shard in op.operands]
    devices: list[str] = []
    for shard in op.operands:
        if not isinstance(name := place(shard).device, str):
            raise VerifyException(f"a shard is on one device, not {shard.type}")
        devices.append(name)
    first = types[0]
    for other in types[1:]:
        if (other.element_type, other.get_shape()) != (first.element_type, first.get_shape()):
            raise VerifyException(f"the shards differ: {first} and {other}")
    axis = integer(op, "axis")
    shape = list(first.get_shape())
    if axis is not None:
        if not 0 <= axis < len(shape):
            raise VerifyException(f"axis {axis} is not an axis of {first}")
        if shape[axis] == DYNAMIC_INDEX:
            raise VerifyException(f"the extent of axis {axis} is unknown in {first}")
        shape[axis] *= len(devices)
    where = tg.PlaceAttr.of(tuple(devices), None, axis)
    where.verify()
    return tensor_type(first.element_type, tuple(shape), where)


# -- ALU -----------------------------------------------------------------------------------------


def _operation(op: Operation) -> Row:
    """The row of an operation of ALU: that of the op which computes it."""
    name = cast(StringAttr, op.properties["operation"]).data
    if name in TRUNCATED:
        return cast(Row, LEGACY_TABLE[TRUNCATED[name]])
    if (kind := ALU.get(name)) is None or not op.operands:
        raise VerifyException(f"{name!r} is not an operation of ALU")
    return cast(Row, TABLE[kind.name])


def _alu_dtype(op: Operation) -> Attribute:
    return _operation(op).dtype(op)


def _alu_interval(op: Operation, sources: Sequence[Interval]) -> Interval:
    name = cast(StringAttr, op.properties["operation"]).data
    if name == "BinaryOps.DIV" or dtype_of(op.results[0]).is_bool:
        return min_max.dtype_range(op, sources)
    return _operation(op).min_max(op, sources)


_written = TABLE["tg.call"]

# -- the table -----------------------------------------------------------------------------------

_SCALAR = Row(dtype.source, shape.scalar)
_ELEMENTWISE = Row(dtype.source, shape.broadcast, device.common, axis=axis.inherited)

_VOID = """
    device unique name kernel endrange endloop if endif block blockstart blockfork blockend
""".split()  # noqa: SIM905
"""The ops that give nothing."""

LEGACY_TABLE: Rules = {
    **dict.fromkeys([f"tg_legacy.{name}" for name in _VOID], _void),
    # framework
    "tg_legacy.multi": _sharded,
    "tg_legacy.copy": Row(dtype.source, shape.source, _second_device, min_max=min_max.source),
    "tg_legacy.assign": _assigned,
    "tg_legacy.define_var": Row(dtype.written, shape.scalar, min_max=_variable),
    "tg_legacy.bind": Row(dtype.source, shape.scalar, min_max=min_max.second),
    "tg_legacy.empty": _written,
    "tg_legacy.noop": _same,
    "tg_legacy.custom": TABLE["tg.custom"],
    "tg_legacy.customi": TABLE["tg.custom"],
    # constants
    "tg_legacy.const": Row(
        dtype.constant, _of_view, lambda op: device_of(op.operands[0]), min_max=min_max.constant
    ),
    "tg_legacy.vconst": Row(_of_values, _value_count, min_max=_values),
    # indexing
    "tg_legacy.view": _view,
    "tg_legacy.index": Row(dtype.source, _location, device.common, device.source_addrspace),
    "tg_legacy.pad": Row(dtype.source, _padded, _on_one),
    "tg_legacy.shrink": Row(dtype.source, _shrunk, _on_one, min_max=min_max.source),
    "tg_legacy.valid": Row(dtype.always(BOOL), _of_view),
    "tg_legacy.gep": Row(dtype.source, _lanes, min_max=min_max.source),
    # memory
    "tg_legacy.buffer": _written,
    "tg_legacy.buffer_view": Row(
        dtype.source, _size, device.source, device.source_addrspace, min_max=min_max.source
    ),
    "tg_legacy.define_global": _written,
    "tg_legacy.define_local": _written,
    "tg_legacy.define_acc": Row(dtype.source, shape.source),
    "tg_legacy.load": _written,
    "tg_legacy.store": _stored,
    "tg_legacy.cast": _written,
    # compute
    "tg_legacy.alu": replace(_ELEMENTWISE, dtype=_alu_dtype, min_max=_alu_interval),
    "tg_legacy.idiv": replace(_ELEMENTWISE, min_max=min_max.of_dtype(_quotient)),
    "tg_legacy.mod": replace(_ELEMENTWISE, min_max=min_max.of_dtype(_remainder)),
    "tg_legacy.fdiv": _ELEMENTWISE,
    "tg_legacy.reduce_axis": TABLE["tg.reduce"],
    "tg_legacy.wmma": Row(dtype.third, shape.third),
    # control
    "tg_legacy.range": replace(_SCALAR, min_max=_between),
    "tg_legacy.loop": replace(_SCALAR, min_max=_between),
    "tg_legacy.phi": _assigned,
    # vectors
    "tg_legacy.vectorize": Row(dtype.source, _value_count_of_sources, min_max=min_max.union),
    "tg_legacy.cat": Row(dtype.source, _joined, min_max=min_max.union),
    "tg_legacy.unroll": Row(dtype.source, _unrolled, min_max=min_max.source),
    "tg_legacy.contract": Row(dtype.source, _contracted, min_max=min_max.source),
}
"""The table of the older vocabularies."""
