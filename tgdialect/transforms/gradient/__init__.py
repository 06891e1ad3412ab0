"""`tg-gradient`: reverse-mode gradients of functions on tensors.

* `builder.py` makes ops, and sums over what was broadcast;
* `rules.py` says of each op what its operands' gradients are, given its result's;
* `reverse.py` walks a block backwards and adds up what the rules give, FUNCTIONs included.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable
from xdsl.transforms.dead_code_elimination import region_dce
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.properties import dtype_of, shape_of, tensor, tensor_type
from tgdialect.transforms.gradient.builder import Builder, zeros_like
from tgdialect.transforms.gradient.reverse import gradients

SUFFIX = "_gradient"


@dataclass(frozen=True)
class GradientPass(ModulePass):
    """Add to a function `@f` the function `@f_gradient`, which has its gradients.

    It takes the arguments of `@f`, then a gradient for each of its float results, and gives the
    gradient of each of its float arguments. `entry` names the function.

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>           // x * x
        ->
        func.func @f_gradient(%x: tensor<4xf32>, %0: tensor<4xf32>) -> tensor<4xf32>   // 2 * x * %0
    """

    name = "tg-gradient"

    entry: str = "main"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = SymbolTable.lookup_symbol(op, self.entry)
        if not isinstance(function, FuncOp) or function.is_declaration:
            raise PassFailedException(f"there is no function @{self.entry}")
        name = self.entry + SUFFIX
        if SymbolTable.lookup_symbol(op, name) is not None:
            raise locate(PassFailedException(f"there is a function @{name} already"), function)
        block = function.parent
        assert block is not None
        block.insert_op_after(gradient_function(function, name), function)


def gradient_function(function: FuncOp, name: str) -> FuncOp:
    """The function of that name that has the gradients of a function."""
    new = function.clone()
    block = new.body.block
    attributes = [dict(argument_attributes(argument)) for argument in block.args]
    end = block.last_op
    if not isinstance(end, ReturnOp):
        raise locate(PassFailedException("only a function on tensors has a gradient"), function)
    wrt = [a for a in block.args if _is_differentiable(a)]
    seeds: dict[SSAValue, SSAValue] = {}
    builder = Builder(block)
    results = list(end.operands)
    end.detach()
    for result in results:
        if _is_differentiable(result):
            type = tensor(result)
            seed = block.insert_arg(
                tensor_type(type.element_type, type.get_shape()), len(block.args)
            )
            seed.name_hint = result.name_hint and result.name_hint + SUFFIX
            attributes.append(_dims(result))
            seeds[result] = builder.sum(seeds[result], seed) if result in seeds else seed
    found = gradients(builder, seeds, wrt)
    values = [zeros_like(builder, v) if g is None else g for v, g in zip(wrt, found, strict=True)]
    block.add_op(ReturnOp(*values))
    end.erase()
    type = FunctionType.from_lists([a.type for a in block.args], [v.type for v in values])
    gradient = FuncOp(name, type, new.detach_region(new.body), new.sym_visibility)
    if any(attributes):
        gradient.arg_attrs = ArrayAttr([DictionaryAttr(a) for a in attributes])
    gradient.location = function.location
    region_dce(gradient.body)
    return gradient


def _is_differentiable(value: SSAValue) -> bool:
    return dtype_of(value).is_float


def _dims(result: SSAValue) -> dict[str, Attribute]:
    """The `tg.dims` of an argument that is as large as a result, if arguments say how large."""
    dynamic = [d for d in shape_of(result) if not isinstance(d, int)]
    known = [d.index for d in dynamic if isinstance(d, BlockArgument)]
    return (
        {"tg.dims": DenseArrayBase.from_list(i64, known)} if len(known) == len(dynamic) > 0 else {}
    )
