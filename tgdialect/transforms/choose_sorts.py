"""`tg-choose-sorts`: the algorithm of each sort, for the target."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.validity import Validity
from tgdialect.custom import REGISTERED
from tgdialect.diagnostics import begins, errors_at
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.kernels.writer import Library
from tgdialect.ops import tg
from tgdialect.ops.sorts import SORTS
from tgdialect.targets.attribute import settle_target
from tgdialect.transforms.sorts import Orders, SortBuilder, Sorts


@dataclass(frozen=True)
class ChooseSortsPass(ModulePass):
    """Replace CALLs of the built-in sorts by an algorithm for the target.

    They are `@tg.sort`, `@tg.argsort` and both with `_descending` (docs/ir.md). A FUNCTION that is
    nothing but such a CALL, of its argument, becomes the ops that compute the result. Kernels that
    these call are added to the module. `tg-callify` begins with this pass.
    """

    name = "tg-choose-sorts"

    target: str | None = None
    """The target, by default the `tg.target` of the module, or else this CPU."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        choose_sorts(op, self.target)


def choose_sorts(module: ModuleOp, target: str | None = None) -> None:
    """Apply the pass.

    Raises PassFailedException for a long axis whose greatest extent is not known, and for sorted
    values of a dynamic shape.
    """
    declared = {
        symbol.sym_name.data: symbol
        for symbol in module.ops
        if isinstance(symbol, tg.CustomFunctionOp)
        and symbol.sym_name.data in SORTS
        and REGISTERED not in symbol.attributes
    }
    if not declared:
        return
    chooser = _Chooser(Library(module), is_grid=settle_target(module, target).is_grid)
    for op in nested_ops(module):
        if isinstance(op, tg.CallOp) and op.callee.string_value() in declared:
            if not begins("sort", op):
                return
            with errors_at(op):
                chooser.replace(op)
    for symbol in declared.values():
        Rewriter.erase_op(symbol)


class _Chooser:
    """The replacement of the CALLs of one module."""

    def __init__(self, library: Library, *, is_grid: bool) -> None:
        self.library = library
        self.is_grid = is_grid
        self.intervals = MinMax()
        self.validity = Validity()
        self.orders: Orders = {}

    def replace(self, call: tg.CallOp) -> None:
        """Replace a CALL, or the FUNCTION that is nothing else, by the ops of an algorithm."""
        sort = SORTS[call.callee.string_value()]
        source, target = call.arguments
        shape = tg.shape_of(source)
        most = [self.greatest(dim) for dim in shape]
        function, param = call.parent_op(), _parameter(call)
        at = call
        if isinstance(function, tg.FunctionOp) and param is not None:
            at, source = function, function.arguments[param.slot.data]
            shape = tuple(d if isinstance(d, int) else _argument(function, d) for d in shape)
        builder = SortBuilder(at)
        if not tg.same_shape(tg.shape_of(source), shape):  # Some extents have other names.
            source = builder.shrink(source, shape)
        if not self.validity[source]:
            source = builder.put(tg.ContiguousOp(source))
        count = tg.tensor(target).get_shape()[-1]
        sorts = Sorts(builder, self.library, self.orders, is_grid=self.is_grid)
        if sort.gives_values:
            value = sorts.values(source, count, descending=sort.descending)
        else:
            value = sorts.positions(source, most, count, descending=sort.descending)
        if at is call:
            call.result.replace_all_uses_with(builder.put(tg.StoreOp(target, value)))
        for element in [use.operation for use in at.results[0].uses]:
            (result,) = element.results
            if value.type != result.type:  # It is memory.
                value = builder.put(tg.CastOp(value, tg.tensor(value).element_type))
            result.replace_all_uses_with(value)
            Rewriter.erase_op(element)
        Rewriter.erase_op(at)

    def greatest(self, extent: tg.Dim) -> int:
        """An upper bound of an extent."""
        if isinstance(extent, SSAValue):
            return int(self.intervals[extent].hi)
        return extent if isinstance(extent, int) else int(tg.dtype_row(tg.INDEX).high)


def _parameter(call: tg.CallOp) -> tg.ParamOp | None:
    """The PARAM of the FUNCTION around that a CALL sorts, if that does nothing else: it stores the
    PARAM, and its one result is loaded AFTER the CALL."""
    source, target = (argument.owner for argument in call.arguments)
    function = call.parent_op()
    if not (isinstance(function, tg.FunctionOp) and isinstance(source, tg.AfterOp)):
        return None
    store, packed = source.dependencies[0].owner, function.body.block.last_op
    if not (isinstance(store, tg.StoreOp) and isinstance(packed, tg.TupleOp)):
        return None
    param, load = store.value.owner, packed.values[0].owner
    if not (isinstance(param, tg.ParamOp) and isinstance(load, tg.LoadOp)):
        return None
    result = load.buffer.owner
    is_whole = isinstance(source.buffer.owner, tg.BufferOp) and isinstance(target, tg.BufferOp)
    is_sole = (
        is_whole
        and isinstance(result, tg.AfterOp)
        and store.buffer == source.buffer
        and [*source.dependencies] == [store.result]
        and result.buffer == call.arguments[1]
        and [*result.dependencies] == [call.result]
        and len(packed.values) == len(load.operands) == 1
        and all(isinstance(use.operation, tg.GetTupleOp) for use in function.result.uses)
    )
    return param if is_sole else None


def _argument(function: tg.FunctionOp, extent: tg.Dim) -> SSAValue:
    """The argument of a FUNCTION for an extent of its PARAM."""
    assert isinstance(extent, SSAValue)
    assert isinstance(extent.owner, tg.ParamOp), "the PARAM names it"
    return function.arguments[extent.owner.slot.data]
