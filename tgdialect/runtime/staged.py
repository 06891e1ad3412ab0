"""A module and the stages that are still to come: what every compilation begins with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.constants import read_once
from tgdialect.analysis.memory_order import kernels_unchanged
from tgdialect.analysis.symbols import SIGNATURE, is_foreign, own_functions
from tgdialect.custom import NO_CUSTOM, REGISTERED, CustomCode
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import nested_ops, ops_of
from tgdialect.lowering.levels import LoweringPass, find_level, is_before
from tgdialect.lowering.optimize import OptimizePass, Scheduled, settled
from tgdialect.lowering.packing import Packing, pass_packed
from tgdialect.lowering.pipeline import AfterStage, Stages, run_stages, stages
from tgdialect.lowering.render.names import OBJECT
from tgdialect.lowering.signature import (
    arguments_said_to_be_written,
    described_function,
    written_arguments,
)
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.expressions import parsed
from tgdialect.ops.sorts import SORTS
from tgdialect.ops.source import name_of_input, parameters
from tgdialect.runtime.find_windows import buffer_places, find_windows
from tgdialect.runtime.inspection import CodeOf, Kernel, kernels_of
from tgdialect.runtime.program import DEFAULT_OPT, HOST, CompiledProgram, Parameter, Program
from tgdialect.runtime.progress import Progress
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.windows import Window
from tgdialect.targets import DEFAULT_TARGET, Target
from tgdialect.targets.attribute import MODULE_ATTRIBUTE, TargetAttr, fit_to_host, state_target

_ROLES = ("tg.output", "tg.workspace", "tg.persistent", "tg.buffer", "tg.data")
_PREFIX = "tg-"


class _OptimizeHere(OptimizePass):
    """`tg-optimize` of a program that keeps what it packs of any constant."""

    packed_once = "tg.constant"


@dataclass(frozen=True)
class StagedModule(ABC):
    """A program to compile. `source` may be at any level, whose next stage is the first to run. It
    is not changed, unless it `is_consumed`: then it is lowered itself, once, and not a copy."""

    source: ModuleOp
    entry: str = "main"
    opt: str = DEFAULT_OPT
    custom: CustomCode = NO_CUSTOM
    is_consumed: bool = field(default=False, kw_only=True)
    device: str | None = field(default=None, kw_only=True)
    """The name of the device that has the memory of the program, whatever the module names, and
    that BEAM times schedules on. None is the host or, for BEAM, the first that the target fits."""
    on_host: ClassVar[bool] = True
    """Whether the program can call functions that the caller registers."""

    @property
    def keeps_constants(self) -> bool:
        """Whether values of constants are kept from one call to the next: a library for C derives
        them in each call."""
        return False

    @abstractmethod
    def described_target(self) -> Target:
        """The target of a module that states none."""

    @abstractmethod
    def program(self) -> CompiledProgram:
        """Compile.

        Raises VerifyException or PassFailedException for programs that cannot be compiled.
        """

    def profiled(self) -> Program:
        """Compile a program that records the time of each kernel (`profile.py`)."""
        name = self.described_target().name
        raise PassFailedException(f"the target {name} has no profiles: use the target cpu")

    @cached_property
    def kernels(self) -> Sequence[Kernel]:
        """Each kernel of the program, in the order of the calls. Empty for a module at level
        `llvm`, whose kernels are functions like any other."""
        if self.level == "llvm":
            return ()
        return kernels_of(entry_function(self._linear, self.entry), self._code_of())

    @abstractmethod
    def _code_of(self) -> CodeOf:
        """The code of each kernel."""

    @property
    def programs(self) -> Mapping[str, tg.ProgramOp]:
        """The kernels in order, by their names."""
        return {op.sym_name.data: op for op in self._linear.ops if isinstance(op, tg.ProgramOp)}

    @cached_property
    def _linear(self) -> ModuleOp:
        """The program after tg-linearize: as it is if it was at that level before."""
        return self.snapshots.get("linearize", self.source)

    # -- lowering

    def planned(
        self, shown: Progress
    ) -> tuple[ModuleOp, tuple[Parameter, ...], tuple[Window, ...]]:
        """The module at level `planned`, the parameters of the entry, and the windows that a call
        checks. `shown` gets the stages, and the number of kernels."""
        module, by_reference = self.copy()
        windows = self.until_kernels(module, shown)
        for scheduled in self.kernels_scheduled(module, shown):
            lowered = lower_kernel(scheduled, self.passes, shown)
            pass_packed({lowered.program: lowered.prepacked})
            shown.step()
        return module, self.functions_lowered(module, by_reference), windows

    def at_kernels(self) -> ModuleOp:
        """The module at level `kernels`, before any kernel is scheduled.

        Raises PassFailedException if it is at a later level.
        """
        if not (self.level == "kernels" or is_before(self.level, "kernels")):
            raise PassFailedException(f"the program is at level {self.level}")
        with at_full_speed():
            module, _ = self.copy()
            self.until_kernels(module, Progress(f"lowering {self.entry}"))
        return module

    def until_kernels(self, module: ModuleOp, shown: Progress) -> tuple[Window, ...]:
        """Lower a module through the stages that take it as a whole. Returns the windows that a
        call checks. `shown` gets the name of each stage."""
        windows: tuple[Window, ...] = ()
        places = buffer_places(entry_function(module, self.entry))
        for stage in self.passes.module:
            if stage.level_before == "function":
                # Before this stage replaces movement ops by index arithmetic.
                windows = find_windows(entry_function(module, self.entry), places)
            shown.note = stage.name
            stage.lower(module)
        return windows

    def kernels_scheduled(self, module: ModuleOp, shown: Progress) -> Sequence[Scheduled]:
        """The kernels of a module, those that call others last, each with what is left to do to it
        before the stages that take it by itself. `shown` gets their number."""
        optimize = self.passes.optimize
        if optimize is not None and not isinstance(optimize, OptimizePass):
            optimize.lower(module)
        kernels = [op for op in module.ops if isinstance(op, tg.KernelOp | tg.ProgramOp)]
        shown.total = len(kernels)
        scheduled = isinstance(optimize, OptimizePass)
        given = [*(optimize.scheduled(module) if scheduled else settled(kernels))]
        shown.total = len(given)
        return given

    def functions_lowered(self, module: ModuleOp, by_reference: Set[int]) -> tuple[Parameter, ...]:
        """Lower the functions of a module, whose kernels are lowered, through the same stages.
        Returns the parameters of the entry."""
        with kernels_unchanged():
            for function in own_functions(module):
                for stage in self.passes.kernels:
                    stage.lower_function(function)
            return self.signature(module, by_reference)

    def lowered(self, after: AfterStage) -> ModuleOp:
        """The module after all stages; `after` sees it after each one."""
        with at_full_speed():
            module, _ = self.copy()
            run_stages(module, self.passes, after)
            return module

    def signature(self, module: ModuleOp, by_reference: Set[int]) -> tuple[Parameter, ...]:
        """The parameters of the entry of a module at level `planned` or `llvm`.

        A program below the tensor level may leave cells of its results as they are. One at the
        tensor level returns values, of which every cell is stored.
        """
        function = entry_function(module, self.entry)
        parameters: list[Parameter] = []
        once = read_once(function)
        for position, argument in enumerate(function.args):
            attributes = tg.argument_attributes(argument)
            role = next((r.removeprefix("tg.") for r in _ROLES if r in attributes), None)
            formula = tg.computed_attribute(attributes)
            parameter = Parameter(
                name=name_of_input(argument) or f"arg{position}",
                role=role or ("input" if tg.is_memory(argument) else "scalar"),
                shape=tuple(
                    None if d == DYNAMIC_INDEX else d for d in tg.tensor(argument).get_shape()
                ),
                dtype=numpy_dtype(tg.dtype_of(argument)),
                dims=tg.dims_attribute(attributes) or (),
                computed=None if formula is None else parsed(formula),
                by_reference=position in by_reference or "tg.result" in attributes,
                is_constant="tg.constant" in attributes,
                is_read_once=argument in once,
                is_cleared=role == "output" and self.level != "tensor",
                result=tg.integer_attribute(attributes, "tg.result"),
                data=tg.data_attribute(attributes),
            )
            bounds = {
                field: bound
                for field, name in (("low", "tg.min"), ("high", "tg.max"))
                if (bound := tg.integer_attribute(attributes, name)) is not None
            }
            parameters.append(replace(parameter, **bounds))
        return tuple(parameters)

    @cached_property
    def level(self) -> str:
        """The level of the module. Raises VerifyException if it is valid at no level."""
        return find_level(self.source)

    def copy(self) -> tuple[ModuleOp, Set[int]]:
        """A copy of the module, or the one to be consumed, without functions of other dialects, and
        the positions of the inputs that are passed by reference."""
        level = self.level
        check_code(self.source, self.custom)
        if not (self.custom.allowed or is_before(level, "linear")):
            raise VerifyException(
                f"at level {level} no stage checks memory accesses any more: such a "
                "module is executed with allow_custom only (tg-run --allow-custom)"
            )
        for op in self.source.ops if level != "tensor" else ():
            name = op.sym_name.data if isinstance(op, tg.CustomFunctionOp) else ""
            if name in SORTS and name not in self.custom.functions:
                message = f"@{name} is for level tensor, and the module is at level {level}"
                raise locate(VerifyException(message), op)
        entry_function(self.source, self.entry)
        module = self.source if self.is_consumed else self.source.clone()
        self._settle_target(module)
        for op in ops_of(module.body.block):
            if is_foreign(op) and (level != "llvm" or not op.name.startswith("llvm.")):
                module.body.block.erase_op(op, safe_erase=False)
        self._link_custom(module)
        entry = entry_function(module, self.entry)
        if level != "tensor":
            is_rendered = level == "llvm"
            written = (arguments_said_to_be_written if is_rendered else written_arguments)(entry)
            for position in written:
                if tg.data_attribute(tg.argument_attributes(entry.args[position])) is not None:
                    message = f"argument {position}, which is {{tg.data}}, is written"
                    raise locate(PassFailedException(message), entry)
            return module, written
        inputs = *entry.args, *(param.result for param in parameters(entry.body.block))
        return module, {position for position, value in enumerate(inputs) if tg.is_memory(value)}

    def _settle_target(self, module: ModuleOp) -> None:
        """State the target, unless the module states one of the same kind: that of another CPU is
        made to fit this one. Raises PassFailedException for a module whose kernels are selected for
        another kind."""
        stated, ours = module.attributes.get(MODULE_ATTRIBUTE), self.described_target()
        if isinstance(stated, TargetAttr):
            name, is_selected = stated.target, is_before("tiles", self.level)
            if name.partition(":")[0] == ours.name.partition(":")[0]:
                if name == DEFAULT_TARGET:
                    fit_to_host(module, is_selected=is_selected)
                return
            if is_selected:
                message = f"the module is for the target {name}, and not for {ours.name}"
                message += ": its kernels have that target's ops"
                raise locate(PassFailedException(message), module)
        state_target(module, ours)

    def _link_custom(self, module: ModuleOp) -> None:
        """Let CUSTOMs call the functions that are registered for them. Raises VerifyException for
        a CALL of a CUSTOMFUNCTION that is not."""
        functions = self.custom.functions
        for op in nested_ops(module) if self.custom.allowed else ():
            if isinstance(op, tg.CustomOp) and self.on_host:
                if (call := op.call_of(functions)) is not None:
                    op.function = StringAttr(call.name)
                elif op.function is not None:
                    raise locate(_not_registered(op, op.function.data), op)
            elif isinstance(op, tg.CustomFunctionOp):
                if op.sym_name.data in functions:
                    op.attributes[REGISTERED] = UnitAttr()
                elif _is_code(op):
                    raise locate(_not_registered(op, op.sym_name.data), op)

    @cached_property
    def passes(self) -> Stages:
        """The stages that the module has not been through."""
        if is_before("kernels", self.level) and self.opt not in ("none", DEFAULT_OPT):
            raise PassFailedException(
                f"opt {self.opt!r} comes too late: loops are settled at level {self.level}"
            )
        passes = stages(mode=self.opt, device=self.device or HOST)
        if self.keeps_constants:
            optimize = _OptimizeHere(self.opt, device=self.device or HOST)
            passes = replace(passes, optimize=optimize)
        return passes.from_level(self.level)

    @cached_property
    def snapshots(self) -> dict[str, ModuleOp]:
        """The module after each stage, by the stage's name."""
        found: dict[str, ModuleOp] = {}

        def keep(stage: LoweringPass, module: ModuleOp) -> None:
            found[stage.name.removeprefix(_PREFIX)] = module.clone()

        self.lowered(keep)
        return found

    def module(self, stage: str) -> ModuleOp:
        """The module after the last stage of that name. Raises ValueError if there is none."""
        name = stage.removeprefix(_PREFIX)
        if name not in self.snapshots:
            raise ValueError(f"there is no stage {stage!r}; there are: {', '.join(self.snapshots)}")
        return self.snapshots[name]


class LoweredKernel(NamedTuple):
    """A kernel that has been through the stages that take each by itself."""

    program: tg.KernelOp | tg.ProgramOp
    prepacked: Mapping[tg.KernelOp | tg.ProgramOp, Packing]
    """The kernels that STAGEs have made meanwhile, which are lowered as well. What calls the kernel
    does not call them yet (`pass_packed`)."""

    @property
    def programs(self) -> Sequence[tg.KernelOp | tg.ProgramOp]:
        """All that it has become, in the order of their CALLs."""
        return [*self.prepacked, self.program]


def lower_kernel(scheduled: Scheduled, passes: Stages, shown: Progress) -> LoweredKernel:
    """Lower a kernel through the stages that take each by itself, and those that STAGEs make of
    it. `shown` gets the name of each stage: a long kernel may take most of the time."""

    def show(stage: LoweringPass) -> None:
        shown.note = f"{stage.name} of @{scheduled.name}"

    def lowered(kernel: tg.KernelOp | tg.ProgramOp) -> tg.KernelOp | tg.ProgramOp:
        for stage in passes.kernels:
            show(stage)
            kernel = stage.lower_kernel(kernel)
        return kernel

    if passes.optimize is not None:
        show(passes.optimize)
    prepacked = {lowered(kernel): packing for kernel, packing in scheduled.finish().items()}
    return LoweredKernel(lowered(scheduled.kernel), prepacked)


def check_code(module: ModuleOp, custom: CustomCode) -> None:
    """Raise VerifyException for code of a program's own that is where no level has it, or that is
    not allowed (docs/semantics.md, "untrusted IR")."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if any(isinstance(op, tg.CustomOp | tg.InsOp) for each in functions for op in nested_ops(each)):
        find_level(module)
    if custom.allowed:
        return
    for op in nested_ops(module):
        if _is_code(op):
            of = f" of the unknown target {op.target!r}" if isinstance(op, tg.InsOp) else ""
            message = f"{op.name}{of} is executed with allow_custom only (tg-run --allow-custom)"
            raise locate(VerifyException(message), op)


def not_in_process(name: str) -> str:
    """The error for a CUSTOM that calls a function which this process lacks."""
    return (
        f"this process has no function {name!r}: register one by custom={{{name!r}: function}} "
        f"(tg-run --custom {name}=module:function)"
    )


def _not_registered(op: tg.CustomOp | tg.CustomFunctionOp, name: str) -> VerifyException:
    return VerifyException(
        f"{op.name} calls {name!r}, and no function of that name is registered: pass it by "
        f"custom={{{name!r}: function}} (tg-run --custom {name}=module:function)"
    )


def _is_code(op: Operation) -> bool:
    """Whether an op carries code of its own. A BINARY is code in a PROGRAM, and data elsewhere; an
    INS that the table of its target lists computes what the table says."""
    match op:
        case tg.BinaryDataOp():
            return isinstance(op.parent_op(), tg.ProgramOp)
        case tg.InsOp():
            return op.is_foreign
        case tg.CustomFunctionOp():
            return op.sym_name.data not in SORTS
        case _:
            return isinstance(op, tg.CustomOp)


def rendered_function(module: ModuleOp, name: str) -> FuncOp | None:
    """The function at level `llvm` of that name, or of the one that it had before `tg-render`: it
    has no ops, and the arguments that the attributes of the `llvm.func` describe."""
    functions = _rendered(module)
    found = functions.get(name) or functions.get(OBJECT.symbol(name))
    return None if found is None else described_function(found)


def rendered_names(module: ModuleOp) -> Sequence[str]:
    """The names of the functions at level `llvm` that `tg-render` has made of ours."""
    return [*_rendered(module)]


def _rendered(module: ModuleOp) -> Mapping[str, llvm.FuncOp]:
    functions = (op for op in module.ops if isinstance(op, llvm.FuncOp))
    return {op.sym_name.data: op for op in functions if SIGNATURE in op.attributes}


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name. The error for an unknown name lists the known ones.

    At level `llvm` it is a function without ops (`rendered_function`).
    """
    functions = {function.sym_name.data: function for function in own_functions(module)}
    if (rendered := rendered_function(module, name)) is not None:
        return rendered
    if name not in functions:
        found = SymbolTable.lookup_symbol(module, name)
        if isinstance(found, FuncOp) and not found.is_declaration:
            message = f"@{name} is a function of other dialects: only those of ours are compiled"
            raise locate(PassFailedException(message), found)
        there_are = ", ".join((*functions, *rendered_names(module))) or "none"
        raise PassFailedException(f"there is no function @{name}; there are: {there_are}")
    return functions[name]
