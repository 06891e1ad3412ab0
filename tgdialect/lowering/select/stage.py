"""The pass `tg-select`: the table of rules, and one walk over the ops of each kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.bounds import interval
from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import too_much_code
from tgdialect.diagnostics import locate, noted
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.levels import KernelPass
from tgdialect.lowering.select import arithmetic, instructions, structure
from tgdialect.lowering.select.kernel import SelectedKernel
from tgdialect.lowering.select.tiles import RegisterTile
from tgdialect.ops import tg
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.folding import constant_attribute
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target, target_of
from tgdialect.targets.costs import own_cost
from tgdialect.transforms.dead_ops import erase_unused
from tgdialect.transforms.simplify import is_rough, simplify

Rule = Callable[[SelectedKernel, Any], RegisterTile | None]
"""Emits the new ops for an op, and returns the register tile of its result; None for memory."""

_RULES: dict[type[Operation], Rule] = {
    tg.ParamOp: structure.param,
    tg.BufferOp: structure.buffer,
    tg.ConstOp: structure.const,
    tg.VConstOp: structure.vconst,
    **dict.fromkeys(
        (tg.PermuteOp, tg.FlipOp, tg.ReshapeOp, tg.ExpandOp, tg.ShrinkOp), structure.movement
    ),
    tg.IndexOp: structure.index,
    tg.StackOp: structure.stack,
    tg.BitcastOp: arithmetic.bitcast,
    tg.ReduceOp: arithmetic.reduce,
    tg.LoadOp: structure.load,
    tg.StoreOp: structure.store,
    tg.AtomicAddOp: structure.atomic_add,
    tg.RangeOp: structure.range_,
    tg.AfterOp: structure.after,
    **dict.fromkeys((tg.EndOp, tg.GroupOp, tg.SinkOp, tg.BarrierOp), SelectedKernel.rebuilt),
    **dict.fromkeys((*PRIMITIVES, *DECOMPOSED), arithmetic.elementwise),
    tg.CastOp: arithmetic.cast,
    tg.WmmaOp: arithmetic.wmma,
    tg.ShuffleOp: arithmetic.shuffle,
    tg.CustomOp: arithmetic.custom,
    tg.InsOp: instructions.instruction,
}
"""The rule of each op class. An op without a rule is an error."""


@dataclass(frozen=True)
class SelectPass(KernelPass):
    """Rewrite each kernel to ops that the target supports, on vectors of widths that it supports.

    Ops that the target does not support are decomposed, tiles become vectors, and memory is indexed
    by one flat index. Then the new indices and gates are simplified. The target is the module's
    `tg.target` unless the options give another one, which is then written to the module.
    """

    name = "tg-select"
    level_before = "tiles"
    level_after = "target"

    target: str | None = None
    """The kind of machine, such as `cpu`."""
    features: tuple[str, ...] = ()
    """The processor's features, by LLVM's names. They decide about vectors, MULACC and conversions
    of narrow floats."""

    def lower(self, module: ModuleOp) -> None:
        settle_target(module, self.target, self.features)
        super().lower(module)

    def lower_kernel(self, kernel: tg.KernelOp | tg.ProgramOp) -> tg.KernelOp | tg.ProgramOp:
        if isinstance(kernel, tg.KernelOp):
            target = target_of(kernel.parent_op(), self.target, self.features)
            if kernel.calls:
                kernel.target = unchecked.text(target.name)
                return kernel
            old = kernel.body.block
            new, copied = select(ops_of(old), target)
            kernel.body.detach_block(old)
            kernel.body.add_block(new)
            kernel.target = unchecked.text(target.name)
            # `tg-optimize` has simplified the kernel, and `tg-expand` makes few scalar indices. So
            # only ops on lanes and addresses, which this stage has made, may be worth a walk.
            masked = not target.is_grid and narrow_lane_masks(new)
            if masked or any(is_rough(op) and op not in copied for op in ops_of(new)):
                simplify(kernel)
        return kernel


def select(ops: Sequence[Operation], target: Target) -> tuple[Block, Set[Operation]]:
    """Select instructions for the ops of a kernel, given in order. Returns a new block, with those
    of its ops that compute the scalars of the old one, and leaves the old ops unchanged."""
    if (too_much := too_much_code(_elements(ops), own_cost)) is not None:
        raise locate(PassFailedException(f"this makes {too_much.reason}"), too_much.op)
    kernel = SelectedKernel(target, vector_lanes(ops, target))
    copied: set[Operation] = set()
    for op in ops:
        kernel.scalars.location = op.location
        try:
            if (rule := _RULES.get(type(op))) is None:
                raise PassFailedException(f"the target {target.name} has no {op.name}")
            noted(rule.__name__, op)
            result = rule(kernel, op)
        except PassFailedException as error:
            raise locate(error, op) from error
        if result is not None:
            kernel.values[op.results[0]] = result
            if len(result.pieces) == 1 and isinstance(piece := result.pieces[0], SSAValue):
                piece.name_hint = piece.name_hint or op.results[0].name_hint
                if not result.shape and isinstance(piece.owner, tg.TgOp):
                    copied.add(piece.owner)
    # Some rules emit ops that no user needs, such as both forms of a narrow float.
    erase_unused(kernel.block)
    results = [] if target.has_f64 else [v for op in ops_of(kernel.block) for v in op.results]
    for value in results:
        if (
            tg.is_tensor(value.type)
            and not tg.is_memory(value)
            and tg.dtype_of(value).name == "f64"
        ):
            error = PassFailedException(f"the target {target.name} has no f64")
            raise locate(error, value.op)
    return kernel.block, copied


def _elements(ops: Sequence[Operation]) -> Iterator[tuple[Operation, int]]:
    """The ops of a kernel that become code for each element, and how many each has."""
    for op in ops:
        value = op.value if isinstance(op, tg.StoreOp) else op.results[0] if op.results else None
        if not isinstance(op, tg.ElementwiseOp | tg.LoadOp | tg.StoreOp) or value is None:
            continue
        if isinstance(op, tg.LoadOp) and tg.place(op.operands[0]).addrspace is tg.AddrSpace.LOCAL:
            continue  # Matrix instructions take such factors whole, and other users are counted.
        if tg.is_tensor(value.type) and not tg.is_memory(value):
            yield op, math.prod(tg.static_shape(tg.tensor(value)))


def vector_lanes(ops: Sequence[Operation], target: Target) -> int:
    """How many elements a vector register holds of the widest dtype that a kernel computes with.

    A narrow float counts as 4 bytes because it is computed in f32. Indices and bools do not count.
    """
    itemsizes = [
        max(tg.dtype_of(value).itemsize, 4 if tg.dtype_of(value).is_float else 1)
        for op in ops
        for value in op.results
        if tg.is_tensor(value.type)
        and tg.static_shape(tg.tensor(value))
        and not tg.is_memory(value)
        if tg.tensor(value).element_type not in (tg.INDEX, tg.BOOL)
    ]
    return target.lanes(max(itemsizes, default=8))


# -- masks of vectors ------------------------------------------------------------------------------

# Masks of vectors are compared in 32 bits.
#
#     %v = add(%i, [0, 1, ..., 7]);  %mask = cmplt(%v, %n)
#     ->
#     %mask = cmplt(cast([0, 1, ..., 7], i32), cast(%n - %i, i32))
#
# Indices have 64 bits, so a mask of a vector of f32 would take twice the registers, and be packed
# afterwards. What all lanes have in common is subtracted as a scalar. So `%i + [1, ..., 8] < 34`
# and `%i + [0, ..., 7] < 33` are one op: the gate of a LOAD, and the condition on what it loads.


_NARROW = tg.TYPES["i32"]
"""The element type of lane comparisons. It has f32's width, the width of most masked operands."""


def narrow_lane_masks(block: Block) -> bool:
    """Compare lanes of indices in 32 bits where they provably fit, and equal lanes once. Whether
    there are any, which leaves ops that are unused, or constant."""
    intervals = MinMax()
    known: dict[object, SSAValue] = {}
    limits: dict[SSAValue, tuple[Sequence[int], tg.Polynomial]] = {}
    for op in ops_of(block):
        if not isinstance(op, tg.CompareOp) or tg.tensor(op.lhs).element_type != tg.INDEX:
            continue
        if not (shape := tg.tensor(op.result).get_shape()):
            continue
        left, right = (_lanes(side, shape[0], intervals) for side in (op.lhs, op.rhs))
        if left is None or right is None:
            continue
        # The comparison is `steps < limit` in each lane, if it is `left < right`.
        steps = [a - b for a, b in zip(left[1], right[1], strict=True)]
        limit = right[0] - left[0] - steps[0]
        steps = tuple(step - steps[0] for step in steps)
        narrow = tg.DTYPES[_NARROW]
        in_range = interval(limit, intervals).within(narrow.low, narrow.high)
        if not in_range or not (narrow.low <= min(steps) <= max(steps) <= narrow.high):
            continue
        key = op.name, steps, frozenset(limit.terms.items()), limit.constant
        if (mask := known.get(key)) is None:
            builder = tg.OpBuilder.before(op)
            if (numbers := known.get(steps)) is None:
                numbers = builder.put(tg.CastOp(builder.put(tg.VConstOp(steps)), _NARROW))
                known[steps] = numbers
            bound = builder.put(tg.CastOp(_emit(builder, limit), _NARROW))
            mask = known[key] = builder.put(type(op)(numbers, bound))
        if isinstance(op, tg.CmpLtOp):
            limits[mask] = steps, limit
        op.result.replace_all_uses_with(mask)
        Rewriter.erase_op(op)
    for op in reversed(ops_of(block)):
        if isinstance(op, tg.AndOp) and op.result.uses:
            _compare_once(op, limits, known, intervals)
    return bool(known)


def _compare_once(
    op: tg.AndOp,
    limits: Mapping[SSAValue, tuple[Sequence[int], tg.Polynomial]],
    numbers: Mapping[object, SSAValue],
    intervals: MinMax,
) -> None:
    """Replace masks in an AND, for the lanes from a number on and for those below another number,
    by one unsigned comparison: LLVM packs vectors of i1 that are wider than a register for an AND.
    Scalars of the AND stay, since loops are peeled by them."""
    lower: tg.Polynomial | None = None
    upper: tg.Polynomial | None = None
    steps: tuple[int, ...] = ()
    scalars: list[SSAValue] = []
    for value, holds in conjuncts([(op.result, True)]):
        if not holds:
            return
        if not tg.tensor(value).get_shape():
            scalars.append(value)
            continue
        if value not in limits:
            return
        moves, limit = limits[value]
        steps = tuple(range(len(moves)))
        if upper is None and moves == steps:
            upper = limit
        elif lower is None and moves == tuple(-step for step in steps):
            lower = limit
        else:
            return
    if lower is None or upper is None or (lanes := numbers.get(steps)) is None:
        return
    # Lane i is on if -i < lower and i < upper: if 0 <= i + (lower - 1) < (lower + upper - 1).
    count = lower + upper - tg.Affine(constant=1)
    if interval(count, intervals).lo < 0:
        return
    builder, unsigned = tg.OpBuilder.before(op), tg.TYPES["ui32"]
    first = builder.put(tg.CastOp(_emit(builder, lower - tg.Affine(constant=1)), _NARROW))
    moved = builder.put(tg.BitcastOp(builder.put(tg.AddOp(lanes, first)), unsigned))
    bound = builder.put(tg.CastOp(_emit(builder, count), unsigned))
    mask = reduce(
        lambda a, b: builder.put(tg.AndOp(a, b)), [*scalars, builder.put(tg.CmpLtOp(moved, bound))]
    )
    op.result.replace_all_uses_with(mask)
    Rewriter.erase_op(op)


def _lanes(
    value: SSAValue, count: int, intervals: MinMax
) -> tuple[tg.Polynomial, Sequence[int]] | None:
    """A vector of indices as a sum of scalars and a constant for each lane, over the integers; None
    for others, and where the sum may wrap."""
    common: tg.Polynomial = tg.Affine()
    numbers = [0] * count
    stack = [value]
    while stack:
        op = (value := stack.pop()).owner
        if isinstance(op, tg.VConstOp):
            numbers = [a + b for a, b in zip(numbers, tg.integers(op, "values"), strict=True)]
        elif (attribute := constant_attribute(value)) is not None:
            common += int(tg.number(attribute))
        elif isinstance(op, tg.AddOp):
            stack += op.operands
        elif tg.tensor(value).get_shape():
            return None
        else:
            common += tg.Affine({(value,): 1})
    index, whole = tg.DTYPES[tg.INDEX], interval(common, intervals)
    fits = whole.lo + min(numbers) >= index.low and whole.hi + max(numbers) <= index.high
    return (common, numbers) if fits else None


def _emit(builder: tg.OpBuilder, form: tg.Polynomial) -> SSAValue:
    """A sum of scalars, each with factor 1 or -1 or more, and a constant."""
    result = builder.index_constant(form.constant)
    for (atom,), factor in form.terms.items():
        assert isinstance(atom, SSAValue)
        kind = tg.AddOp if factor > 0 else tg.SubOp
        for _ in range(abs(factor)):
            result = builder.put(kind(result, atom))
    return result
