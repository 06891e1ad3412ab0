"""The symbols of a module as a `gpu.module` with its kernels, and functions that launch them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.symbols import calling_last
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.gpu_dialect import ModuleOp
from tgdialect.lowering.render.calls import Requirement, requirements
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
    vendor = VENDORS[family]
    programs = {op.sym_name.data: op for op in symbols if isinstance(op, tg.ProgramOp)}
    wanted = {name: requirements(op.linear.body.block) for name, op in programs.items()}
    alignments: Alignments = {}
    functions: list[Operation] = []
    for op in symbols:
        if isinstance(op, FuncOp):
            functions.append(_function(op, target, programs, wanted, alignments))
        elif not isinstance(op, tg.ProgramOp):
            raise locate(refusal(op), op)
    # What only calls kernels is a function of the host, of which callers come before callees here.
    for program in reversed(calling_last(programs.values())):
        if program.calls:
            functions.append(_caller(program, target, programs, wanted, alignments))
    kernels: list[Operation] = []
    for program in programs.values():
        if not program.calls:
            kernels += _kernel(program, target, vendor, alignments)
    body = Region(Block(kernels))
    return [
        ModuleOp(MODULE, [vendor.chip.of(chip, vendor.features.get(chip, ""))], body),
        *functions,
    ]


def _function(
    function: FuncOp,
    target: Target,
    programs: Mapping[str, tg.ProgramOp],
    wanted: Mapping[str, Sequence[Requirement]],
    alignments: Alignments,
) -> Operation:
    """A host function; enters the alignments of its calls' arguments."""
    output = LaunchingFunction(
        OBJECT.symbol(function.sym_name.data), function.args, target, programs
    )
    walker = LinearWalker(output, target, wanted, alignments)
    for parameter, argument in zip(function.args, output.given, strict=True):
        walker.bind(parameter, argument, ALIGNMENT)
    walker.function(function)
    made = output.finish()
    made.location = function.location
    return made


def _caller(
    program: tg.ProgramOp,
    target: Target,
    programs: Mapping[str, tg.ProgramOp],
    wanted: Mapping[str, Sequence[Requirement]],
    alignments: Alignments,
) -> Operation:
    """The host function of a program that calls others; enters the alignments of its arguments."""
    name, block = program.sym_name.data, program.linear.body.block
    params = [param.result for param in parameters(block)]
    output = LaunchingFunction(OBJECT.symbol(name), params, target, programs)
    walker = LinearWalker(output, target, wanted, alignments)
    for slot, (param, argument) in enumerate(zip(params, output.given, strict=True)):
        walker.bind(param, argument, alignments.get((name, slot), ALIGNMENT))
    for op in block.ops:
        if isinstance(op, tg.LoadOp | tg.StoreOp):
            raise locate(PassFailedException(LOADED_BOUND), op)
    walker.program(block, params)
    made = output.finish()
    made.location = program.location
    return made


def _kernel(
    program: tg.ProgramOp,
    target: Target,
    vendor: Vendor,
    alignments: Alignments,
) -> Sequence[Operation]:
    name, block = program.sym_name.data, program.linear.body.block
    params = [param.result for param in parameters(block)]
    dynamic = dynamic_local(block.ops, target)
    output = KernelFunction(SOURCE.symbol(name), params, target, vendor, dynamic)
    walker = LinearWalker(output, target)
    for slot, (param, argument) in enumerate(zip(params, output.given, strict=True)):
        walker.bind(param, argument, alignments.get((name, slot), ALIGNMENT))
    walker.program(block, params)
    bounds = indices(ops_of(block))
    items = [bounds.get(f"lidx{axis}") for axis in range(3)]
    kernel = output.kernel([1 if item is None else known_index(item) or 1 for item in items])
    kernel.location = program.location
    return [*output.variables, kernel]
