"""Arithmetic of the older vocabularies in that of the specification, and integers as indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.legacy.alu import ALU, TRUNCATED
from tgdialect.legacy.ops.compute import AluOp, FDivOp, IDivOp, ModOp
from tgdialect.legacy.ops.constants import VConstOp as LegacyVConstOp
from tgdialect.legacy.ops.framework import CustomIOp, CustomOp, NoopOp
from tgdialect.legacy.ops.indexing import GepOp
from tgdialect.legacy.ops.vectors import CatOp, ContractOp, UnrollOp, VectorizeOp
from tgdialect.legacy.upgrade.unrolled import Unrolled
from tgdialect.ops import codegen, intervals, tg
from tgdialect.ops import elementwise as e
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import DTYPES, INDEX, DType
from tgdialect.ops.intervals import Interval
from tgdialect.ops.properties import dtype_of, integers, number, tensor
from tgdialect.ops.walk import computed

Operands = Sequence[SSAValue]


def _negated(dtype: DType, a: Interval) -> Interval:
    return Interval(-a.hi, -a.lo)


def _maximum(dtype: DType, a: Interval, b: Interval) -> Interval:
    return intervals.maximum(a, b)


def _mulacc(dtype: DType, a: Interval, b: Interval, c: Interval) -> Interval:
    return intervals.add(dtype, intervals.mul(dtype, a, b), c)


def _where(dtype: DType, condition: Interval, a: Interval, b: Interval) -> Interval:
    return a.union(b)


def _same(dtype: DType, a: Interval) -> Interval:
    return a


EXACT: Mapping[type[e.ElementwiseOp], Callable[..., Interval]] = {
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


def quotient(b: OpBuilder, x: SSAValue, y: SSAValue, signs: Operands) -> SSAValue:
    """Integer division that rounds toward zero: the floor, plus 1 where the signs differ and there
    is a remainder. `signs` are those of x and y that may be negative."""
    one = b.put(tg.ConstOp(1, tensor(x).element_type))
    floor = b.put(e.IDivOp(x, y))
    is_rounded_down = _is_rounded_down(b, b.put(e.ModOp(x, y)), signs)
    return b.put(e.WhereOp(is_rounded_down, b.put(e.AddOp(floor, one)), floor))


def remainder(b: OpBuilder, x: SSAValue, y: SSAValue, signs: Operands) -> SSAValue:
    """The remainder of `quotient`, which has the sign of x."""
    floor = b.put(e.ModOp(x, y))
    return b.put(e.WhereOp(_is_rounded_down(b, floor, signs), b.put(e.SubOp(floor, y)), floor))


def _is_rounded_down(b: OpBuilder, modulo: SSAValue, signs: Operands) -> SSAValue:
    """Whether a quotient is negative and no integer."""
    zero = b.put(tg.ConstOp(0, tensor(modulo).element_type))
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
        self, builder: OpBuilder, intervals: MinMax, *, index_vectors: bool = True
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
            case TgOp():
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
                dtype = dtype_of(op.operands[0])
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
                return self.unrolled.lanes_last(op, self.lanes(vector, integers(op, "lanes")))
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
        dtype = tensor(op.result).element_type
        values = [number(value) for value in op.values]
        if dtype == INDEX:
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
        sizes = [tensor(vector).get_shape()[0] for vector in vectors]
        if len(set(sizes)) == 1:
            shape = (sum(sizes), *tensor(vectors[0]).get_shape()[1:])
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
            return self.builder.put(e.CastOp(self.values[value], INDEX))
        return computed(value, self.indices, self._exact_operands, self._compute_index)

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
        if kind is None or kind not in EXACT or not dtype_of(op.results[0]).is_integer:
            return False
        if kind is e.CastOp and not dtype_of(op.operands[0]).is_integer:
            return False
        dtype = dtype_of(op.results[0])
        sources = [self.intervals[operand] for operand in op.operands]
        return EXACT[kind](DTYPES[INDEX], *sources).within(dtype.low, dtype.high)

    def _compute_index(self, value: SSAValue) -> SSAValue:
        op = value.owner
        if tensor(value).element_type == INDEX:
            return self.values[value]
        if not isinstance(op, Operation) or not self._is_exact(op):
            return self.builder.put(e.CastOp(self.values[value], INDEX))
        match op:
            case tg.ConstOp():
                return self.builder.index_constant(int(number(op.value)))
            case LegacyVConstOp():
                return self._index_vector([int(number(v)) for v in op.values])
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
