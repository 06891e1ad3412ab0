"""The pass: programs and the function that calls them become `llvm.func`s."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tgdialect.analysis.constants import constants
from tgdialect.analysis.symbols import SIGNATURE, is_foreign
from tgdialect.diagnostics import locate
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.render.calls import Requirement, requirements
from tgdialect.lowering.render.emitter import function
from tgdialect.lowering.render.function import FunctionRenderer, argument_type, refusal
from tgdialect.lowering.render.threads import body_name, declarations, driver
from tgdialect.lowering.render.work_items import fission
from tgdialect.lowering.signature import signature_attribute
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.call import CallOp, parameters
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import LinearOp, RangeOp
from tgdialect.ops.properties import dtype_of, is_memory, tensor
from tgdialect.ops.source import ParamOp
from tgdialect.ops.views import memory_of
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target, state_in_builtin


@dataclass(frozen=True)
class RenderPass(LoweringPass):
    """Turn programs and functions into `llvm.func`s: memory is a pointer, an index an i64.

    The `tg.signature` of a function keeps the types of its arguments. Vectors bypass the caches
    where a result is larger than `cache`. Options override the module's `tg.target` and are written
    to it. It becomes a dictionary of builtin attributes, which upstream's tools can parse.
    """

    name = "tg-render"
    level_before = "planned"
    level_after = "llvm"

    target: str | None = None
    """The kind of machine."""
    cache: int | None = None
    """The size of the last-level cache in bytes; that of this machine if nothing says it."""

    def lower(self, module: ModuleOp) -> None:
        target = settle_target(module, self.target, llc=self.cache)
        symbols = [symbol for symbol in module.ops if not is_foreign(symbol)]
        signatures = {
            symbol.sym_name.data: signature_attribute(symbol)
            for symbol in symbols
            if isinstance(symbol, FuncOp)
        }
        rendered = render_symbols(symbols, symbols, target)
        for op in rendered:
            if isinstance(op, llvm.FuncOp) and op.sym_name.data in signatures:
                op.attributes[SIGNATURE] = signatures[op.sym_name.data]
        for symbol in symbols:
            module.body.block.erase_op(symbol)
        module.body.block.add_ops(rendered)
        state_in_builtin(module)


def render_symbols(
    symbols: Sequence[Operation], callees: Sequence[Operation], target: Target
) -> Sequence[Operation]:
    """The `llvm` ops for symbols of a module. `callees` are those that they may call; programs
    among these that are not rendered are declared."""
    programs = {
        symbol.sym_name.data: requirements(symbol.linear.body.block)
        for symbol in callees
        if isinstance(symbol, ProgramOp)
    }
    found: list[Operation] = []
    has_threads = False
    for symbol in symbols:
        made = render(symbol, programs, target)
        for op in made:
            op.location = symbol.location
        found += made
        has_threads |= len(made) > 1
    declared = [_declaration(p) for p in callees if isinstance(p, ProgramOp) and p not in symbols]
    return [*(declarations() if has_threads else ()), *declared, *found]


def render(
    symbol: Operation, programs: Mapping[str, Sequence[Requirement]], target: Target
) -> Sequence[llvm.FuncOp]:
    """The functions for a symbol: one, or two for a program with a THREAD axis.

    `programs` has the requirements of each program that may be called, by name.
    """
    match symbol:
        case ProgramOp():
            return _render_program(symbol, target)
        case FuncOp():
            block = symbol.body.block
            renderer = FunctionRenderer(symbol.sym_name.data, block.args, target, programs)
            ops = list(_in_order(block))
            if persistent := _persistent(symbol):
                once = constants(symbol, ops).calls
                renderer.append([op for op in ops if not isinstance(op, CallOp)])
                renderer.append_once(once, persistent[0])
                ops = [op for op in ops if isinstance(op, CallOp) and op not in once]
            return [renderer.render(ops)]
        case _:
            raise locate(refusal(symbol), symbol)


def _persistent(function: FuncOp) -> Sequence[SSAValue]:
    """The arguments whose contents last from one call to the next."""
    return [a for a in function.args if "tg.persistent" in argument_attributes(a)]


def _render_program(program: ProgramOp, target: Target) -> Sequence[llvm.FuncOp]:
    fission(program.linear)
    name, block = program.sym_name.data, program.linear.body.block
    params = [param.result for param in parameters(block)]
    streamed = _streamed(block, params, target.llc)
    if not any(map(_is_thread, block.ops)):
        renderer = FunctionRenderer(name, params, target, streamed=streamed)
        return [_render_body(renderer, params, block)]
    body = body_name(name)
    renderer = FunctionRenderer(body, params, target, is_threaded=True, streamed=streamed)
    types = [argument_type(param) for param in params]
    return [_render_body(renderer, params, block), driver(name, body, types, target.cache_line)]


def _declaration(program: ProgramOp) -> llvm.FuncOp:
    types = [argument_type(param.result) for param in parameters(program.linear.body.block)]
    return function(program.sym_name.data, types, Region())


def _render_body(
    renderer: FunctionRenderer, params: Sequence[SSAValue], block: Block
) -> llvm.FuncOp:
    for op in block.ops:
        if isinstance(op, ParamOp):
            renderer.alias(op.result, params[op.slot.data])
    return renderer.render(list(block.ops))


def _streamed(block: Block, params: Sequence[SSAValue], cache: int) -> Set[SSAValue]:
    """The parameters that are larger than the cache and only written."""
    loaded = {memory_of(op.buffer).owner for op in block.ops if isinstance(op, LoadOp)}
    slots = {op.slot.data for op in loaded if isinstance(op, ParamOp)}
    return {p for slot, p in enumerate(params) if slot not in slots and _bytes(p) > cache}


def _bytes(param: SSAValue) -> int:
    """The size of memory in bytes; 0 for scalars and memory of dynamic size."""
    if not is_memory(param) or not tensor(param).has_static_shape():
        return 0
    return math.prod(tensor(param).get_shape()) * dtype_of(param).itemsize


def _is_thread(op: Operation) -> bool:
    return isinstance(op, RangeOp) and op.axis_type.data is AxisType.THREAD


def _in_order(block: Block) -> Iterator[Operation]:
    """The ops of a function, with those of its LINEAR in its place."""
    for op in block.ops:
        if isinstance(op, LinearOp):
            yield from op.body.block.ops
        elif not isinstance(op, ReturnOp):
            yield op
