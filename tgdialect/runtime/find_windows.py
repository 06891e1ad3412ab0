"""Finds the windows of a function whose bounds have to be checked at each call (`Window`).

The extents and offsets of SHRINK, PAD, RESHAPE and EXPAND are index values. The verifier refuses
windows that are out of bounds for every call. Those that constants, or the bounds of the arguments,
prove to be in bounds need no check. The others become expressions in the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from tgdialect.analysis.affine.bounds import is_inside
from tgdialect.analysis.index_expressions import index_arguments, index_expression
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import SHAPES, Diagnostic, kept_facts, operation_diagnostic
from tgdialect.fast_xdsl.walk import nested_ops, ops_of
from tgdialect.ops import tg
from tgdialect.ops.expressions import Expression
from tgdialect.runtime.windows import Window

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
    if not (known := index_arguments(function.args)):
        return ()
    min_max = MinMax()
    found: dict[object, Window] = {}

    def add(
        at: Diagnostic,
        windows: Iterable[_Bounds],
        known: Mapping[SSAValue, Expression],
        *,
        of_source: bool = False,
    ) -> None:
        for axis, bounds in enumerate(windows):
            if all(isinstance(dim, int) for dim in bounds) or is_inside(bounds, min_max):
                continue
            terms = _checked(bounds, known)
            if terms is not None and terms not in found and not (of_source and _is_whole(terms)):
                found[terms] = Window(axis, *terms, *_place(at))

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
                is_shrink, at = isinstance(op, tg.ShrinkOp), operation_diagnostic(op, "")
                add(at, _windows(op), dict(sizes), of_source=is_shrink)
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
    sizes = tuple((p, e) for p, a in pairs if (e := index_expression(a, known)) is not None)
    return (callee, sizes) if sizes else None


def _loads(kernel: tg.KernelOp) -> bool:
    return any(isinstance(op, tg.LoadOp) for op in ops_of(kernel.body.block))


Place = tuple[str, int, int, str]
"""The place of a window: its last four fields."""


def _place(at: Diagnostic) -> Place:
    return at.file or "", at.line or 0, at.column or 0, at.node or ""


def window_places(module: ModuleOp) -> Sequence[Place]:
    """The places of ops whose windows a call may have to check, in their order. The text by which
    the cache knows a module does not have them."""
    kinds = tg.ShrinkOp | tg.PadOp | tg.ResizeOp | tg.BufferOp
    found = (op for op in nested_ops(module) if isinstance(op, kinds) and _is_dynamic(op))
    return [_place(operation_diagnostic(op, "")) for op in found]


def with_numbers(windows: Iterable[Window], places: Sequence[Place]) -> tuple[Window, ...]:
    """Windows with the numbers of their places as lines, from 1; 0 for one that has another."""
    numbers = {place: number for number, place in reversed([*enumerate(places, 1)])}
    return tuple(
        w._replace(file="", line=numbers.get(w[4:], 0), column=0, node="") for w in windows
    )


def with_places(windows: Iterable[Window], places: Sequence[Place]) -> tuple[Window, ...]:
    """The inverse of `with_numbers`, also for the places of an equal program."""
    known = ("", 0, 0, ""), *places
    return tuple(Window(*window[:4], *known[window.line]) for window in windows)


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


def _is_whole(terms: tuple[Expression, Expression, Expression]) -> bool:
    """Whether a window is the whole axis in every call: its extent is checked where the source is
    computed."""
    offset, inner, outer = terms
    return offset == (0,) and inner == outer


def _checked(
    bounds: _Bounds, known: Mapping[SSAValue, Expression]
) -> tuple[Expression, Expression, Expression] | None:
    """The part of a window that a call can check: only its extent if its offset is loaded from
    memory."""
    offset, inner, outer = (index_expression(dim, known) for dim in bounds)
    if offset is not None and inner is not None and outer is not None:
        return offset, inner, outer
    extent = inner if inner is not None else outer
    return None if extent is None else ((0,), extent, extent)
