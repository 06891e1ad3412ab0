"""From a module at any level to a `Program`: the remaining stages, then LLVM."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tgdialect.analysis.in_place import Slots, in_place_slots, note_in_place
from tgdialect.analysis.symbols import called_symbols, calling_last, own_functions
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_ir.constants import symbol_text
from tgdialect.lowering.render.llvm import render_symbols
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import ProgramOp
from tgdialect.runtime.codegen import CodeGenerator, generated
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.inspection import Kernel, host_code, kernels_of
from tgdialect.runtime.processes import process_count, spread
from tgdialect.runtime.profile import with_records
from tgdialect.runtime.program import DEFAULT_OPT, Object, Parameter, Program
from tgdialect.runtime.progress import Progress, progress
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.staged import (
    StagedModule,
    ToLower,
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
            signature, coming, windows = self._compiled(generator, shown)
            # Free the IR of the stages while LLVM still generates code.
            gc.collect(0)
            objects = [Object(name, future.result()) for name, future in coming.items()]
            return Program(tuple(signature), tuple(objects), windows)

    def profiled(self) -> Program:
        """Compile a program that records the time of each kernel."""
        return replace(self, is_profiled=True).program()

    def _compiled(
        self, generator: CodeGenerator[bytes], shown: Progress
    ) -> tuple[list[Parameter], Mapping[str, Future[bytes]], tuple[Window, ...]]:
        """The parameters of the program, futures of its objects, and the windows that a call
        checks.

        Each kernel is an object of its own. LLVM generates its code, without Python's lock, while
        the next kernel goes through the stages.
        """
        module, by_reference = self.copy()
        entry = f"{self.entry}.frame"
        passes = self.passes
        # A module at level `llvm` goes to LLVM as it is.
        if passes.render is None:
            signature = self.signature(module, by_reference)
            ir = llvm_ir(module) + _frame_entry(entry, self.entry, signature)
            return signature, {entry: generator.submit(ir)}, ()
        # Stages on the whole module.
        windows = self.until_kernels(module, passes)
        machine = target_of(module)

        def elsewhere(to_lower: ToLower) -> tuple[bytes, Sequence[Slots]]:
            program = lower_kernel(to_lower, passes)
            return self.target.object_code(self._ir([program], machine)), in_place_slots(program)

        # Stages on one kernel after the other, here and in other processes.
        coming: dict[str, Future[bytes]] = {}
        programs: list[KernelOp | ProgramOp] = []
        late: list[Future[bytes]] = []
        scheduled = self.kernels_scheduled(module, passes, shown)
        processes = process_count()
        for to_lower, made in spread(scheduled, elsewhere, processes):
            kernel, _ = to_lower
            if made is not None:
                code, pairs = made
                note_in_place(kernel, pairs)
                coming[kernel.sym_name.data] = done = Future[bytes]()
                done.set_result(code)
            else:
                kernel = lower_kernel(to_lower, passes)
                if len(programs) + 1 < shown.total:
                    # LLVM is one kernel behind at most: another process may take what waits for it.
                    wait(late)
                    future = generator.submit(self._ir([kernel], machine))
                    coming[kernel.sym_name.data] = future
                    late = [future] if processes > 1 else []
            shown.step()
            programs.append(kernel)
        # The last one shares an object with the functions, and with the entry that takes a frame.
        signature = self.functions_lowered(module, passes, by_reference)
        ir = self._ir([*programs[-1:], *own_functions(module)], machine)
        coming[entry] = generator.submit(ir + _frame_entry(entry, self.entry, signature))
        # No object comes before those that it calls, whichever was lowered first.
        kernels = [op for op in module.ops if isinstance(op, KernelOp | ProgramOp)]
        ordered = calling_last(kernel for kernel in kernels if kernel not in programs[-1:])
        names = [*(kernel.sym_name.data for kernel in ordered), entry]
        return signature, {name: coming[name] for name in names}, windows

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
