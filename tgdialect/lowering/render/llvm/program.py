"""The symbols of a module as `llvm.func`s: programs, and the functions that call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from xdsl.dialects import llvm
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.analysis.eviction import evicted
from tgdialect.diagnostics import RemarkKind, emit_remark, locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.render.calls import Requirement, requirements
from tgdialect.lowering.render.grid_loops import loops_of_grid, shuffles_through_memory
from tgdialect.lowering.render.llvm.emitter import function
from tgdialect.lowering.render.llvm.function import LLVMFunction, argument_type
from tgdialect.lowering.render.llvm.streams import prefetched, streamed
from tgdialect.lowering.render.llvm.threads import body_name, declarations, driver
from tgdialect.lowering.render.names import OBJECT
from tgdialect.lowering.render.output import refusal
from tgdialect.lowering.render.walker import LinearWalker
from tgdialect.lowering.render.work_items import fission
from tgdialect.ops import tg
from tgdialect.ops.call import parameters
from tgdialect.ops.properties import static_bytes
from tgdialect.targets import Target
from tgdialect.work_items.coverage import uncovered


def render_symbols(
    symbols: Sequence[Operation], callees: Sequence[Operation], target: Target
) -> Sequence[Operation]:
    """The `llvm` ops for symbols of a module. `callees` are those that they may call; programs
    among these that are not rendered are declared, and so are kernels, whose code is elsewhere."""
    bodies = {
        symbol: symbol.linear.body.block if isinstance(symbol, tg.ProgramOp) else symbol.body.block
        for symbol in callees
        if isinstance(symbol, tg.ProgramOp | tg.KernelOp)
    }
    programs = {symbol.sym_name.data: requirements(body) for symbol, body in bodies.items()}
    found: list[Operation] = []
    external: dict[str, llvm.FuncOp] = {}
    has_threads = False
    for symbol in symbols:
        made = render(symbol, programs, target, external)
        for op in made:
            op.location = symbol.location
        found += made
        has_threads |= len(made) > 1
    declared: list[llvm.FuncOp] = [
        function(
            OBJECT.symbol(symbol.sym_name.data),
            [argument_type(param.result) for param in parameters(body)],
            Region(),
        )
        for symbol, body in bodies.items()
        if symbol not in symbols
    ]
    return [*(declarations() if has_threads else ()), *external.values(), *declared, *found]


def render(
    symbol: Operation,
    programs: Mapping[str, Sequence[Requirement]],
    target: Target,
    external: dict[str, llvm.FuncOp],
) -> Sequence[llvm.FuncOp]:
    """The functions for a symbol: one, or two for a program with a THREAD axis.

    `programs` has the requirements of each program that may be called, by name. `external` gets the
    declarations of the functions of the process that are called.
    """
    match symbol:
        case tg.ProgramOp():
            return _render_program(symbol, programs, target, external)
        case FuncOp():
            output = LLVMFunction(OBJECT.symbol(symbol.sym_name.data), symbol.args, target)
            output.declared = external
            walker = LinearWalker(output, target, programs)
            walker.bind(symbol.args, output.given)
            walker.function(symbol)
            return [output.finish()]
        case _:
            raise locate(refusal(symbol), symbol)


def _streamed(program: tg.ProgramOp, params: Sequence[SSAValue], target: Target) -> Set[SSAValue]:
    """The parameters that are stored around the caches, with a remark on each."""
    found = streamed(program.linear.body.block, params, evicted(program), target.llc)
    for slot, param in enumerate(params):
        if param in found:
            size = static_bytes(param)
            message = f"parameter {slot} of {size} bytes is stored past the caches"
            more = {"Slot": slot, "Bytes": size, "LastCache": target.llc}
            emit_remark(program, message, "Stream", RemarkKind.PASSED, **more)
    return found


def _render_program(
    program: tg.ProgramOp,
    programs: Mapping[str, Sequence[Requirement]],
    target: Target,
    external: dict[str, llvm.FuncOp],
) -> Sequence[llvm.FuncOp]:
    shuffles_through_memory(program.linear)
    loops_of_grid(program.linear)
    fission(program.linear)
    name, block = OBJECT.symbol(program.sym_name.data), program.linear.body.block
    params = [param.result for param in parameters(block)]
    ranges = (op for op in ops_of(block) if isinstance(op, tg.RangeOp))
    is_threaded = any(op.axis_type.data is tg.AxisType.THREAD for op in ranges)
    output = LLVMFunction(
        body_name(name) if is_threaded else name,
        params,
        target,
        # A copy of a kernel at each of its calls would have LLVM compile it as often.
        "no_inline",
        is_threaded=is_threaded,
        streamed=_streamed(program, params, target),
        prefetched=prefetched(block, params, target),
        covered=_covered(block),
    )
    output.declared = external
    walker = LinearWalker(output, target, programs)
    walker.bind(params, output.given)
    walker.program(block, params)
    types = [argument_type(param) for param in params]
    drivers = [driver(name, body_name(name), types, target.cache_line)] if is_threaded else []
    return [output.finish(), *drivers]


def _covered(block: Block) -> Set[tg.BufferOp]:
    """The LOCAL buffers that need not be cleared."""
    local = {
        op
        for op in ops_of(block)
        if isinstance(op, tg.BufferOp) and tg.place(op.result).addrspace is tg.AddrSpace.LOCAL
    }
    return local.difference(uncovered(block, CellNumbers())) if local else local
