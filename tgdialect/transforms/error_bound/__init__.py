"""`tg-error-bound`: a bound of the rounding error of every result, computed beside the result.

The method is running error analysis (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
edition, sections 3.1 to 3.3): with each value goes an f64 that bounds how far the same value may be
from it in any other evaluation that docs/semantics.md allows. Those differ in the order of sums, in
products that are rounded or not (MULACC), in the last digits of transcendental functions, and in
sums of subnormal products. The bound is evaluated on the data, so that it is as tight as the terms
are small. It is `n u / (1 - n u)` times the sum of the absolute terms for a sum of n, where `u` is
the unit roundoff of the accumulator, and follows from the derivative for a function.

* A bool or an integer has a bound, too: a comparison of values that are within their errors may be
  either, and so a WHERE may choose either branch, whose difference is the bound.
* A bound that is infinite or NaN decides nothing: of a quotient by a divisor that may be 0, of the
  product of an infinity and 0, of memory at an index that is not known.
* A value that is the same in all evaluations has no bound in the IR: what is loaded, index
  arithmetic, maxima of these. It takes no op.

This file goes through a block; `rules.py` has the bound of each elementwise op, and `values.py` the
arithmetic on values and their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.elementwise import COMPARISONS
from tgdialect.ops.numbering import next_slot
from tgdialect.ops.source import parameters
from tgdialect.transforms.error_bound.rules import (
    FLOATS,
    FUNCTION_ULPS,
    INTEGERS,
    ULPS,
    Site,
    at_most_one,
    least,
    no_error_or_unknown,
    relative,
    sum_of,
    truncation,
    unknown,
    where_any,
)
from tgdialect.transforms.error_bound.values import F64, BoundedValues
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.tg_semantics import Tg

TF32_ROUNDOFF = 2.0**-11
"""The relative error of a factor that is rounded to tf32."""

ROUNDED = frozenset(("tg.add", "tg.sub", "tg.cast", "tg.mod", *ULPS))
"""The ops that round their results. The others choose one of their operands, or are exact."""


class UnboundedError(PassFailedException):
    """The error of an op's result has no bound here."""


@dataclass(frozen=True)
class ErrorBoundPass(ModulePass):
    """Add to each kernel and function the bounds of what it computes.

    For each PARAM that it stores to, a kernel gets another one at the end: f64 memory of that
    shape, into which it stores the bound of each cell. So does a function, for its memory; after
    its results it returns the bound of each. A function that calls others is left as it is.

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>            // x * x
        ->
        func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>)   // |x * x| 2^-23
    """

    name = "tg-error-bound"

    tf32: bool = False
    """Whether the factors of f32 products may be rounded to tf32."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in ops_of(op.body.block):
            if not isinstance(each, FuncOp | tg.KernelOp) or not each.body.blocks:
                continue
            if not any(isinstance(inner, tg.CallOp) for inner in each.walk()):
                bound_errors(each, tf32=self.tf32)


def bound_errors(callee: FuncOp | tg.KernelOp, *, tf32: bool = False) -> list[int]:
    """Add the bounds to a kernel or function, in place. Returns the slots of the PARAMs, or the
    positions among arguments and PARAMs, whose memory the new PARAMs describe, in their order.

    Raises UnboundedError at an op that has none: a CALL, a FUNCTION, a SCAN, code of a program's
    own, or a STORE to a place that floats with errors decide.
    """
    block = callee.body.block
    walker = _Errors(block, tf32=tf32)
    written = walker.add_memory()
    for op in list(ops_of(block)):
        walker.visit(op)
    if isinstance(callee, FuncOp):
        _return_bounds(callee, walker)
    return written


def _return_bounds(function: FuncOp, walker: _Errors) -> None:
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp)
    walker.builder.move_before(end)
    bounds = [walker.full(value) for value in end.arguments]
    new = ReturnOp(*end.arguments, *bounds)
    walker.builder.insert(new)
    end.detach()
    end.erase()
    function.update_function_type()


class _Errors(BoundedValues):
    """Adds the bounds of what a block computes, op by op."""

    def __init__(self, block: Block, *, tf32: bool) -> None:
        super().__init__(block)
        self._block = block
        self._tf32 = tf32
        self._is_fused = not isinstance(block.parent_op(), tg.KernelOp)
        """Whether stages may still move a scaling over a CAST to a narrow float, as that of a
        softmax over a product with it."""
        self._uncertain: set[SSAValue] = set()
        """The cells at indices that have errors: any cell may be meant."""

    # -- memory

    def add_memory(self) -> list[int]:
        """Memory for the bounds of all memory that the block stores to. Returns the slots, or
        positions, of the memory of the caller among it."""
        roots = dict.fromkeys(
            _root(op.operands[0])
            for op in ops_of(self._block)
            if isinstance(op, tg.StoreOp | tg.AtomicAddOp)
        )
        params = parameters(self._block)
        arguments = len(self._block.args)
        first, buffers = len(params), next_slot(self._block.ops)
        slots: dict[int, SSAValue] = {}
        for root in roots:
            owner = root.owner
            type = tg.tensor(root)
            wide = tg.tensor_type(F64, type.get_shape(), tg.place(root))
            dims = [d for d in tg.shape_of(root) if isinstance(d, SSAValue)]
            if isinstance(owner, tg.BufferOp):
                self.builder.insertion_point = InsertPoint.after(owner)
                self.bounds[root] = self.builder.put(tg.BufferOp(buffers, wide, dims))
                buffers += 1
                continue
            if isinstance(owner, tg.ParamOp):
                slot = arguments + owner.slot.data
                self.builder.insertion_point = InsertPoint.after(owner)
            elif isinstance(root, BlockArgument):
                slot = root.index
                self.builder.insertion_point = InsertPoint.at_start(self._block)
            else:
                raise UnboundedError("a STORE to memory of no PARAM or BUFFER")
            if slot not in slots:
                slots[slot] = self.builder.put(tg.ParamOp(first + len(slots), wide, dims))
            self.bounds[root] = slots[slot]
        return [*slots]

    # -- ops

    def visit(self, op: Operation) -> None:
        """Add the bound of an op's result, after the op."""
        self.builder.insertion_point = InsertPoint.after(op)
        self.builder.location = op.location
        match op:
            case tg.StoreOp():
                self._store(op)
            case tg.ReduceOp():
                self._set(op, self._reduction(op))
            case tg.ElementwiseOp():
                self._set(op, self._elementwise(op))
            case tg.LoadOp():
                self._load(op)
            case tg.IndexOp():
                self._index(op)
            case tg.BitcastOp():
                if (error := self.error(op.operands[0])) is not None:
                    same = tg.same_shape(tg.shape_of(op.operands[0]), tg.shape_of(op.result))
                    if tg.is_memory(op.result) or not same:
                        raise _unbounded(op)
                    self._set(op, unknown(error))
            case tg.StackOp() if any(o in self.bounds for o in op.operands):
                self.bounds[op.result] = self.builder.put(
                    op.rebuild([self.full(o) for o in op.operands])
                )
            case (
                tg.MovementOp()
                | tg.AfterOp()
                | tg.CopyOp()
                | tg.ContiguousOp()
                | tg.ContiguousBackwardOp()
                | tg.DetachOp()
                | tg.ReplicatedOp()
            ) if op.operands[0] in self.bounds:
                shadow = self.bounds[op.operands[0]]
                self.bounds[op.results[0]] = self.builder.put(
                    op.rebuild([shadow, *op.operands[1:]])
                )
            case tg.CallOp() | tg.FunctionOp() | tg.ScanOp() | tg.AtomicAddOp() | tg.WmmaOp():
                raise _unbounded(op)
            case tg.EndOp() | tg.GroupOp() | tg.SinkOp() | ReturnOp():
                pass
            case _:
                if any(o in self.bounds for o in op.operands):
                    raise _unbounded(op)

    def _set(self, op: Operation, error: Tg | None) -> None:
        if error is None:
            return
        value = op.results[0]
        if not tg.same_shape(tg.shape_of(error.handle), tg.shape_of(value)):
            self.bounds[value] = error.handle
            error = self.of(self.full(value))
        self.bounds[value] = error.handle

    def _store(self, op: tg.StoreOp) -> None:
        rest = op.operands[2:]
        if any(operand in self.bounds for operand in rest) or op.buffer in self._uncertain:
            raise _unbounded(op)
        # Waiting for the STORE is waiting for that of the bound, too.
        uses = list(op.result.uses)
        shadow = self.bounds[op.buffer]
        stored = self.builder.put(tg.StoreOp(shadow, self.full(op.value), *rest))
        both = self.builder.put(tg.GroupOp((op.result, stored)))
        for use in uses:
            use.operation.operands[use.index] = both

    def _load(self, op: tg.LoadOp) -> None:
        shadow = self.bounds.get(op.buffer)
        if op.gate is not None and op.gate in self.bounds:
            raise _unbounded(op)
        if op.buffer in self._uncertain:
            self._set(op, self.number(math.inf))
        elif shadow is not None:
            more = [] if op.alt is None or op.gate is None else [self.full(op.alt), op.gate]
            self.bounds[op.result] = self.builder.put(op.rebuild([shadow, *more]))
        elif op.alt is not None and op.alt in self.bounds:
            raise _unbounded(op)

    def _index(self, op: tg.IndexOp) -> None:
        source, *indices = op.operands
        if any(index in self.bounds for index in indices):
            if not tg.is_memory(op.result):
                self._set(op, self.number(math.inf))
            self._uncertain.add(op.result)
        elif source in self.bounds:
            self.bounds[op.result] = self.builder.put(op.rebuild([self.bounds[source], *indices]))

    def _elementwise(self, op: tg.ElementwiseOp) -> Tg | None:
        dtype = tg.dtype_of(op.results[0])
        of = tg.dtype_of(op.operands[0])
        if op.name in COMPARISONS:
            return self._comparison(op)
        if isinstance(op, tg.WhereOp):
            return self._where(op)
        if isinstance(op, tg.CastOp):
            error = self._cast(op)
        elif not dtype.is_float:
            error = INTEGERS.get(op.name, no_error_or_unknown)(Site(self, op))
            return None if error is None else (at_most_one(error) if dtype.is_bool else error)
        else:
            error = FLOATS.get(op.name, no_error_or_unknown)(Site(self, op))
        if not dtype.is_float or (isinstance(op, tg.CastOp) and of.is_float and of == dtype):
            return error
        if op.name not in ROUNDED:
            return error
        if isinstance(op, tg.CastOp) and of.is_float and of.precision <= dtype.precision:
            return error
        if dtype.bits < 32 and not (self._is_fused and isinstance(op, tg.CastOp)):
            return self._rounded_to_narrow(op, error, dtype)
        return self._rounded(op, error, dtype)

    def _rounded_to_narrow(
        self, op: tg.ElementwiseOp, error: Tg | None, dtype: tg.DType
    ) -> Tg | None:
        """The same of a narrow float: results that are computed in f32 are rounded, and most of
        those within the error to the same number."""
        ulps = ULPS.get(op.name, 0)
        if error is None and ulps < FUNCTION_ULPS:
            return None
        operands = [self.value(o).handle for o in op.operands]
        if isinstance(op, tg.CastOp):
            assert error is not None
            return self._neighbors(op.result, self.of(operands[0]), error)
        exact = self.of(self.builder.put(op.rebuild(operands)))
        size = exact.applied("max", -exact)
        computed = (size < math.inf).where(size, 0.0) * (2.0**-23 * max(ulps, 1))
        if error is not None:
            computed = computed + error
            computed = computed if ulps >= FUNCTION_ULPS else where_any(error, computed)
        return self._neighbors(op.results[0], exact, computed)

    def _neighbors(self, result: SSAValue, exact: Tg, error: Tg) -> Tg:
        """How far a rounded result is from those that a value within the error is rounded to."""
        name = tg.dtype_of(result).name
        value = self.value(result)
        high, low = ((exact + d).cast(cast(Dtype, name)).cast("f64") for d in (error, -error))
        above = high.eq(value).where(value.constant(0.0), high - value)
        below = low.eq(value).where(value.constant(0.0), value - low)
        return where_any(error, above.applied("max", below))

    def _rounded(self, op: Operation, error: Tg | None, dtype: tg.DType) -> Tg | None:
        """The bound of a result that is rounded, given that of the exact results."""
        ulps = ULPS.get(op.name, 0)
        if error is None and not ulps:
            return None
        size = self.magnitude(op.results[0])
        finite = (size < math.inf).where(size, 0.0)
        total = finite if error is None else finite + error
        result = total * relative(dtype, max(ulps, 1)) + least(dtype)
        if self._tf32 and op.name in ("tg.mul", "tg.mulacc") and dtype.name == "f32":
            result = result + finite * (3 * TF32_ROUNDOFF)
        if error is not None:
            result = result + error
        if not ulps and error is not None:
            result = error.ne(0.0).where(result, 0.0)
        # It may round to an infinity; and 0 times an infinity may have been left out.
        may_overflow = (size < math.inf) & (finite + result > dtype.max_finite)
        result = may_overflow.where(self.number(math.inf), result)
        if op.name in ("tg.mul", "tg.mulacc"):
            wide = self.value(op.results[0])
            result = wide.ne(wide).where(self.number(math.inf), result)
        return result

    def _comparison(self, op: Operation) -> Tg | None:
        site = Site(self, op)
        if (error := sum_of(site.error(0), site.error(1))) is None:
            return None
        a, b = site.value(0), site.value(1)
        distance = (a - b).applied("max", b - a)
        is_open = (distance <= error) & error.ne(0.0)
        return is_open.where(self.number(1.0), 0.0)

    def _where(self, op: tg.WhereOp) -> Tg | None:
        condition, yes, no = op.operands
        open_, a, b = self.error(condition), self.error(yes), self.error(no)
        if open_ is None and a is None and b is None:
            return None
        known = self.of(condition).where(a or self.number(0.0), b or self.number(0.0))
        if open_ is None:
            return known
        x, y = self.value(yes), self.value(no)
        distance = x.eq(y).where(self.number(0.0), (x - y).applied("max", y - x))
        largest = (a or self.number(0.0)).applied("max", b or self.number(0.0))
        return open_.ne(0.0).where(distance + largest, known)

    def _cast(self, op: tg.CastOp) -> Tg | None:
        (source,) = op.operands
        if (error := self.error(source)) is None:
            return None
        of, to = tg.dtype_of(source), tg.dtype_of(op.result)
        if to.is_bool:
            near = (self.magnitude(source) <= error) & error.ne(0.0)
            return near.where(self.number(1.0), 0.0)
        if of.is_float and not to.is_float:
            return truncation(self.value(source), error)
        return error

    def _reduction(self, op: tg.ReduceOp) -> Tg | None:
        source, dtype, kind = op.source, tg.dtype_of(op.source), op.kind.data
        error, axes = self.error(source), tg.integers(op, "axes")
        reduced: Callable[[tg.ReduceKind, Tg], Tg] = lambda kind, terms: self.of(  # noqa: E731
            self.builder.put(tg.ReduceOp(kind, terms.handle, axes, op.ranges))
        )
        if kind is tg.ReduceKind.MAX or not dtype.is_float:
            if error is None and op.relaxed is None:
                return None
            full = self.of(self.full(source))
            if kind is tg.ReduceKind.ADD and not dtype.is_bool:
                return reduced(tg.ReduceKind.ADD, full)
            result = reduced(tg.ReduceKind.MAX, full)
            if kind is tg.ReduceKind.MUL and not dtype.is_bool:
                return unknown(result)
            if op.relaxed is not None:
                wide = self.value(op.result)
                result = wide.eq(wide).where(result, math.inf)
            return result
        size = self.magnitude(source)
        total = size if error is None else size + error
        growth = self._growth(op, source, axes)
        if kind is tg.ReduceKind.MUL:
            product = reduced(tg.ReduceKind.MUL, total)
            exact = reduced(tg.ReduceKind.MUL, size)
            result = (product - exact) + product * growth
        else:
            terms = total * growth + least(dtype)
            result = reduced(tg.ReduceKind.ADD, terms if error is None else terms + error)
            sums = reduced(tg.ReduceKind.ADD, total)
            # A part of the terms may be too large, in some order.
            limit = dtype if dtype.bits >= 32 else tg.DTYPES[tg.TYPES["f32"]]
            may_overflow = (sums < math.inf) & (sums + result > limit.max_finite)
            result = may_overflow.where(self.number(math.inf), result)
        if dtype.bits < 32:
            result = self._neighbors(op.result, reduced(kind, self.value(source)), result)
        return result

    def _growth(self, op: tg.ReduceOp, source: SSAValue, axes: tuple[int, ...]) -> Tg:
        """gamma_n of the sum or product: the relative error of n terms in any order."""
        dtype = tg.dtype_of(source)
        # Twice that of f32 where the interpreter rounds as well, and for instructions that add less
        # precisely (WMMA).
        unit = 2.0 ** -max(dtype.precision, 24) * (1 if dtype.name == "f32" else 2)
        shape = tg.shape_of(source)
        extents: list[tg.Dim] = [shape[axis] for axis in axes]
        for each in op.ranges:
            bound = each.owner.operands[0] if isinstance(each.owner, Operation) else each
            known = bound.owner
            is_constant = isinstance(known, tg.ConstOp)
            extents.append(int(tg.number(known.value)) if is_constant else bound)
        static = math.prod(d for d in extents if isinstance(d, int))
        dynamic = [d for d in extents if isinstance(d, SSAValue)]
        if len(dynamic) + sum(isinstance(d, int) for d in extents) < len(extents):
            raise _unbounded(op)
        if not dynamic:
            rounded = (static + 1) * unit
            return self.number(rounded / (1 - rounded) if rounded < 0.5 else math.inf)
        count = self.number(float(static))
        for extent in dynamic:
            count = count * self.value(extent)
        rounded = (count + 1.0) * unit
        return (rounded < 0.5).where(rounded / (1.0 - rounded), math.inf)


def _root(memory: SSAValue) -> SSAValue:
    """The memory that a view shows."""
    while isinstance(memory.owner, Operation) and memory.owner.operands:
        if isinstance(memory.owner, tg.ParamOp | tg.BufferOp):
            break
        memory = memory.owner.operands[0]
    return memory


def _unbounded(op: Operation) -> UnboundedError:
    return locate(UnboundedError(f"the error of {op.name} has no bound"), op)
