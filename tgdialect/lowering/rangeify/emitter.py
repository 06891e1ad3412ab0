"""Emitting the ops of one kernel: equal ops once, trivial index arithmetic not at all."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntAttr, LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.rangeify.indexing import Index
from tgdialect.ops.attributes import AxisType, PlaceAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import INDEX, number_attribute
from tgdialect.ops.elementwise import (
    AddOp,
    AndOp,
    CmpLtOp,
    IDivOp,
    ModOp,
    MulOp,
    NotOp,
    SubOp,
)
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import (
    Dim,
    Shape,
    UnknownDim,
    is_memory,
    place,
    shape_of,
    tensor,
    tensor_type,
)
from tgdialect.ops.source import ConstOp, ParamOp


class Emitter:
    """The block of a kernel under construction, and what it has so far."""

    def __init__(self) -> None:
        self.block = Block()
        self.arguments: dict[SSAValue, SSAValue] = {}
        """The PARAM for each buffer and index scalar of the host, in the order of slots."""
        self.location: LocationAttr | None = None
        """The source location of what is being emitted."""
        self.open_ranges: dict[SSAValue, frozenset[RangeOp]] = {}
        """The RANGEs whose loops a value is in, for those that were asked for."""
        self._emitted: dict[tuple[object, ...], SSAValue] = {}
        self._intervals = MinMax()
        self._axes = 0

    def emit(
        self, kind: Callable[..., TgOp], *operands: SSAValue, argument: Attribute | None = None
    ) -> SSAValue:
        """The result of an op, a new one unless the kernel has it already."""
        key = (kind, operands, argument)
        if (known := self._emitted.get(key)) is None:
            op = kind(*operands) if argument is None else kind(*operands, argument)
            known = self._emitted[key] = self.append(op)
        return known

    def append(self, op: TgOp) -> SSAValue:
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, dtype: Attribute) -> SSAValue:
        return self.emit(ConstOp, argument=number_attribute(value, dtype))

    def dim(self, dim: Dim) -> SSAValue:
        """An extent: a constant, a value of this kernel, or an index scalar of the host."""
        if isinstance(dim, int):
            return self.constant(dim, INDEX)
        if isinstance(dim, UnknownDim):
            raise PassFailedException(
                "a dynamic dimension of unknown origin: name its index argument with tg.dims"
            )
        owner = dim.owner
        inside = isinstance(owner, Operation) and owner.parent is self.block
        return dim if inside else self.parameter(dim)

    def parameter(self, host: SSAValue) -> SSAValue:
        """The PARAM for a buffer or index scalar of the host."""
        if (known := self.arguments.get(host)) is None:
            type = tensor(host)
            where = PlaceAttr.of(addrspace=place(host).addrspace)
            dims = [self.dim(d) for d in shape_of(host) if isinstance(d, SSAValue)]
            slot = len(self.arguments)
            known = self.append(
                ParamOp(slot, tensor_type(type.element_type, type.get_shape(), where), dims)
            )
            known.name_hint = host.name_hint
            self.arguments[host] = known
            self._emit_bounds(known, host)
        return known

    def _emit_bounds(self, parameter: SSAValue, host: SSAValue) -> None:
        """An index scalar keeps its bounds."""
        if is_memory(host) or not isinstance(parameter.owner, ParamOp):
            return
        interval = MinMax()[host]
        if not interval.within(-(2**62), 2**62):
            return
        parameter.owner.min = IntAttr(int(interval.lo))
        parameter.owner.max = IntAttr(int(interval.hi))

    # -- index arithmetic

    def known(self, value: Dim) -> int | None:
        """The value of a constant."""
        if isinstance(value, int):
            return value
        interval = self._intervals[self.dim(value)]
        return int(interval.lo) if interval.is_constant else None

    def _fold(
        self,
        kind: Callable[..., TgOp],
        function: Callable[[int, int], int],
        a: Dim,
        b: Dim,
        neutral: int | None,
    ) -> SSAValue:
        """An index op; folded on constants, and gone where b is its neutral element."""
        x, y = self.known(a), self.known(b)
        if x is not None and y is not None:
            return self.constant(function(x, y), INDEX)
        if y is not None and y == neutral:
            return self.dim(a)
        return self.emit(kind, self.dim(a), self.dim(b))

    def add(self, a: Dim, b: Dim) -> SSAValue:
        if self.known(a) is not None:
            a, b = b, a
        return self._fold(AddOp, lambda x, y: x + y, a, b, 0)

    def sub(self, a: Dim, b: Dim) -> SSAValue:
        if (y := self.known(b)) is not None:
            return self.add(a, -y)
        return self._fold(SubOp, lambda x, y: x - y, a, b, 0)

    def mul(self, a: Dim, b: Dim) -> SSAValue:
        if self.known(a) is not None:
            a, b = b, a
        return self.dim(0) if self.known(b) == 0 else self._fold(MulOp, lambda x, y: x * y, a, b, 1)

    def idiv(self, a: Dim, b: Dim) -> SSAValue:
        n = self.known(b)
        if n is not None and n > 0 and self._intervals[self.dim(a)].within(0, n - 1):
            return self.dim(0)
        return self._fold(IDivOp, lambda x, y: x // y if y else 0, a, b, 1)

    def mod(self, a: Dim, b: Dim) -> SSAValue:
        n = self.known(b)
        if n is not None and n > 0 and self._intervals[self.dim(a)].within(0, n - 1):
            return self.dim(a)
        return self._fold(ModOp, lambda x, y: x % y if y else 0, a, b, None)

    def in_range(self, index: SSAValue, extent: Dim) -> SSAValue | None:
        interval, n = self._intervals[index], self.known(extent)
        result = None
        if interval.lo < 0:
            result = self.emit(NotOp, self.emit(CmpLtOp, index, self.dim(0)))
        if n is None or interval.hi >= n:
            result = self.both(result, self.emit(CmpLtOp, index, self.dim(extent)))
        return result

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        if a is None or b is None or a is b:
            return b if a is None else a
        return self.emit(AndOp, a, b)

    # -- ranges

    def ranges(self, shape: Shape, axis_type: AxisType) -> Index:
        """A new RANGE for each axis; axes of size 1 are at 0."""
        result: list[SSAValue] = []
        for extent in shape:
            if extent == 1:
                result.append(self.dim(0))
            else:
                result.append(self.append(RangeOp(self._axes, axis_type, self.dim(extent))))
                self._axes += 1
        return tuple(result)
