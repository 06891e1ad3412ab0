"""Steps of random programs that are whole idioms: what fusion and the order of growth are about.

All are exact: sums are of integers, or of floats so small and whole that every sum is a float.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import compositions as c
from programs import counting

from tgdialect.ops import elementwise as ew
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import DTYPES, F32, I32

if TYPE_CHECKING:
    from random_programs import Generator, Value

MAX_CELLS = 2000
"""Of the largest tensor of an idiom, which may be the square of what it is about."""


def _integers(g: Generator, limit: int = 10**9) -> Value | None:
    """An integer tensor with cells, of one axis or more."""
    return g.find(lambda v: v.row.is_integer and v.shape != () and 0 < v.size <= limit)


def scan(g: Generator) -> Value | None:
    """A cumulative sum along an axis."""
    if (x := _integers(g)) is None:
        return None
    axis = g.integer(0, len(x.shape) - 1)
    if x.size * x.shape[axis] > MAX_CELLS:
        return None
    return g.derived(c.cumulative(g.value(x).expression, axis), x)


def masked_scan(g: Generator) -> Value | None:
    """A reduction of the last axis over what is before each of its cells, or after it."""
    if (x := _integers(g)) is None or x.size * x.shape[-1] > MAX_CELLS:
        return None
    value = g.value(x).expression
    if turned := g.boolean():
        value = value.flip(-1)
    *lead, n = value.shape
    here = counting(value.block, n).reshape(n, 1)
    there = counting(value.block, n).reshape(1, n) + g.integer(-2, 2)
    compare = g.choose((ew.CmpLtOp, ew.CmpLeOp, ew.CmpGtOp, ew.CmpGeOp, ew.CmpEqOp))
    mask = there.binary(compare, here).reshape(*(1,) * len(lead), n, n)
    kind = g.choose((ReduceKind.ADD, ReduceKind.MAX))
    other = 0 if kind is ReduceKind.ADD else g.integer(0, 3)
    masked = mask.where(value.reshape(*lead, 1, n).expand(*lead, n, n), other)
    result = masked.reduce(kind, -1).reshape(*lead, n)
    return g.derived(result.flip(-1) if turned else result, x)


def windowed(g: Generator) -> Value | None:
    """Sliding windows of an axis."""
    x = g.find(lambda v: 0 < v.size <= 60 and 0 < len(v.shape) < 4, exact=False)
    if x is None:
        return None
    axis = g.integer(0, len(x.shape) - 1)
    size = g.integer(1, min(3, x.shape[axis]))
    room = (x.shape[axis] - 1) // max(size - 1, 1)
    dilation = g.integer(1, max(min(room, 2), 1))
    return g.derived(c.windows(x.expression, axis, size, g.integer(1, 3), dilation), x)


def gathered(g: Generator) -> Value | None:
    """Elements of the first axis that integers say, by a one-hot mask."""
    x = _integers(g, MAX_CELLS // 12)
    index = g.find(lambda v: v.row.is_integer and len(v.shape) == 1 and v.size <= 12)
    if x is None or index is None:
        return None
    n, *rest = x.shape
    (d,) = index.shape
    ones = [1] * len(rest)
    numbers = g.value(index).expression.cast(I32)
    mask = c.one_hot(numbers, n, 0).reshape(n, d, *ones)
    table = g.value(x).expression.reshape(n, 1, *rest)
    selected = mask.where(table, 0) if g.boolean() else table * mask.cast(table.dtype)
    return g.derived(selected.sum(0), x, index)


def scattered(g: Generator) -> Value | None:
    """Integers added where others say, into as many cells as some value has."""
    values = g.find(lambda v: v.row.is_integer and len(v.shape) == 1 and 0 < v.size <= 40)
    if values is None:
        return None
    index = g.find(lambda v: v.row.is_integer and v.shape == values.shape) or values
    n = g.integer(1, 7)
    mask = c.one_hot(g.value(index).expression.cast(I32), n, 0)
    spread = mask.where(g.value(values).expression.reshape(1, *values.shape), 0)
    return g.derived(spread.sum(1), values, index)


def normalised(g: Generator) -> Value | None:
    """Like softmax: less the maximum of an axis, divided by a sum along it."""
    x = g.find(lambda v: v.size > 0 and v.shape != ())
    if x is None:
        return None
    axis = g.integer(0, len(x.shape) - 1)
    small = g.value(x).expression
    small = (small.equals(small) if DTYPES[small.dtype].is_float else small).cast(F32)
    small = small.maximum(-8.0)
    small = small.less(8.0).where(small, 8.0).trunc()
    shifted = small - small.reduce(ReduceKind.MAX, axis)
    total = shifted.reduce(ReduceKind.ADD, axis)
    return g.derived(shifted / (total - 1.0), x)


def contracted(g: Generator) -> Value | None:
    """A product of integer matrices, and something after it."""
    a = g.find(lambda v: v.row.is_integer and len(v.shape) == 2 and v.size > 0)
    if a is None or a.size * a.shape[0] > MAX_CELLS:
        return None
    left = g.value(a).expression
    result = c.product(left, left.permute(1, 0))
    return g.derived(result + left.reduce(ReduceKind.MAX, 1), a)


def reduced_twice(g: Generator) -> Value | None:
    """A reduction of what another one changed: its range is shared."""
    if (x := _integers(g)) is None:
        return None
    axis = g.integer(0, len(x.shape) - 1)
    value = g.value(x).expression
    first = value.reduce(g.choose((ReduceKind.ADD, ReduceKind.MAX)), axis)
    changed = value.binary(g.choose((ew.SubOp, ew.XorOp, ew.CmpLtOp)), first)
    changed = changed.cast(I32)
    return g.derived(changed.reduce(ReduceKind.ADD, axis), x)


IDIOMS = (
    *(scan, masked_scan, windowed, gathered, scattered),
    *(normalised, contracted, reduced_twice),
)
