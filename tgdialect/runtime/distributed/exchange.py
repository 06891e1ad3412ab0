"""Collectives as data, and what they compute on arrays of NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tgdialect.analysis.communication import Collective, bytes_sent
from tgdialect.ops.arrays import narrowed
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.distributed.array import own_part

FROM_ROOT = frozenset({Collective.BROADCAST, Collective.SCATTER, Collective.TRANSFER})
"""Kinds whose root alone has something to send."""
TO_ROOT = frozenset({Collective.GATHER, Collective.REDUCE})
"""Kinds whose root alone gets a result."""
OF_ROOT = frozenset({Collective.BROADCAST, Collective.TRANSFER})
"""Kinds that give the value of the root."""
SPLITS = frozenset({Collective.ALL_TO_ALL, Collective.REDUCE_SCATTER, Collective.SCATTER})
"""Kinds that give a device its part of each value."""
JOINS = frozenset({Collective.ALL_GATHER, Collective.ALL_TO_ALL, Collective.GATHER})
"""Kinds whose result has a part of each device."""
REDUCTIONS = frozenset({Collective.ALL_REDUCE, Collective.REDUCE, Collective.REDUCE_SCATTER})


class Exchange(NamedTuple):
    """A collective of a program.

    Attributes:
        kind: what it does.
        members: the numbers of the devices that take part, in the order of the parts.
        shape, dtype: of the value of one device.
        result: the shape of the result of one device.
        axis: the axis that is split, joined or scattered; for `all_to_all` the one that is split.
        joined: the axis that `all_to_all` joins.
        reduction: "add", "mul" or "max".
        root: for rooted kinds, the root's position in `members`; for a transfer, the source's. The
            destination of a transfer is the other one of two members.
    """

    kind: Collective
    members: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    result: tuple[int, ...]
    axis: int = 0
    joined: int = 0
    reduction: str = "add"
    root: int = 0

    @property
    def operand_bytes(self) -> int:
        """The size of the value of one device, with 1 for extents that are not known."""
        return math.prod(d for d in self.shape if d >= 0) * self.dtype.itemsize

    @property
    def bytes_sent(self) -> int:
        """The bytes that all members together send to others, by the textbook algorithm."""
        return bytes_sent(self.kind, self.operand_bytes, len(self.members))

    def sent_by(self, position: int) -> int:
        """The share of one member in `bytes_sent`."""
        is_root, others = position == self.root, len(self.members) - 1
        if self.kind in FROM_ROOT:
            return self.bytes_sent if is_root else 0
        if self.kind in TO_ROOT:
            return 0 if is_root else self.bytes_sent // others
        return self.bytes_sent // len(self.members)


Reducer = Callable[..., Array]
"""Takes arrays of one shape and dtype, and an array for the result or None, which is a new one."""


def reducer(dtype: np.dtype[Any], reduction: str) -> Reducer:
    """The reduction of arrays in their order. On bools add is or, and mul is and.

    Floats of 16 bits and fewer are added in f32, and rounded once.
    """
    function: Any = {"add": np.add, "mul": np.multiply, "max": np.maximum}[reduction]
    if dtype.kind == "b":
        function = np.logical_and if reduction == "mul" else np.logical_or

    def reduced(arrays: Sequence[Array], out: Array | None = None) -> Array:
        total = np.empty_like(arrays[0]) if out is None else out
        if len(arrays) == 1:
            total[...] = arrays[0]
            return total
        function(arrays[0], arrays[1], out=total)
        for array in arrays[2:]:
            function(total, array, out=total)
        return total

    def rounded(arrays: Sequence[Array], out: Array | None = None) -> Array:
        total = narrowed(reduced([array.astype(np.float32) for array in arrays]), dtype)
        if out is None:
            return total
        out[...] = total
        return out

    is_narrow = dtype.kind not in "biu" and dtype.itemsize <= 2
    return rounded if is_narrow and reduction != "max" else reduced


def completion(exchange: Exchange, position: int, values: Sequence[Any]) -> Callable[[], Array]:
    """Computes the result of the member at a position from the values of all, whenever it is
    called: these may have other contents then.

    The result has memory of its own. Of rooted kinds the root alone has a value, or gets a result.
    """
    n, axis, root = len(exchange.members), exchange.axis, exchange.root
    reduced = reducer(exchange.dtype, exchange.reduction)
    match exchange.kind:
        case Collective.ALL_REDUCE | Collective.REDUCE:
            return partial(reduced, values)
        case Collective.REDUCE_SCATTER:
            return partial(reduced, [own_part(v, axis, position, n) for v in values])
        case Collective.ALL_GATHER | Collective.GATHER:
            return partial(np.concatenate, values, axis)
        case Collective.ALL_TO_ALL:
            parts = [own_part(v, axis, position, n) for v in values]
            return partial(np.concatenate, parts, exchange.joined)
        case Collective.SCATTER:
            return own_part(values[root], axis, position, n).copy
        case _:
            return values[root].copy
