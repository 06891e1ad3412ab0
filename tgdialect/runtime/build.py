"""From a module at any level to a `Program`: the remaining stages, then LLVM."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tgdialect.analysis.in_place import in_place_slots, note_in_place
from tgdialect.analysis.symbols import called_symbols, calling_last, own_functions
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_ir.constants import symbol_text
from tgdialect.lowering.optimize import Scheduled
from tgdialect.lowering.render.llvm import render_symbols
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import ProgramOp
from tgdialect.runtime.cache import object_cache
from tgdialect.runtime.codegen import CodeGenerator, generated
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.inspection import Kernel, host_code, kernels_of
from tgdialect.runtime.kernel_cache import Compiled, KernelCache
from tgdialect.runtime.processes import process_count, spread
from tgdialect.runtime.profile import with_records
from tgdialect.runtime.program import DEFAULT_OPT, Object, Parameter, Program
from tgdialect.runtime.progress import Progress, progress
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.staged import (
    StagedModule,
    entry_function,
    lower_kernel,
)
from tgdialect.runtime.windows import Window
from tgdialect.targets import Target
from tgdialect.targets.attribute import target_of


@dataclass(frozen=True)
class Build(StagedModule):
    """The compilation of a program for a CPU."""

    target: CpuTarget = field(default_factory=CpuTarget.host)
    is_profiled: bool = False
    """Whether the program records the time of each kernel (`profile.py`)."""

    def described_target(self) -> Target:
        return target_of(None, features=self.target.known_features)

    def program(self) -> Program:
        """Compile.

        Raises VerifyException or PassFailedException for programs that cannot be compiled.
        """
        with (
            progress(f"compiling {self.entry}") as shown,
            at_full_speed(),
            CodeGenerator(self.target.object_code) as generator,
        ):
            signature, objects, windows = self._compiled(generator, shown)
            # Free the IR of the stages while LLVM still generates code.
            gc.collect(0)
            return Program(tuple(signature), tuple(objects()), windows)

    def profiled(self) -> Program:
        """Compile a program that records the time of each kernel."""
        return replace(self, is_profiled=True).program()

    def _compiled(
        self, generator: CodeGenerator[bytes], shown: Progress
    ) -> tuple[list[Parameter], Callable[[], Iterator[Object]], tuple[Window, ...]]:
        """The parameters of the program, what waits for its objects, and the windows that a call
        checks.

        Each kernel is an object of its own, which the object cache may have. LLVM generates its
        code, without Python's lock, while the next kernel goes through the stages.
        """
        module, by_reference = self.copy()
        entry = f"{self.entry}.frame"
        passes = self.passes
        # A module at level `llvm` goes to LLVM as it is.
        if passes.render is None:
            signature = self.signature(module, by_reference)
            whole = generator.submit(llvm_ir(module) + _frame_entry(entry, self.entry, signature))
            return signature, lambda: iter((Object(entry, whole.result(), entry),)), ()
        # Stages on the whole module.
        windows = self.until_kernels(module, passes)
        machine = target_of(module)
        # Code that records times is of this program alone.
        cache = KernelCache(None if self.is_profiled else object_cache(), machine)
        made: dict[str, Compiled] = {}
        """The kernels that other processes have compiled, or an earlier program had."""

        def take(scheduled: Scheduled, compiled: Compiled) -> None:
            note_in_place(scheduled.kernel, compiled.in_place)
            made[scheduled.kernel.sym_name.data] = compiled
            shown.step()

        def elsewhere(scheduled: Scheduled) -> Compiled:
            name = scheduled.kernel.sym_name.data
            program = lower_kernel(scheduled, passes)
            code = self.target.object_code(self._ir([program], machine))
            return Compiled(code, name, in_place_slots(program))

        def missing() -> Iterator[Scheduled]:
            kernels = chain(self.kernels_scheduled(module, passes, shown), (None,))
            for scheduled, following in pairwise(kernels):
                assert scheduled is not None
                found = None if following is None else cache.find(scheduled)
                if found is None:
                    yield scheduled
                else:
                    take(scheduled, found)

        # Stages on one kernel after the other, here and in other processes.
        programs: list[KernelOp | ProgramOp] = []
        coming: dict[str, Future[bytes]] = {}
        late: list[Future[bytes]] = []
        processes = process_count()
        for scheduled, compiled in spread(missing(), elsewhere, processes):
            if compiled is not None:
                take(scheduled, compiled)
                continue
            program = lower_kernel(scheduled, passes)
            programs.append(program)
            shown.step()
            if shown.done < shown.total:
                # LLVM is one kernel behind at most: another process may take what waits for it.
                wait(late)
                future = generator.submit(self._ir([program], machine))
                coming[program.sym_name.data] = future
                late = [future] if processes > 1 else []
        # The last one shares an object with the functions, and with the entry that takes a frame.
        last = programs[-1:]
        for program in programs:
            note_in_place(program, in_place_slots(program))
        signature = self.functions_lowered(module, passes, by_reference)
        ir = self._ir([*last, *own_functions(module)], machine)
        whole = generator.submit(ir + _frame_entry(entry, self.entry, signature))
        # No object comes before those that it calls, whichever was lowered first.
        kernels = [op for op in module.ops if isinstance(op, KernelOp | ProgramOp)]
        ordered = list(calling_last(kernel for kernel in kernels if kernel not in last))

        def objects() -> Iterator[Object]:
            for kernel in ordered:
                name = kernel.sym_name.data
                if name in coming:
                    made[name] = Compiled(coming[name].result(), name, in_place_slots(kernel))
                cache.keep(name, made[name])
                yield Object(name, made[name].code, made[name].symbol)
            yield Object(entry, whole.result(), entry)

        return signature, objects, windows

    def _ir(self, symbols: Sequence[Operation], machine: Target) -> str:
        """LLVM IR of programs and functions; a profile times the programs."""
        functions = render_symbols(symbols, called_symbols(symbols), machine)
        names = [p.sym_name.data for p in symbols if isinstance(p, ProgramOp) and not p.calls]
        records = with_records(functions, names) if self.is_profiled else ""
        return llvm_ir(ModuleOp(list(functions))) + records

    @property
    def kernels(self) -> Sequence[Kernel]:
        """Each kernel of the program, in the order of the calls. Empty for a module at level
        `llvm`, whose kernels are functions like any other."""
        return self._kernels

    @cached_property
    def _kernels(self) -> Sequence[Kernel]:
        if self.level == "llvm":
            return ()
        ordered = next((s for s in ("linearize", "plan") if s in self.snapshots), None)
        module = self.source if ordered is None else self.module(ordered)
        function = entry_function(module, self.entry)
        ir = llvm_ir(self.module("render"))
        return kernels_of(function, host_code(ir, generated(self.target.assembly, ir)))


def compile_module(
    module: ModuleOp, *, entry: str = "main", opt: str = DEFAULT_OPT, allow_custom: bool = False
) -> HostExecutable:
    """Compile the function `entry` of a module at any level for this CPU.

    The module is not changed. `opt` is a mode of `tg-optimize`. Raises VerifyException or
    PassFailedException for programs that cannot be compiled.
    """
    build = Build(module, entry, opt, allow_custom)
    return HostExecutable(build.program(), lambda: build)


def _frame_entry(name: str, function: str, signature: Sequence[Parameter]) -> str:
    """LLVM IR of a function that loads arguments from a frame and calls `function` with them."""
    lines = [f"define void {symbol_text(name)}(ptr %frame) {{"]
    arguments: list[str] = []
    for i, parameter in enumerate(signature):
        type = "i64" if parameter.role == "scalar" else "ptr"
        lines.append(f"  %at{i} = getelementptr i64, ptr %frame, i64 {i}")
        lines.append(f"  %argument{i} = load {type}, ptr %at{i}")
        arguments.append(f"{type} %argument{i}")
    lines.append(f"  call void {symbol_text(function)}({', '.join(arguments)})")
    return "\n".join([*lines, "  ret void", "}", ""])
