"""The LOADs of a tile that STAGE may copy, to whichever memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.lowering.matrix_products import c_fields, fields, product_of
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED, WORK_ITEMS


class Digit(NamedTuple):
    """An axis of a copy, or of its loops: `number / unit mod extent`, of a number less than
    `whole`, that of an iteration of a range or of a cell along an axis of a parameter."""

    of: tg.RangeOp | int
    whole: int
    extent: int
    unit: int = 1

    def value(self, builder: tg.OpBuilder, numbers: Numbers) -> SSAValue:
        """The digit, where ranges are as they are unless they have other numbers."""
        if (number := numbers.get(self.of)) is None:
            assert isinstance(self.of, tg.RangeOp), "an axis has no number of its own"
            number = self.of.result
        if self.unit > 1:
            number = builder.put(tg.IDivOp(number, builder.index_constant(self.unit)))
        if self.unit * self.extent < self.whole:
            number = builder.put(tg.ModOp(number, builder.index_constant(self.extent)))
        return number


Numbers = Mapping[tg.RangeOp | int, SSAValue]
"""The numbers of iterations of ranges, and of cells along axes."""


def whole_number(axes: Axes, range: tg.RangeOp, unit: int = 1) -> Digit:
    """The number of an iteration of a range as one digit, which counts units."""
    extent = axes.extent(range)
    return Digit(range, extent, extent // unit, unit)


def copy_loops(
    builder: tg.OpBuilder, loops: Sequence[tuple[tg.AxisType, Sequence[Digit]]]
) -> tuple[Sequence[SSAValue], Numbers]:
    """New loops, each over some digits, outermost first; and the numbers that their digits make."""
    put, constant = builder.put, builder.index_constant
    sizes = [math.prod(digit.extent for digit in digits) for _, digits in loops]
    kinds = (kind for kind, _ in loops)
    ranges = [builder.range(*each).result for each in zip(kinds, sizes, strict=True)]
    numbers: dict[tg.RangeOp | int, SSAValue] = {}
    for (_, (first, *others)), range in zip(reversed(loops), reversed(ranges), strict=True):
        rest, found = range, list[tuple[Digit, SSAValue]]()
        for digit in reversed(others):
            extent = constant(digit.extent)
            found.append((digit, put(tg.ModOp(rest, extent))))
            rest = put(tg.IDivOp(rest, extent))
        for digit, value in (*found, (first, rest)):
            scaled = put(tg.MulOp(value, constant(digit.unit))) if digit.unit > 1 else value
            known = numbers.get(digit.of)
            numbers[digit.of] = scaled if known is None else put(tg.AddOp(scaled, known))
    return ranges, numbers


def is_of_parameter(op: Operation, slot: int) -> bool:
    """Whether an op loads from the parameter of a slot."""
    param = tg.memory_of(op.operands[0]).owner
    return isinstance(param, tg.ParamOp) and param.slot.data == slot


def staged_loads(axes: Axes, slot: int, ops: Iterable[Operation]) -> Sequence[tg.LoadOp]:
    """The LOADs of a parameter among some ops.

    Raises IllegalOptError where they load different cells, or the kernel writes the parameter.
    """
    loads = [op for op in ops if isinstance(op, tg.LoadOp) and is_of_parameter(op, slot)]
    written = {m.owner.slot.data for m in axes.written if isinstance(m.owner, tg.ParamOp)}
    if slot in written:
        raise IllegalOptError(f"parameter {slot} is written in this kernel")
    if any(tuple(load.operands) != tuple(loads[0].operands) for load in loads):
        raise IllegalOptError(f"several tiles of parameter {slot} are loaded")
    return loads


def load_instead(
    axes: Axes,
    builder: tg.OpBuilder,
    loads: Sequence[tg.LoadOp],
    memory: SSAValue,
    cell: Sequence[SSAValue],
) -> None:
    """Have one LOAD of a copy stand for LOADs of what has been copied."""
    value = builder.put(tg.LoadOp(builder.put(tg.IndexOp(memory, cell))))
    for load in loads:
        load.result.replace_all_uses_with(value)
        load.detach()
        load.erase()
    axes.changed()


def in_tile_order(
    axes: Axes, load: tg.LoadOp, around: Sequence[tg.RangeOp]
) -> Sequence[tg.RangeOp]:
    """The ranges of the tile that a LOAD loads, in the order of the axes of a copy: vectors lie
    along the last. Those are the ranges that the LOAD depends on, without the loops around the
    tile.

    Raises IllegalOptError where an extent is dynamic, and where the index of a cell is computed by
    a REDUCE or STORE in a loop of the tile.
    """
    ranges = [r for r in axes.ranges.values() if r in axes.open[load] and r not in around]

    def key(range: tg.RangeOp) -> tuple[int, int, int]:
        kind, nest = range.axis_type.data, axes.nest(range)
        place = closed_ranges(nest).index(range)
        inside = -place if range in axes.ends else place
        if kind not in EXPANDED:
            # Neighbouring work items load neighbours, and steps that follow each other.
            return int(kind in WORK_ITEMS), len(axes.open[nest]), inside
        return 2 + EXPANDED.index(kind), 0, inside if range in axes.ends else 0

    if any(axes.around(range.bound) for range in ranges):
        raise IllegalOptError("the extent of the tile changes")
    if axes.is_bound_to(load.buffer, set(ranges)):
        raise IllegalOptError("where a cell of the tile is depends on what its loops compute")
    for range in ranges:
        axes.extent(range)
    return sorted(ranges, key=key)


def digits(axes: Axes, load: tg.LoadOp, ranges: Sequence[tg.RangeOp]) -> Sequence[Digit]:
    """The axes of a copy of a tile, outermost first: its ranges, in the order of `in_tile_order`. A
    factor of a matrix instruction that reads whole blocks has the bits of its block in the order of
    the instruction's layout, innermost.

    before -> after, for a layout "k0 n0 n1 k1 k2":
        ranges %2, %u to 8, %n to 4  ->  digits %2, %u / 2, %n, %u mod 2
    """
    found = [whole_number(axes, range) for range in ranges]
    for op in axes.ops:
        if not isinstance(op, tg.ReduceOp) or op.wmma is None or op.wmma.threads > 1:
            continue
        factors = product_of(op.source)
        if factors is None or load.result not in factors[:2]:
            continue
        numbers = tg.integers(op, "fragment")
        *sides, steps = (axes[number] for number in numbers)
        runs = reversed(c_fields(op.wmma))
        of_letter = {run[0][0]: side for run, side in zip(runs, sides, strict=True)}
        side = next((x for x in of_letter if of_letter[x] in ranges), None)
        if side is None or steps not in ranges or len(of_letter) != len(sides):
            continue
        of_letter["k"] = steps
        layout = op.wmma.layout("a" if side == "m" else "b")
        own = (of_letter[side], steps)
        outer = [digit for digit in found if digit.of not in own]
        bits = [(of_letter[run[0][0]], run) for run in reversed(fields(layout))]
        extent = axes.extent
        inner = (Digit(r, extent(r), 1 << len(run), 1 << int(run[0][1:])) for r, run in bits)
        return [*outer, *inner]
    return found
