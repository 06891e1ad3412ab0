"""Outlining: which FUNCTIONs callify calls instead of substituting them, and what it calls.

`{tg.outline}` or `{tg.outline = true}` on a FUNCTION asks for it, `{tg.outline = false}` asks for
substitution. By itself a FUNCTION is outlined if it has many ops and there is another one that is
the same: then they share kernels, and their stages run once. What may be invalid cannot be passed
through memory, where it would be 0, and kernels cannot make what an index scalar is: with these a
FUNCTION is substituted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i1,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.structure import structure
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import locate
from tgdialect.ops.call import FunctionOp, TupleOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.source import ParamOp

OUTLINE = "tg.outline"
"""The attribute of a FUNCTION that says whether it is called or substituted."""
OUTLINED_OPS = 48
"""From so many ops on, FUNCTIONs that are the same are called."""


@dataclass
class Outliner:
    """The FUNCTIONs of a module that are called, and the functions that they have become."""

    module: ModuleOp
    functions: dict[Hashable, FuncOp] = field(default_factory=dict[Hashable, FuncOp])
    validity: Validity = field(default_factory=Validity)

    @cached_property
    def counts(self) -> Counter[Hashable]:
        """How often there is each FUNCTION of the module that is large."""
        return Counter(
            structure(op.body.block)
            for op in self.module.walk()
            if isinstance(op, FunctionOp) and len(op.body.block.ops) >= OUTLINED_OPS
        )

    @cached_property
    def taken(self) -> set[str]:
        """The names of all symbols of the module, and of the functions."""
        return symbols(self.module)

    def is_outlined(self, op: FunctionOp) -> bool:
        """Whether a FUNCTION is called."""
        block, asked = op.body.block, op.attributes.get(OUTLINE)
        match asked:
            case None:
                is_asked = len(block.ops) >= OUTLINED_OPS and self.counts[structure(block)] > 1
            case UnitAttr():
                is_asked = True
            case IntegerAttr(type=type) if type == i1:
                is_asked = asked.value.data != 0
            case _:
                raise locate(PassFailedException(f"{OUTLINE} is true or false, not {asked}"), op)
        if not is_asked or any(a.type == tensor_type(INDEX) for a in op.arguments):
            return False
        passed = (*op.arguments, *cast(TupleOp, block.last_op).values)
        is_static = all(DYNAMIC_INDEX not in tensor(v).get_shape() for v in passed)
        return is_static and all(self.validity[value] for value in passed)

    def function(
        self,
        op: FunctionOp,
        slots: Sequence[int],
        caller: str,
        callified: Callable[[FuncOp], FuncOp],
    ) -> FuncOp:
        """The function for a FUNCTION, `callified` from one on tensors when it is first asked for;
        `slots` says which argument each PARAM is."""
        key = structure(op.body.block), tuple(slots)
        if key not in self.functions:
            region = op.body.clone()
            body = region.block
            params = [p for p in body.ops if isinstance(p, ParamOp)]
            types = {slots[p.slot.data]: p.result.type for p in params}
            for slot in sorted(types):
                body.insert_arg(types[slot], slot)
            for param in params:
                param.result.replace_all_uses_with(body.args[slots[param.slot.data]])
                param.detach()
            last = body.last_op
            assert isinstance(last, TupleOp)
            last.detach()
            body.add_op(ReturnOp(*last.values))
            type = FunctionType.from_lists(body.arg_types, [v.type for v in last.values])
            name = next_symbol(f"{caller}_function", len(self.functions), self.taken)
            self.taken.add(name)
            function = FuncOp(name, type, region, StringAttr("private"))
            function.location = op.location
            self.functions[key] = callified(function)
        return self.functions[key]
