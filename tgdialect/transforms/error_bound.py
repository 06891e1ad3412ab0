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
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.tg_semantics import Tg, TgSemantics

F64 = tg.TYPES["f64"]

TF32_ROUNDOFF = 2.0**-11
"""The relative error of a factor that is rounded to tf32."""

FUNCTION_ULPS = 4
"""The most units in the last place by which two evaluations of a transcendental function differ:
docs/semantics.md allows 3.5, and the interpreter's is within half of one."""

ULPS: Mapping[str, int] = {
    **dict.fromkeys(("tg.mul", "tg.mulacc"), 1),
    **dict.fromkeys(("tg.div", "tg.recip", "tg.sqrt"), 2),
    **dict.fromkeys(("tg.exp2", "tg.exp", "tg.expm1", "tg.softplus"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.log2", "tg.log", "tg.log10", "tg.log1p"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.sin", "tg.cos", "tg.erf", "tg.erfc"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.gelu", "tg.gate", "tg.pow"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.logaddexp", "tg.lgamma"), FUNCTION_ULPS),
}
"""Units in the last place by which results differ though their operands are the same. Other float
ops are rounded correctly: equal operands have equal results."""

ROUNDED = frozenset(("tg.add", "tg.sub", "tg.cast", "tg.mod", *ULPS))
"""The ops that round their results. The others choose one of their operands, or are exact."""

_COUNTS_AS_ZERO = 2.0**-123
"""A number above e^-86, below which a softmax in blocks leaves out exponentials, and above the
subnormal numbers of f32."""

_LN_2 = math.log(2)
"""The slope of the exponent of EXP2, and the inverse of that of LOG2."""
_STEEPEST_ERF = 2 / math.sqrt(math.pi)
"""The greatest slope of ERF and ERFC, at 0."""
_STEEPEST_GELU = 1.13
"""Above the greatest slope of GELU, 1.1290, at the square root of 2."""


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


class _Errors:
    """The bounds of the values of a block, by value; none for those that have no error."""

    def __init__(self, block: Block, *, tf32: bool) -> None:
        self._block = block
        self._tf32 = tf32
        self._is_fused = not isinstance(block.parent_op(), tg.KernelOp)
        """Whether stages may still move a scaling over a CAST to a narrow float, as that of a
        softmax over a product with it."""
        self._known: dict[SSAValue, SSAValue] = {}
        self._uncertain: set[SSAValue] = set()
        """The cells at indices that have errors: any cell may be meant."""
        first = next(iter(ops_of(block)))
        self.builder = tg.UniquingBuilder(InsertPoint.before(first), first.location)
        self._semantics = TgSemantics(self.builder)

    # -- values

    def number(self, value: float) -> Tg:
        return self.of(self._semantics.constant(value, "f64"))

    def of(self, handle: SSAValue) -> Tg:
        return self._semantics.value(handle)

    def value(self, value: SSAValue) -> Tg:
        """A value as an f64."""
        if tg.dtype_of(value).name == "f64":
            return self.of(value)
        return self.of(self.builder.emit(tg.CastOp, value, F64))

    def magnitude(self, value: SSAValue) -> Tg:
        """The absolute value as an f64."""
        wide = self.value(value)
        return wide.applied("max", -wide)

    def error(self, value: SSAValue) -> Tg | None:
        known = self._known.get(value)
        return None if known is None else self.of(known)

    def full(self, value: SSAValue) -> SSAValue:
        """The bound of a value, of its shape."""
        known = self._known.get(value)
        error = self.number(0.0) if known is None else self.of(known)
        wide = self.value(value)
        return wide.eq(wide).where(error, error).handle

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
                self._known[root] = self.builder.put(tg.BufferOp(buffers, wide, dims))
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
            self._known[root] = slots[slot]
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
                    self._set(op, _unknown(error))
            case tg.StackOp() if any(o in self._known for o in op.operands):
                self._known[op.result] = self.builder.put(
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
            ) if op.operands[0] in self._known:
                shadow = self._known[op.operands[0]]
                self._known[op.results[0]] = self.builder.put(
                    op.rebuild([shadow, *op.operands[1:]])
                )
            case tg.CallOp() | tg.FunctionOp() | tg.ScanOp() | tg.AtomicAddOp() | tg.WmmaOp():
                raise _unbounded(op)
            case tg.EndOp() | tg.GroupOp() | tg.SinkOp() | ReturnOp():
                pass
            case _:
                if any(o in self._known for o in op.operands):
                    raise _unbounded(op)

    def _set(self, op: Operation, error: Tg | None) -> None:
        if error is None:
            return
        value = op.results[0]
        if not tg.same_shape(tg.shape_of(error.handle), tg.shape_of(value)):
            self._known[value] = error.handle
            error = self.of(self.full(value))
        self._known[value] = error.handle

    def _store(self, op: tg.StoreOp) -> None:
        rest = op.operands[2:]
        if any(operand in self._known for operand in rest) or op.buffer in self._uncertain:
            raise _unbounded(op)
        # Waiting for the STORE is waiting for that of the bound, too.
        uses = list(op.result.uses)
        shadow = self._known[op.buffer]
        stored = self.builder.put(tg.StoreOp(shadow, self.full(op.value), *rest))
        both = self.builder.put(tg.GroupOp((op.result, stored)))
        for use in uses:
            use.operation.operands[use.index] = both

    def _load(self, op: tg.LoadOp) -> None:
        shadow = self._known.get(op.buffer)
        if op.gate is not None and op.gate in self._known:
            raise _unbounded(op)
        if op.buffer in self._uncertain:
            self._set(op, self.number(math.inf))
        elif shadow is not None:
            more = [] if op.alt is None or op.gate is None else [self.full(op.alt), op.gate]
            self._known[op.result] = self.builder.put(op.rebuild([shadow, *more]))
        elif op.alt is not None and op.alt in self._known:
            raise _unbounded(op)

    def _index(self, op: tg.IndexOp) -> None:
        source, *indices = op.operands
        if any(index in self._known for index in indices):
            if not tg.is_memory(op.result):
                self._set(op, self.number(math.inf))
            self._uncertain.add(op.result)
        elif source in self._known:
            self._known[op.result] = self.builder.put(op.rebuild([self._known[source], *indices]))

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
            error = _INTEGERS.get(op.name, _no_error_or_unknown)(_Site(self, op))
            return None if error is None else (_at_most_one(error) if dtype.is_bool else error)
        else:
            error = _FLOATS.get(op.name, _no_error_or_unknown)(_Site(self, op))
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
            computed = computed if ulps >= FUNCTION_ULPS else _where_any(error, computed)
        return self._neighbors(op.results[0], exact, computed)

    def _neighbors(self, result: SSAValue, exact: Tg, error: Tg) -> Tg:
        """How far a rounded result is from those that a value within the error is rounded to."""
        name = tg.dtype_of(result).name
        value = self.value(result)
        high, low = ((exact + d).cast(cast(Dtype, name)).cast("f64") for d in (error, -error))
        above = high.eq(value).where(value.constant(0.0), high - value)
        below = low.eq(value).where(value.constant(0.0), value - low)
        return _where_any(error, above.applied("max", below))

    def _rounded(self, op: Operation, error: Tg | None, dtype: tg.DType) -> Tg | None:
        """The bound of a result that is rounded, given that of the exact results."""
        ulps = ULPS.get(op.name, 0)
        if error is None and not ulps:
            return None
        size = self.magnitude(op.results[0])
        finite = (size < math.inf).where(size, 0.0)
        total = finite if error is None else finite + error
        result = total * _relative(dtype, max(ulps, 1)) + _least(dtype)
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
        site = _Site(self, op)
        if (error := _sum(site.error(0), site.error(1))) is None:
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
            return _truncation(self.value(source), error)
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
                return _unknown(result)
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
            terms = total * growth + _least(dtype)
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


def _relative(dtype: tg.DType, ulps: int) -> float:
    """The relative difference of two results within so many ulps: of narrow floats, which are
    computed in f32, ulps of f32 and a rounding."""
    own, computed = 2.0**-dtype.precision, 2.0 ** -max(dtype.precision, 24)
    return 2 * own + 2 * (ulps - 1) * computed


def _least(dtype: tg.DType) -> float:
    """The absolute error of what is too small for the relative one: the last digit of subnormal
    numbers, or all of what counts as 0, which are f32 subnormals for some instructions, and e^-86
    for a softmax in blocks."""
    subnormal = 2.0 ** (dtype.min_exponent - dtype.precision + 1)
    return subnormal if dtype.bits > 32 else max(subnormal, _COUNTS_AS_ZERO)


# -- the rules of ops ------------------------------------------------------------------------------


class _Site:
    """The operands of an op, for the rules."""

    def __init__(self, walker: _Errors, op: Operation) -> None:
        self._walker = walker
        self.op = op

    def value(self, i: int) -> Tg:
        return self._walker.value(self.op.operands[i])

    def size(self, i: int) -> Tg:
        return self._walker.magnitude(self.op.operands[i])

    def error(self, i: int) -> Tg | None:
        return self._walker.error(self.op.operands[i])

    @property
    def computed(self) -> Tg:
        """The result."""
        return self._walker.value(self.op.results[0])

    @property
    def result_size(self) -> Tg:
        """The absolute value of the result."""
        return self._walker.magnitude(self.op.results[0])

    def any_error(self) -> Tg | None:
        return _sum(*(self.error(i) for i in range(len(self.op.operands))))


Rule = Callable[[_Site], "Tg | None"]
"""The bound of an op's exact result, given those of its operands."""


def _sum(*errors: Tg | None) -> Tg | None:
    result: Tg | None = None
    for each in errors:
        if each is not None:
            result = each if result is None else result + each
    return result


def _greatest(*errors: Tg | None) -> Tg | None:
    known = [each for each in errors if each is not None]
    if not known:
        return None
    result = known[0] if len(known) == len(errors) else known[0].applied("max", 0.0)
    for each in known[1:]:
        result = result.applied("max", each)
    return result


def _unknown(error: Tg) -> Tg:
    """Infinite where there is an error."""
    return error.ne(0.0).where(error.constant(math.inf), 0.0)


def _at_most_one(error: Tg) -> Tg:
    return error.ne(0.0).where(error.constant(1.0), 0.0)


def _where_any(error: Tg, bound: Tg) -> Tg:
    """A bound that may be NaN where there is no error."""
    return error.ne(0.0).where(bound, 0.0)


def _no_error_or_unknown(site: _Site) -> Tg | None:
    error = site.any_error()
    return None if error is None else _unknown(error)


def _truncation(x: Tg, error: Tg) -> Tg:
    """The difference of the whole numbers of a value within its error."""
    low, high = (x - error).trunc(), (x + error).trunc()
    return _where_any(error, (high - x.trunc()).applied("max", x.trunc() - low))


def _product(site: _Site) -> Tg | None:
    a, b = site.error(0), site.error(1)
    left = None if a is None else _where_any(a, a * site.size(1))
    right = None if b is None else _where_any(b, b * _plus(site.size(0), a))
    return _sum(left, right)


def _plus(size: Tg, error: Tg | None) -> Tg:
    return size if error is None else size + error


def _unary(bound: Callable[[_Site, Tg], Tg]) -> Rule:
    """The rule of a function of one operand with an error."""

    def rule(site: _Site) -> Tg | None:
        error = site.error(0)
        return None if error is None else _where_any(error, bound(site, error))

    return rule


def _slope(steepest: float, most: float = math.inf) -> Rule:
    """The rule of a function that is nowhere steeper, and whose values differ by `most`."""

    def bound(_: _Site, error: Tg) -> Tg:
        scaled = error if steepest == 1 else error * steepest
        return scaled if most == math.inf else (scaled < most).where(scaled, most)

    return _unary(bound)


def _exponential(scale: float = 1.0, offset: float = 0.0) -> Rule:
    """e^t - 1 is at most t (1 + t) for t up to 1.79."""

    def bound(site: _Site, error: Tg) -> Tg:
        return _growth_of(error * scale if scale != 1 else error, site.result_size + offset)

    return _unary(bound)


def _growth_of(exponent: Tg, size: Tg) -> Tg:
    """The error of an exponential of some size, for an error of its exponent."""
    return (exponent <= 1.0).where(size * (exponent * (exponent + 1.0)), math.inf)


def _logarithm(scale: float = 1.0, offset: float = 0.0) -> Rule:
    def bound(site: _Site, error: Tg) -> Tg:
        least = site.value(0) + offset - error
        return (least > 0.0).where(error / least * scale, math.inf)

    return _unary(bound)


def _root_bound(site: _Site, error: Tg) -> Tg:
    by_slope, root = error / site.result_size, error.applied("sqrt")
    return (site.value(0) > error).where(by_slope, root)


def _reciprocal(site: _Site, error: Tg) -> Tg:
    size = site.size(0)
    return (size > error).where(error / (size * (size - error)), math.inf)


def _quotient(site: _Site) -> Tg | None:
    a, b = site.error(0), site.error(1)
    if b is None:
        return None if a is None else _where_any(a, a / site.size(1))
    size = site.size(1)
    above = site.result_size * b if a is None else a + site.result_size * b
    bound = (size > b).where(above / (size - b), math.inf)
    return _where_any(b if a is None else a + b, bound)


def _power(site: _Site) -> Tg | None:
    a, b = site.error(0), site.error(1)
    if a is None and b is None:
        return None
    terms: list[Tg] = []
    if b is not None:
        terms.append(_where_any(b, b * _plus_log(site)))
    if a is not None:
        least = site.size(0) - a
        relative = _where_any(a, (least > 0.0).where(a / least, math.inf))
        terms.append(relative * _plus(site.size(1), b))
    exponent = terms[0] if len(terms) == 1 else terms[0] + terms[1]
    return _where_any(exponent, _growth_of(exponent, site.result_size))


def _plus_log(site: _Site) -> Tg:
    log = site.size(0).applied("log")
    return log.applied("max", -log)


def _gate_bound(site: _Site) -> Tg | None:
    slope = _sum(site.error(1), site.error(2) if len(site.op.operands) > 2 else None)
    by_gate = None if slope is None else _where_any(slope, _growth_of(slope, site.result_size))
    return _sum(site.error(0), by_gate)


def _multiply_add(site: _Site) -> Tg | None:
    product = site.size(0) * site.size(1)
    unit = _relative(tg.dtype_of(site.op.results[0]), 1)
    return _sum(_product(site), site.error(2), product * unit)


def _log_add(site: _Site) -> Tg | None:
    largest = site.size(0).applied("max", site.size(1))
    finite = (largest < math.inf).where(largest, 0.0)
    unit = _relative(tg.dtype_of(site.op.results[0]), 1)
    return _sum(_greatest(site.error(0), site.error(1)), finite * unit)


def _log_gamma(site: _Site) -> Tg | None:
    """The second operand may be the result, or be computed again."""
    approximation, result = site.value(1), site.computed
    distance = (approximation - result).applied("max", result - approximation)
    same = approximation.eq(result).where(approximation.constant(0.0), distance)
    again = site.error(0)
    return _sum(same, site.error(1), None if again is None else _unknown(again))


_FLOATS: Mapping[str, Rule] = {
    "tg.add": lambda site: _sum(site.error(0), site.error(1)),
    "tg.sub": lambda site: _sum(site.error(0), site.error(1)),
    "tg.neg": lambda site: site.error(0),
    "tg.mul": _product,
    "tg.mulacc": _multiply_add,
    "tg.div": _quotient,
    "tg.recip": _unary(_reciprocal),
    "tg.max": lambda site: _greatest(site.error(0), site.error(1)),
    "tg.trunc": _unary(lambda site, error: _truncation(site.value(0), error)),
    "tg.sqrt": _unary(_root_bound),
    "tg.exp": _exponential(),
    "tg.exp2": _exponential(_LN_2),
    "tg.expm1": _exponential(1.0, 1.0),
    "tg.log": _logarithm(),
    "tg.log2": _logarithm(1 / _LN_2),
    "tg.log10": _logarithm(1 / math.log(10)),
    "tg.log1p": _logarithm(1.0, 1.0),
    "tg.softplus": _slope(1.0),
    "tg.sin": _slope(1.0, 2.0),
    "tg.cos": _slope(1.0, 2.0),
    "tg.erf": _slope(_STEEPEST_ERF, 2.0),
    "tg.erfc": _slope(_STEEPEST_ERF, 2.0),
    "tg.gelu": _slope(_STEEPEST_GELU),
    "tg.gate": _gate_bound,
    "tg.pow": _power,
    "tg.logaddexp": _log_add,
    "tg.lgamma": _log_gamma,
}
"""Float ops. The result of any other is not known if an operand has an error."""

_INTEGERS: Mapping[str, Rule] = {
    **{name: _FLOATS[name] for name in ("tg.add", "tg.sub", "tg.neg", "tg.mul", "tg.max")},
    **dict.fromkeys(("tg.and", "tg.or", "tg.xor", "tg.not"), _no_error_or_unknown),
}
"""Ops of integers and bools. That of a bool is at most 1."""
