"""Outlining: FUNCTIONs that become functions, and are called instead of substituted.

A private function that is called is a FUNCTION by another name, without the attribute.

`{tg.outline}` or `{tg.outline = true}` on a FUNCTION asks for it, `{tg.outline = false}` for
substitution. Without either a FUNCTION is outlined if it is large and another one is equal: they
share their kernels, which are compiled once.

A FUNCTION is always substituted if a value that it takes or returns cannot go through memory: an
index scalar, a value of dynamic shape, or one with invalid cells, which memory would make 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.dialects import builtin
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.structure import Structures
from tgdialect.analysis.symbols import is_own_tensor, own_functions
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.properties import NAME_THE_EXTENT
from tgdialect.transforms.substitution import called_function

OUTLINE = "tg.outline"
"""The attribute of a FUNCTION that says whether it is called or substituted."""
OUTLINED_OPS = 48
"""The fewest ops of equal FUNCTIONs that are outlined. Larger: less is shared, and compiled longer;
smaller: less is fused, as nothing is across the border of a function."""
_MAX_DEPTH = 100
"""The greatest depth of functions that are outlined; those inside are substituted. As deep as the
interpreter's calls; larger: Python's recursion limit is met, with twice as many."""
_IN_FUNCTIONS = FuncOp, ReturnOp, FuncCallOp, tg.CallOp, tg.TupleOp
"""The ops, besides pure ones, that a function may have and still be outlined."""


@dataclass
class Outliner:
    """Decides which FUNCTIONs of a module are outlined, and makes their functions."""

    module: builtin.ModuleOp
    functions: dict[Hashable, FuncOp] = field(default_factory=dict[Hashable, FuncOp])
    scans: list[tg.KernelOp] = field(default_factory=list[tg.KernelOp])
    """The kernels that SCANs have become."""
    validity: Validity = field(default_factory=Validity)
    structures: Structures = field(default_factory=Structures)

    depth: int = 0
    """How many functions that are being made are nested."""

    @cached_property
    def counts(self) -> Counter[str]:
        """How many FUNCTIONs of the module have each structure, of those large enough."""
        return Counter(
            self.structures.of(op.body.block)
            for op in nested_ops(self.module)
            if isinstance(op, tg.FunctionOp) and _is_large(op)
        )

    @cached_property
    def calls(self) -> Counter[FuncOp]:
        """How many calls of each function the module has."""
        callees = map(called_function, nested_ops(self.module))
        return Counter(callee for callee in callees if callee is not None)

    @cached_property
    def sizes(self) -> Mapping[FuncOp, int]:
        """The number of ops of each function whose calls may be outlined, after substitution of
        those that it calls, and theirs: those without effects, which take and give values."""
        sizes: dict[FuncOp, int] = {}
        functions = dict.fromkeys(own_functions(self.module))

        def called(function: FuncOp) -> list[FuncOp]:
            callees = map(called_function, nested_ops(function))
            return [callee for callee in callees if callee is not None]

        # One that calls itself comes before one that it calls, and has no size.
        for function in tg.postorder(functions, called):
            ops, callees = nested_ops(function), called(function)
            types = (*function.function_type.inputs, *function.function_type.outputs)
            if (
                function in functions
                and function.function_type.outputs.data
                and all(is_own_tensor(t) and tg.place_of(t).addrspace is None for t in types)
                and all(isinstance(op, _IN_FUNCTIONS) or op.has_trait(tg.PureInGraph) for op in ops)
                and not any(
                    isinstance(op, tg.ParamOp | tg.BufferOp) for op in function.body.block.ops
                )
                and all(callee in sizes for callee in callees)
            ):
                sizes[function] = len(ops) + sum(sizes[callee] for callee in callees)
        return sizes

    @cached_property
    def taken(self) -> set[str]:
        """The names of all symbols of the module, and of the outlined functions."""
        return symbols(self.module)

    def is_outlined(self, op: tg.FunctionOp) -> bool:
        """Whether a FUNCTION is outlined."""
        # The attribute, else the size.
        block, asked = op.body.block, op.attributes.get(OUTLINE)
        match asked:
            case None:
                is_asked = _is_large(op) and self.counts[self.structures.of(block)] > 1
            case builtin.UnitAttr():
                is_asked = True
            case builtin.IntegerAttr(type=type) if type == builtin.i1:
                is_asked = asked.value.data != 0
            case _:
                raise locate(PassFailedException(f"{OUTLINE} is true or false, not {asked}"), op)
        return is_asked and self.can_be_called(op)

    def is_called_often(self, callee: FuncOp) -> bool:
        """Whether calls of a function are worth outlining."""
        return self.calls[callee] > 1 and self.sizes.get(callee, 0) >= OUTLINED_OPS

    def can_be_called(self, op: tg.FunctionOp) -> bool:
        """Whether all that a FUNCTION takes and gives can be in memory."""
        if self.depth == _MAX_DEPTH or any(
            a.type == tg.tensor_type(tg.INDEX) for a in op.arguments
        ):
            return False
        passed = (*op.arguments, *cast(tg.TupleOp, op.body.block.last_op).values)
        is_static = all(builtin.DYNAMIC_INDEX not in tg.tensor(v).get_shape() for v in passed)
        return is_static and all(self.validity[value] for value in passed)

    def function(
        self,
        region: Region,
        slots: Sequence[int],
        caller: FuncOp,
        callified: Callable[[FuncOp], FuncOp],
    ) -> FuncOp:
        """The function that a body on PARAMs becomes, made at the first use of its structure.

        `slots` says which argument each PARAM is; `callified` turns a function on tensors into one
        on memory.
        """
        body = region.block
        key = self.structures.of(body), tuple(slots)
        if key not in self.functions:
            # PARAMs become arguments.
            params = [p for p in body.ops if isinstance(p, tg.ParamOp)]
            by_slot = {slots[p.slot.data]: p for p in params}
            attributes = [_attributes(by_slot[slot], slots) for slot in sorted(by_slot)]
            for slot in sorted(by_slot):
                body.insert_arg(by_slot[slot].result.type, slot)
            for param in params:
                param.result.replace_all_uses_with(body.args[slots[param.slot.data]])
            for param in params:
                Rewriter.erase_op(param)
            # The TUPLE becomes a return.
            last = body.last_op
            assert isinstance(last, tg.TupleOp)
            last.detach()
            location = last.location
            body.add_op(ReturnOp(*last.values))
            type = builtin.FunctionType.from_lists(body.arg_types, [v.type for v in last.values])
            name = self.new_name(f"{caller.sym_name.data}_function", len(self.functions))
            function = FuncOp(
                name,
                type,
                region,
                builtin.StringAttr("private"),
                arg_attrs=builtin.ArrayAttr(map(builtin.DictionaryAttr, attributes)),
            )
            function.location = location
            # It is in the module while it is rebuilt, so that its CALLs find their kernels.
            self.module.body.block.add_op(function)
            self.depth += 1
            self.functions[key] = callified(function)
            self.depth -= 1
            function.detach()
        return self.functions[key]

    def new_name(self, prefix: str, number: int) -> str:
        """The name of a new symbol of the module."""
        name = next_symbol(prefix, number, self.taken)
        self.taken.add(name)
        return name


def function_for(call: Operation, callee: FuncOp, arguments: Sequence[SSAValue]) -> tg.FunctionOp:
    """A call of a function as a FUNCTION."""
    region = callee.body.clone()
    block = region.block
    builder = tg.OpBuilder(InsertPoint.at_start(block), callee.location)
    for slot, argument in enumerate(tuple(block.args)):
        argument.replace_all_uses_with(builder.put(tg.ParamOp(slot, tg.tensor(argument))))
        block.erase_arg(argument)
    last = block.last_op
    assert isinstance(last, ReturnOp)
    builder = tg.OpBuilder.before(last)
    builder.location = last.location
    builder.insert(tg.TupleOp(last.arguments))
    block.erase_op(last)
    function = tg.FunctionOp(arguments, region)
    function.location = call.location
    return function


def _is_large(op: tg.FunctionOp) -> bool:
    """Whether a FUNCTION, with those inside, is worth outlining."""
    return len(nested_ops(op)) > OUTLINED_OPS


def _attributes(param: tg.ParamOp, slots: Sequence[int]) -> dict[str, Attribute]:
    """The attributes of the argument that a PARAM becomes, whose extents are PARAMs."""
    found: dict[str, Attribute] = {}
    for name, bound in (("tg.min", param.min), ("tg.max", param.max)):
        if bound is not None:
            found[name] = builtin.IntegerAttr(bound.data, tg.INDEX)
    if param.symbol is not None:
        found["tg.name"] = param.symbol
    dims = [dim.owner for dim in param.dims]
    if positions := [slots[dim.slot.data] for dim in dims if isinstance(dim, tg.ParamOp)]:
        if len(positions) < len(dims):
            message = f"the dynamic dimensions of a PARAM are PARAMs themselves: {NAME_THE_EXTENT}"
            raise locate(PassFailedException(message), param)
        found["tg.dims"] = builtin.DenseArrayBase.from_list(builtin.i64, positions)
    return found
