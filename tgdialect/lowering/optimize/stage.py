"""The pass."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.constants import constant_slots, data_slots
from tgdialect.analysis.eviction import evicted_slots, note_evicted
from tgdialect.analysis.symbols import called_in_loops, calling_last, calls_in
from tgdialect.diagnostics import (
    RemarkArgument,
    RemarkKind,
    begins,
    emit_remark,
    errors_at,
    locate,
    remarks_are_wanted,
)
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize import cpu
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.expected import expected_cycles, expected_nests
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.lowering.optimize.optops.apply import (
    apply_opts,
    begin_schedule,
    has_schedule,
    parse_opt,
    spelled,
)
from tgdialect.lowering.overwritten_memory import copy_overwritten
from tgdialect.lowering.packing import Packing, pass_packed
from tgdialect.lowering.passed_memory import aliased_kernels
from tgdialect.ops import tg
from tgdialect.ops.properties import static_bytes
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target
from tgdialect.transforms.simplify import simplify, simplify_kernels

TF32 = "heuristic:tf32"
"""The heuristic's mode in which products of f32 may round their factors to tf32."""

BEAM = "beam"
"""The mode that searches; `beam:N` gives the width."""

MODES = ("none", "heuristic", TF32, "explicit:OPTS", "beam:N")
"""The modes. The last needs a machine to time on (`tgdialect/runtime/optimize.py`)."""

DEFAULT_WIDTH = 4
"""The schedules that a beam search keeps for the next round, unless `opt` says how many. Larger:
longer searches; smaller: local optima."""


class KernelOpt(NamedTuple):
    """An OptOp, and the name of the kernel that it is for: None for all kernels."""

    kernel: str | None
    opt: tg.OptAttr


def parse_mode(mode: str, opts: Sequence[str] = ()) -> Sequence[KernelOpt] | int | None:
    """The OptOps of a mode that is `explicit`, those of `opts` or those behind its colon; the width
    of a beam; None for other modes, which take no opts.

    `explicit:split 0, 8, upcast; @main_1: order 1, 0` is the same as `explicit` with the opts
    `split 0, 8, upcast` and `@main_1: order 1, 0`.
    Raises PassFailedException for what is no mode, no OptOp, or no positive width.
    """
    name, colon, rest = mode.partition(":")
    if name == "explicit":
        if colon and opts:
            raise PassFailedException(f"mode {mode!r} has its OptOps already, and opts has others")
        texts = [text for text in rest.split(";") if text.strip()] if colon else opts
        return [_parse(text) for text in texts]
    if opts:
        raise PassFailedException(f"mode {mode!r} takes no opts: mode=explicit does")
    if name == BEAM:
        if colon and not re.fullmatch("0*[1-9][0-9]*", rest):
            raise PassFailedException(f"mode {mode!r}: the width of a beam is a positive number")
        return int(rest) if colon else DEFAULT_WIDTH
    if mode not in ("none", "heuristic", TF32):
        there_are = ", ".join(MODES)
        raise PassFailedException(f"mode {mode!r} is not one of the modes there are: {there_are}")
    return None


def _parse(text: str) -> KernelOpt:
    text = text.strip()
    if not text.startswith("@"):
        return KernelOpt(None, parse_opt(text))
    kernel, colon, opt = text[1:].partition(":")
    if not colon:
        raise PassFailedException(f"{text!r} names no OptOp: write '@kernel: split 0, 8, upcast'")
    return KernelOpt(kernel.strip(), parse_opt(opt))


def check_kernels(opts: Sequence[KernelOpt], kernels: Sequence[tg.KernelOp]) -> None:
    """Raise PassFailedException where an OptOp names a kernel that the module does not have."""
    names = [kernel.sym_name.data for kernel in kernels]
    for each in opts:
        if each.kernel is not None and each.kernel not in names:
            there_are = ", ".join(f"@{name}" for name in names) or "none"
            raise PassFailedException(f"there is no kernel @{each.kernel}; there are: {there_are}")


def apply_explicit(axes: Axes, opts: Sequence[tg.OptAttr]) -> None:
    """Apply OptOps to a kernel, from left to right; an error names it, and is at it."""
    try:
        apply_opts(axes, opts)
    except IllegalOptError as error:
        message = f"kernel @{axes.kernel.sym_name.data}: {error}"
        raise locate(PassFailedException(message), axes.kernel) from None


def schedule_kernel(axes: Axes, target: Target) -> None:
    """Apply OptOps that make a kernel fast on a target, by the heuristic for the way in which that
    runs loop nests. One that turns out to be illegal is left out."""
    if not target.is_grid:
        cpu.schedule_loops(axes, target)
        return
    # Imported when it is used, as dialects are, for a short start-up time.
    from tgdialect.lowering.optimize import grid

    grid.schedule_grid(axes, target)


def heuristic_opts(
    kernel: tg.KernelOp, target: Target, constants: Set[int]
) -> tuple[tg.OptAttr, ...]:
    """The OptOps that a heuristic chooses for a kernel, which stays as it is. `constants` are the
    slots whose arguments are constants."""
    copy = kernel.clone()
    axes = Axes(copy, kernel, constants)
    begin_schedule(axes)
    schedule_kernel(axes, target)
    return tuple(copy.sink.opts or ())


SHORT_PACKING = 1 << 24
"""The most bytes that a kernel packs of a constant without a schedule, in all its CALLs, as it is
done once. Larger: first calls that pack one element after the other, in up to 7 ns each; smaller:
code for transposed squares, which takes 40 ms of a core to make (docs/notes/heuristic.md has the
processor): as long as 6 million elements, and here are 4 million of f32."""


def schedule_prepacking(axes: Axes, target: Target, short: Collection[int] = ()) -> None:
    """Schedule the kernels that STAGEs of a kernel have made, except those that pack the slots in
    `short`. The memory that one of them fills is nothing that it reads."""
    for kernel, packing in axes.prepacked.items():
        packed = Axes(kernel, aliased=frozenset())
        begin_schedule(packed)
        if packing.slot not in short:
            schedule_kernel(packed, target)


@dataclass(frozen=True)
class Left:
    """The rest of the work on a kernel before the next stage: here, nothing.

    `finish` reads its fields and the kernel, and nothing else, so that where the texts of two are
    equal the same is done to equal kernels.
    """

    def finish(self, kernel: tg.KernelOp | tg.ProgramOp) -> Mapping[tg.KernelOp, Packing]:
        """Do it. Gives the kernels that STAGEs make meanwhile, for `pass_packed`."""
        return {}

    def __str__(self) -> str:
        given = (f"{field.name} {getattr(self, field.name)}" for field in fields(self))
        return ", ".join((type(self).__name__, *given))


class Simplification(Left):
    """The schedule of the kernel is settled: to simplify it is left."""

    def finish(self, kernel: tg.KernelOp | tg.ProgramOp) -> Mapping[tg.KernelOp, Packing]:
        simplify(kernel)
        return {}


@dataclass(frozen=True)
class Schedule(Left):
    """A schedule for a target."""

    target: Target
    opts: tuple[tg.OptAttr, ...] | None
    """The OptOps, unless they are the heuristic's."""
    constants: tuple[int, ...]
    """The slots whose contents are the same in every call of the program, in order."""
    is_aliased: bool
    """Whether some CALL passes the same memory for two parameters."""
    may_round: bool
    """Whether a heuristic may choose matrix instructions that round factors first."""
    short: tuple[int, ...]
    """The slots of which little is packed, and once, in order: without a schedule."""

    def finish(self, kernel: tg.KernelOp | tg.ProgramOp) -> Mapping[tg.KernelOp, Packing]:
        assert isinstance(kernel, tg.KernelOp)
        aliased = {kernel.sym_name.data} if self.is_aliased else frozenset[str]()
        axes = Axes(kernel, None, {*self.constants}, aliased, may_round=self.may_round)
        begin_schedule(axes)
        if self.opts is None:
            schedule_kernel(axes, self.target)
        else:
            apply_explicit(axes, self.opts)
        schedule_prepacking(axes, self.target, self.short)
        if remarks_are_wanted():
            self._remark(axes)
        for each in (*axes.prepacked, kernel):
            simplify(each, axes.engines)
        return axes.prepacked

    def _remark(self, axes: Axes) -> None:
        """Remark on the schedule of a kernel, on what the cost model expects of each of its nests,
        and on what is packed for it."""
        kernel, target = axes.kernel, self.target
        message = opts = "; ".join(map(spelled, kernel.sink.opts or ())) or "loops as they are"
        shared = [r for r in axes.ranges.values() if r.axis_type.data is tg.AxisType.THREAD]
        extents = [tg.known_index(range.bound) or target.threads for range in shared]
        threads = min(math.prod(extents), target.threads)
        more: dict[str, RemarkArgument] = {"OptOps": opts, "Threads": threads}
        nests = None if target.is_grid else Nests(axes, target)
        if nests is not None:
            cycles = expected_cycles(nests)
            more |= {"Cycles": cycles, "ThreadsFrom": target.parallel_cycles}
            message += f" (about {cycles:.4g} cycles)"
        emit_remark(kernel, f"schedule: {message}", "Schedule", RemarkKind.PASSED, **more)
        for closer, features, cycles in expected_nests(nests) if nests is not None else ():
            parts = cycles.named()
            slowest = max(parts, key=parts.__getitem__)
            message = f"nest: {cycles.total:.4g} cycles on one core, most for {slowest}"
            counts = {_title(name): f"{n:.4g}" for name, n in features._asdict().items()}
            times = {f"{_title(name)}Cycles": f"{n:.4g}" for name, n in parts.items()}
            emit_remark(closer, message, "Nest", RemarkKind.ANALYSIS, **counts, **times)
        for slot, dtype, shape in axes.prepacked.values():
            size = math.prod(shape) * tg.DTYPES[tg.TYPES[dtype]].itemsize
            message = f"packs parameter {slot} as {list(shape)} of {dtype}: {size} bytes"
            emit_remark(kernel, message, "Pack", RemarkKind.PASSED, Slot=slot, Bytes=size)


def _title(name: str) -> str:
    """The name of a field, as remarks spell it."""
    return name.title().replace("_", "")


class Scheduled(NamedTuple):
    """A kernel for which the rest of the module is not needed any more: any process can lower it
    from here on."""

    kernel: tg.KernelOp | tg.ProgramOp
    left: Left = Left()

    def finish(self) -> Mapping[tg.KernelOp, Packing]:
        """Do what is left, as `Left.finish`."""
        return self.left.finish(self.kernel)

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.kernel.sym_name.data


@dataclass(frozen=True)
class OptimizePass(LoweringPass):
    """Settle the axis type of every range, and record the OptOps on the kernel.

    `mode=none`, the tutorial's NOOPT, keeps the loops as rangeify wrote them: LOOP and REDUCE, in
    order, on one thread. `mode=heuristic` finds a schedule for a machine with these `features`,
    `threads` and `l2`. An option that is not given is read from the module's `tg.target`; options
    that are given are written to it. A kernel whose SINK records OptOps has its schedule: these
    modes leave it alone. `mode="heuristic:tf32"` may also round the factors of f32 products to
    tf32, 10 bits after the point, where the target has matrix instructions for that.

    `mode=explicit` applies `opts`, as `opts="split 0, 4, upcast","@main_1: order 1, 0"`, to every
    kernel but those that a STAGE has made, or to the one that an OptOp names. In one word that is
    `mode="explicit:split 0, 4, upcast; @main_1: order 1, 0"`.

    `mode="beam:N"` times schedules on this machine or, for the target of a device, on that device:
    a beam of width N (4 if it is not given) is searched for `TG_BEAM_SECONDS` seconds for each
    kernel at most, by default 20. The best schedule is kept in the object cache. Kernels whose
    sizes are dynamic have the heuristic's.

    With a schedule index arithmetic is simplified: SPLITs have made more of it.
    A kernel that overwrites what it reads in another iteration reads a copy instead, whatever the
    mode is.
    """

    name = "tg-optimize"
    level_before = "kernels"
    level_after = "kernels"

    mode: str = "none"
    """none, heuristic, explicit or `beam:N`."""
    features: tuple[str, ...] = ()
    """The processor's features, in LLVM's names. They imply vectors, MULACC and conversions."""
    threads: int | None = None
    """How many threads a kernel may use; those of this machine if nothing says it."""
    l2: int | None = None
    """The size of the L2 cache in bytes; that of this machine if nothing says it."""
    opts: tuple[str, ...] = ()
    """The OptOps of `mode=explicit`, from left to right."""
    target: str | None = None
    """The kind of machine, as `cpu` or `opencl`."""
    device: str | None = None
    """The device that times schedules for a grid, as `CL:0`; the first that runs programs for the
    target unless given."""

    packed_once: ClassVar[str] = "tg.data"
    """The attribute of arguments that are packed once. A library for C packs others in each
    call."""

    def lower(self, module: ModuleOp) -> None:
        for scheduled in self.scheduled(module):
            with errors_at(scheduled.kernel):
                if begins("schedule", scheduled.kernel):
                    pass_packed({scheduled.kernel: scheduled.finish()})

    def scheduled(self, module: ModuleOp) -> Iterator[Scheduled]:
        """Lower a module, but for what concerns one kernel alone. Gives each kernel, with what is
        left to do to it; those that call others last."""
        explicit = parse_mode(self.mode, self.opts)
        if isinstance(explicit, int):
            # The timer is in a higher layer: the universe names it.
            from tgdialect.plugin import named
            from tgdialect.universe import TIMER

            named(TIMER)(module, explicit, self)
            simplify_kernels(module)
            yield from settled(op for op in module.ops if isinstance(op, tg.KernelOp))
            return
        target = settle_target(module, self.target, self.features, threads=self.threads, l2=self.l2)
        kernels = [op for op in module.ops if isinstance(op, tg.KernelOp) and not op.calls]
        if explicit is not None:
            check_kernels(explicit, kernels)
        copying = copy_overwritten(module)
        constants, aliased = constant_slots(module), aliased_kernels(module)
        in_loops = called_in_loops(module)
        once, evicted = dict[str, Set[int]](), dict[str, Set[int]]()
        if not target.is_grid:
            once.update(data_slots(module, self.packed_once))
            evicted.update(evicted_slots(module, target))
        calls = Counter(call.callee.string_value() for call in calls_in(module.ops))
        rest = Left() if self.mode == "none" else Simplification()
        for kernel in copying:
            message = "copies memory that a kernel overwrites before it reads all of it"
            emit_remark(kernel, message, "Copy", RemarkKind.MISSED)
        for kernel in (*copying, *kernels):
            is_settled = has_schedule(kernel) and explicit is None
            kernel.sink.opts = kernel.sink.opts or ArrayAttr[tg.OptAttr]([])
            if self.mode == "none" or is_settled:
                yield Scheduled(kernel, rest)
                continue
            name = kernel.sym_name.data
            opts = None
            if explicit is not None:
                asked = () if kernel in copying else explicit
                opts = tuple(each.opt for each in asked if each.kernel in (None, name))
            machine = target.in_loop if name in in_loops else target
            note_evicted(kernel, evicted.get(name, frozenset()))
            sizes = {param.slot.data: static_bytes(param.result) for param in kernel.params}
            most = SHORT_PACKING // max(calls[name], 1)
            short = tuple(slot for slot in sorted(once.get(name, ())) if 0 < sizes[slot] <= most)
            slots = tuple(sorted(constants.get(name, ())))
            facts = slots, name in aliased, self.mode == TF32, short
            yield Scheduled(kernel, Schedule(machine, opts, *facts))
        for kernel in calling_last(op for op in module.ops if isinstance(op, tg.KernelOp)):
            if kernel.calls:
                yield Scheduled(kernel, rest)


def settled(kernels: Iterable[tg.KernelOp | tg.ProgramOp]) -> Iterator[Scheduled]:
    """Kernels to which nothing is left to do, those that call others last."""
    return map(Scheduled, calling_last(kernels))
