"""From a module at any level to a `Program`: the remaining stages, then LLVM."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.symbols import SIGNATURE, is_foreign, own_functions
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_ir.constants import symbol_text
from tgdialect.diagnostics import locate
from tgdialect.lowering.levels import LoweringPass, find_level, is_before
from tgdialect.lowering.pipeline import AfterStage, Stages, run_stages, stages
from tgdialect.lowering.render.stage import render_symbols
from tgdialect.lowering.signature import (
    arguments_said_to_be_written,
    described_function,
    written_arguments,
)
from tgdialect.ops.arguments import (
    argument_attributes,
    dims_attribute,
    integer_attribute,
)
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import CustomFunctionOp, CustomOp, InsOp, ProgramOp
from tgdialect.ops.properties import dtype_of, is_memory, tensor
from tgdialect.ops.source import BinaryDataOp, parameters
from tgdialect.runtime.codegen import CodeGenerator, generated
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.find_windows import find_windows
from tgdialect.runtime.inspection import Kernel, kernels_of
from tgdialect.runtime.optimize import MeasuringOptimizePass
from tgdialect.runtime.profile import with_records
from tgdialect.runtime.program import DEFAULT_OPT, Object, Parameter, Program
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.windows import Window
from tgdialect.targets.attribute import MODULE_ATTRIBUTE, state_target, target_of

UNTRUSTED = (CustomOp, CustomFunctionOp, InsOp, BinaryDataOp)
"""Ops that carry code or bytes of their own. They are executed with `allow_custom` only."""

_ROLES = ("tg.output", "tg.workspace", "tg.persistent", "tg.buffer")
_PREFIX = "tg-"


@dataclass(frozen=True)
class Build:
    """What to compile, and how. `source` may be at any level, whose next stage is the first to run.
    It is not changed."""

    source: ModuleOp
    entry: str = "main"
    opt: str = DEFAULT_OPT
    allow_custom: bool = False
    target: CpuTarget = field(default_factory=CpuTarget.host)
    is_profiled: bool = False
    """Whether the program records the time of each kernel (`profile.py`)."""

    def program(self) -> Program:
        """Compile.

        Raises VerifyException or PassFailedException for programs that cannot be compiled.
        """
        with at_full_speed(), CodeGenerator(self.target.object_code) as generator:
            signature, coming, windows = self._compiled(generator)
            # Free the IR of the stages while LLVM still generates code.
            gc.collect(0)
            objects = [Object(name, future.result()) for name, future in coming.items()]
            return Program(tuple(signature), tuple(objects), windows)

    def profiled(self) -> Program:
        """Compile a program that records the time of each kernel."""
        return replace(self, is_profiled=True).program()

    def _compiled(
        self, generator: CodeGenerator[bytes]
    ) -> tuple[list[Parameter], Mapping[str, Future[bytes]], tuple[Window, ...]]:
        """The parameters of the program, futures of its objects, and the windows that a call
        checks.

        Each kernel is an object of its own. LLVM generates its code, without Python's lock, while
        the next kernel goes through the stages.
        """
        module, by_reference = self._copy()
        entry = f"{self.entry}.frame"
        passes = self._passes
        # A module at level `llvm` goes to LLVM as it is.
        if passes.render is None:
            signature = _signature(
                entry_function(module, self.entry), by_reference, self._may_be_partial
            )
            ir = llvm_ir(module) + _frame_entry(entry, self.entry, signature)
            return signature, {entry: generator.submit(ir)}, ()
        # Stages on the whole module.
        windows: tuple[Window, ...] = ()
        for stage in passes.module:
            if stage.level_before == "function":
                # Before this stage replaces movement ops by index arithmetic.
                windows = find_windows(
                    entry_function(module, self.entry), entry_function(self.source, self.entry)
                )
            stage.lower(module)
        machine = target_of(module)
        # Stages on one kernel after the other; the last one shares an object with the functions.
        coming: dict[str, Future[bytes]] = {}
        kernels = [op for op in module.ops if isinstance(op, KernelOp | ProgramOp)]
        programs: list[Operation] = []
        for kernel in kernels:
            program, is_last = kernel, kernel is kernels[-1]
            for stage in passes.kernels:
                program = stage.lower_kernel(program)
            programs.append(program)
            if not is_last:
                ir = self._ir(render_symbols([program], (), machine), programs)
                coming[program.sym_name.data] = generator.submit(ir)
        # Functions that call the kernels, and the entry that takes a frame.
        functions = list(own_functions(module))
        for function in functions:
            for stage in passes.kernels:
                stage.lower_function(function)
        signature = _signature(
            entry_function(module, self.entry), by_reference, self._may_be_partial
        )
        rest = render_symbols([*programs[-1:], *functions], programs, machine)
        ir = self._ir(rest, programs) + _frame_entry(entry, self.entry, signature)
        coming[entry] = generator.submit(ir)
        return signature, coming, windows

    def _ir(self, functions: Sequence[Operation], programs: Sequence[Operation]) -> str:
        """LLVM IR of rendered functions; `programs` are the kernels, which a profile times."""
        names = [p.sym_name.data for p in programs if isinstance(p, ProgramOp)]
        records = with_records(functions, names) if self.is_profiled else ""
        return llvm_ir(ModuleOp(list(functions))) + records

    def lowered(self, after: AfterStage) -> ModuleOp:
        """The module after all stages; `after` sees it after each one."""
        with at_full_speed():
            module, _ = self._copy()
            run_stages(module, self._passes, after)
            return module

    @property
    def _may_be_partial(self) -> bool:
        """Whether the program may store to some cells of a result only. One at the tensor level
        returns values, of which every cell is stored."""
        return self.level != "tensor"

    @cached_property
    def level(self) -> str:
        """The level of the module. Raises VerifyException if it is valid at no level."""
        return find_level(self.source)

    def _copy(self) -> tuple[ModuleOp, Set[int]]:
        """A copy of the module without functions of other dialects, and the positions of the inputs
        that are passed by reference."""
        if not self.allow_custom:
            refuse_untrusted(self.source)
            if not is_before(self.level, "linear"):
                raise VerifyException(
                    f"at level {self.level} no stage checks memory accesses any more: such a "
                    "module is executed with allow_custom only (tg-run --allow-custom)"
                )
        entry_function(self.source, self.entry)
        module = self.source.clone()
        if MODULE_ATTRIBUTE not in module.attributes:
            state_target(module, target_of(None, features=self.target.known_features))
        for op in list(module.ops):
            if is_foreign(op) and (self.level != "llvm" or not op.name.startswith("llvm.")):
                module.body.block.erase_op(op, safe_erase=False)
        entry = entry_function(module, self.entry)
        if self.level == "llvm":
            return module, arguments_said_to_be_written(entry)
        if self.level != "tensor":
            return module, written_arguments(entry)
        inputs = *entry.args, *(param.result for param in parameters(entry.body.block))
        return module, {position for position, value in enumerate(inputs) if is_memory(value)}

    @cached_property
    def _passes(self) -> Stages:
        """The stages that the module has not been through."""
        if is_before("kernels", self.level) and self.opt not in ("none", DEFAULT_OPT):
            raise PassFailedException(
                f"opt {self.opt!r} comes too late: loops are settled at level {self.level}"
            )
        passes = stages(mode=self.opt, optimize=MeasuringOptimizePass)
        return passes.from_level(self.level)

    @cached_property
    def _stages(self) -> dict[str, ModuleOp]:
        """The module after each stage, by the stage's name."""
        found: dict[str, ModuleOp] = {}

        def keep(stage: LoweringPass, module: ModuleOp) -> None:
            found[stage.name.removeprefix(_PREFIX)] = module.clone()

        self.lowered(keep)
        return found

    def module(self, stage: str) -> ModuleOp:
        """The module after the last stage of that name. Raises ValueError if there is none."""
        name = stage.removeprefix(_PREFIX)
        if name not in self._stages:
            raise ValueError(f"there is no stage {stage!r}; there are: {', '.join(self._stages)}")
        return self._stages[name]

    @property
    def programs(self) -> Mapping[str, ProgramOp]:
        """The kernels in order, by their names."""
        ops = self.module("linearize").ops
        return {op.sym_name.data: op for op in ops if isinstance(op, ProgramOp)}

    @property
    def kernels(self) -> Sequence[Kernel]:
        """Each kernel of the program, in the order of the calls. Empty for a module at level
        `llvm`, whose kernels are functions like any other."""
        return self._kernels

    @cached_property
    def _kernels(self) -> Sequence[Kernel]:
        if self.level == "llvm":
            return ()
        ordered = next((s for s in ("linearize", "plan") if s in self._stages), None)
        module = self.source if ordered is None else self.module(ordered)
        function = entry_function(module, self.entry)
        ir = llvm_ir(self.module("render"))
        return kernels_of(function, ir, generated(self.target.assembly, ir))


def compile_module(
    module: ModuleOp, *, entry: str = "main", opt: str = DEFAULT_OPT, allow_custom: bool = False
) -> Executable:
    """Compile the function `entry` of a module at any level for this CPU.

    The module is not changed. `opt` is a mode of `tg-optimize`. Raises VerifyException or
    PassFailedException for programs that cannot be compiled.
    """
    build = Build(module, entry, opt, allow_custom)
    return Executable(build.program(), lambda: build)


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


def refuse_untrusted(module: ModuleOp) -> None:
    """Raise for a program that carries code of its own (docs/semantics.md, "untrusted IR")."""
    for op in module.walk():
        if isinstance(op, UNTRUSTED):
            message = f"{op.name} is executed with allow_custom only (tg-run --allow-custom)"
            raise locate(VerifyException(message), op)


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name. The error for an unknown name lists the known ones.

    At level `llvm` it is a function without ops, whose arguments are those that the attributes of
    the `llvm.func` describe.
    """
    functions = {function.sym_name.data: function for function in own_functions(module)}
    described = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, llvm.FuncOp) and SIGNATURE in op.attributes
    }
    if name in described:
        return described_function(described[name])
    if name not in functions:
        found = SymbolTable.lookup_symbol(module, name)
        if isinstance(found, FuncOp) and not found.is_declaration:
            message = f"@{name} is a function of other dialects: only those of ours are compiled"
            raise locate(PassFailedException(message), found)
        there_are = ", ".join((*functions, *described)) or "none"
        raise PassFailedException(f"there is no function @{name}; there are: {there_are}")
    return functions[name]


def _signature(function: FuncOp, by_reference: Set[int], may_be_partial: bool) -> list[Parameter]:
    """The parameters of a function at level `planned`. `may_be_partial` says that a program may
    leave cells of its results as they are."""
    parameters: list[Parameter] = []
    for position, argument in enumerate(function.args):
        attributes = argument_attributes(argument)
        role = next((r.removeprefix("tg.") for r in _ROLES if r in attributes), None)
        parameter = Parameter(
            name=argument.name_hint or f"arg{position}",
            role=role or ("input" if is_memory(argument) else "scalar"),
            shape=tuple(None if d == DYNAMIC_INDEX else d for d in tensor(argument).get_shape()),
            dtype=numpy_dtype(dtype_of(argument)),
            dims=dims_attribute(attributes) or (),
            by_reference=position in by_reference,
            is_constant="tg.constant" in attributes,
            is_cleared=role == "output" and may_be_partial,
        )
        bounds = {
            field: bound
            for field, name in (("low", "tg.min"), ("high", "tg.max"))
            if (bound := integer_attribute(attributes, name)) is not None
        }
        parameters.append(replace(parameter, **bounds))
    return parameters
