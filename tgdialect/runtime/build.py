"""From a module at any level to a `Program`: the remaining stages, then LLVM.

Object code of single kernels is in the object cache (`KernelCache`): a program that has changed
compiles only the kernels that have changed with it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.in_place import Slots, in_place_slots, note_in_place
from tgdialect.analysis.structure import Structures
from tgdialect.analysis.symbols import called_symbols, calling_last, own_functions
from tgdialect.backends.foreign_code import fit_code_to_host
from tgdialect.backends.guarded import guarded
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_ir.values import symbol_text
from tgdialect.custom import is_in_process
from tgdialect.diagnostics import errors_at, locate
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.lowering.levels import is_before
from tgdialect.lowering.optimize import Scheduled
from tgdialect.lowering.packing import Packing, declared_packing, pass_packed
from tgdialect.lowering.render.llvm import is_intrinsic, render_symbols
from tgdialect.lowering.render.names import OBJECT
from tgdialect.ops import tg
from tgdialect.runtime.cache import ObjectCache, cache_key, object_cache
from tgdialect.runtime.codegen import CodeGenerator, generated
from tgdialect.runtime.inspection import CodeOf, host_code
from tgdialect.runtime.loader import load
from tgdialect.runtime.processes import process_count, spread
from tgdialect.runtime.program import Object, Parameter, Program, packed, unpacked
from tgdialect.runtime.progress import GENERATING, Progress, progress
from tgdialect.runtime.reproducer import leave_current
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.staged import (
    LoweredKernel,
    StagedModule,
    entry_function,
    lower_kernel,
    not_in_process,
)
from tgdialect.runtime.windows import Window
from tgdialect.targets import DEFAULT_TARGET, Target
from tgdialect.targets.attribute import lacking_here, state_target, target_of
from tgdialect.targets.cpu import cpu_features, with_arithmetic_alone, without_implied
from tgdialect.targets.host import host_cpu, host_features

C = TypeVar("C")

_ENTRY = "tg.frame"
"""The function that takes a frame (`Program`)."""

SHORT = 256
"""The most ops of a kernel without loops whose code LLVM does not optimise. Larger: slower code;
smaller: longer first calls, as LLVM's optimizer takes half of its time (4.8 ms of 42 for the first
program of a process, `examples/gemm.mlir`). Calls of the examples of one such kernel took 0.38 to
0.41 us with, and 0.38 to 0.42 us without."""

HEAD_START = 5e-3
"""The longest time that the collector leaves Python's lock to LLVM's thread, in seconds. Shorter:
LLVM's thread, which asks for the lock between its calls, waits for the whole collection (0.8 ms of
a small program's 40); longer: the collection waits for LLVM's passes on a large kernel, and ends
after its code. There is no wait once LLVM is in its last call, or the code is there."""

KERNEL_PREFIX = "kernel-"
"""The prefix of these entries' names."""

_SYMBOL = "sym_name"
"""The property of a kernel that its code does not depend on."""


class Compiled(NamedTuple):
    """A program in object code."""

    code: bytes
    symbol: str
    """Its name there, which may be that of another program's kernel."""
    in_place: Sequence[Slots]
    """`in_place_slots` of it."""
    packing: Packing | None = None
    """The packing that it does, if a STAGE has made it."""


class KernelCache:
    """The kernels of one program in the object cache, if there is one.

    An entry is named by the hash of the kernel's structure before its schedule, of what is left to
    do to it, which includes all that the schedule depends on, and of the machine. It has the
    kernel's code, and that of the kernels which its STAGEs have made of it, with what each of them
    packs: so much the functions have to know to call them. Kernels that call others are not kept:
    what they call is not in their structure.
    """

    def __init__(self, cache: ObjectCache | None, machine: Target) -> None:
        """`machine` is what the kernels are compiled for."""
        self._cache = cache
        self._machine = str(machine)
        self._structures = Structures()
        self._missing: dict[str, str] = {}
        """The keys of the kernels that the cache lacks, by their names."""

    def find(self, scheduled: Scheduled) -> Sequence[Compiled] | None:
        """The object code of a kernel, after that of the kernels that its STAGEs have made, if the
        cache has it."""
        kernel = scheduled.kernel
        if self._cache is None or kernel.calls:
            return None
        about = [
            f"{name} {attribute}"
            for name, attribute in sorted((kernel.properties | kernel.attributes).items())
            if name != _SYMBOL
        ]
        structure = self._structures.of(kernel.body.block)
        facts = kernel.name, structure, str(scheduled.left), self._machine, host_cpu()
        key = KERNEL_PREFIX + cache_key(*facts, *about)
        if (data := self._cache.get(key)) is not None:
            return [
                Compiled(code, symbol, in_place, None if packing is None else Packing(*packing))
                for code, symbol, in_place, packing in unpacked(data)["programs"]
            ]
        self._missing[kernel.sym_name.data] = key
        return None

    def keep(self, name: str, programs: Sequence[Compiled]) -> None:
        """Put a kernel of that name into the cache, if it has been looked for."""
        if self._cache is not None and (key := self._missing.pop(name, None)) is not None:
            self._cache.put(key, packed({"programs": programs}))


def _level(program: tg.KernelOp | tg.ProgramOp) -> int:
    """The level at which LLVM generates the code of a kernel: 0 if it executes a few ops once."""
    if not isinstance(program, tg.ProgramOp):
        return 2
    ops = nested_ops(program.linear)
    return 2 if len(ops) > SHORT or any(isinstance(op, tg.RangeOp) for op in ops) else 0


def _brought(program: tg.KernelOp | tg.ProgramOp) -> bytes:
    """The machine code that a program has already; empty if it has none."""
    return program.machine_code if isinstance(program, tg.ProgramOp) else b""


class _Kernels:
    """The kernels of a program: each is an object of its own, which the object cache may have, or
    another process makes. LLVM generates its code, without Python's lock, while the next kernel
    goes through the stages."""

    def __init__(
        self, build: Build, machine: Target, generator: CodeGenerator[..., bytes], shown: Progress
    ) -> None:
        self._build = build
        self._machine = machine
        self._generator = generator
        self._shown = shown
        # Code that records times is of this program alone, and that for another CPU of its file.
        is_apart = build.is_profiled or build.machine is not None
        self._cache = KernelCache(None if is_apart else object_cache(), machine)
        self._processes = process_count()
        self._parts: dict[str, Sequence[str]] = {}
        """By kernel, the names of the kernels that its STAGEs have made, and its own."""
        self._made: dict[str, Compiled] = {}
        """By name, with the code if it is not one of the next."""
        self._coming: dict[str, Future[bytes]] = {}
        self._late: Sequence[Future[bytes]] = ()
        self.only: Sequence[tg.KernelOp | tg.ProgramOp] = ()
        """The program, if there is only one: it shares an object with the functions."""

    def compile(self, kernels: Sequence[Scheduled]) -> None:
        """Lower kernels, and begin to generate their code. Those that call others come last, when
        it is settled what these are passed."""
        groups: tuple[list[Scheduled], list[Scheduled]] = [], []
        for scheduled in kernels:
            groups[scheduled.kernel.calls].append(scheduled)
        for group in groups:
            lowered: dict[str, LoweredKernel] = {}
            missing: list[Scheduled] = []
            for scheduled in group:
                is_alone = len(kernels) == 1 or _brought(scheduled.kernel)
                found = None if is_alone else self._cache.find(scheduled)
                if found is None:
                    missing.append(scheduled)
                else:
                    lowered[scheduled.name] = self._taken(scheduled, found)
            for scheduled, compiled in spread(
                missing, self._elsewhere, self._processes, partial(leave_current, "llvm")
            ):
                lowered[scheduled.name] = (
                    self._here(scheduled) if compiled is None else self._taken(scheduled, compiled)
                )
            # In this order, whichever was lowered first.
            ordered = [lowered[scheduled.name] for scheduled in group]
            pass_packed({each.program: each.prepacked for each in ordered})
            for each in ordered:
                names = [program.sym_name.data for program in each.programs]
                self._parts[names[-1]] = names

    def objects(self, order: Sequence[str]) -> Iterator[Object]:
        """The object of each program, in an order of their names, when its code is there."""
        for name in order:
            parts = self._parts.get(name, (name,))
            for part in parts:
                if (future := self._coming.pop(part, None)) is not None:
                    self._made[part] = self._made[part]._replace(code=future.result())
            self._cache.keep(name, [self._made[part] for part in parts])
            made = self._made[name]
            yield Object(OBJECT.symbol(name), made.code, made.symbol)

    def _taken(self, scheduled: Scheduled, compiled: Sequence[Compiled]) -> LoweredKernel:
        """Let a kernel be one that is compiled."""
        packings = [each.packing for each in compiled if each.packing is not None]
        lowered = LoweredKernel(scheduled.kernel, declared_packing(scheduled.kernel, packings))
        for program, each in zip(lowered.programs, compiled, strict=True):
            note_in_place(program, each.in_place)
            self._made[program.sym_name.data] = each
        self._shown.step()
        return lowered

    def _elsewhere(self, scheduled: Scheduled) -> Sequence[Compiled]:
        """Compile a kernel in a worker process."""
        lowered = lower_kernel(scheduled, self._build.passes, self._shown)
        generate = self._build.target.object_code
        made = ((p, self._brought(lowered, p)) for p in lowered.programs)
        return [m if m.code else m._replace(code=self._code(p, generate)) for p, m in made]

    def _here(self, scheduled: Scheduled) -> LoweredKernel:
        """Lower a kernel, for LLVM to generate its code meanwhile."""
        lowered = lower_kernel(scheduled, self._build.passes, self._shown)
        self._shown.note = GENERATING
        for program in lowered.programs:
            made = self._made[program.sym_name.data] = self._brought(lowered, program)
            note_in_place(program, made.in_place)
        self._shown.step()
        missing = [program for program in lowered.programs if not _brought(program)]
        if self._shown.total == len(missing) == 1:
            self.only = missing
            return lowered
        # LLVM is one kernel behind at most: another process may take what waits for it.
        wait(self._late)
        coming = {
            program.sym_name.data: self._code(program, self._generator.submit)
            for program in missing
        }
        self._coming |= coming
        self._late = [*coming.values()] if self._processes > 1 else ()
        return lowered

    def _code(self, program: tg.KernelOp | tg.ProgramOp, generate: Callable[..., C]) -> C:
        return generate(self._build.ir([program], self._machine), opt=_level(program))

    @staticmethod
    def _brought(lowered: LoweredKernel, program: tg.KernelOp | tg.ProgramOp) -> Compiled:
        """A program with the code that it has already, if it has some."""
        slots, packing = in_place_slots(program), lowered.prepacked.get(program)
        return Compiled(_brought(program), OBJECT.symbol(program.sym_name.data), slots, packing)


@dataclass(frozen=True)
class Build(StagedModule):
    """The compilation of a program for a CPU."""

    target: CpuTarget = field(default_factory=CpuTarget.host)
    is_profiled: bool = False
    """Whether the program records the time of each kernel (`profile.py`)."""
    machine: Target | None = None
    """The CPU that schedules and instructions are for; this one by default."""

    @property
    def keeps_constants(self) -> bool:
        return self.machine is None

    def described_target(self) -> Target:
        return self.machine or target_of(None, features=host_features())

    def _settle_target(self, module: ModuleOp) -> None:
        machine = self.machine
        if machine is not None and not is_before("tiles", self.level):
            state_target(module, machine)
            return
        if machine is not None:
            has = with_arithmetic_alone(target_of(module)).features
            if names := ", ".join(without_implied(has - machine.features)):
                message = f"the kernels have instructions of {names}, which the CPU is to lack"
                raise locate(PassFailedException(message), module)
        _check_brought(module, is_for_here=machine is None)
        super()._settle_target(module)

    def _link_custom(self, module: ModuleOp) -> None:
        """As for other hosts. A CUSTOM that is left has to be an intrinsic, or to call a function
        that this process has."""
        super()._link_custom(module)
        for op in nested_ops(module) if self.custom.allowed else ():
            call = op.call if isinstance(op, tg.CustomOp) and op.function is None else None
            if call is not None and not (is_intrinsic(call.name) or is_in_process(call.name)):
                message = (
                    f"{not_in_process(call.name)}, call an intrinsic of LLVM as llvm.ctpop.i32"
                )
                raise locate(
                    PassFailedException(f"{message}, or use tg.ins for an instruction"), op
                )

    def program(self) -> Program:
        with (
            progress(f"compiling {self.entry}") as shown,
            at_full_speed(),
            CodeGenerator(self.target.object_code) as generator,
        ):
            begun = Event()
            signature, objects, windows = self._compiled(generator, shown, begun)
            # Free the IR of the stages while LLVM still generates code.
            begun.wait(HEAD_START)
            gc.collect(0)
            return Program(signature, tuple(objects()), windows)

    def profiled(self) -> Program:
        return replace(self, is_profiled=True).program()

    def _compiled(
        self, generator: CodeGenerator[..., bytes], shown: Progress, begun: Event
    ) -> tuple[tuple[Parameter, ...], Callable[[], Iterator[Object]], tuple[Window, ...]]:
        """The parameters of the program, what waits for its objects, and the windows that a call
        checks. `begun` is set when LLVM is in its last call, or has failed.
        """
        module, by_reference = self.copy()
        # A module at level `llvm` goes to LLVM as it is, which may end a process for it.
        if self.passes.render is None:
            fit_code_to_host(module, cpu_features(host_features()))
            signature = self.signature(module, by_reference)
            function = entry_function(module, self.entry).sym_name.data
            text = llvm_ir(module) + _frame_entry(function, signature)
            with errors_at(module):
                code = guarded(self.target.object_code, text)
            begun.set()
            return signature, lambda: iter((Object(_ENTRY, code, _ENTRY),)), ()
        # Stages on the whole module, and on one kernel after the other.
        windows = self.until_kernels(module, shown)
        machine = target_of(module)
        kernels = _Kernels(self, machine, generator, shown)
        kernels.compile(self.kernels_scheduled(module, shown))
        signature = self.functions_lowered(module, by_reference)
        ir = self.ir([*kernels.only, *own_functions(module)], machine)
        # Functions only call kernels, unless one shares their object.
        opt = max(map(_level, kernels.only), default=0)
        whole = generator.submit(
            ir + _frame_entry(OBJECT.symbol(self.entry), signature), opt=opt, begun=begun.set
        )
        whole.add_done_callback(lambda _: begun.set())
        # No object comes before those that it calls, whichever was lowered first.
        programs = [op for op in module.ops if isinstance(op, tg.KernelOp | tg.ProgramOp)]
        others = calling_last(op for op in programs if op not in kernels.only)
        order = [op.sym_name.data for op in others]

        def objects() -> Iterator[Object]:
            shown.note = GENERATING
            yield from kernels.objects(order)
            yield Object(_ENTRY, whole.result(), _ENTRY)

        return signature, objects, windows

    def ir(self, symbols: Sequence[Operation], machine: Target) -> str:
        """LLVM IR of programs and functions; a profile times the programs."""
        functions = render_symbols(symbols, called_symbols(symbols), machine)
        records = ""
        if self.is_profiled:
            from tgdialect.runtime.profile import with_records

            timed = (p for p in symbols if isinstance(p, tg.ProgramOp) and not p.calls)
            records = with_records(functions, [OBJECT.symbol(p.sym_name.data) for p in timed])
        return llvm_ir(ModuleOp(list(functions))) + records

    def _code_of(self) -> CodeOf:
        ir = llvm_ir(self.module("render"))
        return host_code(ir, generated(self.target.assembly, ir))


def _check_brought(module: ModuleOp, *, is_for_here: bool) -> None:
    """Raise PassFailedException, at the BINARY, for one that is no code of this machine's kind, or
    that this CPU cannot execute and has to."""
    for program in module.ops:
        if not isinstance(program, tg.ProgramOp) or (binary := program.binary) is None:
            continue
        name = program.sym_name.data
        target = target_of(module)
        if is_for_here and target.name == DEFAULT_TARGET and (lacking := lacking_here(target)):
            message = f"the machine code of @{name} needs {', '.join(lacking)}"
            raise locate(PassFailedException(f"{message}, which this CPU lacks"), binary)
        try:
            load(program.machine_code).address(OBJECT.symbol(name))
        except OSError as error:
            message = f"the machine code of @{name} is no object code for this machine: {error}"
            raise locate(PassFailedException(message), binary) from error


def _frame_entry(function: str, signature: Sequence[Parameter]) -> str:
    """LLVM IR of a function that loads arguments from a frame and calls `function` with them."""
    lines = [f"define void {symbol_text(_ENTRY)}(ptr %frame) {{"]
    arguments: list[str] = []
    for i, parameter in enumerate(signature):
        type = "i64" if parameter.role == "scalar" else "ptr"
        lines.append(f"  %at{i} = getelementptr i64, ptr %frame, i64 {i}")
        lines.append(f"  %argument{i} = load {type}, ptr %at{i}")
        arguments.append(f"{type} %argument{i}")
    lines.append(f"  call void {symbol_text(function)}({', '.join(arguments)})")
    return "\n".join([*lines, "  ret void", "}", ""])
