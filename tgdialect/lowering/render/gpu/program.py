"""The symbols of a module as a `gpu.module` with its kernels, and functions of the host that launch
them, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from xdsl.dialects.builtin import i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.symbols import calling_last
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.gpu_dialect import LaunchFuncOp, ModuleOp
from tgdialect.lowering.render.calls import requirements
from tgdialect.lowering.render.dynamic_local import dynamic_local
from tgdialect.lowering.render.gpu.kernel import KernelFunction, indices
from tgdialect.lowering.render.gpu.vendors import GLOBAL, VENDORS, Vendor
from tgdialect.lowering.render.llvm.function import LLVMFunction
from tgdialect.lowering.render.names import OBJECT, SOURCE
from tgdialect.lowering.render.output import LOADED_BOUND, refusal
from tgdialect.lowering.render.walker import Alignments, LinearWalker
from tgdialect.ops import tg
from tgdialect.ops.call import parameters
from tgdialect.targets import Target
from tgdialect.targets.grid import ALIGNMENT

MODULE = "kernels"
"""The name of the `gpu.module`."""


class _Launch(NamedTuple):
    """How a program is launched, read from its ops once for all of its calls."""

    params: Sequence[tg.ParamOp]
    bounds: Mapping[str, SSAValue]
    """The extents of the grid and the workgroup, by the name of the SPECIAL."""
    perhaps_empty: Sequence[str]
    """The names of those that may be 0."""
    ops: Sequence[Operation]
    """The ops that the extents are computed by, in order."""
    local: int | None
    """The bytes of LOCAL memory that the launch allocates; None if the program declares it."""


def _launch(program: tg.ProgramOp, target: Target) -> _Launch | None:
    """How a program is launched; None if it calls others."""
    if program.calls:
        return None
    ops, intervals = ops_of(program.linear.body.block), MinMax()
    bounds = indices(ops)
    needed = {op for bound in bounds.values() for op in tg.computed_from(bound)}
    dynamic = dynamic_local(ops, target)
    return _Launch(
        [op for op in ops if isinstance(op, tg.ParamOp)],
        bounds,
        [index for index, bound in bounds.items() if intervals[bound].lo < 1],
        [op for op in ops if op in needed],
        None if dynamic is None else dynamic.nbytes,
    )


class LaunchingFunction(LLVMFunction):
    """A host function under construction. Pointers are those of the device."""

    global_pointer = GLOBAL

    is_of_host = False

    def __init__(
        self,
        name: str,
        parameters: Sequence[SSAValue],
        target: Target,
        programs: Mapping[str, tg.ProgramOp],
    ) -> None:
        super().__init__(name, parameters, target)
        self._programs = programs
        self._launches: dict[str, _Launch | None] = {}

    def call(self, name: str, arguments: Sequence[SSAValue]) -> None:
        """Launch a kernel on as many workgroups as its SPECIALs say; none if that is 0. A program
        that calls others is a function of the host."""
        if name not in self._launches:
            self._launches[name] = _launch(self._programs[name], self._target)
        if (launch := self._launches[name]) is None:
            super().call(name, arguments)
            return
        walker = LinearWalker(self, self._target)
        slots = [param.slot.data for param in launch.params]
        walker.bind([p.result for p in launch.params], [arguments[slot] for slot in slots])
        scalars = walker.scalars(launch.ops, launch.bounds.values())
        extents = dict(zip(launch.bounds, scalars, strict=True))
        empty = [extents[index] for index in launch.perhaps_empty]
        for extent in empty:
            self.begin_if(self.compare("sgt", extent, self.number(0)))
        grid, workgroup = (
            [extents.get(f"{kind}{axis}", self.number(1)) for axis in range(3)]
            for kind in ("gidx", "lidx")
        )
        shared = None if launch.local is None else self.number(launch.local, i32)
        kernel = SOURCE.symbol(name)
        self.insert(LaunchFuncOp(MODULE, kernel, grid, workgroup, arguments, shared))
        for _ in empty:
            self.end_if()

    def begin_once(self, flag: SSAValue) -> None:
        """Nothing: values that constants decide are computed in each call, as the flag is in memory
        of the device, which the host cannot read."""

    def end_once(self, flag: SSAValue) -> None:
        """Nothing has been begun."""


def render_symbols(symbols: Sequence[Operation], target: Target) -> Sequence[Operation]:
    """The `gpu.module` for the programs of a module, and an `llvm.func` for each function."""
    family, _, chip = target.name.partition(":")
    vendor, of = VENDORS[family], _Symbols(symbols, target)
    functions: list[Operation] = []
    for op in symbols:
        if isinstance(op, FuncOp):
            functions.append(of.on_host(op))
        elif not isinstance(op, tg.ProgramOp):
            raise locate(refusal(op), op)
    # A program that only calls kernels is a function of the host; callers come before callees here.
    callers = reversed(calling_last(of.programs.values()))
    functions += [of.on_host(program) for program in callers if program.calls]
    kernels = [
        each
        for program in of.programs.values()
        if not program.calls
        for each in of.kernel(program, vendor)
    ]
    body = Region(Block(kernels))
    return [
        ModuleOp(MODULE, [vendor.chip.of(chip, vendor.features.get(chip, ""))], body),
        *functions,
    ]


class _Symbols:
    """The programs of a module, and how the arguments of the calls so far are aligned."""

    def __init__(self, symbols: Sequence[Operation], target: Target) -> None:
        self.programs = {op.sym_name.data: op for op in symbols if isinstance(op, tg.ProgramOp)}
        self._target = target
        self._wanted = {
            name: requirements(op.linear.body.block) for name, op in self.programs.items()
        }
        self._alignments: Alignments = {}

    def _known(self, name: str) -> Iterator[int]:
        """The alignments of the arguments of a symbol."""
        return (self._alignments.get((name, slot), ALIGNMENT) for slot in count())

    def on_host(self, symbol: FuncOp | tg.ProgramOp) -> Operation:
        """The host function for a function, or for a program that calls others; enters the
        alignments of the arguments of its calls."""
        name = symbol.sym_name.data
        params = symbol.args if isinstance(symbol, FuncOp) else _params(symbol)
        output = LaunchingFunction(OBJECT.symbol(name), params, self._target, self.programs)
        walker = LinearWalker(output, self._target, self._wanted, self._alignments)
        walker.bind(params, output.given, self._known(name))
        if isinstance(symbol, FuncOp):
            walker.function(symbol)
        else:
            block = symbol.linear.body.block
            for op in block.ops:
                if isinstance(op, tg.LoadOp | tg.StoreOp):
                    raise locate(PassFailedException(LOADED_BOUND), op)
            walker.program(block, params)
        made = output.finish()
        made.location = symbol.location
        return made

    def kernel(self, program: tg.ProgramOp, vendor: Vendor) -> Sequence[Operation]:
        """The function of a work item, after the variables of its workgroup."""
        name, block, params = program.sym_name.data, program.linear.body.block, _params(program)
        dynamic = dynamic_local(block.ops, self._target)
        output = KernelFunction(SOURCE.symbol(name), params, self._target, vendor, dynamic)
        walker = LinearWalker(output, self._target)
        walker.bind(params, output.given, self._known(name))
        walker.program(block, params)
        bounds = indices(ops_of(block))
        items = [bounds.get(f"lidx{axis}") for axis in range(3)]
        kernel = output.kernel([1 if item is None else tg.known_index(item) or 1 for item in items])
        kernel.location = program.location
        return [*output.variables, kernel]


def _params(program: tg.ProgramOp) -> Sequence[SSAValue]:
    return [param.result for param in parameters(program.linear.body.block)]
