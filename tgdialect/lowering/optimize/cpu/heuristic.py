"""A schedule from a model of the machine: vectors, register tiles, loop order, threads.

For each loop nest of a kernel it chooses the range that vectors lie along, then the tile of results
that is kept in registers, so that what is loaded is used as often as possible; what is left is put
in an order in which caches help, and shared among threads if it is long enough.
"""

from __future__ import annotations

from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.blocks import block_reductions
from tgdialect.lowering.optimize.cpu.copies import pack_tiles
from tgdialect.lowering.optimize.cpu.loops import (
    interleave_scans,
    merge_loops,
    order_loops,
    split_loops,
)
from tgdialect.lowering.optimize.cpu.nests import Nests, cycles
from tgdialect.lowering.optimize.cpu.threads import share_among_threads
from tgdialect.lowering.optimize.cpu.tiles import nest_parts, split_off, tile_opts
from tgdialect.lowering.optimize.cpu.vectors import vector_ranges
from tgdialect.targets import Target


def schedule(axes: Axes, target: Target) -> None:
    """Apply OptOps to a kernel. One that turns out to be illegal is left out."""
    split_loops(axes)
    merge_loops(axes)
    nests = Nests(axes)
    if any(not nests.extent(range) for range in axes.ranges.values()):
        return
    long_enough = target.threads > 1 and cycles(nests, target) >= target.parallel_cycles
    vectors = list(vector_ranges(nests, target)) if target.vector_bits else []
    tiles = [tile_opts(nests, range, target) for range in vectors]
    for opts in tiles:
        parts = [part for each in opts if (part := split_off(axes, each)) is not None]
        nest_parts(axes, parts)
    interleave_scans(Nests(axes))
    order_loops(Nests(axes))
    if long_enough:
        share_among_threads(Nests(axes), target)
    block_reductions(Nests(axes), target)
    pack_tiles(Nests(axes), target)
