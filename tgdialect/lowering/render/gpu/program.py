"""The symbols of a module as a `gpu.module` with its kernels, and functions that launch them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.symbols import calling_last
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.gpu_dialect import ModuleOp
from tgdialect.lowering.render.calls import requirements
from tgdialect.lowering.render.dynamic_local import dynamic_local
from tgdialect.lowering.render.gpu.host import MODULE, LaunchingFunction
from tgdialect.lowering.render.gpu.kernel import KernelFunction, indices
from tgdialect.lowering.render.gpu.vendors import VENDORS, Vendor
from tgdialect.lowering.render.names import OBJECT, SOURCE
from tgdialect.lowering.render.output import LOADED_BOUND, refusal
from tgdialect.lowering.render.walker import Alignments, LinearWalker
from tgdialect.ops import tg
from tgdialect.ops.call import parameters
from tgdialect.ops.properties import known_index
from tgdialect.targets import Target
from tgdialect.targets.grid import ALIGNMENT


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
    # What only calls kernels is a function of the host, of which callers come before callees here.
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
        kernel = output.kernel([1 if item is None else known_index(item) or 1 for item in items])
        kernel.location = program.location
        return [*output.variables, kernel]


def _params(program: tg.ProgramOp) -> Sequence[SSAValue]:
    return [param.result for param in parameters(program.linear.body.block)]
