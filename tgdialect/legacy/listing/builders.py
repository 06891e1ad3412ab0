"""The sources of each of tinygrad's ops, and the op that it becomes.

Each line becomes an op of `tg_legacy`, or of `tg` where that is the same op; some lines become
several ops.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.legacy.dialect import UNCHANGED
from tgdialect.legacy.listing import arguments
from tgdialect.legacy.listing.program import Form, ProgramBuilder, elementwise_form, form
from tgdialect.legacy.listing.values import parse_value
from tgdialect.legacy.ops import compute, control, framework, indexing, memory, vectors
from tgdialect.ops import codegen, elementwise, movement, ordering, source, tg

Values = Sequence[SSAValue]

# -- constants, variables, memory ------------------------------------------------------------------


def _const(p: ProgramBuilder) -> SSAValue:
    value = parse_value(p.line.argument)
    if p.column.lanes == 1 and not isinstance(value, tuple):
        return p.number(value, p.dtype)
    values = value if isinstance(value, tuple) else (value,) * p.column.lanes
    attributes = [arguments.number(v, p.dtype, p.line.argument) for v in values]
    return p.add(vectors.VConstOp(values=attributes))


def _memory(p: ProgramBuilder, size: int, space: tg.AddrSpace) -> TensorType[Attribute]:
    return tg.tensor_type(p.dtype, (size,), tg.PlaceAttr.of(None, space))


def _define_global(p: ProgramBuilder) -> SSAValue:
    slot, symbol, mutable = arguments.global_argument(p.line)
    type = _memory(p, p.column.size, tg.AddrSpace.GLOBAL)
    return p.add(memory.DefineGlobalOp(slot=slot, symbol=symbol, mutable=mutable, type=type))


def _define_local(p: ProgramBuilder) -> SSAValue:
    name, size = arguments.local(p.line)
    type = _memory(p, p.column.size if size is None else size, tg.AddrSpace.LOCAL)
    return p.add(memory.DefineLocalOp(symbol=name, type=type))


def _define_reg(p: ProgramBuilder) -> SSAValue:
    slot = _free(arguments.slot(p.line), p.slots)
    return p.add(source.BufferOp(slot, _memory(p, p.column.size, tg.AddrSpace.REG)))


def _define_var(p: ProgramBuilder, bounds: Values) -> SSAValue:
    return _variable(p, *arguments.variable(p.line))


def _variable(p: ProgramBuilder, name: str, low: int, high: int) -> SSAValue:
    type = tg.tensor_type(p.dtype)
    return p.add(framework.DefineVarOp(symbol=name, min=low, max=high, type=type))


def _param(p: ProgramBuilder, size: SSAValue | None, shape: Values) -> SSAValue:
    given = arguments.parameter(p.line)
    if given.bounds is not None:
        return _variable(p, given.name or f"p{given.slot}", *given.bounds)
    count = p.column.size if size is None else _constant(size)
    if count is None and size is not None:
        extent = p.add(elementwise.CastOp(size, tg.INDEX))
        type = _memory(p, DYNAMIC_INDEX, tg.AddrSpace.GLOBAL)
        return p.add(source.ParamOp(given.slot, type, (extent,)))
    if count is None or count < 0:
        type = _memory(p, DYNAMIC_INDEX, tg.AddrSpace.GLOBAL)
        return p.add(memory.DefineGlobalOp(slot=given.slot, type=type))
    return p.add(source.ParamOp(given.slot, _memory(p, count, tg.AddrSpace.GLOBAL)))


def _buffer(p: ProgramBuilder, size: SSAValue) -> SSAValue:
    given = arguments.parameter(p.line)
    if (count := _constant(size)) is None or count < 0:
        raise VerifyException("the size of a BUFFER is a constant")
    slot = _free(given.slot, p.slots)
    return p.add(source.BufferOp(slot, _memory(p, count, given.space)))


def _free(number: int, taken: set[int]) -> int:
    """A number, or the next one that is not taken yet; taken from now on."""
    if number in taken:
        number = max(taken) + 1
    taken.add(number)
    return number


def _constant(value: SSAValue) -> int | None:
    """The value of an integer constant, cast or not."""
    if isinstance(value.owner, elementwise.CastOp):
        value = value.owner.source
    return tg.known_index(value)


def _index(
    p: ProgramBuilder, buffer: SSAValue, position: SSAValue, valid: SSAValue | None
) -> SSAValue:
    if tg.is_memory(buffer):
        return p.add(indexing.IndexOp(buffer, position, valid))
    if valid is not None:
        raise VerifyException(f"the INDEX of {buffer.type} has no condition")
    lane = _constant(position)
    if lane is None:
        return p.add(movement.IndexOp(buffer, (position,)))
    return p.add(indexing.GepOp(buffer, lanes=(lane,)))


def _shrink(p: ProgramBuilder, buffer: SSAValue, position: SSAValue, size: SSAValue) -> SSAValue:
    count = _constant(size)
    if not tg.is_memory(buffer) or count is None or count < 1:
        raise VerifyException("SHRINK takes memory, a position, and a constant number of elements")
    element = p.add(indexing.IndexOp(buffer, position))
    return p.add(memory.CastOp(element, type=tg.tensor_type(p.dtype, (count,), tg.place(element))))


def _load(
    p: ProgramBuilder,
    buffer: SSAValue,
    alt: SSAValue | None,
    gate: SSAValue | None,
    dependencies: Values,
    at: SSAValue | None = None,
) -> SSAValue:
    is_vector = at is not None and p.column.lanes > 1
    shape = p.column.shape if is_vector else tg.tensor(buffer if at is None else at).get_shape()
    type = tg.tensor_type(p.dtype, shape)
    return p.add(memory.LoadOp(buffer, at, alt, gate, dependencies, type=type))


def _store(
    p: ProgramBuilder,
    buffer: SSAValue,
    value: SSAValue,
    gate: SSAValue | None,
    dependencies: Values,
    at: SSAValue | None = None,
) -> SSAValue:
    return p.add(memory.StoreOp(buffer, at, value, gate, dependencies))


# -- loops, conditions, accumulators --------------------------------------------------------------


def _special(p: ProgramBuilder, bound: SSAValue | None) -> SSAValue:
    name, count = arguments.special(p.line)
    if bound is not None and count is None:
        count = _constant(bound)
    if count is not None:
        bound = p.number(count, tg.INDEX)
    elif bound is not None:
        bound = p.add(elementwise.CastOp(bound, tg.INDEX))
    else:
        raise p.line.source_list.error("SPECIAL takes a bound, as a source or in its argument")
    index = p.add(codegen.SpecialOp(name, bound))
    return p.add(elementwise.CastOp(index, p.dtype))


def _range(
    p: ProgramBuilder, first: SSAValue, second: SSAValue | None, dependencies: Values
) -> SSAValue:
    number, axis_type = arguments.loop_axis(p.line)
    axis = _free(number, p.axes)
    if axis_type is not None and second is None:
        loop = p.loops[p.line.number] = p.add(ordering.RangeOp(axis, axis_type, first))
        return p.add(elementwise.CastOp(loop, p.dtype))
    start, end = (p.number(0, p.dtype), first) if second is None else (first, second)
    return p.add(control.RangeOp(start, end, axis=axis))


def _end(p: ProgramBuilder, body: SSAValue, ranges: Values) -> SSAValue:
    loops = [p.loop_of(each) for each in p.matched.sources["ranges"]]
    if all(isinstance(loop.owner, ordering.RangeOp) for loop in loops):
        return p.add(ordering.EndOp(body, loops))
    return reduce(partial(_ended, p), loops, body)


def _ended(p: ProgramBuilder, body: SSAValue, loop: SSAValue) -> SSAValue:
    """The end of one loop, with or without a type of axis."""
    if isinstance(loop.owner, ordering.RangeOp):
        return p.add(ordering.EndOp(body, (loop,)))
    return p.add(control.EndRangeOp(loop))


def _endrange(p: ProgramBuilder, begin: SSAValue) -> SSAValue:
    (given,) = p.matched.sources["begin"]
    return _ended(p, begin, p.loop_of(given))


def _define_acc(p: ProgramBuilder, initial: SSAValue | None, ranges: Values) -> SSAValue:
    if initial is None:
        value, number = arguments.accumulator(p.line)
        initial = p.number(value, p.dtype)
    else:
        number = arguments.slot(p.line)
    if p.column.lanes > 1 and not tg.shape_of(initial):
        initial = p.add(vectors.VectorizeOp((initial,) * p.column.lanes))
    return p.add(memory.DefineAccOp(initial, ranges, number=number))


def _if(p: ProgramBuilder, condition: SSAValue, dependencies: Values) -> SSAValue:
    barriers = [each for each in dependencies if isinstance(each.owner, codegen.BarrierOp)]
    return p.add(control.IfOp(condition, barriers[0] if barriers else None))


_KERNEL_NAME = re.compile(r"""KernelInfo\(name=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


def _sink(p: ProgramBuilder, effects: Values) -> SSAValue:
    if found := _KERNEL_NAME.match(p.line.argument.text):
        try:
            name = str(ast.literal_eval(found[1]))
        except (SyntaxError, ValueError):
            raise p.line.argument.error("the name of the kernel has an invalid escape") from None
        p.name = re.sub(r"\x1b\[[0-9;]*m", "", name)
    return p.add(ordering.SinkOp(effects))


# -- arithmetic, vectors ---------------------------------------------------------------------------


def _alu(p: ProgramBuilder, **operands: SSAValue) -> SSAValue:
    return p.add(compute.AluOp(list(operands.values()), operation=p.line.argument.text))


def _cast(p: ProgramBuilder, source: SSAValue, more: Values) -> SSAValue:
    if more:
        return p.add(vectors.VectorizeOp((source, *more)))
    if tg.is_memory(source):
        type = tg.tensor_type(p.dtype, p.column.shape, tg.place(source))
        return p.add(memory.CastOp(source, type=type))
    return p.add(elementwise.CastOp(source, p.dtype))


def _bitcast(p: ProgramBuilder, source: SSAValue) -> SSAValue:
    return p.add(movement.BitcastOp(source, p.dtype))


def _gep(p: ProgramBuilder, vector: SSAValue) -> SSAValue:
    return p.add(indexing.GepOp(vector, lanes=arguments.integers(p.line)))


def _wmma(p: ProgramBuilder, a: SSAValue, b: SSAValue, accumulator: SSAValue) -> SSAValue:
    return p.add(compute.WmmaOp(a, b, accumulator, config=arguments.wmma(p.line)))


def _stack(p: ProgramBuilder, scalars: Values) -> SSAValue:
    """A vector; without elements it is the shape of a scalar, which PARAM has as its source."""
    return p.add(ordering.GroupOp(()) if p.column.is_void else movement.StackOp(scalars))


def _noop(p: ProgramBuilder, source: SSAValue, others: Values) -> SSAValue:
    return p.add(framework.NoopOp(source))


# -- the table ------------------------------------------------------------------------------------


def _custom(kind: Callable[..., Operation]) -> Callable[..., SSAValue]:
    def build(p: ProgramBuilder, arguments: Values) -> SSAValue:
        is_void = p.column.is_void or p.column.element is None
        type = tg.VOID if is_void else tg.tensor_type(p.dtype, p.column.shape)
        return p.add(kind(arguments, fmt=p.line.argument.text, type=type))

    return build


class ListingOp(NamedTuple):
    """An op of listings."""

    form: Form
    build: type[Operation] | Callable[..., SSAValue]
    """The op that a line becomes, which takes the sources in order; or the function that adds the
    ops, whose arguments are the sources by their names in the form."""


def _row(
    sources: str, build: type[Operation] | Callable[..., SSAValue], gives: str = "="
) -> ListingOp:
    return ListingOp(form(sources, gives), build)


_TODAY: Mapping[str, type[elementwise.ElementwiseOp]] = {
    "CMPEQ": elementwise.CmpEqOp,
    "FLOORDIV": elementwise.IDivOp,
    "FLOORMOD": elementwise.ModOp,
    "RECIPROCAL": elementwise.RecipOp,
    "THREEFRY": elementwise.ThreefryOp,
    "TRUNC": elementwise.TruncOp,
}
"""Ops of today's tinygrad that are ops of `tg`, besides those of the UOp Summary."""

ELEMENTWISE = _TODAY | {
    name: op
    for name, (op, _) in UNCHANGED.items()
    if issubclass(op, elementwise.ElementwiseOp) and op is not elementwise.CastOp
}
"""The elementwise ops that are ops of `tg`, by tinygrad's names."""

OPS: Mapping[str, ListingOp] = {
    **{name: ListingOp(elementwise_form(kind), kind) for name, kind in ELEMENTWISE.items()},
    "ALU": _row("", _alu),  # Its sources depend on its argument.
    "IDIV": _row("lhs:= rhs:=", compute.IDivOp),
    "MOD": _row("lhs:= rhs:=", compute.ModOp),
    "CDIV": _row("lhs:= rhs:=", compute.IDivOp),
    "CMOD": _row("lhs:= rhs:=", compute.ModOp),
    "FDIV": _row("lhs:= rhs:=", compute.FDivOp),
    "CONST": _row("", _const),
    "VCONST": _row("", _const),
    "CAST": _row("source:x more:x*", _cast),
    "BITCAST": _row("source:x", _bitcast),
    # memory
    "DEFINE_GLOBAL": _row("", _define_global),
    "DEFINE_LOCAL": _row("", _define_local),
    "DEFINE_REG": _row("", _define_reg),
    "DEFINE_VAR": _row("bounds:=*", _define_var),
    "DEFINE_ACC": _row("initial:=? ranges:v*", _define_acc),
    "PARAM": _row("size:x? shape:v*", _param),
    "BUFFER": _row("size:x", _buffer),
    "INDEX": _row("buffer:= position:i valid:b?", _index),
    "SHRINK": _row("buffer:= position:i size:i", _shrink),
    "LOAD": _row("buffer:= at:i alt:=? gate:b? dependencies:v*", _load),
    "STORE": _row("buffer:~ at:i value:~ gate:b? dependencies:v*", _store, "v"),
    "ASSIGN": _row("target:= value:=", framework.AssignOp),
    # loops and conditions
    "SPECIAL": _row("bound:=?", _special),
    "RANGE": _row("first:= second:=? dependencies:v*", _range),
    "LOOP": _row("first:= second:=", control.LoopOp),
    "ENDRANGE": _row("begin:x", _endrange, "v"),
    "ENDLOOP": _row("begin:x", control.EndLoopOp, "v"),
    "END": _row("body:v ranges:x*", _end, "v"),
    "PHI": _row("target:= value:= loops:x*", control.PhiOp),
    "IF": _row("condition:b dependencies:v*", _if, "v"),
    "ENDIF": _row("begin:v", control.EndIfOp, "v"),
    "BARRIER": _row("dependencies:v*", codegen.BarrierOp, "v"),
    "AFTER": _row("buffer:= dependencies:v*", ordering.AfterOp),
    "GROUP": _row("members:v*", ordering.GroupOp, "v"),
    "SINK": _row("effects:v*", _sink, "v"),
    # vectors
    "GEP": _row("vector:=", _gep),
    "VECTORIZE": _row("scalars:=*", vectors.VectorizeOp),
    "STACK": _row("scalars:=*", _stack),
    "CAT": _row("vectors:=*", vectors.CatOp),
    "WMMA": _row("a:~ b:~ accumulator:=", _wmma),
    # others
    "NOOP": _row("source:= others:v*", _noop),
    "CUSTOM": _row("arguments:x*", _custom(framework.CustomOp)),
    "CUSTOMI": _row("arguments:x*", _custom(framework.CustomIOp)),
}
"""The ops that a listing may have, by their names. LOAD and STORE are those at a position."""
