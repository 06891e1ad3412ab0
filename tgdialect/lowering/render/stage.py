"""The pass: programs and the function that calls them become `llvm.func`s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.lowering.render.calls import Requirement, requirements
from tgdialect.lowering.render.function import FunctionRenderer, argument_type, refusal
from tgdialect.lowering.render.threads import declarations, driver
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.call import parameters
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.ordering import LinearOp, RangeOp
from tgdialect.ops.source import ParamOp

TARGETS = ("cpu",)


@dataclass(frozen=True)
class RenderPass(ModulePass):
    """Programs and functions as `llvm.func`s: memory is passed as pointers, an index as an i64."""

    name = "tg-render"
    level_before = "planned"
    level_after = "llvm"

    target: str = "cpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.target not in TARGETS:
            raise PassFailedException(
                f"{self.target!r} is not one of the targets: {', '.join(TARGETS)}"
            )
        symbols = list(op.body.block.ops)
        programs = {
            symbol.sym_name.data: requirements(symbol.linear.body.block)
            for symbol in symbols
            if isinstance(symbol, ProgramOp)
        }
        rendered = [list(render(symbol, programs)) for symbol in symbols]
        for symbol, functions in zip(symbols, rendered, strict=True):
            for function in functions:
                function.location = symbol.location
                op.body.block.insert_op_before(function, symbol)
            op.body.block.erase_op(symbol)
        if any(len(functions) > 1 for functions in rendered):
            first = op.body.block.first_op
            assert first is not None
            op.body.block.insert_ops_before(declarations(), first)


def render(
    symbol: Operation, programs: Mapping[str, Sequence[Requirement]]
) -> Sequence[llvm.FuncOp]:
    """The function that a program, or a function at the linear level, becomes; of a program with a
    THREAD axis two.

    `programs` says by name what each program that may be called asks of its arguments.
    """
    match symbol:
        case ProgramOp():
            return _render_program(symbol)
        case FuncOp() if not symbol.is_declaration:
            block = symbol.body.block
            renderer = FunctionRenderer(symbol.sym_name.data, block.args, programs)
            return [renderer.render(list(_in_order(block)))]
        case _:
            raise locate(refusal(symbol), symbol)


def _render_program(program: ProgramOp) -> Sequence[llvm.FuncOp]:
    name, block = program.sym_name.data, program.linear.body.block
    params = [param.result for param in parameters(block)]
    if not any(map(_is_thread, block.ops)):
        return [_render_body(FunctionRenderer(name, params), params, block)]
    body = f"{name}.threads"
    renderer = FunctionRenderer(body, params, is_threaded=True)
    types = [argument_type(param) for param in params]
    return [_render_body(renderer, params, block), driver(name, body, types)]


def _render_body(
    renderer: FunctionRenderer, params: Sequence[SSAValue], block: Block
) -> llvm.FuncOp:
    for op in block.ops:
        if isinstance(op, ParamOp):
            renderer.alias(op.result, params[op.slot.data])
    return renderer.render(list(block.ops))


def _is_thread(op: Operation) -> bool:
    return isinstance(op, RangeOp) and op.axis_type.data is AxisType.THREAD


def _in_order(block: Block) -> Iterator[Operation]:
    """The ops of a function, those of its LINEAR among them."""
    for op in block.ops:
        if isinstance(op, LinearOp):
            yield from op.body.block.ops
        elif not isinstance(op, ReturnOp):
            yield op
