"""The references of kernels: a kernel with the bounds of its results, cut to a sample of its cells
where all of them would take too long, and a module that calls a kernel alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.analysis.estimates import cells_of
from tgdialect.analysis.index_expressions import ComputedExtents, is_index
from tgdialect.analysis.min_max import MinMax
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.expressions import argument_at
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.ordering import RangeOp, dependent_ranges
from tgdialect.ops.source import parameters
from tgdialect.transforms.error_bound import UnboundedError, bound_errors

MOST_OPERATIONS = 1 << 23
"""The most results of ops that a comparison computes, bounds not included. Larger: checks take
longer; smaller: more kernels are compared by a sample. Found by timing
`test/unit/actions/test_check.py` (docs/notes/actions.md)."""


@dataclass(frozen=True)
class Reference:
    """A kernel that also computes bounds, or a part of its cells.

    `slots` are those of the memory that it stores to, whose bounds are in the PARAMs after its own.
    """

    kernel: tg.KernelOp
    slots: Sequence[int]
    sample: float
    """The fraction of the kernel's iterations that it runs."""
    terms: int
    """The terms of its largest sum or product of floats."""
    dtype: str
    """The dtype of these."""

    @property
    def rounding(self) -> str:
        """The source of the error, in words."""
        if self.terms > 1:
            return f"reduction of {self.terms} terms of {self.dtype}, in any order"
        return "rounding of each op"


class TooLargeError(Exception):
    """Even a sample takes too many operations: the argument says how many."""


def reference_of(kernel: tg.KernelOp, arrays: Sequence[Array], *, tf32: bool) -> Reference:
    """The reference of a kernel, for a call with these arrays.

    Raises UnboundedError if there is no bound, and TooLargeError.
    """
    copy = kernel.clone()
    block = copy.body.block
    intervals = _intervals(block, arrays)
    terms, dtype = _largest_reduction(block, intervals)
    sample = _cut(block, intervals)
    return Reference(copy, bound_errors(copy, tf32=tf32), sample, terms, dtype)


def _intervals(block: Block, arrays: Sequence[Array]) -> MinMax:
    """The intervals of values, for the sizes among the arrays of arguments and PARAMs."""
    values = [*block.args, *(op.result for op in parameters(block))]
    sizes = zip(values, arrays, strict=False)
    return MinMax({v: tg.Interval(int(a), int(a)) for v, a in sizes if is_index(v)})


def _largest_reduction(block: Block, intervals: MinMax) -> tuple[int, str]:
    found = [(1, "")]
    for op in ops_of(block):
        if isinstance(op, tg.ReduceOp) and op.kind.data is not tg.ReduceKind.MAX:
            dtype = tg.dtype_of(op.source)
            if dtype.is_float:
                loops = math.prod(_extent(r, intervals) for r in op.ranges)
                cells = cells_of(op.source, intervals) // max(cells_of(op.result, intervals), 1)
                found.append((loops * cells, dtype.name))
    return max(found)


def _extent(range: SSAValue, intervals: MinMax) -> int:
    owner = range.owner
    assert isinstance(owner, RangeOp)
    return max(int(intervals[owner.bound].hi), 0)


def operations(block: Block, arrays: Sequence[Array]) -> int:
    """The results that the ops of a block compute, in all iterations of its loops."""
    return _operations(block, _intervals(block, arrays), {})


def _operations(block: Block, intervals: MinMax, cut: Mapping[RangeOp, int]) -> int:
    """The same, where some loops run fewer iterations."""
    known: dict[SSAValue, frozenset[RangeOp]] = {}
    count = 0
    for op in ops_of(block):
        if isinstance(op, tg.ElementwiseOp | tg.LoadOp | tg.StoreOp | tg.ReduceOp):
            value = op.operands[0] if isinstance(op, tg.ReduceOp) else op.results[0]
            ranges = dependent_ranges(value, known)
            loops = math.prod(cut.get(r, _extent(r.result, intervals)) for r in ranges)
            cells = 1 if isinstance(op, tg.StoreOp) else cells_of(value, intervals)
            count += loops * cells
    return count


def _cut(block: Block, intervals: MinMax) -> float:
    """Let outer loops run fewer iterations, which are spread from the first to the last one, so
    that a kernel takes at most `MOST_OPERATIONS`. Returns the fraction of the iterations.

    Only loops are cut that no op of the kernel waits for.
    """
    outer = {r: _extent(r.result, intervals) for r in _outer_loops(block)}
    cut = dict(outer)
    while (count := _operations(block, intervals, cut)) > MOST_OPERATIONS:
        largest = max(cut, key=cut.__getitem__, default=None)
        if largest is None or cut[largest] <= 2:
            raise TooLargeError(f"{count} operations")
        cut[largest] = max(cut[largest] // 2, 2)
    for range, extent in outer.items():
        if cut[range] < extent:
            _spread(range, cut[range], extent)
    return math.prod(cut.values()) / max(math.prod(outer.values()), 1)


def _outer_loops(block: Block) -> list[RangeOp]:
    """The parallel loops that END only before the SINK."""
    found: list[RangeOp] = []
    for op in ops_of(block):
        if isinstance(op, tg.EndOp) and _only_sinks(op.result):
            loops = [r.owner for r in op.ranges]
            found += [
                r for r in loops if isinstance(r, RangeOp) and r.axis_type.data is tg.AxisType.LOOP
            ]
    return found


def _only_sinks(edge: SSAValue) -> bool:
    users = [use.operation for use in edge.uses]
    return all(
        isinstance(user, tg.SinkOp) or (isinstance(user, tg.GroupOp) and _only_sinks(user.result))
        for user in users
    )


def _spread(range: RangeOp, count: int, extent: int) -> None:
    """Let a loop of so many iterations stand for `count` of them: i for i (extent - 1) // (count -
    1)."""
    uses = [
        use
        for use in range.result.uses
        if not isinstance(use.operation, tg.AfterOp)
        and not (isinstance(use.operation, tg.EndOp) and use.index > 0)
    ]
    builder = tg.OpBuilder.before(range)
    range.operands[0] = builder.index_constant(count)
    builder = tg.OpBuilder.after(range)
    scaled = builder.put(tg.MulOp(range.result, builder.index_constant(extent - 1)))
    place = builder.put(tg.IDivOp(scaled, builder.index_constant(count - 1)))
    for use in uses:
        use.operation.operands[use.index] = place


# -- a kernel alone --------------------------------------------------------------------------------


def alone(kernel: tg.KernelOp, module: ModuleOp, entry: str, constants: Set[int]) -> ModuleOp:
    """A module whose function calls a kernel of `module`, with an argument for each of its PARAMs.

    The parameters of the slots that are `constants` have the same contents in every call. Raises
    UnboundedError for an extent that sizes do not decide.
    """
    copy = kernel.clone()
    params = parameters(copy.body.block)
    slots: dict[SSAValue, int] = {op.result: i for i, op in enumerate(params)}
    block = Block(arg_types=[tg.tensor(op.result) for op in params])
    attributes: list[dict[str, Attribute]] = [{} for _ in params]

    def add(of_argument: Mapping[str, Attribute], _: str) -> tuple[SSAValue, int]:
        argument = block.insert_arg(tg.tensor_type(tg.INDEX), len(attributes))
        attributes.append(dict(of_argument))
        slots[argument] = argument.index
        return argument, argument.index

    sizes = {value: argument_at(slot) for value, slot in slots.items() if is_index(value)}
    computed = ComputedExtents(sizes, {value: slots[value] for value in sizes}, add)
    for slot, op in enumerate(params):
        for name, bound in (("tg.min", op.min), ("tg.max", op.max)):
            if bound is not None:
                attributes[slot][name] = IntegerAttr(bound.data, tg.INDEX)
        dims = [d for d in tg.shape_of(op.result) if not isinstance(d, int)]
        arguments = [argument for d in dims if (argument := computed.argument(d)) is not None]
        if len(arguments) < len(dims):
            raise UnboundedError("an extent of its memory depends on data")
        if arguments:
            positions = [slots[argument] for argument in arguments]
            attributes[slot]["tg.dims"] = DenseArrayBase.from_list(i64, positions)
        if slot in constants:
            attributes[slot]["tg.constant"] = UnitAttr()
    builder = tg.OpBuilder.at_end(block, kernel.location)
    call = builder.put(tg.CallOp(kernel.sym_name.data, block.args[: len(params)]))
    builder.put(tg.SinkOp((call,)))
    builder.insert(ReturnOp())
    function = FuncOp(entry, (block.arg_types, []), Region(block))
    function.arg_attrs = ArrayAttr([DictionaryAttr(each) for each in attributes])
    made = ModuleOp([copy, function])
    made.attributes |= module.attributes
    return made
