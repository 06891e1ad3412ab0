"""`tg-gradient`: reverse-mode gradients of functions on tensors.

* `rules.py` has the rule of each op: the gradients of its operands, given that of its result;
* `windows.py` has that of overlapping windows: a sum for each cell;
* `memory.py` propagates gradients through STOREs, from a version of memory to the previous one;
* `scan.py` has that of a SCAN: a SCAN in the other order, after which the gradients of weights are
  summed;
* `reverse.py` walks a block backwards and accumulates the gradients, including those of FUNCTIONs
  and CALLs.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable
from xdsl.transforms.dead_code_elimination import region_dce
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.source import parameter_values
from tgdialect.transforms.builder import Builder, is_float
from tgdialect.transforms.gradient.reverse import Differentiate, gradient_sums, gradients

__all__ = ["GradientPass", "gradient_function", "gradients"]

SUFFIX = "_gradient"
"""The suffix of the name of a gradient function."""


@dataclass(frozen=True)
class GradientPass(ModulePass):
    """Add the function `@f_gradient`, which computes the gradients of a function `@f`.

    It takes the arguments of `@f`, followed by the gradient of each float result. It returns the
    gradient of each float argument, followed by those of PARAMs. The gradient of memory is with
    respect to its contents before the STOREs of `@f`, which `@f_gradient` executes too. A function
    that `@f` calls gets a gradient function as well. A kernel is opaque and has no gradient.

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>           // x * x
        ->
        func.func @f_gradient(%x: tensor<4xf32>, %0: tensor<4xf32>) -> tensor<4xf32>   // 2 * x * %0
    """

    name = "tg-gradient"

    entry: str = "main"
    """The name of the function to differentiate."""

    def apply(self, ctx: Context, op: builtin.ModuleOp) -> None:
        function = SymbolTable.lookup_symbol(op, self.entry)
        if not isinstance(function, FuncOp) or function.is_declaration:
            raise PassFailedException(f"there is no function @{self.entry}")
        name = self.entry + SUFFIX
        if SymbolTable.lookup_symbol(op, name) is not None:
            raise locate(PassFailedException(f"there is a function @{name} already"), function)
        _Functions(op).differentiated(function, name)


class _Functions:
    """The gradient functions of a module's entry and its callees."""

    def __init__(self, module: builtin.ModuleOp) -> None:
        self._module = module
        self._made: dict[FuncOp, FuncOp] = {}
        self._active: list[FuncOp] = []

    def differentiated(self, function: FuncOp, name: str) -> FuncOp:
        """Make the gradient function of a function, directly after it."""
        self._active.append(function)
        self._made[function] = gradient_function(function, name, self.callee)
        self._active.pop()
        return self._made[function]

    def callee(self, call: tg.CallOp) -> FuncOp:
        """The gradient function of a CALL's callee, which is made at the first CALL."""
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
        # Find a name that no other symbol has.
        name, taken = symbol + SUFFIX, symbols(self._module)
        if name in taken:
            name = next_symbol(name, 0, taken)
        gradient = self.differentiated(function, name)
        gradient.sym_visibility = builtin.StringAttr("private")
        return gradient


_MAX_DEPTH = 100
"""The greatest depth of calls, the same as in the interpreter. It stops deep nesting with a
diagnostic, before Python's recursion limit does."""


def gradient_function(function: FuncOp, name: str, differentiate: Differentiate) -> FuncOp:
    """Insert the gradient function of a function after it, under a given name."""
    # Start with a copy of the function, since gradients may need any of its values.
    new = function.clone()
    new.sym_name = builtin.StringAttr(name)
    block = new.body.block
    attributes = [dict(tg.argument_attributes(argument)) for argument in block.args]
    end = block.last_op
    if not isinstance(end, ReturnOp) or not end.operands:
        message = "only a function that gives tensors has a gradient"
        raise locate(PassFailedException(message), function)
    assert function.parent is not None
    function.parent.insert_op_after(new, function)
    # Differentiate with respect to float arguments, and float PARAMs grouped by slot.
    wrt = [[a] for a in block.args if is_float(a)]
    wrt += [values for _, values in sorted(parameter_values(block).items()) if is_float(values[0])]
    # Add an argument for the gradient of each float result. A value returned twice has their sum.
    seeds: dict[SSAValue, SSAValue] = {}
    builder = Builder(block)
    results = list(end.operands)
    end.detach()
    for result in results:
        if is_float(result):
            type = tg.tensor(result)
            seed = block.insert_arg(
                tg.tensor_type(type.element_type, type.get_shape()), len(block.args)
            )
            seed.name_hint = result.name_hint and result.name_hint + SUFFIX
            attributes.append(_dims(result))
            new.arg_attrs = (
                builtin.ArrayAttr(map(builtin.DictionaryAttr, attributes))
                if any(attributes)
                else None
            )
            builder.add_to(seeds, result, seed)
    # Return the gradients, and remove the ops that none of them needs.
    values = gradient_sums(builder, seeds, wrt, differentiate)
    block.add_op(ReturnOp(*values))
    end.erase()
    new.function_type = builtin.FunctionType.from_lists(
        [a.type for a in block.args], [v.type for v in values]
    )
    new.res_attrs = None
    region_dce(new.body)
    return new


def _dims(result: SSAValue) -> dict[str, Attribute]:
    """The `tg.dims` of an argument of a result's shape, if its dynamic extents are arguments."""
    dynamic = [d for d in tg.shape_of(result) if not isinstance(d, int)]
    known = [d.index for d in dynamic if isinstance(d, BlockArgument)]
    return (
        {"tg.dims": builtin.DenseArrayBase.from_list(builtin.i64, known)}
        if len(known) == len(dynamic) > 0
        else {}
    )
