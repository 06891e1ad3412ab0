"""Sums of exponentials of differences to a maximum that one pass over blocks of steps can compute.

A softmax takes three passes over a row of scores: `m = max s`, `l = sum exp2(s - m)`, and for an
attention `o = sum exp2(s - m) / l * v`. The sums over the first blocks of steps, with the maximum
of these blocks, are a state from which the next block goes on:

    m' = max(m, max s)    c = exp2(m - m')    l' = c * l + sum exp2(s - m')    o' = c * o + ...

so that no row of scores is stored. Source: Milakov and Gimelshein, "Online normalizer calculation
for softmax", 2018. This module says what is known of such sums; `online_recognition.py` finds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import operand_indices
from tgdialect.analysis.affine.positions import Index, Position, Positions
from tgdialect.analysis.conditions import Condition
from tgdialect.analysis.sparsity import constant_of
from tgdialect.ops import tg


class Operand(NamedTuple):
    """A step from a value to one of its operands."""

    op: tg.TgOp
    operand: int


@dataclass(frozen=True)
class OnlineSum:
    """A sum over the exponentials."""

    op: tg.ReduceOp
    reach: tuple[Operand, ...]
    """From the root to the sum. A REDUCE on the way is another sum."""
    inner: tuple[Operand, ...]
    """From the operand of the sum to the exponentials."""
    factors: tuple[int, ...]
    """The positions in `inner` of MULs and DIVs by what is the same in all steps: the sum is
    multiplied by it afterwards."""
    columns: tuple[int, ...]
    """The axes of the root that the sum depends on and the scores do not."""
    reads_zeros: bool
    """Whether past the last step all other factors of summands are 0, because they are loaded."""


@dataclass(frozen=True)
class OnlineSums:
    """All sums over the exponentials of the same scores, and what is computed of them."""

    root: Operation
    """The one op through which anything of them is used."""
    greatest: tg.ReduceOp
    """The maximum of the scores."""
    powers: tg.Exp2Op | tg.ExpOp
    """The exponentials `exp2(scale * (scores - greatest))`, or `exp(…)`."""
    scale: float
    products: tuple[tg.ReduceOp, ...]
    """The products of matrices that the scores are made of."""
    sums: tuple[OnlineSum, ...]
    shows_greatest: bool
    """Whether the root depends on the maximum other than through the exponentials."""
    row: int
    """The axis of the root whose rows share a block: what is loaded for the columns of a sum is the
    same for all of them."""
    inside: frozenset[Operation]
    """The ops between the products that scores are made of, these included, and the root."""

    @property
    def scores(self) -> SSAValue:
        return self.greatest.source

    @property
    def steps(self) -> int:
        (axis,) = tg.integers(self.greatest, "axes")
        return tg.tensor(self.scores).get_shape()[axis]

    @property
    def rows(self) -> int:
        return tg.tensor(self.root.results[0]).get_shape()[self.row]

    @property
    def results(self) -> int:
        """The rows of scores in all."""
        shape = tg.tensor(self.root.results[0]).get_shape()
        return math.prod(n for axis, n in enumerate(shape) if axis not in self.columns)

    @cached_property
    def is_masked_by_index(self) -> bool:
        """Whether scores are -inf where a condition on indices alone says so."""
        return any(_is_of_indices(condition) for condition, _ in unmasked(self.scores))

    @property
    def leaves_out(self) -> bool:
        """Whether a WHERE leaves exponentials out of a sum."""
        return any(isinstance(link.op, tg.WhereOp) for each in self.sums for link in each.inner)

    @property
    def keeps_nan(self) -> bool:
        """Whether each sum is NaN where a score is, whatever the maximum, and nothing else needs
        the maximum.

        The exponential of such a score is NaN. So are multiples of it and the sum, unless it is
        left out. As the shift of exponentials a maximum of -0 and one of +0 are the same.
        """
        return not self.shows_greatest and not self.leaves_out

    @property
    def columns(self) -> tuple[int, ...]:
        """The axes of the root that the scores do not depend on."""
        return tuple(sorted({axis for each in self.sums for axis in each.columns}))


def follow(positions: Positions, steps: Iterable[Operand], index: Index, at: Position) -> Index:
    """The index at the end of a path, from that at its beginning. `at` is the position along the
    axis of each REDUCE on the way."""
    for op, operand in steps:
        if isinstance(op, tg.ReduceOp):
            index = reduced_at(op, index, at)
        else:
            index = dict(operand_indices(positions, op, index))[operand]
    return index


def reduced_at(op: tg.ReduceOp, index: Index, at: Position) -> Index:
    """The index of the operand of a REDUCE over one axis."""
    (axis,) = tg.integers(op, "axes")
    return (*index[:axis], at, *index[axis + 1 :])


def unmasked(value: SSAValue) -> Iterator[Condition]:
    """The conditions that hold where a score is not -inf."""
    while isinstance(op := value.owner, tg.WhereOp):
        hidden = [constant_of(v) == -math.inf for v in (op.lhs, op.rhs)]
        if not any(hidden):
            return
        yield op.condition, not hidden[0]
        value = op.rhs if hidden[0] else op.lhs


def _is_of_indices(value: SSAValue) -> bool:
    """Whether a value depends on no memory."""
    values = value, *(v for op in tg.computed_from(value) for v in op.operands)
    return all(isinstance(v.owner, tg.TgOp) and not tg.is_memory(v) for v in values)
