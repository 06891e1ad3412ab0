"""A schedule from a model of the processor: vectors, register tiles, loop order, threads, packing.

For each loop nest of a kernel it chooses the range that vectors lie along, then the register tile
with the fewest loads per result. The loops around the tile are ordered for the caches, and a kernel
that runs long enough is shared among threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.cpu.copies import pack_tiles
from tgdialect.lowering.optimize.cpu.loops import (
    arrange_loops,
    block_reductions,
    interleave_scans,
    order_reductions,
)
from tgdialect.lowering.optimize.cpu.matrices import multiply_blocks
from tgdialect.lowering.optimize.cpu.tiles import (
    Tiles,
    nest_parts,
    split_off,
    tile_opts,
    write_out_reductions,
)
from tgdialect.lowering.optimize.cpu.vectors import cycles
from tgdialect.lowering.optimize.nests import Nests, merge_loops, split_loops
from tgdialect.ops import tg
from tgdialect.targets import Target


def schedule_loops(axes: Axes, target: Target) -> None:
    """Apply OptOps to a kernel. An OptOp that turns out to be illegal is left out."""
    # Loops without divisions in their indices, and as few as possible.
    split_loops(axes)
    merge_loops(axes)
    nests = Nests.of(axes, target)
    if any(not nests.extent(range) for range in axes.ranges.values()):
        return
    is_long = target.threads > 1 and cycles(nests) >= target.parallel_cycles
    threads = target.threads if is_long else 1
    if multiply_blocks(axes, target, threads):
        return
    # Vectors and register tiles.
    tiles = Tiles(nests)
    vectors: Sequence[tg.RangeOp] = tiles.vectors() if target.vector_bits else ()
    if order_reductions(nests, vectors):
        nests = Nests.of(axes, target)
        tiles = Tiles(nests)
    for opts in [tile_opts(nests, range, tiles.best(range)) for range in vectors]:
        parts = [part for each in opts if (part := split_off(axes, each)) is not None]
        nest_parts(axes, parts)
    if not axes.ends:
        write_out_reductions(axes)
    # The loops around the tiles; each step changes the kernel, and so looks at it anew.
    interleave_scans(Nests.of(axes, target))
    arrange_loops(Nests.of(axes, target), threads)
    block_reductions(Nests.of(axes, target))
    pack_tiles(Nests.of(axes, target))
