"""From a module at the tensor level to a `Program`: the stages, then LLVM."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_ir.constants import symbol_text
from tgdialect.interpreter.dtypes import numpy_dtype
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.pipeline import AfterStage, run_stages, stages
from tgdialect.lowering.plan import PlanPass, plan_function
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.verify import verify_level
from tgdialect.ops.arguments import (
    argument_attributes,
    dims_attribute,
    integer_attribute,
)
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import CustomFunctionOp, CustomOp, InsOp
from tgdialect.ops.properties import dtype_of, is_memory, tensor
from tgdialect.ops.source import BinaryDataOp, parameters
from tgdialect.runtime.codegen import CodeGenerator, generated
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.inspection import Kernel, kernels_of
from tgdialect.runtime.optimize import MeasuringOptimizePass
from tgdialect.runtime.program import DEFAULT_OPT, Object, Parameter, Program
from tgdialect.runtime.speed import at_full_speed

UNTRUSTED = (CustomOp, CustomFunctionOp, InsOp, BinaryDataOp)
"""Ops that carry code or bytes of their own; nothing executes them unasked."""

_ROLES = ("tg.output", "tg.workspace", "tg.persistent", "tg.buffer")
_PREFIX = "tg-"


@dataclass(frozen=True)
class Build:
    """What to compile, and how. `module` is at the tensor level, and is left as it is."""

    source: ModuleOp
    entry: str = "main"
    opt: str = DEFAULT_OPT
    allow_custom: bool = False
    target: CpuTarget = field(default_factory=CpuTarget.host)

    def program(self) -> Program:
        """Compile.

        Raises VerifyException or PassFailedException for programs that cannot be compiled.
        """
        with at_full_speed(), CodeGenerator(self.target.object_code) as llvm:
            signature, coming = self._compiled(llvm)
            # What the stages have made is garbage by now, and LLVM is still at it.
            gc.collect(0)
            objects = [Object(name, future.result()) for name, future in coming.items()]
            return Program(tuple(signature), tuple(objects))

    def _compiled(
        self, llvm: CodeGenerator[bytes]
    ) -> tuple[list[Parameter], Mapping[str, Future[bytes]]]:
        """The parameters of the program, and the objects that are to come. LLVM generates the code
        of a kernel, for which it needs no Python, while the next one goes through the stages."""
        module, by_reference = self._copy()
        expand = next(i for i, p in enumerate(self._passes) if isinstance(p, ExpandPass))
        run_stages(Context(), module, self._passes[:expand])
        *stages, render = self._passes[expand:]
        assert isinstance(render, RenderPass)
        coming: dict[str, Future[bytes]] = {}
        kernels = [op for op in module.ops if isinstance(op, KernelOp)]
        programs: list[Operation] = []
        for kernel in kernels:
            kernel.detach()
            alone = ModuleOp([kernel])
            run_stages(Context(), alone, stages)
            (program,) = alone.ops
            program.detach()
            programs.append(program)
            if kernel is not kernels[-1]:
                ir = llvm_ir(ModuleOp(list(render.rendered([program]))))
                coming[kernel.sym_name.data] = llvm.submit(ir)
        functions = [op for op in module.ops if isinstance(op, FuncOp)]
        module.body.block.add_ops(programs)
        run_stages(Context(), module, [s for s in stages if not isinstance(s, PlanPass)])
        for function in functions:
            if not function.is_declaration:
                plan_function(function)
        signature = _signature(entry_function(module, self.entry), by_reference)
        rest = ModuleOp(list(render.rendered([*programs[-1:], *functions], programs)))
        entry = f"{self.entry}.frame"
        ir = llvm_ir(rest) + _frame_entry(entry, self.entry, signature)
        coming[entry] = llvm.submit(ir)
        return signature, coming

    def lowered(self, after: AfterStage) -> ModuleOp:
        """The module after all stages; `after` sees it after each one."""
        with at_full_speed():
            module, _ = self._copy()
            run_stages(Context(), module, self._passes, after)
            return module

    def _copy(self) -> tuple[ModuleOp, Set[int]]:
        """A copy of the module, and which inputs of the entry are memory."""
        if not self.allow_custom:
            refuse_untrusted(self.source)
        verify_level(self.source, "tensor")
        module = self.source.clone()
        entry = entry_function(module, self.entry)
        inputs = *entry.args, *(param.result for param in parameters(entry.body.block))
        return module, {position for position, value in enumerate(inputs) if is_memory(value)}

    @cached_property
    def _passes(self) -> Sequence[ModulePass]:
        features = tuple(self.target.features.split(","))
        return stages(mode=self.opt, features=features, optimize=MeasuringOptimizePass)

    @cached_property
    def _stages(self) -> dict[str, ModuleOp]:
        """The module after each stage."""
        found: dict[str, ModuleOp] = {}

        def keep(stage: ModulePass, module: ModuleOp) -> None:
            found[stage.name.removeprefix(_PREFIX)] = module.clone()

        self.lowered(keep)
        return found

    def module(self, stage: str) -> ModuleOp:
        """The module after the last stage of that name. Raises ValueError if there is none."""
        name = stage.removeprefix(_PREFIX)
        if name not in self._stages:
            raise ValueError(f"there is no stage {stage!r}; there are: {', '.join(self._stages)}")
        return self._stages[name]

    @cached_property
    def kernels(self) -> Sequence[Kernel]:
        """Each kernel of the program, in the order of the calls."""
        function = entry_function(self.module("linearize"), self.entry)
        ir = llvm_ir(self.module("render"))
        return kernels_of(function, ir, generated(self.target.assembly, ir))


def compile_module(
    module: ModuleOp, *, entry: str = "main", opt: str = DEFAULT_OPT, allow_custom: bool = False
) -> Executable:
    """Compile the function `entry` of a module at the tensor level for this CPU.

    The module is left as it is. `opt` is a mode of `tg-optimize`. Raises VerifyException or
    PassFailedException for programs that cannot be compiled.
    """
    build = Build(module, entry, opt, allow_custom)
    return Executable(build.program(), lambda: build)


def _frame_entry(name: str, function: str, signature: Sequence[Parameter]) -> str:
    """LLVM IR of a function that calls another with the arguments in a frame."""
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
            raise VerifyException(f"{op.name} is not executed unless allow_custom says so")


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name; the error lists those that there are."""
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, FuncOp) and not op.is_declaration
    }
    if name not in functions:
        there_are = ", ".join(functions) or "none"
        raise PassFailedException(f"there is no function @{name}; there are: {there_are}")
    return functions[name]


def _signature(function: FuncOp, by_reference: Set[int]) -> list[Parameter]:
    """The parameters of a function at level `planned`."""
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
        )
        bounds = {
            field: bound
            for field, name in (("low", "tg.min"), ("high", "tg.max"))
            if (bound := integer_attribute(attributes, name)) is not None
        }
        parameters.append(replace(parameter, **bounds))
    return parameters
