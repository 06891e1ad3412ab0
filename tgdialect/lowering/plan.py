"""Plan: buffers that are not live at the same time share storage.

Linear level to planned level (docs/ir.md). The intermediate buffers of a function become views of
one arena per device, and a second one for values derived from constant arguments; these are its
last arguments. REG and LOCAL buffers of one type in a program become one buffer.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate

from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.constants import constants
from tgdialect.analysis.in_place import Slots, in_place_slots
from tgdialect.analysis.index_expressions import ComputedExtents, index_arguments
from tgdialect.analysis.liveness import LinearAccesses, LiveRange, live_ranges
from tgdialect.analysis.min_max import MinMax, most_elements
from tgdialect.analysis.symbols import symbols_around
from tgdialect.diagnostics import RemarkKind, begins, emit_remark, remarks_are_wanted
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.levels import KernelPass
from tgdialect.lowering.recomputation import emit_sum
from tgdialect.ops import tg
from tgdialect.ops.affine import polynomial_interval, times
from tgdialect.ops.axis_types import PARALLEL, WORKGROUP
from tgdialect.ops.dtypes import UI8
from tgdialect.targets.attribute import target_of
from tgdialect.transforms.dead_ops import erase_unused


class PlanPass(KernelPass):
    """Let buffers with disjoint lifetimes share storage.

    The intermediates of a function become views of one arena per device, and a second one for
    values derived from constant arguments; these are its last arguments. REG and LOCAL buffers of
    one type in a program become one.
    """

    name = "tg-plan"
    level_before = "linear"
    level_after = "planned"

    def lower_kernel(self, kernel: tg.KernelOp | tg.ProgramOp) -> tg.KernelOp | tg.ProgramOp:
        if isinstance(kernel, tg.ProgramOp):
            plan_program(kernel)
        return kernel

    def lower_function(self, function: FuncOp) -> None:
        target = target_of(function.parent_op())
        plan_function(function, target.alignment, may_grow=not target.is_grid)


# -- functions -----------------------------------------------------------------------------------


def plan_function(function: FuncOp, alignment: int, *, may_grow: bool = False) -> None:
    """Replace the buffers of a function by views of an arena, and record its size.

    If it `may_grow`, an arena of buffers of dynamic sizes is as large as a call needs it; else, and
    where sizes are products of too many terms or on several devices, as for the greatest sizes.

    Each begins at a multiple of `alignment` bytes.

    rewrite: `%b = tg.buffer 0 : tensor<4xf32, ...>` -> `%w`, an argument `{tg.workspace}` of `ui8`;
    `%b = reshape (bitcast (shrink %w at [offset] to [16]) to f32) [4]`.

    Buffers that depend on constant arguments alone go to a separate arena, `{tg.persistent}`, and
    the CALLs that write them come first.
    """
    intervals, total = MinMax(), 0
    arenas: dict[tuple[str, tg.Device], list[tg.BufferOp]] = {}
    live: dict[SSAValue, LiveRange] = {}
    first: dict[SSAValue, SSAValue] = {}
    constant: Set[SSAValue] = frozenset()
    ops = ops_of(function.body.block)
    if "tg.workspace_bytes" in function.attributes:
        return  # It is planned already.
    # The live ranges of buffers, and which buffers are written in place over others.
    for op in ops:
        if isinstance(op, tg.LinearOp):
            constant, count = _constants_first(function, op)
            live, end = live_ranges(op), len(op.body.block.ops)
            for memory in constant & live.keys():
                if live[memory].end >= count:  # It lives on after the call.
                    live[memory] = LiveRange(live[memory].start, end)
            first = written_in_place(op, live)
    # Erase the buffers that no CALL accesses, and their views.
    for op in reversed(ops):
        if isinstance(op, tg.BufferOp | tg.MovementOp) and not op.results[0].uses:
            function.body.block.erase_op(op)
    # An arena for each kind and device, and the buffers in it.
    for op in function.body.block.ops:
        if isinstance(op, tg.BufferOp):
            kind = "tg.persistent" if op.result in constant else "tg.workspace"
            arenas.setdefault((kind, tg.place(op.result).device), []).append(op)
    for (kind, device), buffers in sorted(arenas.items(), key=lambda arena: arena[0][0]):
        # Buffers that are written in place share a block, which has one offset.
        blocks: dict[SSAValue, list[tg.BufferOp]] = defaultdict(list)
        for buffer in buffers:
            blocks[first.get(buffer.result, buffer.result)].append(buffer)
        lives = [
            LiveRange(min(r.start for r in ranges), max(r.end for r in ranges))
            for ranges in ([live[b.result] for b in block] for block in blocks.values())
        ]
        grows = may_grow and kind == "tg.workspace" and not isinstance(device, tuple)
        if grows and any(b.dims for b in buffers):
            units = _units(blocks.values(), alignment, intervals)
            if units is not None:
                _plan_growing(function, list(blocks.values()), units, lives, device, alignment)
                continue
        sizes = [
            -(-max(max_bytes(b, intervals) for b in block) // alignment) * alignment
            for block in blocks.values()
        ]
        offsets, size = assign_offsets(sizes, lives)
        _remark(function, kind, size, len(buffers), sum(sizes))
        start = 0
        if kind == "tg.workspace":
            total += size
        else:
            start = alignment  # The first bytes are the flag that the contents are computed.
        # The argument, and views of it in place of the buffers.
        arena = _add_arena(function, kind, device, start + size)
        for block, offset in zip(blocks.values(), offsets, strict=True):
            for buffer in block:
                _replace_by_view(buffer, arena, start + offset, max_bytes(buffer, intervals))
    function.attributes["tg.workspace_bytes"] = builtin.IntegerAttr(total, builtin.i64)


def _remark(
    function: FuncOp, kind: str, size: int, buffers: int, apart: int, where: str = ""
) -> None:
    """Say what memory buffers share, and what they would take apart, in bytes."""
    if remarks_are_wanted():
        message = f"arena of {size} bytes for {buffers} buffers, which take {apart} bytes apart"
        more = {"Arena": kind, "Bytes": size, "Buffers": buffers, "Apart": apart}
        emit_remark(function, message + where, "Arena", RemarkKind.ANALYSIS, **more)


# -- arenas of dynamic size

TYPICAL_EXTENT = 64
"""The elements of each dynamic axis for which the order of blocks in an arena is found: it is the
best one for sizes near this; for others, blocks take more memory. Larger: products of sizes count
for more beside single ones. An order of magnitude."""


def _plan_growing(
    function: FuncOp,
    blocks: Sequence[Sequence[tg.BufferOp]],
    units: Sequence[tg.Polynomial],
    lives: Sequence[LiveRange],
    device: tg.Device,
    alignment: int,
) -> None:
    """Replace buffers by views of an arena whose size a call computes.

    Sizes (`units`) and offsets are polynomials in the extents, in units of the alignment. Blocks
    lie in the order that `assign_offsets` finds for typical extents: each begins where those below
    it that are live at the same time end, whatever the extents are.
    """
    typical = [int(polynomial_interval(u, lambda _: _TYPICAL).hi) for u in units]
    order, _ = assign_offsets([max(size, 1) for size in typical], lives)
    overlaps = _overlaps(lives)
    offsets: dict[int, tg.Polynomial] = {}
    for number in sorted(range(len(blocks)), key=order.__getitem__):
        below = (offsets[i] + units[i] for i in _bits(overlaps[number]) if i in offsets)
        offsets[number] = _at_least(below)
    # Sizes are computed before all memory, and that of the arena by each call.
    block = function.body.block
    first = min((b for each in blocks for b in each), key=block.get_operation_index)
    for op in ops_of(block)[block.get_operation_index(first) :]:
        if isinstance(op, tg.ElementwiseOp | tg.ConstOp) and not tg.is_memory(op.results[0]):
            op.detach()
            block.insert_op_before(op, first)
    total = _at_least(offset + units[number] for number, offset in offsets.items())
    size = alignment * int(polynomial_interval(total, lambda _: _TYPICAL).hi)
    where = f", where dynamic sizes are {TYPICAL_EXTENT}"
    _remark(function, "tg.workspace", size, sum(map(len, blocks)), alignment * sum(typical), where)
    value = emit_sum(tg.OpBuilder.before(first), total * alignment)
    arena = _add_arena(function, "tg.workspace", device, _computed_size(function, value))
    erase_unused(block)
    for number, buffers in enumerate(blocks):
        for buffer in buffers:
            put = tg.OpBuilder.before(buffer).put
            offset = emit_sum(tg.OpBuilder.before(buffer), offsets[number] * alignment)
            elements: SSAValue | None = None
            for extent in tg.shape_of(buffer.result):
                assert not isinstance(extent, tg.UnknownDim)
                if isinstance(extent, int):
                    extent = tg.OpBuilder.before(buffer).index_constant(extent)
                elements = extent if elements is None else put(tg.MulOp(elements, extent))
            if elements is None:
                elements = tg.OpBuilder.before(buffer).index_constant(1)
            _replace_by_view(buffer, arena, offset, elements)


_TYPICAL = tg.Interval(TYPICAL_EXTENT, TYPICAL_EXTENT)


def _units(
    blocks: Iterable[Sequence[tg.BufferOp]], alignment: int, intervals: MinMax
) -> Sequence[tg.Polynomial] | None:
    """The size of each block in units of the alignment, each term rounded up, so that sums of sizes
    stay sums of products; None if one of these is too large."""
    found: list[tg.Polynomial] = []
    for block in blocks:
        sizes = [_units_of(buffer, alignment, intervals) for buffer in block]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            return None
        found.append(_at_least(known))
    return found


def _size(extent: tg.Dim, intervals: MinMax) -> tg.Polynomial:
    """An extent, which is not negative, as a polynomial in values that are not negative either."""
    found = tg.polynomial(extent)
    atoms = (atom for term in found.terms for atom in term)
    if all(isinstance(atom, SSAValue) and intervals[atom].lo >= 0 for atom in atoms):
        return found
    assert isinstance(extent, SSAValue)
    return tg.Affine({(extent,): 1})


def _units_of(buffer: tg.BufferOp, alignment: int, intervals: MinMax) -> tg.Polynomial | None:
    count: tg.Polynomial | None = tg.Affine(constant=tg.dtype_of(buffer.result).itemsize)
    for extent in tg.shape_of(buffer.result):
        if (count := times(count, _size(extent, intervals))) is None:
            return None
    terms = {term: -(-factor // alignment) for term, factor in count.terms.items()}
    return tg.Affine(terms, -(-count.constant // alignment))


def _at_least(sizes: Iterable[tg.Polynomial]) -> tg.Polynomial:
    """A polynomial that is not less than any of some, which are not negative: the greatest factor
    of each product."""
    found: tg.Polynomial = tg.Affine()
    for size in sizes:
        terms = dict(found.terms)
        for term, factor in size.terms.items():
            if factor > 0:  # As a lesser of two extents, a + b - max(a, b), has others.
                terms[term] = max(factor, terms.get(term, 0))
        found = tg.Affine(terms, max(found.constant, size.constant))
    return found


def _computed_size(function: FuncOp, total: SSAValue) -> BlockArgument:
    """An index argument, the last one, for a size that each call computes."""
    block = function.body.block
    attributes = list(function.arg_attrs or [builtin.DictionaryAttr({})] * len(block.args))

    def add(more: Mapping[str, Attribute], name: str) -> tuple[SSAValue, int]:
        argument = block.insert_arg(tg.tensor_type(tg.INDEX), len(block.args))
        argument.name_hint = name
        attributes.append(builtin.DictionaryAttr(dict(more)))
        return argument, argument.index

    known = index_arguments(block.args)
    positions: dict[SSAValue, int] = {a: a.index for a in block.args if a in known}
    found = ComputedExtents(known, positions, add).argument(total)
    assert isinstance(found, BlockArgument)
    function.arg_attrs = builtin.ArrayAttr(attributes)
    function.function_type = builtin.FunctionType.from_lists(
        [a.type for a in block.args], list(function.function_type.outputs)
    )
    return found


def _constants_first(function: FuncOp, linear: tg.LinearOp) -> tuple[Set[SSAValue], int]:
    """Put the CALLs that depend on constant arguments alone before the others. Returns the memory
    that has the same contents in every call of the function, and the number of these CALLs."""
    block = linear.body.block
    memory, calls = constants(function, block.ops)
    constant = set(calls)
    others = [op for op in block.ops if op not in constant]
    for op in (*calls, *others) if calls else ():
        op.detach()
        block.add_op(op)
    return memory, len(calls)


def written_in_place(
    linear: tg.LinearOp, live: Mapping[SSAValue, LiveRange]
) -> dict[SSAValue, SSAValue]:
    """Buffers that can be written in place over a buffer that is not read any more, each with the
    first buffer of the chain."""
    slots: dict[Attribute, Sequence[Slots]] = {}
    first: dict[SSAValue, SSAValue] = {}
    taken: set[SSAValue] = set()
    symbols = symbols_around(linear)
    for position, op in enumerate(linear.body.block.ops):
        if not isinstance(op, tg.CallOp):
            continue
        # The slots of a program, at its first CALL; what is opaque writes nothing in place.
        if op.callee not in slots:
            slots[op.callee] = in_place_slots(symbols.get(op.callee.string_value()))
        # A buffer that is read for the last time holds what is written, if nothing else does.
        arguments = list(op.arguments)
        for pair in slots[op.callee]:
            source, target = (arguments[slot] for slot in pair)
            if (
                all(isinstance(a.owner, tg.BufferOp) for a in (source, target))
                and arguments.count(source) == arguments.count(target) == 1
                and tg.place(source).device == tg.place(target).device
                and live[source].end == position == live[target].start
                and source not in taken
                and target not in first
            ):
                taken.add(source)
                first[target] = first.get(source, source)
    return first


def shards(device: tg.Device) -> int:
    """How many devices a buffer is split over."""
    return len(device) if isinstance(device, tuple) else 1


def max_bytes(buffer: tg.BufferOp, intervals: MinMax) -> int:
    """The greatest size of a buffer on one device, in bytes."""
    elements = most_elements(buffer, intervals)
    return elements * tg.dtype_of(buffer.result).itemsize // shards(tg.place(buffer.result).device)


def assign_offsets(sizes: Sequence[int], live: Sequence[LiveRange]) -> tuple[list[int], int]:
    """Offsets at which blocks that are live at the same time do not overlap, and the total size.

    Greedy by size: the largest first, each into the smallest gap that it fits between the blocks
    that it may not overlap. Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
    Inference" (2020), section 5.3. Or from the last one that is live on, if that takes less: a
    sorting network, where sizes alternate, takes a sixth less.
    """
    blocks = range(len(sizes))
    by_size = sorted(blocks, key=lambda i: (-sizes[i], live[i], i))
    by_time = sorted(blocks, key=lambda i: (-live[i].end, -sizes[i], i))
    overlaps = _overlaps(live)
    plans = (_greedy_offsets(order, sizes, live, overlaps) for order in (by_size, by_time))
    return min(plans, key=lambda plan: plan[1])


def _overlaps(live: Sequence[LiveRange]) -> list[int]:
    """For each block those that are live at the same time, as bits: most of thousands of blocks are
    not, and to compare each with all others takes seconds."""
    begun, ended = _prefixes([r.start for r in live]), _prefixes([r.end for r in live])
    return [
        begun[1][bisect_right(begun[0], r.end)] & ~ended[1][bisect_left(ended[0], r.start)]
        for r in live
    ]


def _prefixes(positions: Sequence[int]) -> tuple[list[int], list[int]]:
    """Positions in order, and the blocks that the first 0, 1, 2, ... of them belong to, as bits."""
    order = sorted(range(len(positions)), key=positions.__getitem__)
    bits = accumulate((1 << block for block in order), int.__or__, initial=0)
    return [positions[block] for block in order], list(bits)


def _bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        last = mask & -mask
        yield last.bit_length() - 1
        mask ^= last


def _greedy_offsets(
    order: Sequence[int], sizes: Sequence[int], live: Sequence[LiveRange], overlaps: Sequence[int]
) -> tuple[list[int], int]:
    """The offsets of blocks that are placed in an order, and the total size."""
    places: dict[int, tuple[int, int, LiveRange]] = {}
    in_order: list[tuple[int, int, LiveRange]] = []
    placed = 0
    for block in order:
        size, (start, last) = sizes[block], live[block]
        overlapping = placed & overlaps[block]
        placed |= 1 << block
        # Few blocks are looked up. Of most, as of the activations of a gradient, the order is kept.
        if 4 * overlapping.bit_count() < len(in_order):
            beside = sorted(places[i] for i in _bits(overlapping))
        else:
            beside = [each for each in in_order if each[2][0] <= last and each[2][1] >= start]
        end, best, smallest = 0, None, math.inf
        for offset, until, _ in beside:
            if size <= offset - end < smallest:
                best, smallest = end, offset - end
            if until > end:
                end = until
        if best is None:
            best = end
        places[block] = place = best, best + size, live[block]
        insort(in_order, place)
    total = max((until for _, until, _ in in_order), default=0)
    return [places[block][0] for block in range(len(sizes))], total


def _add_arena(
    function: FuncOp, kind: str, device: tg.Device, size: int | BlockArgument
) -> SSAValue:
    """Append an arena to a function's arguments: `ui8` of shape (size,), or (devices, size)."""
    axis, leading = (0, (shards(device),)) if isinstance(device, tuple) else (None, ())
    where = tg.PlaceAttr.of(device, tg.AddrSpace.GLOBAL, axis)
    extent = size if isinstance(size, int) else builtin.DYNAMIC_INDEX
    type = tg.tensor_type(UI8, (*leading, extent), where)
    block = function.body.block
    empty = [builtin.DictionaryAttr({})] * len(block.args)
    attributes = list(function.arg_attrs or empty)
    argument = block.insert_arg(type, len(block.args))
    argument.name_hint = kind.removeprefix("tg.")
    more: dict[str, Attribute] = {}
    if not isinstance(size, int):
        more["tg.dims"] = builtin.DenseArrayBase.from_list(builtin.i64, [size.index])
    function.arg_attrs = builtin.ArrayAttr(
        [*attributes, builtin.DictionaryAttr({kind: builtin.UnitAttr(), **more})]
    )
    inputs = [*function.function_type.inputs, type]
    function.function_type = builtin.FunctionType.from_lists(
        inputs, list(function.function_type.outputs)
    )
    return argument


def _replace_by_view(
    buffer: tg.BufferOp, arena: SSAValue, offset: int | SSAValue, size: int | SSAValue
) -> None:
    """Replace a buffer by a view of the arena, from an offset on. `size` is its greatest one in
    bytes, or its elements as an index value."""
    if not begins("place", buffer):
        return
    builder = tg.OpBuilder.before(buffer)
    put = builder.put
    itemsize, elements = tg.dtype_of(buffer.result).itemsize, size
    if isinstance(size, SSAValue):
        size = put(tg.MulOp(size, builder.index_constant(itemsize)))
    type = tg.tensor(buffer.result)
    devices = tg.tensor(arena).get_shape()[:-1]
    start = [0] * len(devices)
    # The bytes, as elements of the dtype, in the shape of the buffer.
    view = put(tg.ShrinkOp(arena, [*start, offset], [*devices, size]))
    if type.element_type != UI8:
        if isinstance(elements, SSAValue):  # The bytes of an element are a static axis.
            view = put(tg.ReshapeOp(view, [elements, itemsize]))
        view = put(tg.BitcastOp(view, type.element_type))
    shape = [
        extent for extent in tg.shape_of(buffer.result) if not isinstance(extent, tg.UnknownDim)
    ]
    dynamic = [extent for extent in shape if isinstance(extent, SSAValue)]
    if dynamic and isinstance(size, int):
        static = math.prod(extent for extent in shape if isinstance(extent, int))
        elements = builder.index_constant(static // math.prod(devices))
        for extent in dynamic:
            elements = put(tg.MulOp(elements, extent))
        view = put(tg.ShrinkOp(view, [*start, 0], [*devices, elements]))
    if dynamic or tg.tensor(view).get_shape() != type.get_shape():
        view = put(tg.ReshapeOp(view, shape))
    view.name_hint = buffer.result.name_hint
    Rewriter.replace_op(buffer, (), [view])


# -- programs ------------------------------------------------------------------------------------


def plan_program(program: tg.ProgramOp) -> None:
    """Merge the REG or LOCAL buffers of one type that are not live at the same time.

    Each iteration of the parallel loops around all accesses to a buffer has a copy of it. So two
    become one only if these loops are the same.

    The work items of a workgroup share LOCAL memory: between the two live ranges there has to be a
    BARRIER that is in no serial loop and no IF. Then no loop leads back from the second live range
    to the first, and no path goes round the BARRIER.
    """
    linear = program.linear
    ops = ops_of(linear.body.block)
    code = LinearAccesses(linear)
    live = code.live_ranges()
    barriers = list(_outer_barriers(ops))
    is_parallel = any(map(_is_in_workgroup, ops))
    buffers = [op for op in ops if isinstance(op, tg.BufferOp)]
    positions = {buffer: position for position, buffer in enumerate(buffers)}
    owners: dict[object, list[tuple[int, tg.BufferOp]]] = defaultdict(list)
    # In order of their first use, each takes over a buffer of its type that is not live any more.
    for buffer in sorted(buffers, key=lambda b: live.get(b.result, _NEVER)):
        if buffer.result not in live:
            Rewriter.erase_op(buffer)
            continue
        start, end = live[buffer.result]
        needs_barrier = is_parallel and tg.place(buffer.result).addrspace is tg.AddrSpace.LOCAL
        loops = code.common_loops(buffer.result)
        parallel = tuple(loop for loop in loops if loop.axis_type.data in PARALLEL)
        candidates = owners[buffer.result.type, parallel]
        for index, (last, owner) in enumerate(candidates):
            between = bisect_left(barriers, start) - bisect_right(barriers, last)
            is_free = last < start and (not needs_barrier or between > 0)
            if is_free and begins("share", buffer):
                candidates[index] = (end, owner)
                if positions[buffer] < positions[owner]:
                    # A view of the buffer may come before the owner.
                    owner.detach()
                    linear.body.block.insert_op_before(owner, buffer)
                    positions[owner] = positions[buffer]
                Rewriter.replace_op(buffer, (), [owner.result])
                break
        else:
            candidates.append((end, buffer))


_NEVER = LiveRange(-1, -1)


def _is_in_workgroup(op: Operation) -> bool:
    if isinstance(op, tg.RangeOp):
        return op.axis_type.data in WORKGROUP
    return isinstance(op, tg.SpecialOp)


def _outer_barriers(ops: Sequence[Operation]) -> Iterator[int]:
    """The positions of the BARRIERs in no serial loop and no IF."""
    around = tg.nesting(ops)
    for position, op in enumerate(ops):
        if isinstance(op, tg.BarrierOp) and all(
            isinstance(each, tg.RangeOp) and each.axis_type.data in PARALLEL for each in around[op]
        ):
            yield position
