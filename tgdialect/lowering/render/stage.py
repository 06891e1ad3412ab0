"""The pass: programs and the function that calls them become `llvm.func`s."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.lowering.render.function import FunctionRenderer
from tgdialect.ops.call import parameters
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.ordering import LinearOp
from tgdialect.ops.source import ParamOp

TARGETS = ("cpu",)


@dataclass(frozen=True)
class RenderPass(ModulePass):
    """Programs and functions as `llvm.func`s: memory is passed as pointers, an index as an i64."""

    name = "tg-render"
    level_after = "llvm"

    target: str = "cpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.target not in TARGETS:
            raise PassFailedException(
                f"{self.target!r} is not one of the targets: {', '.join(TARGETS)}"
            )
        for symbol in list(op.body.block.ops):
            new = render(symbol)
            new.location = symbol.location
            op.body.block.insert_op_before(new, symbol)
            op.body.block.erase_op(symbol)


def render(symbol: Operation) -> llvm.FuncOp:
    """The function that a program, or a function at the linear level, becomes."""
    match symbol:
        case ProgramOp():
            block = symbol.linear.body.block
            params = parameters(block)
            renderer = FunctionRenderer(symbol.sym_name.data, [p.result for p in params])
            for op in block.ops:
                if isinstance(op, ParamOp):
                    renderer.bind(op.result, renderer.emitter.arguments[op.slot.data])
            return renderer.render(list(block.ops))
        case FuncOp() if not symbol.is_declaration:
            block = symbol.body.block
            return FunctionRenderer(symbol.sym_name.data, block.args).render(list(_in_order(block)))
        case _:
            message = f"{symbol.name} has to be lowered before tg-render"
            raise locate(PassFailedException(message), symbol)


def _in_order(block: Block) -> Iterator[Operation]:
    """The ops of a function, those of its LINEAR among them."""
    for op in block.ops:
        if isinstance(op, LinearOp):
            yield from op.body.block.ops
        elif not isinstance(op, ReturnOp):
            yield op
