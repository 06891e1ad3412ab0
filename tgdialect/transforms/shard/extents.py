"""Index PARAMs for extents that a function computes from its index arguments: each of the programs
that it is split into is passed the extents of its arguments and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from tgdialect.analysis.index_expressions import ComputedExtents, is_index
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.expressions import argument_at
from tgdialect.ops.source import parameters


def name_extents(function: FuncOp) -> int:
    """Make the dynamic extents of PARAMs, BUFFERs and results of a function without calls index
    arguments: PARAMs `{tg.computed}`, whose number is returned.

    rewrite: `return %x` of extent %n idiv 2
    -> `%m = tg.param 1 {tg.computed = "%0 2 idiv"}`, `return (shrink %x at [0] to [%m])`.
    """
    block = function.body.block
    first = len(block.args)
    slots = len(parameters(block))
    params = [op for op in ops_of(block) if isinstance(op, tg.ParamOp)]
    positions: dict[SSAValue, int] = {a: a.index for a in block.args if is_index(a)}
    positions |= {op.result: first + op.slot.data for op in params if is_index(op.result)}
    added: list[tg.ParamOp] = []

    def add(attributes: Mapping[str, Attribute], name: str) -> tuple[SSAValue, int]:
        low, high = (attributes.get(bound) for bound in ("tg.min", "tg.max"))
        param = tg.ParamOp(
            slots + len(added),
            tg.tensor_type(tg.INDEX),
            min=low.value.data if isinstance(low, IntegerAttr) else None,
            max=high.value.data if isinstance(high, IntegerAttr) else None,
        )
        param.attributes["tg.computed"] = attributes["tg.computed"]
        param.result.name_hint = name
        tg.OpBuilder(InsertPoint.at_start(block), function.location).insert(param)
        added.append(param)
        return param.result, first + param.slot.data

    known = {value: argument_at(position) for value, position in positions.items()}
    extents = ComputedExtents(known, positions, add)

    def named(dims: Sequence[tg.Dim]) -> list[tg.Dim]:
        """A shape whose dynamic extents are index arguments, where these decide them."""
        found = [d if isinstance(d, int) else extents.argument(d) for d in dims]
        return [*dims] if None in found else [d for d in found if d is not None]

    for op in ops_of(block):
        if isinstance(op, tg.ParamOp | tg.BufferOp) and op.dims:
            old = tg.shape_of(op.result)
            if (new := named(op.dims)) != [*op.dims]:
                op.operands = [dim for dim in new if isinstance(dim, SSAValue)]
                uses = [*op.result.uses]
                view = tg.ShrinkOp(op.result, [0] * len(old), old)
                block.insert_op_after(view, op)
                for use in uses:
                    use.operation.operands[use.index] = view.result
        elif isinstance(op, ReturnOp):
            for i, value in enumerate(op.operands):
                old = tg.shape_of(value)
                if (new := named(old)) != [*old]:
                    shrink = tg.ShrinkOp(value, [0] * len(new), new)
                    op.operands[i] = tg.OpBuilder.before(op).put(shrink)
    return len(added)
