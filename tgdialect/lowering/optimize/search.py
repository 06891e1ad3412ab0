"""BEAM: a beam search over schedules, by the time that kernels take.

Each round tries the neighbours of the quickest schedules: schedules that differ by one OptOp.
Nothing here runs a kernel: the caller's `Timer` does.
Source: the specification, "Kernel Optimizations".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeVar

from tgdialect.analysis.ranges import is_expanded
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.expected import expected_cycles
from tgdialect.lowering.optimize.nests import Nests
from tgdialect.lowering.optimize.optops.apply import opt, scheduled
from tgdialect.lowering.optimize.optops.passes import (
    FACTORS,
    OptOpPass,
    OrderPass,
    PadToPass,
    SoftwarePipelinePass,
    SplitPass,
    StagePass,
    SwapPass,
    TcPass,
)
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.matrix import matrix_instructions

T = TypeVar("T")
Opts = tuple[tg.OptAttr, ...]
Timer = Callable[[tg.KernelOp, float], float]
"""The seconds that a kernel takes; infinity if it cannot be compiled. A timer may give up on a
kernel that takes clearly longer than its second argument, in seconds."""

MOST = 16
"""The most that a candidate may have. Elements of a value in its tile, as a multiple of what all
vector registers hold, or 32 registers of a work item or of scalars: larger tiles spill, and take
long to compile. On a grid also work, as a multiple of the kernel's: ops outside of the loops of
workgroups are done by each of them, and one such candidate could take longer than a search. Larger:
longer searches; smaller: some are left out that are fast although they spill. An order of
magnitude."""

LEAST_GAIN = 0.01
"""The fraction of the best time that a round has to save for the search to go on. Smaller: noise of
repeated timings prolongs it; larger: it ends before it is done."""


class Timed(NamedTuple):
    """A schedule, and how long the kernel takes with it."""

    seconds: float
    opts: Opts


def beam_search(
    kernel: tg.KernelOp,
    start: Sequence[Opts],
    timer: Timer,
    width: int,
    go_on: Callable[[], bool],
    target: Target,
) -> Sequence[Timed]:
    """The quickest schedules that were found, the quickest first.

    The search begins with `start`. Each round tries the neighbours of the `width` best schedules,
    until `go_on` says no or the best time falls no more.
    """
    seen: set[Opts] = set()
    is_grid = target.is_grid
    held = 0 if is_grid else target.vector_registers * target.lanes(8)
    largest = MOST * max(held, 32)
    most_work = MOST * _work(Nests(Axes(kernel), target)) if is_grid else math.inf

    def measured(candidates: Iterator[Opts], best: float) -> Iterator[Timed]:
        made: list[tuple[float, Opts, tg.KernelOp]] = []
        for opts in candidates:
            if opts in seen or (seen and not go_on()):
                continue
            seen.add(opts)
            if (candidate := scheduled(kernel, opts)) is None:
                continue
            nests, is_first = Nests(Axes(candidate, kernel), target), opts in start
            if not is_first and (_tile_size(nests) > largest or _work(nests) > most_work):
                continue
            if is_first or is_grid:
                yield Timed(timer(candidate, best), opts)
            else:
                made.append((expected_cycles(nests), opts, candidate))
        # Those of least expected cycles are tried first: there may be no time for all.
        for _, opts, candidate in sorted(made, key=itemgetter(0)):
            if go_on():
                yield Timed(timer(candidate, best), opts)

    beam = sorted(measured(iter(start), math.inf), key=attrgetter("seconds"))
    while beam and go_on():
        quickest = beam[0].seconds
        # Take the neighbours of each schedule in turns: there may be no time for all.
        moves = _in_turns(neighbours(kernel, opts, target) for _, opts in beam[:width])
        found = measured(moves, quickest)
        beam = sorted([*beam, *found], key=attrgetter("seconds"))[: max(width, 1)]
        if beam[0].seconds > (1 - LEAST_GAIN) * quickest:
            break
    return beam


def _work(nests: Nests) -> float:
    """How often the ops of a kernel are executed in all, by all workgroups."""
    runs: list[tuple[int, int]] = []
    for op in nests.work:
        groups = (r for r in nests.around(op) if r.axis_type.data is tg.AxisType.GLOBAL)
        runs.append((nests.trips(op), max(math.prod(map(nests.extent, groups)), 1)))
    most = max((groups for _, groups in runs), default=1)
    return sum(trips * most / groups for trips, groups in runs)


def _tile_size(nests: Nests) -> int:
    """The elements of the largest value of a kernel when its tiles are expanded; on a grid, of the
    part that a work item has. A fragment of a matrix instruction counts for one element."""
    shared = {tg.AxisType.GROUP_REDUCE} if nests.target.is_grid else set[tg.AxisType]()

    def is_tiled(range: tg.RangeOp) -> bool:
        is_own = range.axis_type.data not in shared
        return is_expanded(range) and is_own and range.axis.data not in nests.axes.fragments

    tiles = (filter(is_tiled, nests.around(op)) for op in nests.work)
    return max((math.prod(map(nests.extent, tile)) for tile in tiles), default=1)


# -- one step ------------------------------------------------------------------------------------


def neighbours(kernel: tg.KernelOp, opts: Opts, target: Target) -> Iterator[Opts]:
    """Schedules that differ in one OptOp, legal or not: another factor, one less, or one more."""
    yield from _resized(opts)
    yield from (opts[:i] + opts[i + 1 :] for i in range(len(opts)))
    yield from _extended(kernel, opts, target)


def _resized(opts: Opts) -> Iterator[Opts]:
    """With another factor of a SPLIT: of the range as it is, and padded to a multiple."""
    steps: list[list[Opts]] = []
    for i, which in enumerate(opts):
        if which.op.data != tg.OptOp.SPLIT.value:
            continue
        axis, size, *rest = (a.data for a in which.arguments)
        before, clamp = opts[:i], ()
        if before and before[-1].op.data == tg.OptOp.PADTO.value:
            same, _, *where = (a.data for a in before[-1].arguments)
            before, clamp = (before[:-1], where) if same == axis else (before, ())
        assert isinstance(axis, int)
        assert isinstance(size, int)
        found: list[Opts] = []
        for other in _sizes_near(size):
            split = opt(tg.OptOp.SPLIT, axis, other, *rest)
            for padding in ((), (opt(tg.OptOp.PADTO, axis, other, *clamp),)):
                found.append((*before, *padding, split, *opts[i + 1 :]))
        steps.append(found)
    yield from _in_turns(steps)


_PASSES: Sequence[type[OptOpPass]] = (SplitPass, OrderPass, SwapPass, StagePass, PadToPass)
"""The OptOps that a search appends."""
_GRID_PASSES: Sequence[type[OptOpPass]] = (TcPass, SoftwarePipelinePass)
"""Those that only a grid has."""


def _sizes_near(size: int) -> Sequence[int]:
    """Other factors, the nearest first."""
    sizes = {*FACTORS, size - 1, size + 1} - {0, 1, size}
    return sorted(sizes, key=lambda other: abs(math.log(other / size)))


def _in_turns(found: Iterable[Iterable[T]]) -> Iterator[T]:
    """One of each after another, until none is left."""
    return (each for each in chain.from_iterable(zip_longest(*found)) if each is not None)


def _extended(kernel: tg.KernelOp, opts: Opts, target: Target) -> Iterator[Opts]:
    """With one OptOp more, of each kind in turn."""
    now = scheduled(kernel, opts)
    if now is None:
        return
    # Instructions that round the factors of exact products have to be asked for.
    rounding = [each.rounds for each in matrix_instructions(target)]
    axes = Axes(now, kernel)
    passes = (*_PASSES, *(_GRID_PASSES if target.is_grid else ()))
    kinds = [each.candidates(axes) for each in passes]
    kept = target.axis_types - ({tg.AxisType.THREAD} if target.threads == 1 else frozenset())
    for found in _in_turns(kinds):
        if isinstance(found, SplitPass) and found.target not in kept:
            continue
        if isinstance(found, TcPass) and (opts or rounding[found.index]):
            continue
        yield (*opts, found.attribute)
