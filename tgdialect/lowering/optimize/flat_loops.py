"""Loops without divisions in their indices, and as few as possible: what heuristics begin with."""

from __future__ import annotations

from collections.abc import Iterator

from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import attempt, opt, try_opt
from tgdialect.lowering.optimize.optops.merge import mergeable
from tgdialect.lowering.optimize.optops.split import divisors
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index


def split_loops(axes: Axes) -> None:
    """Split a loop whose variable indices divide, so that each digit is a loop variable. Strides
    are known of loop variables, not of quotients."""
    while any(try_opt(axes, which) for which in _digits(axes)):
        pass


def _digits(axes: Axes) -> Iterator[tg.OptAttr]:
    """The SPLITs that remove a division."""
    for axis, range in axes.ranges.items():
        if not (found := divisors(range)) or (extent := known_index(range.bound)) is None:
            continue
        least = min(found)
        if 1 < least < extent and not any(each % least for each in (*found, extent)):
            yield opt(tg.OptOp.SPLIT, axis, least, range.axis_type.data.value)


def merge_loops(axes: Axes) -> None:
    """Merge loops whose indices are one flat index."""
    tried: set[tuple[int, int]] = set()
    while (pair := next((p for p in mergeable(axes) if p not in tried), None)) is not None:
        tried.add(pair)
        attempt(axes, tg.OptOp.MERGE, *pair)
