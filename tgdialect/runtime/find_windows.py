"""Finds the windows of a function whose bounds have to be checked at each call (`Window`).

The extents and offsets of SHRINK, PAD, RESHAPE and EXPAND are index values. The verifier refuses
windows that are out of bounds for every call. Those that constants, or the bounds of the arguments,
prove to be in bounds need no check. The others become expressions in the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial, reduce

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from tgdialect.analysis.affine.bounds import is_inside
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import SHAPES, Diagnostic, kept_facts, operation_diagnostic
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.affine import monomials
from tgdialect.runtime.expressions import OPERATIONS, WRAP, Expression, Window, applied, argument_at

MAX_DEPTH = 6
"""The number of ops, other than sums and products, that may compute a bound one after the other. A
polynomial may have each of them several times. Beyond it a bound is not checked."""

_FACTORS = OPERATIONS.keys() - {"neg", "add", "sub", "mul", "shl", "shr"}
"""The operations that compute factors. Sums and products of index values are the expression itself;
those of bools are other operations."""

_INDEX_SCALAR = tg.tensor_type(tg.INDEX)

_Bounds = tuple[tg.Dim, tg.Dim, tg.Dim]
"""The offset, the inner and the outer extent of a window on one axis."""


def buffer_places(function: FuncOp) -> Mapping[int, Diagnostic]:
    """The source positions of the BUFFERs of a function, by their slots."""
    buffers = (op for op in ops_of(function.body.block) if isinstance(op, tg.BufferOp))
    return {op.slot.data: operation_diagnostic(op, "") for op in buffers}


@kept_facts(SHAPES)
def find_windows(function: FuncOp, buffers: Mapping[int, Diagnostic]) -> tuple[Window, ...]:
    """The windows of a function at level `function` that a call has to check, in program order.

    `buffers` are the places of its BUFFERs, which are arguments now.
    """
    known: dict[SSAValue, Expression] = {
        a: argument_at(a.index) for a in function.args if a.type == _INDEX_SCALAR
    }
    if not known:
        return ()
    min_max = MinMax()
    found: dict[object, Window] = {}

    def add(
        at: Diagnostic, windows: Iterable[_Bounds], known: Mapping[SSAValue, Expression]
    ) -> None:
        for axis, bounds in enumerate(windows):
            if all(isinstance(dim, int) for dim in bounds) or is_inside(bounds, min_max):
                continue
            if (terms := _checked(bounds, known)) is not None and terms not in found:
                place = at.file or "", at.line or 0, at.column or 0
                found[terms] = Window(axis, *terms, *place)

    for argument in function.args:
        slot = tg.integer_attribute(tg.argument_attributes(argument), "tg.buffer")
        if slot is not None:
            at = buffers.get(slot) or operation_diagnostic(function, "")
            add(at, _extents(tg.shape_of(argument)), known)
    # The ops of the function, and of the steps of its loops, whose sizes it passes on.
    first: _Body = function, tuple(known.items())
    walk = tg.Walk[_Body]([first])
    for around, sizes in walk:
        for op in ops_of(around.regions[0].block):
            if isinstance(op, tg.ShrinkOp | tg.PadOp | tg.ResizeOp):
                add(operation_diagnostic(op, ""), _windows(op), dict(sizes))
            elif isinstance(op, tg.CallOp) and (given := _passed_sizes(op, dict(sizes))):
                walk.add([given])
    return tuple(found.values())


_Body = tuple[Operation, tuple[tuple[SSAValue, Expression], ...]]
"""A function or kernel, and the sizes among its parameters."""


def _passed_sizes(call: tg.CallOp, known: Mapping[SSAValue, Expression]) -> _Body | None:
    """The step of a loop that a CALL calls, with the sizes that it passes; None if it passes none,
    and for steps that data decide about: those that are not taken may have windows that do not fit.
    """
    callee = SymbolTable.lookup_symbol(call, call.callee)
    if isinstance(callee, FuncOp):
        params: Sequence[SSAValue] = callee.args
    elif isinstance(callee, tg.KernelOp) and callee.calls and not _loads(callee):
        params = [param.result for param in callee.params]
    else:
        return None
    pairs = [(p, a) for p, a in zip(params, call.arguments, strict=True) if p.type == _INDEX_SCALAR]
    sizes = tuple((p, e) for p, a in pairs if (e := _expression(a, known)) is not None)
    return (callee, sizes) if sizes else None


def _loads(kernel: tg.KernelOp) -> bool:
    return any(isinstance(op, tg.LoadOp) for op in ops_of(kernel.body.block))


def window_places(module: ModuleOp) -> str:
    """The source positions of ops whose windows a call may have to check. They are part of a
    compiled program's cache key, since a printed module does not have them."""
    kinds = tg.ShrinkOp | tg.PadOp | tg.ResizeOp | tg.BufferOp
    found = (op for op in module.walk() if isinstance(op, kinds) and _is_dynamic(op))
    return "\n".join(operation_diagnostic(op, "").render() for op in found)


def _is_dynamic(op: Operation) -> bool:
    if isinstance(op, tg.WindowOp) and DYNAMIC_INDEX in tg.tensor(op.source).get_shape():
        return True
    return len(op.operands) > (0 if isinstance(op, tg.BufferOp) else 1)


def _windows(op: tg.ShrinkOp | tg.PadOp | tg.ResizeOp) -> Iterable[_Bounds]:
    if isinstance(op, tg.ResizeOp):
        return _extents(tg.mixed(op, "shape", op.operands[1:]))
    offsets, new = tg.window(op)
    old = tg.shape_of(op.source)
    inner, outer = (new, old) if isinstance(op, tg.ShrinkOp) else (old, new)
    return zip(offsets, inner, outer, strict=True)


def _extents(shape: Iterable[tg.Dim]) -> Iterable[_Bounds]:
    """Windows that are in bounds if and only if no extent is negative."""
    return ((0, dim, dim) for dim in shape)


def _checked(
    bounds: _Bounds, known: Mapping[SSAValue, Expression]
) -> tuple[Expression, Expression, Expression] | None:
    """The part of a window that a call can check: only its extent if its offset is loaded from
    memory."""
    offset, inner, outer = (_expression(dim, known) for dim in bounds)
    if offset is not None and inner is not None and outer is not None:
        return offset, inner, outer
    extent = inner if inner is not None else outer
    return None if extent is None else ((0,), extent, extent)


def _expression(
    dim: tg.Dim, known: Mapping[SSAValue, Expression], depth: int = 0
) -> Expression | None:
    """An extent as a sum of products of the arguments and of what is computed from them, in an
    order that does not depend on that of the program; None if it depends on anything else."""
    terms: list[Expression] = []
    for factors, coefficient in monomials(tg.polynomial(dim)):
        found: list[Expression] = []
        for factor in factors:
            if not isinstance(factor, SSAValue):
                return None
            computed = known.get(factor) or _computed(factor, known, depth)
            if computed is None:
                return None
            found.append(computed)
        scale: list[Expression] = [] if coefficient == 1 and found else [(coefficient,)]
        terms.append(reduce(partial(applied, "mul"), [*scale, *sorted(found, key=repr)]))
    return reduce(partial(applied, "add"), sorted(terms, key=repr) or [(0,)])


def _computed(
    value: SSAValue, known: Mapping[SSAValue, Expression], depth: int
) -> Expression | None:
    """A scalar that an op computes from index values and bools."""
    op = value.owner
    if not isinstance(op, tg.ElementwiseOp) or depth == MAX_DEPTH or tg.tensor(value).get_shape():
        return None
    dtype, name = tg.dtype_of(value), op.name.removeprefix("tg.")
    bounds: tuple[Expression, ...] = ()
    if isinstance(op, tg.CastOp):
        if dtype.is_float or dtype.is_bool or tg.dtype_of(op.source).is_float:
            return None
        name, bounds = WRAP, ((int(dtype.low),), (int(dtype.high),))
    elif not all(tg.dtype_of(each).name in ("i1", "index") for each in (*op.operands, value)):
        return None
    operands = [_expression(operand, known, depth + 1) for operand in op.operands]
    found = [operand for operand in operands if operand is not None]
    if name not in _FACTORS or len(found) < len(operands):
        return None
    return applied(name, *found, *bounds)
