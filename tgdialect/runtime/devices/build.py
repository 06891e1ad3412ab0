"""From a module at any level to a `DeviceProgram`: the remaining stages, then code for the kernels,
text or the assembly of a GPU, then the kernels and launches of a program.

tg-plan leaves the host function as a command buffer: CALLs on views of its arguments and arenas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.constants import constants
from tgdialect.analysis.min_max import MinMax
from tgdialect.backends.ptx import kernel_ir
from tgdialect.diagnostics import locate
from tgdialect.lowering.pipeline import Stages
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.render.calls import check_call, requirements
from tgdialect.lowering.render.dynamic_local import dynamic_local
from tgdialect.lowering.render.names import SOURCE
from tgdialect.lowering.render.output import LOADED_BOUND
from tgdialect.lowering.render.stage import default_output
from tgdialect.ops import tg
from tgdialect.ops.call import parameters
from tgdialect.ops.expressions import OPERATIONS, Expression, applied, argument_at
from tgdialect.ops.numpy_dtypes import dtype_named
from tgdialect.runtime.codegen import CodeGenerator
from tgdialect.runtime.devices.program import DeviceKernel, DeviceProgram, Launch, View
from tgdialect.runtime.inspection import CodeOf
from tgdialect.runtime.progress import GENERATING, progress
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.staged import StagedModule, entry_function
from tgdialect.targets import Target
from tgdialect.targets.attribute import target_of


@dataclass(frozen=True)
class DeviceBuild(StagedModule):
    """The compilation of a program for a device."""

    target: Target | None = None
    """The description of the device. A `tg.target` of the module takes precedence."""
    on_host: ClassVar[bool] = False

    def described_target(self) -> Target:
        assert self.target is not None
        return self.target

    @cached_property
    def passes(self) -> Stages:
        passes = super().passes
        return replace(passes, render=None) if _has_code(self.source) else passes

    def program(self) -> DeviceProgram:
        with progress(f"compiling {self.entry}") as shown, at_full_speed():
            module, parameters, windows = self.planned(shown)
            if (render := self.passes.render) is not None:
                shown.note = GENERATING
                give_code(module, render)
            buffer = command_buffer(entry_function(module, self.entry))
            return DeviceProgram(parameters, *buffer, windows)

    def _code_of(self) -> CodeOf:
        code = {kernel.name: kernel for kernel in self.program().kernels}

        def code_of(name: str) -> tuple[str, str]:
            kernel = code[name]
            if kernel.is_binary:
                return "", kernel.code.hex()
            return ("", kernel.text) if kernel.is_ptx else (kernel.text, "")

        return code_of


def _has_code(module: ModuleOp) -> bool:
    """Whether every program of a module has its code already, if it has programs."""
    programs = [op for op in module.ops if isinstance(op, tg.ProgramOp) and not op.calls]
    return bool(programs) and all(
        any(isinstance(op, tg.SourceOp | tg.BinaryDataOp) for op in program.body.block.ops)
        for program in programs
    )


_ONE: Expression = (1,)
"""The extent of an axis of a grid that a kernel does not have."""
_PREFIX = "tg."


class CommandBuffer(NamedTuple):
    """The parts of a `DeviceProgram` that a function and its programs decide."""

    kernels: tuple[DeviceKernel, ...]
    launches: tuple[Launch, ...]
    once: int


def command_buffer(function: FuncOp) -> CommandBuffer:
    """The kernels that a function at level `planned` calls, each once, and its CALLs in order.

    Raises PassFailedException, at the op, for a CALL that is no launch: of something else than a
    program that has a SOURCE or a BINARY, on memory that is no contiguous view, or where index
    arithmetic reads memory.
    """
    kernels: dict[str, DeviceKernel] = {}
    positions: dict[str, int] = {}
    launches: list[Launch] = []
    host = _Expressions({a: argument_at(a.index) for a in function.args if not tg.is_memory(a)})
    target = target_of(function.parent_op())
    intervals = MinMax()
    ops = [op for op in function.walk() if isinstance(op, tg.CallOp)]
    once = len(constants(function, ops).calls)
    first: int | None = None
    for number, outer in enumerate(ops):
        if number == once:
            first = len(launches)
        for op, program, values in _calls(outer, host, intervals):
            name = program.sym_name.data
            try:
                if name not in kernels:
                    positions[name] = len(kernels)
                    kernels[name] = _kernel(program, target)
                launches.append(_launch(positions[name], op, program, values))
            except PassFailedException as error:
                raise locate(error, op) from None
    if first is None:
        first = len(launches)
    return CommandBuffer(tuple(kernels.values()), tuple(launches), first)


def _calls(
    op: tg.CallOp, host: _Expressions, intervals: MinMax
) -> Iterator[tuple[tg.CallOp, tg.ProgramOp, _Expressions]]:
    """The launches that a CALL is, each with the values that its arguments are made of: of a
    program that calls others, those of all iterations of its loops."""
    try:
        program = _program(op)
        block = program.linear.body.block
        check_call(op, requirements(block), intervals)
        if not program.calls:
            yield op, program, host
            return
        params: list[SSAValue] = [param.result for param in parameters(block)]
        pairs = list(zip(params, op.arguments, strict=True))
        scalars = {p: host.value(a) for p, a in pairs if not tg.is_memory(p)}
        known = _Expressions(scalars, {p: host.view(a) for p, a in pairs if tg.is_memory(p)})
        inner = MinMax()
        for call, values in _iterations(list(block.ops), known):
            yield from _calls(call, values, inner)
    except PassFailedException as error:
        raise locate(error, op) from None


def _iterations(
    ops: Sequence[Operation], values: _Expressions
) -> Iterator[tuple[tg.CallOp, _Expressions]]:
    """The CALLs among ops in order, once for each iteration of the loops around them."""
    position = 0
    while position < len(ops):
        op = ops[position]
        position += 1
        if isinstance(op, tg.CallOp):
            yield op, values
        elif isinstance(op, tg.LoadOp | tg.StoreOp):
            raise locate(PassFailedException(LOADED_BOUND), op)
        elif isinstance(op, tg.RangeOp):
            ends = (
                i
                for i, other in enumerate(ops)
                if isinstance(other, tg.EndOp) and op.result in other.ranges
            )
            end = next(ends)
            (trips,) = values.value(op.bound) if tg.known_index(op.bound) is not None else (None,)
            if not isinstance(trips, int):
                raise locate(PassFailedException("a loop of launches has a constant bound"), op)
            for i in range(trips):
                yield from _iterations(ops[position:end], values.extended(op.result, (i,)))
            # An END may also close the loops around this one, which end there, too.
            position = end + 1


def _program(op: tg.CallOp) -> tg.ProgramOp:
    program = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(program, tg.ProgramOp):
        name = op.callee.string_value()
        raise PassFailedException(f"@{name} is not a program, which is all that a device calls")
    return program


def _kernel(program: tg.ProgramOp, target: Target) -> DeviceKernel:
    """A program with its code: the BINARY if there is one, else the SOURCE."""
    name, block = program.sym_name.data, program.linear.body.block
    code: bytes | None = None
    is_binary = False
    for op in program.body.block.ops:
        if isinstance(op, tg.SourceOp):
            code = op.text.data.encode()
        elif isinstance(op, tg.BinaryDataOp):
            code, is_binary = program.machine_code, True
    if code is None:
        raise PassFailedException(f"@{name} has neither a tg.source nor a tg.binary")
    params = [param.result for param in parameters(block)]
    stores = [op.buffer for op in block.walk() if isinstance(op, tg.StoreOp | tg.AtomicAddOp)]
    written = {tg.memory_of(location) for location in stores}
    local = _specials(block, "lidx")
    size = [tg.known_index(local[axis]) if axis in local else 1 for axis in range(3)]
    if None in size:
        raise PassFailedException(f"a number of work items of @{name} is no constant")
    x, y, z = (extent or 1 for extent in size)
    dynamic = dynamic_local(block.ops, target)
    return DeviceKernel(
        name=name,
        symbol=SOURCE.symbol(name),
        code=code,
        is_binary=is_binary,
        scalars=tuple(
            # An index is 64 bits wide.
            None
            if tg.is_memory(p)
            else dtype_named(tg.dtype_of(p).name.replace("index", "int64")).name
            for p in params
        ),
        written=tuple(slot for slot, p in enumerate(params) if p in written),
        workgroup=(x, y, z),
        local=0 if dynamic is None else dynamic.nbytes,
    )


def _specials(block: Block, kind: str) -> Mapping[int, SSAValue]:
    """The bounds of the SPECIALs of a kind (gidx or lidx), by axis: 0 is x."""
    specials = [op for op in block.walk() if isinstance(op, tg.SpecialOp)]
    return {int(op.symbol.data[-1]): op.bound for op in specials if op.symbol.data[:-1] == kind}


def _launch(position: int, op: tg.CallOp, program: tg.ProgramOp, host: _Expressions) -> Launch:
    block = program.linear.body.block
    given = [host.view(a) if tg.is_memory(a) else host.value(a) for a in op.arguments]
    params: dict[SSAValue, Expression] = {
        param.result: each
        for param, each in zip(parameters(block), given, strict=True)
        if not isinstance(each, View)
    }
    kernel = _Expressions(params)
    bounds = _specials(block, "gidx")
    x, y, z = (kernel.value(bounds[axis]) if axis in bounds else _ONE for axis in range(3))
    return Launch(position, (x, y, z), tuple(given))


class _Expressions:
    """The index values of a function, or of a program, as expressions in the scalar arguments of
    the function."""

    def __init__(
        self,
        known: Mapping[SSAValue, Expression],
        views: Mapping[SSAValue, View] = MappingProxyType({}),
    ) -> None:
        """`known` has the scalar arguments or parameters, `views` the parameters that are memory of
        the function's."""
        self._given = known
        self._known = dict(known)
        self._views = views

    def extended(self, value: SSAValue, expression: Expression) -> _Expressions:
        """The same with the expression of another value, on which values so far do not depend."""
        return _Expressions({**self._given, value: expression}, self._views)

    def value(self, dim: tg.Dim) -> Expression:
        """An index value or an extent."""
        if isinstance(dim, int):
            return (dim,)
        if isinstance(dim, tg.UnknownDim):
            raise PassFailedException("an extent of this view is no index value")
        return tg.computed(dim, self._known, self._sources, self._computed)

    @staticmethod
    def _sources(value: SSAValue) -> Sequence[SSAValue]:
        return () if tg.known_index(value) is not None else tuple(tg.operands_of(value))

    def _computed(self, value: SSAValue) -> Expression:
        if (constant := tg.known_index(value)) is not None:
            return (constant,)
        name = getattr(value.owner, "name", "").removeprefix(_PREFIX)
        if isinstance(value.owner, Block) or name not in OPERATIONS:
            raise PassFailedException(
                f"tg.{name} on the host: a launch takes arithmetic on index arguments"
            )
        return applied(name, *(self._known[operand] for operand in tg.operands_of(value)))

    def view(self, memory: SSAValue) -> View:
        """Memory: the argument that it is a view of, its offset and its size in bytes."""
        nbytes = self._elements(tg.shape_of(memory), tg.dtype_of(memory).itemsize)
        offset: Expression = (0,)
        while not isinstance(memory, BlockArgument):
            if (outer := self._views.get(memory)) is not None:
                return View(outer.parameter, applied("add", outer.offset, offset), nbytes)
            match memory.owner:
                case tg.ShrinkOp() as op:
                    offset = applied("add", offset, self._offset(op))
                    memory = op.source
                case tg.BitcastOp() | tg.ReshapeOp() as op:
                    memory = op.source
                case op:
                    name = getattr(op, "name", "a block argument")
                    raise PassFailedException(f"a device has no {name} of memory")
        return View(memory.index, offset, nbytes)

    def _offset(self, op: tg.ShrinkOp) -> Expression:
        """The offset in bytes of a contiguous part of memory from that memory's begin."""
        starts, _ = tg.window(op)
        total: Expression = (0,)
        rest = list(tg.shape_of(op.source))
        for start in starts:
            rest.pop(0)
            stride = self._elements(rest, tg.dtype_of(op.source).itemsize)
            total = applied("add", total, applied("mul", self.value(start), stride))
        return total

    def _elements(self, shape: Sequence[tg.Dim], itemsize: int) -> Expression:
        """The bytes of memory of a shape."""
        total: Expression = (math.prod(d for d in shape if isinstance(d, int)) * itemsize,)
        for dim in shape:
            if not isinstance(dim, int):
                total = applied("mul", total, self.value(dim))
        return total


def give_code(module: ModuleOp, render: RenderPass) -> None:
    """Give each program of a module at level `planned` its SOURCE.

    `tg-render` would leave the dialect for the `gpu` dialect, with `gpu.launch_func`s in place of
    the CALLs: for such a target the programs get assembly, and the functions stay.

    Raises PassFailedException and LLVMTranslationException for what there is no code for.
    """
    target = target_of(module)
    if default_output(target) == "gpu":
        _assemble(module, target)
    else:
        render.lower(module)


def _assemble(module: ModuleOp, target: Target) -> None:
    kernels = kernel_ir(module, target)
    with CodeGenerator(kernels.machine.assembly) as generator:
        coming = {name: generator.submit(text) for name, text in kernels.texts.items()}
        codes = {name: code.result() for name, code in coming.items()}
    for program in module.ops:
        if isinstance(program, tg.ProgramOp) and not program.calls:
            source = tg.SourceOp(codes[SOURCE.symbol(program.sym_name.data)], kernels.language)
            source.location = program.location
            program.body.block.insert_op_after(source, program.linear)
