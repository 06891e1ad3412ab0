"""Arithmetic of the older vocabularies in that of the specification, integers as indices, and
UNROLL as shape: a value has an axis for each unrolled axis that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import noted
from tgdialect.legacy.alu import ALU, TRUNCATED
from tgdialect.legacy.attributes import UnrolledAxes, axes_of
from tgdialect.legacy.ops.compute import AluOp, FDivOp, IDivOp, ModOp
from tgdialect.legacy.ops.framework import CustomIOp, CustomOp, NoopOp
from tgdialect.legacy.ops.indexing import GepOp
from tgdialect.legacy.ops.vectors import CatOp, ContractOp, UnrollOp, VectorizeOp
from tgdialect.legacy.ops.vectors import VConstOp as LegacyVConstOp
from tgdialect.legacy.upgrade.views import expanded, permuted, reshaped
from tgdialect.ops import codegen, intervals, tg
from tgdialect.ops import elementwise as e


class Unrolled:
    """The unrolled axes of values of the older vocabulary, in the order of their numbers.

    They are the first axes of the shape of what a value becomes; the lanes of a vector are last.
    """

    def __init__(self, builder: tg.OpBuilder) -> None:
        self.builder = builder
        self.axes: dict[SSAValue, UnrolledAxes] = {}

    def axes_of(self, value: SSAValue) -> UnrolledAxes:
        """The numbers and sizes of the unrolled axes that a value depends on."""
        return self.axes.get(value, ())

    def aligned(self, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The operands of an elementwise op, with all of their unrolled axes; and records those of
        its result."""
        if not any(map(self.axes_of, op.operands)):
            return operands
        union = self.union(op.operands)
        rank = max(len(tg.tensor(o).get_shape()) for o in op.operands)
        self.axes[op.results[0]] = union
        return [
            self._with_axes(old, new, union, rank)
            for old, new in zip(op.operands, operands, strict=True)
        ]

    def union(self, values: Iterable[SSAValue]) -> UnrolledAxes:
        """The unrolled axes that any of some values depends on.

        Raises PassFailedException if one has two sizes.
        """
        axes = sorted({axis for value in values for axis in self.axes_of(value)})
        for (axis, size), (other, other_size) in pairwise(axes):
            if axis == other:
                raise PassFailedException(f"axis {axis} has {size} and {other_size} iterations")
        return tuple(axes)

    def spread(
        self, old: SSAValue, new: SSAValue, axes: UnrolledAxes, lanes: Sequence[int]
    ) -> SSAValue:
        """A value repeated along unrolled axes, and along the lanes of a vector."""
        if not axes:
            return new
        value = self._with_axes(old, new, axes, len(lanes))
        return expanded(self.builder, value, (*(size for _, size in axes), *lanes))

    def _with_axes(self, old: SSAValue, new: SSAValue, axes: UnrolledAxes, rank: int) -> SSAValue:
        """A value reshaped so that it broadcasts along axes that it does not depend on."""
        own, lanes = self.axes_of(old), tg.tensor(old).get_shape()
        extents = [size if (axis, size) in own else 1 for axis, size in axes]
        shape = (*extents, *(1,) * (rank - len(lanes)), *lanes)
        return reshaped(self.builder, new, shape)

    def stacked(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        """VECTORIZE: the lanes become the last axis."""
        operands = self.aligned(op, operands)
        axes = self.axes_of(op.results[0])
        if not axes:
            return self.builder.put(tg.StackOp(operands))
        sizes = tuple(size for _, size in axes)
        stack = self.builder.put(tg.StackOp([expanded(self.builder, o, sizes) for o in operands]))
        return self.builder.put(tg.PermuteOp(stack, (*range(1, len(sizes) + 1), 0)))

    def lanes_first(self, op: Operation, vectors: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The operands of GEP or CAT, their lanes before the unrolled axes of all of them."""
        axes = self.union(op.operands)
        if not axes:
            return vectors
        pairs = zip(op.operands, vectors, strict=True)
        spread = [self.spread(old, new, axes, tg.tensor(old).get_shape()) for old, new in pairs]
        return [permuted(self.builder, value, (len(axes), *range(len(axes)))) for value in spread]

    def lanes_last(self, op: Operation, value: SSAValue) -> SSAValue:
        """The result of GEP or CAT, from what it is of `lanes_first`; and records its axes."""
        axes = self.union(op.operands)
        if not axes:
            return value
        self.axes[op.results[0]] = axes
        lanes = tg.tensor(op.results[0]).get_shape()
        return permuted(self.builder, value, (*range(1, len(axes) + 1), 0)) if lanes else value

    def unrolled(self, op: UnrollOp, vector: SSAValue) -> SSAValue:
        """UNROLL: the lanes of a vector become axes. The last of them is that of neighbours."""
        own, axes = self.axes_of(op.vector), axes_of(op.axes)
        if both := {axis for axis, _ in own} & {axis for axis, _ in axes}:
            raise PassFailedException(f"axis {min(both)} is unrolled already")
        every = (*own, *axes)
        split = reshaped(self.builder, vector, [size for _, size in every])
        self.axes[op.result] = tuple(sorted(every))
        return permuted(self.builder, split, [every.index(axis) for axis in sorted(every)])

    def contracted(self, op: ContractOp, scalar: SSAValue) -> SSAValue:
        """CONTRACT: axes become the lanes of a vector; along axes that it lacks a value repeats."""
        axes = axes_of(op.axes)
        own = self.axes_of(op.scalar)
        kept = tuple(axis for axis in own if axis not in axes)
        every = tuple(sorted({*own, *axes}))
        value = self._with_axes(op.scalar, scalar, every, 0)
        value = expanded(self.builder, value, [size for _, size in every])
        value = permuted(self.builder, value, [every.index(axis) for axis in (*kept, *axes)])
        self.axes[op.result] = kept
        return reshaped(self.builder, value, (*(s for _, s in kept), prod(s for _, s in axes)))


Operands = Sequence[SSAValue]


def _negated(dtype: tg.DType, a: tg.Interval) -> tg.Interval:
    return tg.Interval(-a.hi, -a.lo)


def _maximum(dtype: tg.DType, a: tg.Interval, b: tg.Interval) -> tg.Interval:
    return intervals.maximum(a, b)


def _mulacc(dtype: tg.DType, a: tg.Interval, b: tg.Interval, c: tg.Interval) -> tg.Interval:
    return intervals.add(dtype, intervals.mul(dtype, a, b), c)


def _where(dtype: tg.DType, condition: tg.Interval, a: tg.Interval, b: tg.Interval) -> tg.Interval:
    return a.union(b)


def _same(dtype: tg.DType, a: tg.Interval) -> tg.Interval:
    return a


EXACT: Mapping[type[e.ElementwiseOp], Callable[..., tg.Interval]] = {
    e.AddOp: intervals.add,
    e.SubOp: intervals.sub,
    e.MulOp: intervals.mul,
    e.NegOp: _negated,
    e.MaxOp: _maximum,
    e.IDivOp: intervals.floor_divide,
    e.ModOp: intervals.modulo,
    e.ShlOp: intervals.shift_left,
    e.ShrOp: intervals.shift_right,
    e.MulAccOp: _mulacc,
    e.WhereOp: _where,
    e.CastOp: _same,
}
"""The interval of the exact result of an operation on integers."""

_STRUCTURE = VectorizeOp | GepOp | CatOp | UnrollOp | ContractOp | NoopOp
"""Ops that put values together in another way, whatever their dtype."""


def quotient(b: tg.OpBuilder, x: SSAValue, y: SSAValue, signs: Operands) -> SSAValue:
    """Integer division that rounds toward zero: the floor, plus 1 where the signs differ and there
    is a remainder. `signs` are those of x and y that may be negative."""
    one = b.put(tg.ConstOp(1, tg.tensor(x).element_type))
    floor = b.put(e.IDivOp(x, y))
    is_rounded_down = _is_rounded_down(b, b.put(e.ModOp(x, y)), signs)
    return b.put(e.WhereOp(is_rounded_down, b.put(e.AddOp(floor, one)), floor))


def remainder(b: tg.OpBuilder, x: SSAValue, y: SSAValue, signs: Operands) -> SSAValue:
    """The remainder of `quotient`, which has the sign of x."""
    floor = b.put(e.ModOp(x, y))
    return b.put(e.WhereOp(_is_rounded_down(b, floor, signs), b.put(e.SubOp(floor, y)), floor))


def _is_rounded_down(b: tg.OpBuilder, modulo: SSAValue, signs: Operands) -> SSAValue:
    """Whether a quotient is negative and no integer."""
    zero = b.put(tg.ConstOp(0, tg.tensor(modulo).element_type))
    first, *others = [b.put(e.CmpLtOp(operand, zero)) for operand in signs]
    is_negative = b.put(e.XorOp(first, *others)) if others else first
    return b.put(e.AndOp(is_negative, b.put(e.CmpNeOp(modulo, zero))))


class Arithmetic:
    """Rewrites pure ops: their values, and integers as exact values of dtype index.

    The older vocabularies compute positions in 32 bits. A position is computed in the dtype index
    wherever the intervals say that no 32-bit operation on the way wraps.

    `values` has what has been rewritten so far; the caller enters the loops and loads.
    """

    def __init__(
        self, builder: tg.OpBuilder, intervals: MinMax, *, index_vectors: bool = True
    ) -> None:
        """`index_vectors` says whether there may be `tg.vconst`, which programs on tensors lack."""
        self.builder = builder
        self.index_vectors = index_vectors
        self.intervals = intervals
        self.values: dict[SSAValue, SSAValue] = {}
        self.indices: dict[SSAValue, SSAValue] = {}
        self.unrolled = Unrolled(builder)
        self.changing: set[SSAValue] = set()
        """Accumulators: what is computed from them is not computed again as an index."""

    # -- values ----------------------------------------------------------------------------------

    def rewrite(self, op: Operation) -> None:
        """Rewrite a pure op of either vocabulary whose operands are rewritten."""
        (result,) = op.results
        noted("arithmetic", op)
        new = self._rewritten(op, [self.values[operand] for operand in op.operands])
        new.name_hint = new.name_hint or result.name_hint
        self.values[result] = new

    def _rewritten(self, op: Operation, operands: Operands) -> SSAValue:
        if isinstance(op, _STRUCTURE):
            return self._restructured(op, operands)
        if isinstance(op, LegacyVConstOp):
            return self._vector_constant(op)
        if isinstance(op, CustomOp | CustomIOp):
            return self._custom(op, operands)
        operands = self.unrolled.aligned(op, operands)
        match op:
            case AluOp() | IDivOp() | ModOp() | FDivOp():
                return self._computed(op, operands)
            case tg.TgOp():
                return self.builder.put(op.rebuild(operands))
            case _:
                new = op.clone()
                new.operands = operands
                return self.builder.put(new)

    def _computed(self, op: Operation, operands: Operands) -> SSAValue:
        kind = self._kind(op)
        if isinstance(kind, type):
            return self.builder.put(_elementwise(kind, op, operands))
        x, y = operands
        signs = [
            new for old, new in zip(op.operands, operands, strict=True) if self._is_signed(old)
        ]
        return kind(self.builder, x, y, signs)

    def _is_signed(self, operand: SSAValue) -> bool:
        return self.intervals[operand].lo < 0

    def _kind(self, op: Operation) -> type[e.ElementwiseOp] | Callable[..., SSAValue]:
        """The op that computes what another one does; the function that builds it, where several
        are needed. A division toward zero is one toward minus infinity if nothing is negative."""
        match op:
            case FDivOp():
                return e.DivOp
            case AluOp(operation=name) if name.data in ALU:
                dtype = tg.dtype_of(op.operands[0])
                if ALU[name.data] is e.NegOp and dtype.is_bool:
                    return e.NotOp
                if ALU[name.data] is not e.DivOp or dtype.is_float:
                    return ALU[name.data]
                truncated = IDivOp.name
            case AluOp(operation=name):
                truncated = TRUNCATED[name.data]
            case _:
                truncated = op.name
        is_floor = not any(map(self._is_signed, op.operands))
        if truncated == IDivOp.name:
            return e.IDivOp if is_floor else quotient
        return e.ModOp if is_floor else remainder

    def _restructured(self, op: Operation, operands: Operands) -> SSAValue:
        match op:
            case VectorizeOp():
                return self.unrolled.stacked(op, operands)
            case GepOp():
                (vector,) = self.unrolled.lanes_first(op, operands)
                return self.unrolled.lanes_last(op, self.lanes(vector, tg.integers(op, "lanes")))
            case CatOp():
                vectors = self.unrolled.lanes_first(op, operands)
                return self.unrolled.lanes_last(op, self._joined(vectors))
            case UnrollOp():
                return self.unrolled.unrolled(op, operands[0])
            case ContractOp():
                return self.unrolled.contracted(op, operands[0])
            case _:
                return operands[0]

    def _vector_constant(self, op: LegacyVConstOp) -> SSAValue:
        dtype = tg.tensor(op.result).element_type
        values = [tg.number(value) for value in op.values]
        if dtype == tg.INDEX:
            return self._index_vector([int(v) for v in values])
        return self.builder.put(
            tg.StackOp([self.builder.put(tg.ConstOp(v, dtype)) for v in values])
        )

    def _index_vector(self, values: Sequence[int]) -> SSAValue:
        if self.index_vectors:
            return self.builder.put(tg.VConstOp(values))
        return self.builder.put(tg.StackOp([self.builder.index_constant(v) for v in values]))

    def lanes(self, vector: SSAValue, lanes: Sequence[int]) -> SSAValue:
        """Lanes of a vector; one alone is a scalar."""
        is_scalar = len(lanes) == 1
        index = self.builder.index_constant(lanes[0]) if is_scalar else self._index_vector(lanes)
        return self.builder.put(tg.IndexOp(vector, (index,)))

    def _joined(self, vectors: Operands) -> SSAValue:
        """Vectors, one after the other."""
        sizes = [tg.tensor(vector).get_shape()[0] for vector in vectors]
        if len(set(sizes)) == 1:
            shape = (sum(sizes), *tg.tensor(vectors[0]).get_shape()[1:])
            return self.builder.put(tg.ReshapeOp(self.builder.put(tg.StackOp(vectors)), shape))
        lanes = [
            self.lanes(vector, (lane,))
            for vector, size in zip(vectors, sizes, strict=True)
            for lane in range(size)
        ]
        return self.builder.put(tg.StackOp(lanes))

    def _custom(self, op: CustomOp | CustomIOp, operands: Operands) -> SSAValue:
        custom = codegen.CustomOp(op.fmt.data, operands, op.result.type)
        if isinstance(op, CustomIOp):
            custom.attributes["inline"] = UnitAttr()
        return self.builder.put(custom)

    # -- indices ---------------------------------------------------------------------------------

    def index(self, value: SSAValue) -> SSAValue:
        """An integer of the older vocabulary as a value of dtype index."""
        if value in self.changing:
            return self.builder.put(e.CastOp(self.values[value], tg.INDEX))
        return tg.computed(value, self.indices, self._exact_operands, self._compute_index)

    def _exact_operands(self, value: SSAValue) -> Operands:
        """The operands that are computed as indices, too; none where the value is only cast."""
        op = value.owner
        if not isinstance(op, Operation) or not self._is_exact(op):
            return ()
        return op.operands[1:] if self._exact_kind(op) is e.WhereOp else op.operands

    def _exact_kind(self, op: Operation) -> type[e.ElementwiseOp] | None:
        kind = self._kind(op) if isinstance(op, AluOp | IDivOp | ModOp) else type(op)
        return kind if isinstance(kind, type) and issubclass(kind, e.ElementwiseOp) else None

    def _is_exact(self, op: Operation) -> bool:
        """Whether an op gives the same integer in the dtype index as in its own."""
        if not self.changing.isdisjoint(op.operands):
            return False
        if isinstance(op, _STRUCTURE | tg.ConstOp | LegacyVConstOp):
            return True
        kind = self._exact_kind(op)
        if kind is None or kind not in EXACT or not tg.dtype_of(op.results[0]).is_integer:
            return False
        if kind is e.CastOp and not tg.dtype_of(op.operands[0]).is_integer:
            return False
        dtype = tg.dtype_of(op.results[0])
        sources = [self.intervals[operand] for operand in op.operands]
        return EXACT[kind](tg.DTYPES[tg.INDEX], *sources).within(dtype.low, dtype.high)

    def _compute_index(self, value: SSAValue) -> SSAValue:
        op = value.owner
        if tg.tensor(value).element_type == tg.INDEX:
            return self.values[value]
        if not isinstance(op, Operation) or not self._is_exact(op):
            return self.builder.put(e.CastOp(self.values[value], tg.INDEX))
        match op:
            case tg.ConstOp():
                return self.builder.index_constant(int(tg.number(op.value)))
            case LegacyVConstOp():
                return self._index_vector([int(tg.number(v)) for v in op.values])
            case _:
                pass
        operands = [self.indices[operand] for operand in self._exact_operands(value)]
        if isinstance(op, _STRUCTURE):
            return self._restructured(op, operands)
        kind = self._exact_kind(op)
        assert kind is not None
        if kind is e.CastOp:
            return operands[0]
        if kind is e.WhereOp:
            operands = [self.values[op.operands[0]], *operands]
        return self.builder.put(_elementwise(kind, op, self.unrolled.aligned(op, operands)))


def _elementwise(kind: type[e.ElementwiseOp], op: Operation, operands: Operands) -> e.ElementwiseOp:
    """An elementwise op of a kind, in the place of another one."""
    new = kind(*operands)
    new.location = op.location
    return new
