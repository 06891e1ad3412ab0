"""Outlining: FUNCTIONs that become functions, and are called instead of substituted.

`{tg.outline}` or `{tg.outline = true}` on a FUNCTION asks for it, `{tg.outline = false}` for
substitution. Without either a FUNCTION is outlined if it is large and another one is equal: they
share their kernels, which are compiled once.

A FUNCTION is always substituted if a value that it takes or returns cannot go through memory: an
index scalar, a value of dynamic shape, or one with invalid cells, which memory would make 0.
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
from xdsl.ir import Region
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.structure import Structures
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import locate
from tgdialect.ops.call import FunctionOp, KernelOp, TupleOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.source import ParamOp

OUTLINE = "tg.outline"
"""The attribute of a FUNCTION that says whether it is called or substituted."""
OUTLINED_OPS = 48
"""The number of ops from which on equal FUNCTIONs are outlined. Outlining saves compile time, but
nothing is fused across the border: a small function saves little and loses more."""


@dataclass
class Outliner:
    """Decides which FUNCTIONs of a module are outlined, and makes their functions."""

    module: ModuleOp
    functions: dict[Hashable, FuncOp] = field(default_factory=dict[Hashable, FuncOp])
    scans: list[KernelOp] = field(default_factory=list[KernelOp])
    """The kernels that SCANs have become."""
    validity: Validity = field(default_factory=Validity)
    structures: Structures = field(default_factory=Structures)

    @cached_property
    def counts(self) -> Counter[str]:
        """How many FUNCTIONs of the module have each structure, of those large enough."""
        return Counter(
            self.structures.of(op.body.block)
            for op in self.module.walk()
            if isinstance(op, FunctionOp) and len(op.body.block.ops) >= OUTLINED_OPS
        )

    @cached_property
    def taken(self) -> set[str]:
        """The names of all symbols of the module, and of the outlined functions."""
        return symbols(self.module)

    def is_outlined(self, op: FunctionOp) -> bool:
        """Whether a FUNCTION is outlined."""
        # The attribute, else the size.
        block, asked = op.body.block, op.attributes.get(OUTLINE)
        match asked:
            case None:
                is_asked = (
                    len(block.ops) >= OUTLINED_OPS and self.counts[self.structures.of(block)] > 1
                )
            case UnitAttr():
                is_asked = True
            case IntegerAttr(type=type) if type == i1:
                is_asked = asked.value.data != 0
            case _:
                raise locate(PassFailedException(f"{OUTLINE} is true or false, not {asked}"), op)
        if not is_asked or any(a.type == tensor_type(INDEX) for a in op.arguments):
            return False
        # Whether all that is passed can be in memory.
        passed = (*op.arguments, *cast(TupleOp, block.last_op).values)
        is_static = all(DYNAMIC_INDEX not in tensor(v).get_shape() for v in passed)
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
            params = [p for p in body.ops if isinstance(p, ParamOp)]
            types = {slots[p.slot.data]: p.result.type for p in params}
            for slot in sorted(types):
                body.insert_arg(types[slot], slot)
            for param in params:
                param.result.replace_all_uses_with(body.args[slots[param.slot.data]])
                param.detach()
            # The TUPLE becomes a return.
            last = body.last_op
            assert isinstance(last, TupleOp)
            last.detach()
            location = last.location
            body.add_op(ReturnOp(*last.values))
            type = FunctionType.from_lists(body.arg_types, [v.type for v in last.values])
            name = self.new_name(f"{caller.sym_name.data}_function", len(self.functions))
            function = FuncOp(name, type, region, StringAttr("private"))
            function.location = location
            # It is in the module while it is rebuilt, so that its CALLs find their kernels.
            self.module.body.block.add_op(function)
            self.functions[key] = callified(function)
            function.detach()
        return self.functions[key]

    def new_name(self, prefix: str, number: int) -> str:
        """The name of a new symbol of the module."""
        name = next_symbol(prefix, number, self.taken)
        self.taken.add(name)
        return name
