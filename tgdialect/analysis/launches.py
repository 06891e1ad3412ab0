"""Grids in the cost model: from one way to execute nests as workgroups to cycles.

A `GridShape` says which iterations are registers, work items and workgroups. `launched` counts what
a grid does for it, and `launch_cycles` prices the counts by `Target` alone. No kernel is changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tgdialect.analysis.cycles import OVERLAP
from tgdialect.analysis.features import INDEX, MASK, Moved, Nest
from tgdialect.targets import Target

WRITTEN_OUT = 75
"""The instructions up to which compilers write out iterations of a loop without a BARRIER, whose
loads then do not wait for each other. Larger: loops of single loads are preferred to blocks in
LOCAL memory. From LLVM: the threshold of partial unrolling for grids."""


@dataclass(frozen=True)
class GridShape:
    """One way to execute nests on a grid. Loops have the numbers that a `Nest` gives them."""

    groups: Set[int]
    """The loops whose iterations are workgroups, but for those that work items have; iterations of
    other loops follow one another."""
    items: Mapping[int, int] = field(default_factory=dict[int, int])
    """The work items along loops."""
    registers: Mapping[int, int] = field(default_factory=dict[int, int])
    """The iterations of loops that a work item does at once."""
    block: int = 0
    """The steps of the blocks that a workgroup copies to LOCAL memory, 1 if there are no steps; 0
    if it copies nothing."""
    buffers: int = 1
    """The blocks in LOCAL memory: all but one are being copied while one is used."""
    keeps: bool = False
    """Whether work items keep their part of a row in registers, if it fits there."""


class WarpShape(NamedTuple):
    """One way to compute a product of matrices by the matrix instructions of warps."""

    dims: tuple[int, int, int]
    """The rows, columns and steps of an instruction."""
    threads: int
    """The work items that execute it together."""
    groups: tuple[int, int]
    """How many of these a workgroup has along rows and columns: those next to each other share the
    block of a factor in LOCAL memory."""
    tiles: tuple[int, int] = (1, 1)
    """The results of instructions that each of them has along rows and columns."""
    block: int = 1
    """The steps of the instruction in a block of LOCAL memory; 0 if nothing is copied there."""
    buffers: int = 1
    """The blocks: all but one are being copied while one is multiplied."""

    def held(self, itemsize: int) -> int:
        """The LOCAL memory of a workgroup, in bytes, if factors have elements of so many."""
        return sum(self.sides) * self.dims[2] * self.block * self.buffers * itemsize

    @property
    def sides(self) -> tuple[int, int]:
        """The rows and the columns of a workgroup."""
        rows, columns = (
            d * t * g for d, t, g in zip(self.dims, self.tiles, self.groups, strict=False)
        )
        return rows, columns


class LaunchFeatures(NamedTuple):
    """Counts of what a grid does."""

    workgroups: float = 1
    items: int = 1
    """The work items of a workgroup."""
    instructions: float = 0
    """Instructions of a work item, in operations on elements."""
    matrix: float = 0
    """The cycles in which matrix instructions of a workgroup occupy all of a unit."""
    moved: float = 0
    """Bytes between a unit and L2 for a workgroup, in whole cache lines."""
    unique: float = 0
    """Bytes that come from memory or go there, for all workgroups."""
    local: float = 0
    """Bytes that a workgroup transfers from and to LOCAL memory, and L1, which has the same
    paths."""
    waits: float = 0
    """Loads of a work item that wait for the one before, or copies of blocks."""
    ahead: int = 0
    """The blocks that are copied while one is used."""
    exchanges: float = 0
    """BARRIERs, and exchanges inside of warps."""
    registers: int = 0
    """Bytes of the registers of a work item."""
    held: int = 0
    """Bytes of the LOCAL memory of a workgroup."""

    def at_once(self, target: Target) -> int:
        """The work items that there are at a time, up to those of one workgroup for each unit."""
        return int(min(self.workgroups * self.items, target.units * target.workgroup_items))


_GREATEST = frozenset(("workgroups", "items", "ahead", "registers", "held"))
"""The counts of nests of which that of a kernel is the greatest one; others are added."""


class LaunchCycles(NamedTuple):
    """The cycles of a grid, those of its busiest unit, by the resource that takes them."""

    ports: float
    llc: float
    memory: float
    local: float
    latency: float
    """Work items that wait: for memory, for each other, and for their own instructions."""

    @property
    def total(self) -> float:
        """The cycles of the slowest resource, and what does not overlap."""
        most = max(self)
        return most if most == math.inf else most + OVERLAP * (sum(self) - most)


def launch_cycles(found: LaunchFeatures, target: Target) -> LaunchCycles:
    """The cycles of a grid with some features; infinite where a workgroup does not fit a unit."""
    lanes = -(-found.items // target.warp) * target.warp
    limits = (
        target.resident // lanes,
        target.register_file // max(found.registers * lanes, 1),
        target.local // max(found.held, 1),
    )
    named = target.vector_registers * target.vector_bits // 8
    if min(limits[1:]) < 1 or found.registers > named or found.items > target.workgroup:
        return LaunchCycles(*[math.inf] * len(LaunchCycles._fields))
    each = math.ceil(found.workgroups / target.units)
    beside = max(min(*limits, each), 1)
    rounds = max(each / beside, 1)
    ports = lanes * found.instructions / target.mulaccs + found.matrix
    ports *= max(target.schedulers * max(target.warp, 1) / (lanes * beside), 1)
    # Copies of blocks overlap with each other, and with the use of the blocks before.
    ahead = max(found.ahead, 1)
    exposed = target.memory_latency / ahead - bool(found.ahead) * ports / max(found.waits, 1)
    waits = target.memory_latency * (ahead > 1) + found.waits * max(exposed, 0)
    waits += found.exchanges * target.barrier_cycles
    return LaunchCycles(
        each * ports,
        each * found.moved / target.llc_bytes,
        found.unique / (target.units * target.bytes_per_cycle),
        each * found.local / target.local_bytes,
        rounds * (waits + found.instructions),
    )


def launched(nests: Iterable[Nest], launch: GridShape, target: Target) -> LaunchFeatures:
    """The counts of nests that a grid executes one after another."""
    total = LaunchFeatures()
    for nest in nests:
        found = _Counter(nest, launch, target).counted()
        both: Any = zip(LaunchFeatures._fields, total, found, strict=True)
        total = LaunchFeatures(**{n: max(a, b) if n in _GREATEST else a + b for n, a, b in both})
    return total


def multiplied(
    warps: WarpShape, extents: Sequence[int], batches: int, itemsize: int, target: Target
) -> LaunchFeatures:
    """The counts of products of matrices. `extents` are rows, columns and steps, and `itemsize`
    the bytes of an element of a factor. Instructions of several warps read factors from LOCAL
    memory; others have them in registers."""
    is_group = warps.threads > target.warp
    count, depth = -(-extents[2] // warps.dims[2]), warps.dims[2]
    moved = sum(warps.sides) * count * depth * itemsize
    height, width = (d * t for d, t in zip(warps.dims, warps.tiles, strict=False))
    # Each warp reads its rows and columns, from LOCAL memory or from L1.
    read = (height + width) * depth * itemsize
    loaded = 0 if is_group else read // (warps.threads * 4)
    results = height * width // warps.threads
    rows, columns, steps = extents
    rate = target.group_mulaccs if is_group else target.matrix_mulaccs
    blocks = count / max(warps.block, 1)
    return LaunchFeatures(
        workgroups=batches
        * math.prod(-(-e // s) for e, s in zip(extents, warps.sides, strict=False)),
        items=warps.threads * math.prod(warps.groups),
        instructions=results + count * loaded,
        matrix=math.prod(warps.sides) * count * depth * itemsize / (2 * rate),
        moved=moved,
        unique=batches * itemsize * ((rows + columns) * steps + rows * columns),
        local=count * read * math.prod(warps.groups) + (moved if warps.block else 0),
        waits=blocks,
        ahead=warps.buffers - 1,
        exchanges=blocks * (0 if not warps.block else 1 if warps.buffers > 1 else 2),
        # Fragments of this step and of the next one.
        registers=4 * results + 8 * loaded,
        held=warps.held(itemsize),
    )


class _Counter:
    """Counts of one nest."""

    def __init__(self, nest: Nest, launch: GridShape, target: Target) -> None:
        self.nest, self.launch, self.target = nest, launch, target
        self.held = {n: launch.registers.get(n, 1) for n in nest.order}
        self.side = {n: launch.items.get(n, 1) for n in nest.order}
        self.items = math.prod(self.side.values())
        self.trips = {n: -(-nest.extents[n] // (self.held[n] * self.side[n])) for n in nest.order}
        self.serial = [n for n in nest.order if n not in launch.groups and self.trips[n] > 1]
        self.together = max(target.warp, target.cache_line // 4)
        """The work items whose accesses to neighbours of 4 bytes are one transaction."""
        self.wide = {n for n in nest.order if nest.extents[n] % (self.held[n] * self.side[n])}
        """The loops that are padded."""
        self.row = 8 * math.prod(self.held[n] * self.trips[n] for n in self.serial)
        """The bytes of a row's cells that a work item has, and of what is computed of them."""
        self.keeps = launch.keeps and self.row < target.vector_registers * target.vector_bits // 8
        self.over = max(nest.steps, key=nest.extents.__getitem__, default=-1)
        """The loop whose steps are in blocks."""

    def counted(self) -> LaunchFeatures:
        nest, launch, target, held = self.nest, self.launch, self.target, self.held
        workgroups = math.prod(self.trips[n] for n in nest.order if n in launch.groups)
        iterations = math.prod(self.trips[n] for n in self.serial)
        instructions = (
            iterations
            + INDEX * len(nest.moved)
            + sum(
                work.cycles
                * math.prod(held[n] for n in work.loops if n in held)
                * self._times(work.loops)
                for work in nest.work
            )
        )
        moved = unique = local = 0.0
        registers, bytes, waits = 0, 0, 0.0
        blocks = 1.0
        if launch.block:
            blocks = -(-nest.extents.get(self.over, 1) // launch.block)
        for access in nest.moved:
            moving = {n: s for n, s in access.strides.items() if s != 0 and n in held}
            times, cells = self._times(moving), math.prod(held[n] for n in moving)
            along = next((n for n, s in moving.items() if s in (1, -1)), None)
            vector = 1
            if along is not None and not nest.extents[along] % held[along]:
                vector = min(held[along], target.lanes(access.itemsize))
            is_staged = launch.block > 0 and not access.is_store
            masks = 0 if is_staged else MASK * len(self.wide & {*moving})
            instructions += (1 + masks) * times * cells / vector
            registers += 4 * cells
            sides = {n: held[n] * self.side[n] for n in moving}
            if access.is_near:
                if launch.keeps and not self.keeps:
                    moved += times * math.prod(self._box(access, sides))
                continue
            unique += access.itemsize * math.prod(nest.extents[n] for n in moving)
            if is_staged:
                # The loop over blocks is around all others: their iterations are in a block.
                sides |= {n: nest.extents[n] for n in moving if n in nest.steps}
                sides |= {self.over: launch.block} if self.over in moving else {}
                rows, run = self._box(access, sides)
                bytes += launch.buffers * rows * run
                moved += blocks * rows * max(run, target.cache_line)
                local += blocks * rows * run + times * self._of_warps(access, moving, 1)
                continue
            rows, run = self._box(access, sides)
            # The rest of a line is for later iterations, if L1 keeps it meanwhile.
            beside, line = max(target.resident // self.items, 1), target.cache_line
            is_kept = along in self.serial and rows * line * beside <= target.l1
            moved += times * rows * (run if is_kept else max(run, line))
            local += times * self._of_warps(access, moving, line)
            if not access.is_store:
                waits = max(waits, 1 if self.keeps else times * min(run / line, 1) ** is_kept)
        exchanges = 0.0
        waits /= max(WRITTEN_OUT * iterations / instructions, 1)
        if launch.block:
            waits, exchanges = blocks, blocks * (1 if launch.buffers > 1 else 2)
        results = [n for n in nest.order if n not in nest.steps]
        if nest.steps:
            registers += 4 * math.prod(held[n] for n in results)
        registers += self.row if self.keeps else 0
        shared = math.prod(self.side[n] for n in nest.steps)
        if shared > 1:
            warp = target.warp if target.shuffles else 1
            again = math.prod(self.trips[n] for n in self.serial if n not in nest.steps)
            across = -(-shared // warp)
            each = (min(shared, warp) - 1).bit_length() + (2 if across > 1 else 0)
            exchanges += again * nest.chains * each
            copies = nest.chains * math.prod(held[n] for n in results)
            instructions += again * copies * (across if across > 1 else 0)
        return LaunchFeatures(
            workgroups=workgroups,
            items=self.items,
            instructions=instructions,
            moved=moved,
            unique=unique,
            local=local,
            waits=waits,
            ahead=launch.buffers - 1,
            exchanges=exchanges,
            registers=registers,
            held=bytes,
        )

    def _times(self, loops: Iterable[int]) -> int:
        """How often a work item executes what depends on loops: in all loops up to the innermost
        of them."""
        depth = max((self.serial.index(n) + 1 for n in loops if n in self.serial), default=0)
        return math.prod(self.trips[n] for n in self.serial[:depth])

    def _box(self, access: Moved, sides: Mapping[int, int]) -> tuple[int, int]:
        """The rows that iterations of loops access, and the bytes of each. Loops with one stride,
        as those of an image and of a window, go through one range."""
        spans: dict[int, int] = {}
        rows, run = 1, 1
        for n, side in sides.items():
            if (stride := access.strides[n]) is None:
                rows *= side
            else:
                spans[abs(stride)] = spans.get(abs(stride), 0) + side - 1
        for stride in sorted(spans):
            if stride * access.itemsize < max(self.target.cache_line, run * access.itemsize + 1):
                run += stride * spans[stride]
            else:
                rows *= spans[stride] + 1
        return rows, run * access.itemsize

    def _of_warps(self, access: Moved, moving: Mapping[int, int | None], unit: int) -> float:
        """The bytes that the warps of a workgroup read of L1 or of LOCAL memory at once, in units
        that one cycle transfers: work items of a warp that read the same do so once."""
        left, sides = self.together, dict[int, int]()
        for n, side in self.launch.items.items():
            along = min(side, left)
            left = max(left // along, 1)
            sides[n] = along
        rows, run = self._box(access, {n: self.held[n] * sides.get(n, 1) for n in moving})
        return rows * max(run, unit) * -(-self.items // self.together)
