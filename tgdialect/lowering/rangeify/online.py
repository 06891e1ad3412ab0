"""The kernel of an attention: a workgroup goes over the scores of a block of rows in one pass.

    for a block of rows:
      m = -inf, l = 0, o = 0
      for a block of steps:
        s = the block of scores
        m' = max(m, max s);  c = exp2(scale * (m - m'))
        s = exp2(scale * (s - m'))
        l = c * l + sum s;   o = c * o + sum s * v
      out = o / l

Each line is a loop nest over LOCAL buffers of its own, which the schedule gives to the work items
of a workgroup. `planning/online_recognition.py` proves that this is what the function asks for.

If one block has all steps, nothing is there before or after it: m and l are stored once, and o is
computed where the result is stored.

Where all scores so far are -inf, `m - m'` would be NaN. The differences are to a finite number
then, so that the exponentials and the sums are 0. At the end a sum whose maximum is -inf is NaN, as
it is where the maximum is known from the beginning: exp2(-inf - -inf).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import broadcast
from tgdialect.analysis.affine.positions import ZERO, Index, Position
from tgdialect.lowering.rangeify.cells import Cell, Lowering, done
from tgdialect.lowering.rangeify.kernel import KernelBuilder
from tgdialect.lowering.rangeify.masked_blocks import skip_masked_blocks
from tgdialect.lowering.rangeify.planning.online import OnlineSum, OnlineSums, follow, reduced_at
from tgdialect.lowering.rangeify.planning.online_blocks import (
    COLUMNS,
    SCORED_STEPS,
    Blocks,
    are_tiled,
)
from tgdialect.ops import tg
from tgdialect.transforms.float_format import FORMATS
from tgdialect.transforms.transcendental import least_of_normal

_T = TypeVar("_T")

Given = dict[Operation, Callable[[Index], Lowering]]


class _Nest(NamedTuple):
    """Loops over cells of a block: its rows, or its steps, or columns of the result."""

    at: Index
    """The index of the root."""
    ranges: tuple[SSAValue, ...]
    """The loops, outermost first."""


class _Before(NamedTuple):
    """The state before a block of steps."""

    start: SSAValue
    """The effect that stores what the first block begins with."""
    change: SSAValue
    """The buffer of what sums are multiplied by."""


class OnlineKernel:
    """Appends the kernel of some sums to a builder."""

    def __init__(
        self,
        k: KernelBuilder,
        group: OnlineSums,
        blocks: Blocks,
        *,
        is_grid: bool,
        is_relaxed: bool,
    ) -> None:
        """`is_relaxed` says whether maxima of scores are, where NaN and zeros allow it.

        On a grid, work items share a block. Elsewhere vectors lie along its rows, which are next to
        each other in memory, and the last block of rows begins in the one before.
        """
        self.k, self.group, self.blocks, self.is_grid = k, group, blocks, is_grid
        self.is_relaxed = is_relaxed and group.keeps_nan
        self.shape = shape = tg.tensor(group.root.results[0]).get_shape()
        self.extents = list(shape)
        """The extents of loops: work items share the last of the columns."""
        for axis in group.columns[-1:] if is_grid else ():
            self.extents[axis] = -(-shape[axis] // COLUMNS) * COLUMNS
        # The loops of the workgroups: over all other axes that the scores depend on, and blocks.
        own = {group.row, *group.columns}
        self.batch = [ZERO] * len(shape)
        self.around: list[SSAValue] = []
        for axis, extent in enumerate(shape):
            if axis not in own and extent != 1:
                (self.batch[axis],), ranges = k.loops((extent,), tg.AxisType.LOOP)
                self.around += ranges
        self.row_blocks = k.new_range(-(-group.rows // blocks.rows))
        self.around.append(self.row_blocks)
        self.start = self.first_row()
        count = -(-group.steps // blocks.steps)
        self.is_single = count == 1
        """Whether there is one block of steps, so that nothing is kept for the next one."""
        self.step_blocks = (
            k.constant(0) if self.is_single else k.new_range(count, tg.AxisType.REDUCE)
        )
        self.within = self.around if self.is_single else [self.step_blocks]
        """The loops that each block of scores is stored in anew."""
        self.count = self.steps_left()
        self.counted: list[SSAValue] = []
        """The loops over the steps of a block that count."""
        self.tiles: SSAValue | None = None
        """The loop over tiles of steps whose scores are computed, if there are tiles."""
        self.dtype = tg.tensor(group.scores).element_type
        self.powers = k.local_buffer(self.dtype, self.placed(blocks.rows, blocks.steps))
        """A block of scores, and then of exponentials."""
        self.greatest = k.local_buffer(self.dtype, (blocks.rows,))
        """The maxima of rows."""

    # -- loops

    def first_row(self) -> SSAValue | None:
        """The first row of a block, if the last block begins in the one before; else None."""
        k, last, size = self.k, self.group.rows - self.blocks.rows, self.blocks.rows
        if self.is_grid or last < 0 or last % size == 0:
            return None
        return k.least(k.emit(tg.MulOp, self.row_blocks, k.constant(size)), k.constant(last))

    def rows(self, columns: Sequence[int] = ()) -> _Nest:
        """New loops over the rows of a block, and over columns."""
        k, group, size = self.k, self.group, self.blocks.rows
        if self.start is None:
            position, row = k.part_of_block(group.rows, size, self.row_blocks)
        else:
            position, row = k.part_from(group.rows, size, self.start)
        index, ranges = list(self.batch), [row]
        index[group.row] = position
        for axis in columns:
            index[axis], column = k.loop_past(self.shape[axis], self.extents[axis])
            ranges.append(column)
        return _Nest(tuple(index), tuple(ranges))

    def steps_left(self) -> SSAValue | None:
        """How many steps of a block there are, if the last has fewer; None on a grid, where all
        work items have the same loops, and scores past the last step are -inf."""
        k, steps, size = self.k, self.group.steps, self.blocks.steps
        if self.is_grid or steps % size == 0:
            return None
        all_steps, most = k.constant(steps), k.constant(size)
        left = k.emit(tg.SubOp, all_steps, k.emit(tg.MulOp, self.step_blocks, most))
        return k.least(left, most)

    def steps(self, kind: tg.AxisType) -> tuple[Position, SSAValue]:
        """A new loop over the steps of a block that count."""
        steps, size = self.group.steps, self.blocks.steps
        found = self.k.part_of_block(steps, size, self.step_blocks, kind, self.count)
        self.counted.append(found[1])
        return found

    def scored_steps(self) -> tuple[Position, Sequence[SSAValue], SSAValue]:
        """New loops over the steps of a block whose scores are computed: the position of a step,
        the loops, and the step's number in the block.

        If not all blocks count all of their steps, the outer loop goes over tiles of
        `SCORED_STEPS`, as many as have a step that counts. The last tile of the last block begins
        in the one before, so that no key past the last one is read.
        """
        k, steps, size = self.k, self.group.steps, self.blocks.steps
        if self.is_grid or not are_tiled(self.group, size):
            position, step = k.part_of_block(steps, size, self.step_blocks)
            return position, [step], step
        height = k.constant(SCORED_STEPS)
        tiles = k.constant(size // SCORED_STEPS)
        if self.count is not None:
            padded = k.emit(tg.AddOp, self.count, k.constant(SCORED_STEPS - 1))
            tiles = k.emit(tg.IDivOp, padded, height)
        tile = self.tiles = k.new_range(tiles)
        block = k.emit(tg.MulOp, self.step_blocks, k.constant(size))
        first = k.emit(tg.MulOp, tile, height)
        start = k.emit(tg.AddOp, block, first)
        if self.count is not None:
            last = k.constant(steps - SCORED_STEPS)
            start = k.least(start, last)
            # This is `start - block`, of which intervals would not show that it is never negative:
            # each score would be stored under a condition.
            first = k.least(first, k.emit(tg.SubOp, last, block))
        position, step = k.part_from(steps, SCORED_STEPS, start)
        return position, [tile, step], k.emit(tg.AddOp, first, step)

    def powers_at(self, nest: _Nest, step: Position) -> Index:
        """The index of a score."""
        first = self.group.sums[0]
        index = follow(self.k, first.reach, nest.at, ZERO)
        return follow(self.k, first.inner, reduced_at(first.op, index, step), step)

    # -- cells of buffers

    def placed(self, row: _T, *others: _T) -> Sequence[_T]:
        """The indices of a cell of a block, or its extents: rows first, or where vectors lie along
        rows, last."""
        return (row, *others) if self.is_grid else (*others, row)

    def at(self, buffer: SSAValue, after: Sequence[SSAValue], *indices: SSAValue) -> SSAValue:
        """A cell of a buffer after some effects and in some loops."""
        version = self.k.put(tg.AfterOp(buffer, after)) if after else buffer
        return self.k.put(tg.IndexOp(version, indices))

    def load(self, buffer: SSAValue, after: Sequence[SSAValue], *indices: SSAValue) -> SSAValue:
        return self.k.put(tg.LoadOp(self.at(buffer, after, *indices)))

    def power(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`exp2(scale * (a - b))`, or `exp(…)`; on a CPU 0 instead of what is subnormal, beside the
        1 that each row has: EXP2 then needs no second scale (`_is_of_normal` of `tg-select`)."""
        k, scale, kind = self.k, self.group.scale, type(self.group.powers)
        difference = k.emit(tg.SubOp, a, b)
        if scale != 1:
            difference = k.emit(tg.MulOp, difference, k.constant(scale, self.dtype))
        if self.is_grid:
            return k.emit(kind, difference)
        format = FORMATS[tg.DTYPES[self.dtype].name]
        least = k.constant(least_of_normal(format, natural=kind is tg.ExpOp), self.dtype)
        is_normal = k.emit(tg.CmpGeOp, difference, least)
        return k.emit(tg.WhereOp, is_normal, k.emit(kind, difference), k.constant(0, self.dtype))

    def finite(self, greatest: SSAValue) -> SSAValue:
        """A maximum, or the least finite number instead of -inf."""
        least = self.k.constant(-tg.DTYPES[self.dtype].max_finite, self.dtype)
        return self.k.emit(tg.MaxOp, greatest, least)

    # -- the kernel

    def emit(self) -> tuple[Cell, Index, SSAValue | None, list[SSAValue]]:
        """The kernel up to the STORE: the root's cell, its index, the condition for it to exist,
        and the loops around it."""
        k, group, rows = self.k, self.group, self.blocks.rows
        # A sum for each column is computed where it is used if there is one block.
        kept = [each for each in group.sums if not (self.is_single and each.columns)]
        totals = {
            each: k.local_buffer(
                tg.accumulated_dtype(each.op),
                self.placed(rows, *(self.extents[axis] for axis in each.columns)),
            )
            for each in kept
        }
        low = k.constant(float("-inf"), self.dtype)
        before = self.before(low, totals)
        # A block: scores, maxima, exponentials, sums.
        changed = self.maxima(self.scores(), before.get(None))
        stored = self.exponentials(changed)
        ends = [
            self.add(each, total, stored, changed, before.get(each))
            for each, total in totals.items()
        ]
        ends = [changed, *ends] if self.is_single else [self.k.ended(ends, [self.step_blocks])]
        # After the last.
        nest = self.rows(group.columns)
        maximum = self.load(self.greatest, ends, nest.ranges[0])
        known = k.emit(tg.CmpNeOp, maximum, low)
        given: Given = {group.greatest: lambda _: done(Cell(maximum, None))}
        for each in group.sums:
            column = dict(zip(group.columns, nest.ranges[1:], strict=True))
            own = [column[axis] for axis in each.columns]
            if each in totals:
                value = self.load(totals[each], ends, *self.placed(nest.ranges[0], *own))
            else:
                value = self.sum(each, _Nest(nest.at, (nest.ranges[0], *own)), stored)
            nan = k.constant(float("nan"), tg.tensor(value).element_type)
            given[each.op] = self.result(each, k.emit(tg.WhereOp, known, value, nan))
        k.given = given
        cell = k.cell(group.root.results[0], nest.at)
        k.given = {}
        gate: SSAValue | None = None
        for axis in (group.row, *group.columns):
            size = self.blocks.rows if axis == group.row else self.extents[axis]
            is_whole = self.shape[axis] % size == 0
            if not is_whole and not (axis == group.row and self.start is not None):
                exists = k.emit(tg.CmpLtOp, k.value(nest.at[axis]), k.constant(self.shape[axis]))
                gate = k.both(gate, exists)
        return cell, nest.at, gate, [*self.around, *nest.ranges]

    def before(
        self, low: SSAValue, totals: Mapping[OnlineSum, SSAValue]
    ) -> Mapping[OnlineSum | None, _Before]:
        """Store what the first block begins with: the maxima (of None), and the sums; nothing if
        there is no other block."""
        k, found = self.k, dict[OnlineSum | None, _Before]()
        if self.is_single:
            return found
        change = k.local_buffer(self.dtype, (self.blocks.rows,))
        found[None] = _Before(self.fill([self.greatest], [low], ()), change)
        for columns in dict.fromkeys(each.columns for each in totals):
            same = [each for each in totals if each.columns == columns]
            buffers = [totals[each] for each in same]
            zeros = [k.constant(0, tg.tensor(buffer).element_type) for buffer in buffers]
            start = self.fill(buffers, zeros, columns)
            found.update(dict.fromkeys(same, _Before(start, change)))
        return found

    def fill(
        self, buffers: Sequence[SSAValue], values: Sequence[SSAValue], columns: Sequence[int]
    ) -> SSAValue:
        """Store what buffers begin with, in each block of rows."""
        ranges = self.rows(columns).ranges
        cell = self.placed(*ranges)
        stores = [
            self.k.put(tg.StoreOp(self.at(buffer, self.around, *cell), value))
            for buffer, value in zip(buffers, values, strict=True)
        ]
        return self.k.ended(stores, ranges)

    def scores(self) -> SSAValue:
        """Store a block of scores; on a grid they are -inf past the last step."""
        k, nest = self.k, self.rows()
        step, loops, number = self.scored_steps()
        value = k.cell(self.group.scores, self.powers_at(nest, step)).value
        if self.is_grid and self.group.steps % self.blocks.steps:
            exists = k.emit(tg.CmpLtOp, k.value(step), k.constant(self.group.steps))
            value = k.emit(tg.WhereOp, exists, value, k.constant(float("-inf"), self.dtype))
        cell = self.at(self.powers, self.within, *self.placed(nest.ranges[0], number))
        self.score = tg.StoreOp(cell, value)
        return self.k.ended([k.put(self.score)], [*nest.ranges, *loops])

    def skip_masked(self) -> None:
        """Shorten the loop over blocks, once the kernel has been simplified, and on a CPU those
        over the steps of a block."""
        blocks = self.step_blocks.owner
        if self.score.parent is None or not isinstance(blocks, tg.RangeOp) or not blocks.parent:
            return
        loops: dict[SSAValue, int] = {}
        if not self.is_grid:
            loops.update(dict.fromkeys(self.counted, 1))
            if self.tiles is not None:
                loops[self.tiles] = SCORED_STEPS
        inside = {
            op: steps
            for loop, steps in loops.items()
            if isinstance(op := loop.owner, tg.RangeOp) and op.parent is not None
        }
        skip_masked_blocks(self.score, blocks, self.blocks.steps, inside)

    def maxima(self, scored: SSAValue, before: _Before | None) -> SSAValue:
        """Store the maxima with this block, and by what the sums so far are multiplied."""
        k, (row,) = self.k, self.rows().ranges
        _, column = self.steps(tg.AxisType.REDUCE)
        block = self.load(self.powers, [scored], *self.placed(row, column))
        # If a score is NaN, so are the sums, whatever the maximum. Both zeros are the same shift.
        found = tg.ReduceOp(tg.ReduceKind.MAX, block, (), [column], relaxed=self.is_relaxed)
        if before is None:
            cell = self.at(self.greatest, self.within, row)
            return self.k.ended([k.put(tg.StoreOp(cell, k.put(found)))], [row])
        cell = self.at(self.greatest, [before.start, *self.within], row)
        old = k.put(tg.LoadOp(cell))
        new = k.emit(tg.MaxOp, old, k.put(found))
        factor = self.power(self.finite(old), self.finite(new))
        if self.group.leaves_out:
            # Both may be infinite. The exponential of such a score is NaN, but may be left out.
            has_changed = k.emit(tg.CmpNeOp, old, new)
            factor = k.emit(tg.WhereOp, has_changed, factor, k.constant(1, self.dtype))
        stores = [
            k.put(tg.StoreOp(cell, new)),
            k.put(tg.StoreOp(self.at(before.change, self.within, row), factor)),
        ]
        return self.k.ended(stores, [row])

    def exponentials(self, changed: SSAValue) -> SSAValue:
        """Store the exponentials in place of the scores."""
        k, (row,) = self.k, self.rows().ranges
        _, column = self.steps(tg.AxisType.LOOP)
        cell = self.at(self.powers, [changed], *self.placed(row, column))
        maximum = self.finite(self.load(self.greatest, [changed], row))
        power = self.power(k.put(tg.LoadOp(cell)), maximum)
        return self.k.ended([k.put(tg.StoreOp(cell, power))], [row, column])

    def add(
        self,
        each: OnlineSum,
        total: SSAValue,
        stored: SSAValue,
        changed: SSAValue,
        before: _Before | None,
    ) -> SSAValue:
        """Add a block to a sum."""
        k, nest = self.k, self.rows(each.columns)
        row, *columns = nest.ranges
        value = self.sum(each, nest, stored)
        dtype = tg.tensor(value).element_type
        after = self.within if before is None else [before.start, *self.within]
        cell = self.at(total, after, *self.placed(row, *columns))
        if before is not None:
            by = self.load(before.change, [changed], row)
            if tg.tensor(by).element_type != dtype:
                by = k.emit(tg.CastOp, by, dtype)
            value = k.emit(tg.AddOp, k.emit(tg.MulOp, k.put(tg.LoadOp(cell)), by), value)
        return self.k.ended([k.put(tg.StoreOp(cell, value))], nest.ranges)

    def sum(self, each: OnlineSum, nest: _Nest, stored: SSAValue) -> SSAValue:
        """The sum over a block of steps."""
        k, group, row = self.k, self.group, nest.ranges[0]
        step, column = self.steps(tg.AxisType.REDUCE)
        power = self.load(self.powers, [stored], *self.placed(row, column))
        given: Given = {group.powers: lambda _: done(Cell(power, None))}
        for op, operand in map(each.inner.__getitem__, each.factors):
            given[op] = self.without(op, operand)
        k.given = given
        index = follow(k, each.reach, nest.at, ZERO)
        value = k.cell(each.op.source, reduced_at(each.op, index, step)).value
        k.given = {}
        has_rest = self.is_grid and group.steps % self.blocks.steps
        if has_rest and not each.reads_zeros:
            exists = k.emit(tg.CmpLtOp, k.value(step), k.constant(group.steps))
            value = k.emit(tg.WhereOp, exists, value, k.constant(0, tg.tensor(value).element_type))
        if tg.tensor(value).element_type != (dtype := tg.accumulated_dtype(each.op)):
            value = k.emit(tg.CastOp, value, dtype)
        return k.put(tg.ReduceOp(tg.ReduceKind.ADD, value, (), [column]))

    def without(self, op: Operation, operand: int) -> Callable[[Index], Lowering]:
        """A rule for a MUL or DIV whose other operand follows the loop."""
        value, shape = op.operands[operand], tg.shape_of(op.results[0])

        def rule(index: Index) -> Lowering:
            return (yield value, broadcast(index, shape, tg.shape_of(value)))

        return rule

    def is_total(self, value: SSAValue) -> bool:
        """Whether a value is the sum of the exponentials themselves, by which a softmax divides:
        one division for all columns of a row is enough."""
        return any(
            each.op is tg.behind(value, tg.ExpandOp, tg.PermuteOp, tg.ReshapeOp).owner
            and not each.factors
            and all(isinstance(i.op, tg.MovementOp | tg.CastOp) for i in each.inner)
            for each in self.group.sums
        )

    def result(self, each: OnlineSum, total: SSAValue) -> Callable[[Index], Lowering]:
        """A rule for a sum after the loop: its factors follow."""
        k, dtype = self.k, tg.tensor(each.op.result).element_type

        def rule(index: Index) -> Lowering:
            value, wide = total, tg.tensor(total).element_type
            for number in reversed(each.factors):
                # The factor is the same in all steps.
                op, operand = each.inner[number]
                assert isinstance(op, tg.MulOp | tg.DivOp)
                at = follow(k, each.inner[:number], reduced_at(each.op, index, ZERO), ZERO)
                other = op.operands[1 - operand]
                at = broadcast(at, tg.shape_of(op.result), tg.shape_of(other))
                factor = (yield other, at).value
                if tg.tensor(factor).element_type != wide:
                    factor = k.emit(tg.CastOp, factor, wide)
                if isinstance(op, tg.DivOp) and self.is_total(other):
                    # From 1 to the number of steps, so that its inverse is no subnormal number.
                    one = k.constant(1, wide)
                    value = k.emit(tg.MulOp, value, k.emit(tg.DivOp, one, factor))
                else:
                    value = k.emit(type(op), value, factor)
            return Cell(k.emit(tg.CastOp, value, dtype) if wide != dtype else value, None)

        return rule
