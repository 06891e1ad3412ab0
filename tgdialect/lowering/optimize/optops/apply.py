"""OptOps: transforms of the ranges of a kernel, as attributes, as text, and applied.

Source: the specification, "Kernel Optimizations". An axis is the id of a RANGE; a SPLIT keeps it
for the range that was there, and the new one gets the next free id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from xdsl.dialects.builtin import ArrayAttr
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.diagnostics import acted, locate, may_act, trying
from tgdialect.fast_xdsl import unchecked
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError, NoChangeError
from tgdialect.lowering.optimize.optops.merge import merge
from tgdialect.lowering.optimize.optops.order import order, swap
from tgdialect.lowering.optimize.optops.padto import padto
from tgdialect.lowering.optimize.optops.pipeline import pipeline
from tgdialect.lowering.optimize.optops.split import split
from tgdialect.lowering.optimize.optops.stage import stage
from tgdialect.lowering.optimize.optops.tc import tc
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS


def opt(kind: tg.OptOp, *arguments: int | str) -> tg.OptAttr:
    """An OptOp as an attribute. Its arguments are those that it takes."""
    number, text = unchecked.number, unchecked.text
    made = [number(a) if isinstance(a, int) else text(str(a)) for a in arguments]
    return unchecked.made(tg.OptAttr, op=text(kind.value), arguments=unchecked.array(made))


def checked_opt(kind: tg.OptOp, *arguments: int | str) -> tg.OptAttr:
    """An OptOp with arguments that a user gives. Raises VerifyException for ones that it does not
    take."""
    made = opt(kind, *arguments)
    made.verify()
    return made


def apply_opt(axes: Axes, which: tg.OptAttr) -> None:
    """Apply an OptOp to a kernel, and record it.

    Raises IllegalOptError with the reason where it is not legal, and NoChangeError where it changes
    nothing; then the kernel is as it was.
    Raises PassFailedException where the kernel itself reads and writes memory in no order.
    """
    if not axes.is_copy and not may_act():
        raise NoChangeError("no more actions are allowed")
    if not axes.kernel.sink.opts:
        axes.check_memory_order()
    arguments = [a.data for a in which.arguments]
    try:
        with trying():
            _RULES[tg.OptOp(which.op.data)](axes, *arguments)
    except IllegalOptError as error:
        raise type(error)(f"{spelled(which)}: {error}") from None
    sink = axes.kernel.sink
    sink.opts = ArrayAttr[tg.OptAttr]([*(sink.opts or ()), which])
    if not axes.is_copy:
        acted(spelled(which), axes.kernel)


def try_opt(axes: Axes, which: tg.OptAttr) -> bool:
    """Apply an OptOp if it is legal. Whether it was."""
    try:
        apply_opt(axes, which)
    except IllegalOptError:
        return False
    return True


def attempt(axes: Axes, kind: tg.OptOp, *arguments: int | str) -> bool:
    """Apply an OptOp with these arguments if it is legal. Whether it was."""
    return try_opt(axes, opt(kind, *arguments))


def made_by(axes: Axes, kind: tg.OptOp, *arguments: int | str) -> Sequence[int] | None:
    """Apply an OptOp if it is legal. The numbers of the ranges that it makes; None if it is not."""
    before = {*axes.ranges}
    is_legal = attempt(axes, kind, *arguments)
    return [number for number in axes.ranges if number not in before] if is_legal else None


def apply_opts(axes: Axes, opts: Sequence[tg.OptAttr]) -> None:
    """Apply OptOps from left to right, but for those that change nothing; an error is at the
    kernel."""
    for which in opts:
        try:
            with suppress(NoChangeError):
                apply_opt(axes, which)
        except IllegalOptError as error:
            raise locate(error, axes.kernel) from None


def parse_opt(text: str) -> tg.OptAttr:
    """An OptOp as it is printed, as `split 0, 4, upcast`. Raises PassFailedException for others."""
    name, _, rest = text.strip().partition(" ")
    words = [word.strip() for word in rest.split(",") if word.strip()]
    arguments = (int(word) if word.lstrip("-").isdecimal() else word for word in words)
    if name not in _RULES:
        there_are = ", ".join(_RULES)
        raise PassFailedException(f"{text!r} is no OptOp: there are {there_are}")
    try:
        return checked_opt(tg.OptOp(name), *arguments)
    except VerifyException as error:
        raise PassFailedException(f"{text!r} is no OptOp: {error}") from None


def spelled(which: tg.OptAttr) -> str:
    """An OptOp as `parse_opt` takes it."""
    return " ".join([which.op.data, ", ".join(str(a.data) for a in which.arguments)]).strip()


def nolocals(axes: Axes) -> None:
    """Use no workgroup: LOCAL ranges are not allowed after this.

    before -> after: nothing but the record; a CPU has no workgroups anyway.
    """
    if any(r.axis_type.data in WORK_ITEMS for r in axes.ranges.values()):
        raise IllegalOptError("there are LOCAL ranges already")


_RULES: dict[tg.OptOp, Callable[..., None]] = {
    tg.OptOp.TC: tc,
    tg.OptOp.SPLIT: split,
    tg.OptOp.PADTO: padto,
    tg.OptOp.SWAP: swap,
    tg.OptOp.ORDER: order,
    tg.OptOp.NOLOCALS: nolocals,
    tg.OptOp.STAGE: stage,
    tg.OptOp.PIPELINE: pipeline,
    tg.OptOp.MERGE: merge,
}


def has_schedule(kernel: tg.KernelOp) -> bool:
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
        kernel.sink.opts = ArrayAttr[tg.OptAttr]([])
    outermost = {effect.owner for effect in kernel.sink.effects}
    for range, end in axes.ends.items():
        if end in outermost and range.axis_type.data is tg.AxisType.LOOP:
            axes.set_type(range, tg.AxisType.GLOBAL)


def scheduled(kernel: tg.KernelOp, opts: Sequence[tg.OptAttr]) -> tg.KernelOp | None:
    """A copy of a kernel with OptOps applied; None where one of them is not legal."""
    axes = Axes(kernel.clone(), kernel)
    try:
        begin_schedule(axes)
        for which in opts:
            apply_opt(axes, which)
    except IllegalOptError:
        return None
    return axes.kernel
