"""Products by matrix instructions of a CPU, which read blocks of both factors from memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tgdialect.analysis.affine.strides import Strides, strides
from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.loops import arrange_loops
from tgdialect.lowering.optimize.cpu.tiles import nest_parts
from tgdialect.lowering.optimize.nests import Nests, part
from tgdialect.lowering.optimize.optops.apply import apply_opts, attempt, made_by
from tgdialect.lowering.optimize.optops.split import divisors
from tgdialect.lowering.optimize.optops.tc import Level, product_in
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.matrix import MatrixInstruction, matrix_instructions

ROWS_PART = 2
"""Reserve one in so many parts of L2 for the rows that a block of columns is multiplied with. More
rows: the other factor is read from memory less often; fewer: it has more of L2, which it needs as
well. A product of 1024x1024x1024 took 3.1 ms with one block of rows, and 1.2 ms with half of L2."""

COPIED = 2
"""The blocks of columns of B that are copied together. More: whole pairs of cache lines are read,
which a core prefetches (two blocks are 128 bytes of each row); fewer: copies leave L2 to the other
factor. 64x4096x1024 took 0.54 ms instead of 0.58, and 256x1024x1024 0.30 instead of 0.33; others
took the same. With 4, the copies of 1024 steps and of A fill half of L2, and 256x1024x1024 took
0.31."""

WASTE = 4
"""The most that padding of rows and columns to whole blocks may multiply the work by. Larger: more
padding, which takes time and memory; smaller: more products in f32, though an instruction on
vectors multiplies twice as much in a cycle, and one on tiles 16 times as much. By tiles 10 columns
took 21 us instead of 59, padded to 32; by vectors 512x512x10 takes 45 instead of 64, and 2 rows of
1024x1024 22 instead of 30, padded to 8; one row takes 27 instead of 21
(docs/notes/tensor-cores.md has the processors)."""


def multiply_blocks(axes: Axes, target: Target, threads: int) -> bool:
    """Compute the product of a kernel by a matrix instruction, if it is one of two parameters of
    enough rows and columns and that is legal, and share it among threads. Whether it was."""
    known = matrix_instructions(target)
    product = product_in(axes) if known else None
    if product is None or product.factors.gates:
        return False
    memories = [tg.memory_of(load.buffer).owner for load in product.loads if load is not None]
    slots = [memory.slot.data for memory in memories if isinstance(memory, tg.ParamOp)]
    numbers, extents = [range.axis.data for range in product.ranges], product.extents[:2]
    for index, instruction in enumerate(known):
        tiles = zip(extents, instruction.fragments.dims, strict=False)
        padded = math.prod(-(-extent // tile) * tile for extent, tile in tiles)
        is_quick = len({*slots}) == 2 and padded <= WASTE * math.prod(extents)
        if not is_quick or tg.dtype_of(product.factors.a).name != instruction.factor:
            continue
        # All OptOps have to be legal. Packing a constant changes the callers, and a trial does not.
        trial, done = axes.trial(), len(axes.kernel.sink.opts or ())
        if _multiply(trial, instruction, index, numbers, slots, threads):
            apply_opts(axes, [*(trial.kernel.sink.opts or ())][done:])
            return True
    return False


def _multiply(
    axes: Axes,
    instruction: MatrixInstruction,
    index: int,
    numbers: Sequence[int],
    slots: Sequence[int],
    threads: int,
) -> bool:
    """Whether all OptOps of a product by an instruction are legal, for the numbers of the ranges of
    rows, columns and steps and the slots of both factors.

    In the order of loops: parts of rows or columns, for each of which A is copied; columns, with a
    copy of one block of B; rows; steps.
    """
    rows, columns, steps = numbers
    if not attempt(axes, tg.OptOp.TC, steps, index, Level.PADDED, 1):
        return False
    # Copies of a block of rows and of one of columns, of all steps, are in LOCAL memory.
    (reduction,) = (op for op in axes.ops if isinstance(op, tg.ReduceOp) and op.wmma is not None)
    depth = math.prod(axes.extent(range) for range in closed_ranges(reduction))
    height, width, _ = instruction.fragments.dims
    itemsize, target = tg.DTYPES[tg.TYPES[instruction.factor]].itemsize, axes.target
    bytes = height * depth * itemsize
    if max(bytes, width * depth * itemsize) > target.copied // 2:
        return False
    if (count := part(axes.extent(axes[steps]), instruction.unrolled)) > 1:
        attempt(axes, tg.OptOp.SPLIT, steps, count, tg.AxisType.UNROLL)
    loops = loops_of(axes.ends[axes[rows]])
    outer = [n for range in loops if (n := range.axis.data) not in (rows, columns)]
    a, b = slots
    is_packed = b in axes.constants
    # Where there are other loops outside, each of their iterations copies what it uses.
    fitting = max(target.l2 // ROWS_PART // bytes, 1)
    around = math.prod(axes.extent(axes[number]) for number in outer)
    parts = -(-max(target.threads, 2) // around)
    blocks = _blocks(axes, (rows, columns), (height, width), fitting, parts, is_packed)
    order, inner = [*outer], {rows: rows, columns: columns}
    for number, size in blocks:
        order.append(inner[number])
        # A block of one iteration has no loop of its own.
        if size > 1:
            if (found := _split(axes, inner[number], size)) is None:
                return False
            inner[number] = found
    if inner[columns] not in order:
        order.append(inner[columns])
    column = inner[columns]
    # Columns of several blocks are copied together: more of each row of B is read at once.
    together = target.copied // 4 // (width * depth * itemsize)
    if not is_packed and axes.extent(axes[column]) > COPIED <= together:
        if (found := _split(axes, column, COPIED)) is None:
            return False
        order.append(found)
    if inner[rows] not in order:
        order.append(inner[rows])
    if len(order) > 1 and not attempt(axes, tg.OptOp.ORDER, *order):
        return False
    if threads > 1:
        arrange_loops(Nests.of(axes, target), threads, is_ordered=True)
    # Without blocks or loops outside, A is copied in the loop over rows.
    around = len(outer) + len(blocks)
    if not _copy(axes, a, order[around - 1] if around else rows):
        return False
    if is_packed:
        return attempt(axes, tg.OptOp.STAGE, b, column, "global")
    return _copy(axes, b, column)


def _blocks(
    axes: Axes,
    sides: tuple[int, int],
    tile: tuple[int, int],
    fitting: int,
    parts: int,
    is_packed: bool,
) -> list[tuple[int, int]]:
    """The blocks into which rows and columns are divided, the outermost first: the loop of each and
    how many iterations a block has. An iteration has the rows or columns of a `tile`. `fitting`
    blocks of rows fit into L2, and there are at least `parts` blocks in all, if there are as many
    rows or columns.

    A is copied for each part of the columns, and B, unless it is packed, for each block of rows.
    """
    (rows, height), (columns, width) = ((number, axes.extent(axes[number])) for number in sides)
    passes = -(-height // fitting)
    by_rows = min(parts, height)
    by_columns = min(parts, width)
    again = -(-max(passes, by_rows) // by_rows) * by_rows
    height_of_all, width_of_all = height * tile[0], width * tile[1]
    copies_by_rows = height_of_all + width_of_all * again
    copies_by_columns = height_of_all * by_columns + width_of_all * passes
    if is_packed or (-by_rows, copies_by_rows) <= (-by_columns, copies_by_columns):
        return [(rows, -(-height // again))] if again > 1 else []
    found = [(columns, -(-width // by_columns))] if by_columns > 1 else []
    return [*found, (rows, -(-height // passes))] if passes > 1 else found


def _split(axes: Axes, number: int, size: int) -> int | None:
    """Divide a loop into blocks, the last of which may have iterations past the end. The loop in
    the blocks; None if that is not legal."""
    is_whole = axes.extent(axes[number]) % size == 0
    if not is_whole and not attempt(axes, tg.OptOp.PADTO, number, size, "clamp"):
        return None
    made = made_by(axes, tg.OptOp.SPLIT, number, size, tg.AxisType.GLOBAL)
    return None if made is None else next(iter(made), number)


def _copy(axes: Axes, slot: int, loop: int) -> bool:
    """Copy the blocks of a factor in a loop, in vectors of what lies next to each other. Whether
    that was legal."""
    before = {*axes.ranges}
    if not attempt(axes, tg.OptOp.STAGE, slot, loop, "local"):
        return False
    made = [r for n, r in axes.ranges.items() if n not in before]
    load, read, written = _copied(axes, made)
    lanes = axes.target.lanes(tg.dtype_of(load.result).itemsize)
    # Neighbours that are in several blocks are loaded together.
    along = next((r for r in made if read.get(r) == 1), None)
    if along is not None and not is_expanded(along):
        count = math.gcd(axes.extent(along), lanes)
        if count > 1:
            attempt(axes, tg.OptOp.SPLIT, along.axis.data, count, tg.AxisType.UPCAST)
    tile = [r for n, r in axes.ranges.items() if n not in before and is_expanded(r)]
    _, read, written = _copied(axes, tile)
    for range in tile:
        if read.get(range) == 1:
            continue
        # Squares are transposed in registers, and steps of which pairs are interleaved stay in one
        # vector.
        height = lanes if written.get(range) == 1 else max(divisors(range), default=1)
        parts = axes.extent(range) // height
        if parts > 1:
            attempt(axes, tg.OptOp.SPLIT, range.axis.data, parts, tg.AxisType.LOOP, "top")
    # Vectors lie along what is read: only LOADs have gates. Loops are in the order of memory.
    tile = [r for n, r in axes.ranges.items() if n not in before and is_expanded(r)]
    nest_parts(axes, sorted(tile, key=lambda range: read.get(range) == 1))
    copied = [r for n, r in axes.ranges.items() if n not in before and not is_expanded(r)]
    if len(copied) > 1:
        _, read, _ = _copied(axes, copied)
        copied.sort(key=lambda range: -abs(read.get(range) or 0))
        attempt(axes, tg.OptOp.ORDER, *(range.axis.data for range in copied))
    return True


def _copied(axes: Axes, loops: Sequence[tg.RangeOp]) -> tuple[tg.LoadOp, Strides, Strides]:
    """The LOAD of a copy in some loops, and the strides of what it reads and of what is written."""
    (store,) = {store for range in loops for store in axes.stores(range)}
    load = store.value.owner
    assert isinstance(load, tg.LoadOp)
    return load, strides(load.buffer, axes.around), strides(store.buffer, axes.around)
