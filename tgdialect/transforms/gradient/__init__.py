"""`tg-gradient`: reverse-mode gradients of functions on tensors.

* `builder.py` makes ops, and sums over what was broadcast;
* `rules.py` says of each op what its operands' gradients are, given its result's;
* `memory.py` follows gradients through STOREs, from a version of memory to the one before;
* `reverse.py` walks a block backwards and adds up what these give, FUNCTIONs and CALLs included.
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
    StringAttr,
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
from tgdialect.ops.call import CallOp
from tgdialect.ops.properties import dtype_of, shape_of, tensor, tensor_type
from tgdialect.ops.source import ParamOp
from tgdialect.transforms.gradient.builder import Builder
from tgdialect.transforms.gradient.reverse import Differentiate, gradient_sums, gradients

__all__ = ["GradientPass", "gradient_function", "gradients"]

SUFFIX = "_gradient"


@dataclass(frozen=True)
class GradientPass(ModulePass):
    """Add to a function `@f` the function `@f_gradient`, which has its gradients.

    It takes the arguments of `@f`, then a gradient for each of its float results, and gives the
    gradient of each of its float arguments, PARAMs last. The gradient of memory is that of its
    contents before the STOREs of `@f`, which `@f_gradient` makes too. A function that `@f` calls
    gets one with its gradients; a kernel is opaque, and has none.

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>           // x * x
        ->
        func.func @f_gradient(%x: tensor<4xf32>, %0: tensor<4xf32>) -> tensor<4xf32>   // 2 * x * %0
    """

    name = "tg-gradient"

    entry: str = "main"
    """The name of the function."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = SymbolTable.lookup_symbol(op, self.entry)
        if not isinstance(function, FuncOp) or function.is_declaration:
            raise PassFailedException(f"there is no function @{self.entry}")
        name = self.entry + SUFFIX
        if SymbolTable.lookup_symbol(op, name) is not None:
            raise locate(PassFailedException(f"there is a function @{name} already"), function)
        _Functions(op).differentiated(function, name)


class _Functions:
    """The functions of a module that have been differentiated: the entry, and its callees."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._made: dict[FuncOp, FuncOp] = {}
        self._active: list[FuncOp] = []

    def differentiated(self, function: FuncOp, name: str) -> FuncOp:
        """The gradients of a function, which go after it."""
        self._active.append(function)
        self._made[function] = gradient_function(function, name, self.callee)
        self._active.pop()
        return self._made[function]

    def callee(self, call: CallOp) -> FuncOp:
        """The gradient function of the callee of a CALL."""
        symbol = call.callee.string_value()
        function = SymbolTable.lookup_symbol(call, call.callee)
        if not isinstance(function, FuncOp) or function.is_declaration:
            raise locate(PassFailedException(f"what @{symbol} gives has no gradient"), call)
        if function in self._made:
            return self._made[function]
        if function in self._active:
            raise locate(PassFailedException(f"@{symbol} calls itself"), call)
        if len(self._active) == _MAX_DEPTH:
            raise locate(PassFailedException(f"calls nest more than {_MAX_DEPTH} deep"), call)
        name = base = symbol + SUFFIX
        number = 0
        while SymbolTable.lookup_symbol(self._module, name) is not None:
            name, number = f"{base}_{number}", number + 1
        gradient = self.differentiated(function, name)
        gradient.sym_visibility = StringAttr("private")
        return gradient


_MAX_DEPTH = 100
"""The greatest depth of calls, as in the interpreter."""


def gradient_function(function: FuncOp, name: str, differentiate: Differentiate) -> FuncOp:
    """Insert the gradient function of a function after it, under a given name."""
    new = function.clone()
    new.sym_name = StringAttr(name)
    block = new.body.block
    attributes = [dict(argument_attributes(argument)) for argument in block.args]
    end = block.last_op
    if not isinstance(end, ReturnOp) or not end.operands:
        message = "only a function that gives tensors has a gradient"
        raise locate(PassFailedException(message), function)
    assert function.parent is not None
    function.parent.insert_op_after(new, function)
    wrt = [[a] for a in block.args if _is_differentiable(a)]
    by_slot: dict[int, list[SSAValue]] = {}
    for param in block.ops:
        if isinstance(param, ParamOp) and _is_differentiable(param.result):
            by_slot.setdefault(param.slot.data, []).append(param.result)
    wrt += [by_slot[slot] for slot in sorted(by_slot)]
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
    values = gradient_sums(builder, seeds, wrt, differentiate)
    block.add_op(ReturnOp(*values))
    end.erase()
    new.function_type = FunctionType.from_lists(
        [a.type for a in block.args], [v.type for v in values]
    )
    new.res_attrs = None
    if any(attributes):
        new.arg_attrs = ArrayAttr([DictionaryAttr(a) for a in attributes])
    region_dce(new.body)
    return new


def _is_differentiable(value: SSAValue) -> bool:
    return dtype_of(value).is_float


def _dims(result: SSAValue) -> dict[str, Attribute]:
    """The `tg.dims` of an argument that is as large as a result, if arguments say how large."""
    dynamic = [d for d in shape_of(result) if not isinstance(d, int)]
    known = [d.index for d in dynamic if isinstance(d, BlockArgument)]
    return (
        {"tg.dims": DenseArrayBase.from_list(i64, known)} if len(known) == len(dynamic) > 0 else {}
    )
