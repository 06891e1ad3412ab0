"""How each op computes one element at an index.

A rule is a generator, since graphs are too deep for recursion: it yields the (value, index) pairs
whose elements it needs, is sent their cells, and returns its own. Movement ops only change the
index, elementwise ops become scalar ops, and REDUCE makes RANGEs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, cast

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import broadcast, moved
from tgdialect.analysis.affine.positions import Index, Position
from tgdialect.analysis.zeros import may_be_negative_zero
from tgdialect.lowering.rangeify.emitter import ScalarEmitter
from tgdialect.ops import tg


class Cell(NamedTuple):
    """One element: its value, and the condition for it to be valid (None: it always is)."""

    value: SSAValue
    valid: SSAValue | None


Request = tuple[SSAValue, Index]
Lowering = Generator[Request, Cell, Cell]
"""A lowering in progress."""


def materialised(k: ScalarEmitter, cell: Cell) -> SSAValue:
    """A cell as it is stored: 0 where it is invalid."""
    if cell.valid is None:
        return cell.value
    zero = k.constant(0, tg.tensor(cell.value).element_type)
    return k.emit(tg.WhereOp, cell.valid, cell.value, zero)


def done(cell: Cell) -> Lowering:
    """A lowering that needs no other cells."""
    return cell
    yield


def _const(k: ScalarEmitter, op: tg.ConstOp, index: Index) -> Lowering:
    dtype = tg.tensor(op.result).element_type
    if isinstance(op.value, tg.InvalidAttr):
        return done(Cell(k.constant(0, dtype), k.constant(0, tg.BOOL)))
    return done(Cell(k.emit(tg.ConstOp, op.value), None))


def _move(k: ScalarEmitter, op: tg.MovementOp, index: Index) -> Lowering:
    where = moved(k, op, index)
    assert where is not None
    return (yield op.operands[0], where)


def _pad(k: ScalarEmitter, op: tg.PadOp, index: Index) -> Lowering:
    inner = moved(k, op, index)
    assert inner is not None
    exists = k.inside(inner, tg.shape_of(op.source))
    cell = yield op.source, inner
    if exists is not None and op.fill is None:
        return Cell(cell.value, k.both(exists, cell.valid))
    return _filled(k, cell, exists, 0 if op.fill is None else tg.number(op.fill))


def _filled(k: ScalarEmitter, cell: Cell, exists: SSAValue | None, fill: float) -> Cell:
    """A cell, or a number where it does not exist (None: it always does)."""
    if exists is None:
        return cell
    other = k.constant(fill, tg.tensor(cell.value).element_type)
    value = k.emit(tg.WhereOp, exists, cell.value, other)
    if cell.valid is None:
        return Cell(value, None)
    return Cell(value, k.emit(tg.OrOp, k.emit(tg.NotOp, exists), cell.valid))


def _index(k: ScalarEmitter, op: tg.IndexOp, index: Index) -> Lowering:
    """INDEX: an index that is out of bounds or invalid reads 0."""
    inner, exists, rest = yield from indices(k, op, index)
    cell = yield op.source, (*inner, *rest)
    return _filled(k, cell, exists, 0)


def indices(
    k: ScalarEmitter, op: tg.IndexOp, index: Index
) -> Generator[Request, Cell, tuple[Index, SSAValue | None, Index]]:
    """The positions that the indices of an INDEX are, the condition for all of them to be valid and
    in bounds, and the index along the axes that they do not fix."""
    inner: list[Position] = []
    exists: SSAValue | None = None
    axis = 0
    for operand, extent in zip(op.indices, tg.shape_of(op.source), strict=False):
        rank = len(tg.tensor(operand).get_shape())
        cell = yield operand, index[axis : axis + rank]
        axis += rank
        value = cell.value if cell.valid else _clamped(k, operand, cell.value, extent)
        if tg.tensor(value).element_type != tg.INDEX:
            value = k.emit(tg.CastOp, value, tg.INDEX)
        position = k.position(value)
        exists = k.both(exists, k.both(cell.valid, k.inside([position], [extent])))
        inner.append(position)
    return tuple(inner), exists, index[axis:]


def _clamped(k: ScalarEmitter, operand: SSAValue, value: SSAValue, extent: tg.Dim) -> SSAValue:
    """A position that is stored, clamped to an axis in which the function proves it to be. The
    kernel that loads it has no other proof, and would need a gate for each access."""
    if not isinstance(extent, int) or not k.function_interval(operand).within(0, extent - 1):
        return value
    found, dtype = k.intervals[value], tg.tensor(value).element_type
    if found.lo < 0:
        value = k.emit(tg.MaxOp, value, k.constant(0, dtype))
    if found.hi >= extent:
        value = k.least(k.constant(extent - 1, dtype), value)
    return value


def _stack(k: ScalarEmitter, op: tg.StackOp, index: Index) -> Lowering:
    which, inner = index[0], index[1:]
    if not which.terms and 0 <= which.constant < len(op.sources):
        return (yield op.sources[which.constant], inner)
    result = yield op.sources[0], inner
    for which_source in range(1, len(op.sources)):
        cell = yield op.sources[which_source], inner
        other = k.emit(tg.CmpNeOp, k.value(which), k.constant(which_source))
        result = _select(k, other, result, cell)
    return result


def _select(k: ScalarEmitter, condition: SSAValue, a: Cell, b: Cell) -> Cell:
    """WHERE on cells: valid if the branch that is taken is."""
    value = k.emit(tg.WhereOp, condition, a.value, b.value)
    if a.valid is None and b.valid is None:
        return Cell(value, None)
    true = k.constant(1, tg.BOOL)
    return Cell(value, k.emit(tg.WhereOp, condition, a.valid or true, b.valid or true))


def _where(k: ScalarEmitter, op: tg.WhereOp, index: Index) -> Lowering:
    shape = tg.shape_of(op.result)
    condition = yield op.condition, broadcast(index, shape, tg.shape_of(op.condition))
    a = yield op.lhs, broadcast(index, shape, tg.shape_of(op.lhs))
    b = yield op.rhs, broadcast(index, shape, tg.shape_of(op.rhs))
    result = _select(k, condition.value, a, b)
    return Cell(result.value, k.both(condition.valid, result.valid))


def _elementwise(k: ScalarEmitter, op: tg.ElementwiseOp, index: Index) -> Lowering:
    shape = tg.shape_of(op.result)
    valid: SSAValue | None = None
    values: list[SSAValue] = []
    for operand in op.operands:
        cell = yield operand, broadcast(index, shape, tg.shape_of(operand))
        values.append(cell.value)
        valid = k.both(valid, cell.valid)
    arguments = (*values, op.dtype) if isinstance(op, tg.CastOp) else values
    return Cell(k.emit(cast(Callable[..., tg.TgOp], type(op)), *arguments), valid)


def _bitcast(k: ScalarEmitter, op: tg.BitcastOp, index: Index) -> Lowering:
    source = tg.tensor(op.source).element_type
    old, new = tg.dtype_row(source).itemsize, tg.dtype_row(op.dtype).itemsize
    if old == new:
        cell = yield op.source, index
        return Cell(k.emit(tg.BitcastOp, cell.value, op.dtype), cell.valid)
    narrow, wide = (tg.unsigned(8 * size) for size in sorted((old, new)))
    ratio = max(old, new) // min(old, new)
    if new < old:
        whole, last = k.divided(index[-1], tg.Affine(constant=ratio))
        cell = yield op.source, (*index[:-1], whole)
        bits = k.emit(tg.BitcastOp, cell.value, wide)
        part = k.value(last * (8 * new))
        bits = k.emit(tg.ShrOp, bits, part)
        value = k.emit(tg.CastOp, bits, narrow)
        return Cell(k.emit(tg.BitcastOp, value, op.dtype), cell.valid)
    bits: SSAValue | None = None
    valid: SSAValue | None = None
    for part in range(ratio):
        last = index[-1] * ratio + part
        cell = yield op.source, (*index[:-1], last)
        valid = k.both(valid, cell.valid)
        piece = k.emit(tg.BitcastOp, cell.value, narrow)
        piece = k.emit(tg.CastOp, piece, wide)
        if part:
            piece = k.emit(tg.ShlOp, piece, k.constant(8 * old * part))
        bits = piece if bits is None else k.emit(tg.OrOp, bits, piece)
    assert bits is not None
    return Cell(k.emit(tg.BitcastOp, bits, op.dtype), valid)


def _reduce(k: ScalarEmitter, op: tg.ReduceOp, index: Index) -> Lowering:
    """REDUCE over axes becomes REDUCE over ranges; an invalid cell counts as the identity."""
    # The operand in loops over the reduced axes.
    axes, shape = tg.integers(op, "axes"), tg.shape_of(op.source)
    inner, loops = k.loops(tuple(shape[a] for a in axes), tg.AxisType.REDUCE)
    reduced = dict(zip(axes, inner, strict=True))
    cell = yield op.source, tuple(reduced.get(a, i) for a, i in enumerate(index))
    dtype = tg.tensor(op.result).element_type
    kind = op.kind.data
    neutral = k.constant(tg.identity(kind, tg.dtype_row(dtype)), dtype)
    value = cell.value
    if cell.valid is not None:
        value = k.emit(tg.WhereOp, cell.valid, value, neutral)
    # Axes of one cell have no loops. `reduce add` of -0 is +0.
    if not loops:
        if kind is tg.ReduceKind.ADD and may_be_negative_zero(value):
            value = k.emit(tg.AddOp, value, neutral)
        return Cell(value, None)
    dependent = tg.dependent_ranges(value, k.open_ranges)
    for loop in loops:
        if loop.owner not in dependent:
            # The operand is the same along this range. A condition that always holds makes it
            # depend on the range, which keeps it inside the loop.
            inside = k.emit(tg.CmpLtOp, loop, k.emit(tg.AddOp, loop, k.constant(1)))
            value = k.emit(tg.WhereOp, inside, value, neutral)
    return Cell(k.put(op.over(value, (), loops)), None)


def _load(k: ScalarEmitter, op: tg.LoadOp, index: Index) -> Lowering:
    """A LOAD of a value: its cells are valid, and 0 where they were not."""
    cell = yield op.buffer, index
    value = materialised(k, cell)
    if op.gate is None or op.alt is None:
        return Cell(value, None)
    gate = yield op.gate, index if tg.tensor(op.gate).get_shape() else ()
    alt = yield op.alt, index
    condition = k.both(gate.value, gate.valid)
    assert condition is not None
    return Cell(k.emit(tg.WhereOp, condition, value, materialised(k, alt)), None)


RULES: tuple[tuple[type[Operation], Callable[[ScalarEmitter, Any, Index], Lowering]], ...] = (
    (tg.WhereOp, _where),
    (tg.ElementwiseOp, _elementwise),
    (tg.ConstOp, _const),
    (tg.PadOp, _pad),
    (tg.IndexOp, _index),
    (tg.StackOp, _stack),
    (tg.BitcastOp, _bitcast),
    (tg.MovementOp, _move),
    (tg.ReduceOp, _reduce),
    (tg.LoadOp, _load),
)
"""How each op is lowered at an index; the first class that fits counts."""
