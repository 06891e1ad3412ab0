"""OptOps: transforms of the ranges of a kernel, and when they are legal.

Source: the specification, "Kernel Optimizations". An axis is the id of a RANGE; a SPLIT keeps it
for the range that was there, and the new one gets the next free id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.memory_order import memory_of
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.diagnostics import locate
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.blocking import accumulate_outside
from tgdialect.lowering.optimize.merging import merge
from tgdialect.lowering.optimize.packing import stage
from tgdialect.lowering.optimize.padding import padto
from tgdialect.ops.attributes import AxisType, OptAttr, OptOp
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.elementwise import IDivOp, ModOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import known_index
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp
from tgdialect.transforms.simplify import simplify

A = AxisType

SPLIT_FROM: dict[AxisType, tuple[frozenset[AxisType], frozenset[bool]]] = {
    A.LOCAL: (frozenset({A.GLOBAL, A.LOOP}), frozenset({False})),
    A.THREAD: (frozenset({A.GLOBAL}), frozenset({True})),
    A.GROUP_REDUCE: (frozenset({A.REDUCE}), frozenset({False, True})),
    A.UPCAST: (frozenset({A.GLOBAL, A.LOCAL, A.LOOP}), frozenset({False})),
    A.UNROLL: (frozenset({A.REDUCE, A.GROUP_REDUCE}), frozenset({False})),
    A.LOOP: (frozenset({A.UPCAST}), frozenset({True})),
}
"""The specification's table: by target, the types that it is split from, and whether it may be the
outer part (`top`). The last row is ours: a loop over parts of a tile that is too wide. And a range
may always be split into two of its own type, which is how loops are blocked."""


def opt(kind: OptOp, *arguments: int | str) -> OptAttr:
    """An OptOp as an attribute."""
    return OptAttr(
        StringAttr(kind.value),
        ArrayAttr(IntAttr(a) if isinstance(a, int) else StringAttr(a) for a in arguments),
    )


def apply_opt(axes: Axes, which: OptAttr) -> None:
    """Apply an OptOp to a kernel, and record it.

    Raises IllegalOptError with the reason where it is not legal; then the kernel is as it was.
    Raises PassFailedException where the kernel itself reads and writes memory in no order.
    """
    if not axes.kernel.sink.opts:
        axes.check_memory_order()
    arguments = [a.data for a in which.arguments]
    try:
        _RULES[OptOp(which.op.data)](axes, *arguments)
    except IllegalOptError as error:
        raise IllegalOptError(f"{spelled(which)}: {error}") from None
    record(axes.kernel, which)


def try_opt(axes: Axes, which: OptAttr) -> bool:
    """Apply an OptOp if it is legal. Whether it was."""
    return _passes(lambda: apply_opt(axes, which))


def apply_opts(axes: Axes, opts: Sequence[OptAttr]) -> None:
    """Apply OptOps from left to right; an error is at the kernel."""
    for which in opts:
        try:
            apply_opt(axes, which)
        except IllegalOptError as error:
            raise locate(error, axes.kernel) from None


def record(kernel: KernelOp, *opts: OptAttr) -> None:
    """Note on a kernel's SINK which OptOps were applied."""
    kernel.sink.opts = ArrayAttr[OptAttr]([*(kernel.sink.opts or ()), *opts])


def parse_opt(text: str) -> OptAttr:
    """An OptOp as it is printed, as `split 0, 4, upcast`. Raises PassFailedException for others."""
    name, _, rest = text.strip().partition(" ")
    arguments = [word.strip() for word in rest.split(",") if word.strip()]
    if name not in _RULES:
        there_are = ", ".join(_RULES)
        raise PassFailedException(f"{text!r} is no OptOp: there are {there_are}")
    try:
        return opt(OptOp(name), *(int(word) if word.isdigit() else word for word in arguments))
    except VerifyException as error:
        raise PassFailedException(f"{text!r} is no OptOp: {error}") from None


def spelled(which: OptAttr) -> str:
    """An OptOp as `parse_opt` takes it."""
    return " ".join([which.op.data, ", ".join(str(a.data) for a in which.arguments)]).strip()


# -- SPLIT ---------------------------------------------------------------------------------------


def split(axes: Axes, axis: int, factor: int, target: str, where: str = "") -> None:
    """Split a range of n into n/k and k; the new part gets the target's type.

    before -> after:
        split 0, 4, upcast:   range 0 loop to 64 -> range 0 loop to 16, range 5 upcast to 4
        split 0, 4, loop, top:  range 0 loop to 64 -> range 5 loop to 4, range 0 loop to 16
    and `%0` becomes `outer * extent of inner + inner`. A range that is all one part changes its
    type.
        split 0, 16, upcast, overlap:  range 0 loop to 41 -> range 0 loop to 3, range 5 upcast to 16
    and `%0` becomes `min(16 * outer, 41 - 16) + inner`: some iterations are done twice.
    Where indices divide the number of the range, they are simplified: its digits are at hand now.
    """
    kind, top, range = AxisType(target), where == "top", axes[axis]
    old = range.axis_type.data
    _check_split(axes, range, kind, top=top)
    extent = axes.extent(range)
    if factor == 1 < extent:
        raise IllegalOptError(f"a part of 1 of range {axis} to {extent} is no loop")
    if where == "overlap":
        _check_overlap(axes, range, factor)
    elif factor > extent or extent % factor:
        raise IllegalOptError(f"range {axis} to {extent} is not made of parts of {factor}")
    if factor == extent:
        axes.set_type(range, kind)
        new = range
    else:
        count = -(-extent // factor)
        parts = (factor, count) if top else (count, factor)
        kinds = (kind, old) if top else (old, kind)
        is_divided = bool(divisors(range))
        outer, inner = axes.split(range, parts, kinds, top=top)
        new = outer if top else inner
        if is_divided:
            simplify(axes.kernel)
            axes.changed()
    if kind in EXPANDED:
        for buffer in axes.shared_buffers(new):
            axes.privatize(buffer, new)
            new = axes[new.axis.data]
    elif kind is A.THREAD:
        ends = closed_ranges(axes.ends[new])
        axes.reorder([new, *(r for r in reversed(ends) if r is not new)])


def divisors(range: RangeOp) -> Set[int]:
    """What the number of a range is divided by, or the remainder taken."""
    users = (use.operation for use in range.result.uses if use.index == 0)
    found = (known_index(u.operands[1]) for u in users if isinstance(u, IDivOp | ModOp))
    return {by for by in found if by is not None}


def may_split(axes: Axes, range: RangeOp, kind: AxisType, *, top: bool = False) -> bool:
    """Whether a part of this type may be split off a range."""
    return _passes(lambda: _check_split(axes, range, kind, top=top))


def may_overlap(axes: Axes, range: RangeOp, factor: int) -> bool:
    """Whether a range may be split into parts of which the last begins in the one before."""
    return _passes(lambda: _check_overlap(axes, range, factor))


def _passes(check: Callable[[], None]) -> bool:
    try:
        check()
    except IllegalOptError:
        return False
    return True


def _check_split(axes: Axes, range: RangeOp, kind: AxisType, *, top: bool) -> None:
    """Raise IllegalOptError if no part of this type may be split off a range."""
    _check_types(range, range.axis_type.data, kind, top=top)
    _check_structure(axes, range, kind)


def _check_types(range: RangeOp, old: AxisType, kind: AxisType, *, top: bool) -> None:
    if kind is old and kind not in EXPANDED:
        return
    if (rule := SPLIT_FROM.get(kind)) is None or old not in rule[0]:
        sources = " or ".join(sorted(rule[0])) if rule else "nothing"
        raise IllegalOptError(
            f"{kind} is split from {sources}, and range {range.axis.data} is {old}"
        )
    if top not in rule[1]:
        side = "inner" if top else "outer"
        raise IllegalOptError(f"{kind} is the {side} part")


def _check_structure(axes: Axes, range: RangeOp, kind: AxisType) -> None:
    """What a part of a type needs of the kernel."""
    axis = range.axis.data
    if kind is A.LOCAL and any(o.op.data == OptOp.NOLOCALS for o in axes.kernel.sink.opts or ()):
        raise IllegalOptError("after nolocals there are no LOCAL ranges")
    if kind is A.LOCAL and axes.shared_buffers(range):
        raise IllegalOptError("the threads of a workgroup would share a buffer")
    if kind is A.THREAD:
        _check_thread(axes, range)
    if kind not in EXPANDED:
        return
    end = axes.ends.get(range)
    if end is not None and range.axis_type.data is A.REDUCE:
        raise IllegalOptError(f"the iterations of range {axis} have an order")
    for other in axes.ranges.values():
        if other is not range and axes.depends(other.bound, range):
            raise IllegalOptError(f"the extent of range {other.axis.data} depends on range {axis}")
    for op in axes.ops:
        if isinstance(op, ReduceOp) and range in closed_ranges(op) and op.ordered is not None:
            if kind is A.GROUP_REDUCE:
                raise IllegalOptError(f"the REDUCE over range {axis} is ordered")
            if closed_ranges(op)[-1] is not range:
                raise IllegalOptError(f"range {axis} is not the innermost of an ordered REDUCE")
    for store in axes.stores(range):
        if axes.depends_on_index(store.buffer, range):
            continue
        memory = memory_of(store.buffer).owner
        if not isinstance(memory, BufferOp) or not axes.is_private(memory, range):
            raise IllegalOptError(f"each iteration of range {axis} writes the same cell")
        axes.check_views(memory)


def _check_overlap(axes: Axes, range: RangeOp, factor: int) -> None:
    """Raise IllegalOptError if parts may not overlap: iterations that are done twice have to do the
    same again."""
    axis, extent = range.axis.data, axes.extent(range)
    if factor > extent or extent % factor == 0:
        raise IllegalOptError(f"parts of {factor} of range {axis} to {extent} do not overlap")
    if range not in axes.ends or range.axis_type.data is A.REDUCE:
        raise IllegalOptError(f"the iterations of range {axis} count once each")
    inside = [op for op in axes.ops if range in axes.open[op]]
    if any(isinstance(op, AtomicAddOp) for op in inside):
        raise IllegalOptError(f"an ATOMICADD is in range {axis}, and would be done twice")
    written = {memory_of(op.buffer).owner for op in inside if isinstance(op, StoreOp)}
    for op in inside:
        if isinstance(op, LoadOp) and memory_of(op.buffer).owner in written:
            raise IllegalOptError(f"range {axis} reads what it writes")
    if axes.has_shared_memory:
        raise IllegalOptError("a CALL of the kernel passes the same memory twice")


def _check_thread(axes: Axes, range: RangeOp) -> None:
    axis = range.axis.data
    end = axes.ends.get(range)
    if end is None or end not in [e.owner for e in axes.kernel.sink.effects]:
        raise IllegalOptError(f"range {axis} is not closed by an END that the SINK has")
    if len(axes.kernel.sink.effects) > 1 or any(
        other is not end and not axes.open[other] for other in set(axes.ends.values())
    ):
        raise IllegalOptError("the kernel has several loop nests")
    if any(r.axis_type.data is A.THREAD for r in axes.ranges.values()):
        raise IllegalOptError("there is a THREAD range already")
    for other in axes.ranges.values():
        if other is not range and axes.depends(other.bound, range):
            raise IllegalOptError(f"the extent of range {other.axis.data} depends on range {axis}")
    for op in axes.ops:
        if isinstance(op, StoreOp | AtomicAddOp) and range not in axes.open[op]:
            raise IllegalOptError(f"a STORE is outside of range {axis}")


# -- the others ----------------------------------------------------------------------------------


def swap(axes: Axes, first: int, second: int) -> None:
    """Exchange two ranges in the nest that both are in.

    before -> after:
        swap 0, 1:  end %s over %1, %0 -> end %s over %0, %1
    """
    a, b = axes[first], axes[second]
    nest = closed_ranges(axes.nest(a))
    order = list(reversed(nest)) if a in axes.ends else nest
    if b not in order:
        raise IllegalOptError(f"ranges {first} and {second} are not closed together")
    i, j = order.index(a), order.index(b)
    order[i], order[j] = order[j], order[i]
    _reorder(axes, [r for r in order if r in (a, b) or r.axis_type.data is not A.THREAD])


def order(axes: Axes, *numbers: int) -> None:
    """Nest ranges that are closed together in this order, the outermost first.

    before -> after:
        order 2, 0, 1:  end %s over %2, %1, %0 -> end %s over %1, %0, %2
    The first may be the loop of a REDUCE that is in the others (`accumulate_outside`).
    """
    wanted = [axes[number] for number in numbers]
    if wanted[0] not in axes.ends and any(range in axes.ends for range in wanted):
        accumulate_outside(axes, wanted[0], wanted[1:])
        return
    nest = closed_ranges(axes.nest(wanted[0]))
    for range in wanted:
        if range not in nest:
            raise IllegalOptError(f"range {range.axis.data} is not closed with {numbers[0]}")
    if len(set(wanted)) < len(wanted):
        raise IllegalOptError("a range is named twice")
    _reorder(axes, wanted)


def _reorder(axes: Axes, ranges: Sequence[RangeOp]) -> None:
    for range in ranges:
        if range.axis_type.data is A.THREAD:
            raise IllegalOptError(f"range {range.axis.data} is of threads, outside of all others")
        if range in axes.ends and range.axis_type.data is A.REDUCE:
            raise IllegalOptError(f"the iterations of range {range.axis.data} have an order")
        for other in ranges:
            if axes.depends(other.bound, range):
                raise IllegalOptError(
                    f"the extent of range {other.axis.data} depends on range {range.axis.data}"
                )
    for op in axes.ops:
        if isinstance(op, ReduceOp) and op.ordered is not None and {*closed_ranges(op)} & {*ranges}:
            raise IllegalOptError("the REDUCE over them is ordered")
    axes.reorder(ranges)


def nolocals(axes: Axes) -> None:
    """Use no workgroup: LOCAL ranges are not allowed after this.

    before -> after: nothing but the record; a CPU has no workgroups anyway.
    """
    if any(r.axis_type.data in (A.LOCAL, A.WARP) for r in axes.ranges.values()):
        raise IllegalOptError("there are LOCAL ranges already")


_RULES: dict[OptOp, Callable[..., None]] = {
    OptOp.SPLIT: split,
    OptOp.PADTO: padto,
    OptOp.SWAP: swap,
    OptOp.ORDER: order,
    OptOp.NOLOCALS: nolocals,
    OptOp.STAGE: stage,
    OptOp.MERGE: merge,
}


def has_schedule(kernel: KernelOp) -> bool:
    """Whether a kernel records its OptOps, be it none, or it is too late for them."""
    return kernel.sink.opts is not None or kernel.target is not None


def begin_schedule(axes: Axes) -> None:
    """Make GLOBAL ranges of the outermost loops, whose iterations are in no order. From here on the
    kernel has a schedule, be it an empty one.

    Raises IllegalOptError where `tg-select` has been: what an OptOp masks would have no gates.
    """
    kernel = axes.kernel
    if kernel.target is not None:
        name, target = kernel.sym_name.data, kernel.target.data
        message = f"@{name} is selected for {target} already: OptOps come before tg-select"
        raise locate(IllegalOptError(message), kernel)
    if kernel.sink.opts is None:
        kernel.sink.opts = ArrayAttr[OptAttr]([])
    for effect in axes.kernel.sink.effects:
        if isinstance(end := effect.owner, EndOp):
            for range in closed_ranges(end):
                if range.axis_type.data is A.LOOP:
                    axes.set_type(range, A.GLOBAL)
