"""The derived properties of the ops of the older vocabularies, as `ops/properties/table.py` has
those of the specification. Rules that are the same are the specification's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import prod
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.legacy.alu import ALU, TRUNCATED
from tgdialect.legacy.attributes import ViewAttr, axes_of, integers_of
from tgdialect.legacy.rules import require
from tgdialect.ops import intervals, tg
from tgdialect.ops.properties import TABLE, Row, Rules, axis, device, dtype, min_max, shape

# -- shapes --------------------------------------------------------------------------------------


def views_of(op: Operation) -> tuple[ViewAttr, ...]:
    """The views of a VIEW, the one next to the memory first."""
    return cast(ArrayAttr[ViewAttr], op.properties["views"]).data


def _of_view(op: Operation, shapes: Sequence[tg.Shape]) -> tg.Shape:
    """The shape of the VIEW that is the first source, whether that has a tensor or not."""
    return views_of(cast(Operation, op.operands[0].owner))[-1].shape


def _constants(op: Operation) -> Sequence[Attribute]:
    return cast("ArrayAttr[Attribute]", op.properties["values"]).data


def _lanes(op: Operation, shapes: Sequence[tg.Shape]) -> tg.Shape:
    count = len(tg.integers(op, "lanes"))
    return () if count == 1 else (count,)


def _joined(op: Operation, shapes: Sequence[tg.Shape]) -> tg.Shape:
    lanes = 0
    for operand, extents in zip(op.operands, shapes, strict=True):
        count = extents[0] if len(extents) == 1 else None
        if not isinstance(count, int):
            raise VerifyException(f"CAT joins vectors, not {operand.type}")
        lanes += count
    return (lanes,)


def _padded(op: Operation, shapes: Sequence[tg.Shape]) -> tg.Shape:
    pairs = _pairs(op, shapes[0])
    for _, before, after in pairs:
        are_counts = before >= 0 and after >= 0
        require(are_counts, f"PAD puts {before} and {after} zeros around an axis")
    return tuple(before + extent + after for extent, before, after in pairs)


def _shrunk(op: Operation, shapes: Sequence[tg.Shape]) -> tg.Shape:
    pairs = _pairs(op, shapes[0])
    for extent, start, end in pairs:
        is_inside = 0 <= start <= end <= extent
        require(is_inside, f"SHRINK from {start} to {end} of an axis of {extent}")
    return tuple(end - start for _, start, end in pairs)


def _pairs(op: Operation, extents: tg.Shape) -> Sequence[tuple[int, int, int]]:
    """The extent of each axis, and its pair of numbers."""
    pairs, axes = integers_of(op.properties["pairs"]), len(extents)
    are_pairs = len(pairs) == axes and all(len(pair) == 2 for pair in pairs)
    require(are_pairs, f"{op.name} has a pair of numbers for each of {axes} axes")
    are_known = all(isinstance(extent, int) for extent in extents)
    require(are_known, f"{op.name} takes axes of known extents, not {op.operands[0].type}")
    return [(cast(int, extent), a, b) for extent, (a, b) in zip(extents, pairs, strict=True)]


def _on_one(op: Operation) -> tg.Device:
    found = device.source(op)
    is_one = not isinstance(found, tuple)
    require(is_one, f"{op.name} takes a value on one device: MULTI has the shards")
    return found


def _unrolled(op: Operation, shapes: Sequence[tg.Shape]) -> tg.Shape:
    lanes, type = _iterations(op), op.operands[0].type
    is_vector = shapes[0] == (lanes,)
    require(is_vector, f"UNROLL of {lanes} iterations takes a vector of as many, not {type}")
    return ()


def _contracted(op: Operation, shapes: Sequence[tg.Shape]) -> tg.Shape:
    require(shapes[0] == (), f"CONTRACT takes a scalar, got {op.operands[0].type}")
    return (_iterations(op),)


def _iterations(op: Operation) -> int:
    axes = axes_of(cast("ArrayAttr[ArrayAttr[tg.NumberAttr]]", op.properties["axes"]))
    return prod(size for _, size in axes)


# -- dtypes and devices --------------------------------------------------------------------------


def _of_values(op: Operation) -> Attribute:
    types = list(dict.fromkeys(map(tg.type_of_number, _constants(op))))
    require(bool(types), "a VCONST has at least one value")
    several = ", ".join(map(str, types))
    require(len(types) == 1, f"the values are of several dtypes: {several}")
    return types[0]


def device_of(value: SSAValue) -> tg.Device:
    """The device that a DEVICE, or a VIEW of one, stands for; None for other values."""
    op = value.owner
    if isinstance(op, Operation) and op.name == "tg_legacy.view" and op.operands:
        op = op.operands[0].owner
    device = op.properties.get("device") if isinstance(op, Operation) else None
    return device.data if isinstance(device, StringAttr) else None


def device_of_operands(op: Operation) -> tg.Device:
    """The device of the operands that are tensors. All that are not null must be equal."""
    return device.common_of([o for o in op.operands if tg.is_tensor(o.type)])


# -- intervals -----------------------------------------------------------------------------------


def _between(op: Operation, sources: Sequence[tg.Interval]) -> tg.Interval:
    start, end = sources
    return tg.Interval(start.lo, max(end.hi - 1, start.lo))


def _variable(op: Operation, sources: Sequence[tg.Interval]) -> tg.Interval:
    return tg.Interval(tg.integer(op, "min") or 0, tg.integer(op, "max") or 0)


def _values(op: Operation, sources: Sequence[tg.Interval]) -> tg.Interval:
    return reduce(tg.Interval.union, (intervals.constant(tg.number(v)) for v in _constants(op)))


def _quotient(dtype: tg.DType, a: tg.Interval, b: tg.Interval) -> tg.Interval:
    """Division that truncates: the floor, or that and 1."""
    floor = intervals.floor_divide(dtype, a, b)
    return floor if a.lo >= 0 and b.lo >= 0 else tg.Interval(floor.lo, floor.hi + 1)


def _remainder(dtype: tg.DType, a: tg.Interval, b: tg.Interval) -> tg.Interval:
    """The remainder of a division that truncates: smaller than b, and of the sign of a."""
    if a.lo >= 0 and b.lo >= 0:
        return intervals.modulo(dtype, a, b)
    most = max(abs(b.lo), abs(b.hi), 1) - 1
    return tg.Interval(max(min(a.lo, 0), -most), min(max(a.hi, 0), most))


# -- types that no row says ----------------------------------------------------------------------


def _stored(op: Operation) -> Attribute:
    device_of_operands(op)
    return tg.VOID


def _assigned(op: Operation) -> Attribute:
    device_of_operands(op)
    return op.operands[0].type


def _view(op: Operation) -> Attribute:
    """A VIEW without a source, or of a DEVICE, only says a shape."""
    source = op.operands[0] if op.operands else None
    if source is None or not tg.is_tensor(source.type):
        return tg.VOID
    where = tg.place(source)
    is_whole = where.axis is None
    require(is_whole, f"a VIEW is of memory that is not sharded, not {source.type}")
    return tg.tensor_type(tg.tensor(source).element_type, views_of(op)[-1].shape, where)


def _sharded(op: Operation) -> Attribute:
    """MULTI: the shards, joined on the axis, on all of their devices."""
    count = len(op.operands)
    require(count >= 2, f"a MULTI has at least two shards, got {count}")
    types = [tg.tensor(shard) for shard in op.operands]
    devices: list[str] = []
    for shard in op.operands:
        if not isinstance(name := tg.place(shard).device, str):
            raise VerifyException(f"a shard is on one device, not {shard.type}")
        devices.append(name)
    first = types[0]
    shape = list(first.get_shape())
    for other in types[1:]:
        is_same = other.element_type == first.element_type and list(other.get_shape()) == shape
        require(is_same, f"the shards differ: {first} and {other}")
    if (axis := tg.integer(op, "axis")) is not None:
        require(0 <= axis < len(shape), f"axis {axis} is not an axis of {first}")
        is_known = shape[axis] != DYNAMIC_INDEX
        require(is_known, f"the extent of axis {axis} is unknown in {first}")
        shape[axis] *= len(devices)
    where = tg.PlaceAttr.of(tuple(devices), None, axis)
    where.verify()
    return tg.tensor_type(first.element_type, tuple(shape), where)


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


def _alu_interval(op: Operation, sources: Sequence[tg.Interval]) -> tg.Interval:
    name = cast(StringAttr, op.properties["operation"]).data
    if name == "BinaryOps.DIV" or tg.dtype_of(op.results[0]).is_bool:
        return min_max.dtype_range(op, sources)
    return _operation(op).min_max(op, sources)


# -- the table -----------------------------------------------------------------------------------

_SCALAR = Row(dtype.source, shape.scalar)
_ELEMENTWISE = Row(dtype.source, shape.broadcast, device.common, axis=axis.inherited)

_VOID = """
    device unique name kernel endrange endloop if endif block blockstart blockfork blockend
""".split()  # noqa: SIM905
"""The ops that give nothing."""

_ROWS: Rules = {
    **dict.fromkeys(_VOID, lambda op: tg.VOID),
    **dict.fromkeys(
        ("empty", "buffer", "define_global", "define_local", "load", "cast"), TABLE["tg.call"]
    ),
    # framework
    "multi": _sharded,
    "copy": Row(
        dtype.source, shape.source, lambda op: device_of(op.operands[1]), min_max=min_max.source
    ),
    "assign": _assigned,
    "define_var": Row(dtype.written, shape.scalar, min_max=_variable),
    "bind": Row(dtype.source, shape.scalar, min_max=min_max.second),
    "noop": lambda op: op.operands[0].type,
    "custom": TABLE["tg.custom"],
    "customi": TABLE["tg.custom"],
    # indexing
    "view": _view,
    "index": Row(dtype.source, lambda _, shapes: shapes[1], device.common, device.source_addrspace),
    "pad": Row(dtype.source, _padded, _on_one),
    "shrink": Row(dtype.source, _shrunk, _on_one, min_max=min_max.source),
    "valid": Row(dtype.always(tg.BOOL), _of_view),
    "gep": Row(dtype.source, _lanes, min_max=min_max.source),
    # memory
    "buffer_view": Row(
        dtype.source,
        lambda op, _: (tg.integer(op, "size") or 0,),
        device.source,
        device.source_addrspace,
        min_max=min_max.source,
    ),
    "define_acc": Row(dtype.source, shape.source),
    "store": _stored,
    # compute
    "alu": replace(_ELEMENTWISE, dtype=_alu_dtype, min_max=_alu_interval),
    "idiv": replace(_ELEMENTWISE, min_max=min_max.of_dtype(_quotient)),
    "mod": replace(_ELEMENTWISE, min_max=min_max.of_dtype(_remainder)),
    "fdiv": _ELEMENTWISE,
    "reduce_axis": TABLE["tg.reduce"],
    "wmma": Row(dtype.third, shape.third),
    # control
    "range": replace(_SCALAR, min_max=_between),
    "loop": replace(_SCALAR, min_max=_between),
    "phi": _assigned,
    # constants and vectors
    "const": Row(
        dtype.constant, _of_view, lambda op: device_of(op.operands[0]), min_max=min_max.constant
    ),
    "vconst": Row(_of_values, lambda op, _: (len(_constants(op)),), min_max=_values),
    "vectorize": Row(dtype.source, lambda _, shapes: (len(shapes),), min_max=min_max.union),
    "cat": Row(dtype.source, _joined, min_max=min_max.union),
    "unroll": Row(dtype.source, _unrolled, min_max=min_max.source),
    "contract": Row(dtype.source, _contracted, min_max=min_max.source),
}

LEGACY_TABLE: Rules = {f"tg_legacy.{name}": row for name, row in _ROWS.items()}
"""The table of the older vocabularies."""
