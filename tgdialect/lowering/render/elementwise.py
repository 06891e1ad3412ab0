"""Tables of elementwise ops: how an output language computes each, by the kind of its dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.render.output import V, refusal
from tgdialect.ops import tg
from tgdialect.ops.dtypes import Kind

F = TypeVar("F")
"""A function under construction in an output language."""


class ComputedOp(NamedTuple, Generic[F, V]):
    """An elementwise op, or BITCAST, that a function computes of values in its language."""

    function: F
    op: Operation
    operands: Sequence[V]
    intervals: MinMax
    """The intervals of the program's values."""

    @property
    def source(self) -> tg.DType:
        """The dtype of the first operand."""
        return tg.dtype_of(self.op.operands[0])

    @property
    def dtype(self) -> tg.DType:
        """The dtype of the result."""
        return tg.dtype_of(self.op.results[0])

    @property
    def interval(self) -> tg.Interval:
        """The interval of the result."""
        return self.intervals[self.op.results[0]]

    def interval_of(self, operand: int) -> tg.Interval:
        """The interval of an operand."""
        return self.intervals[self.op.operands[operand]]

    @property
    def shift(self) -> int | None:
        """The exponent of the second operand, if that is a constant power of two."""
        divisor = self.interval_of(1)
        is_one = divisor.is_constant and divisor.lo > 0 and int(divisor.lo).bit_count() == 1
        return int(divisor.lo).bit_length() - 1 if is_one else None


T = TypeVar("T")
Columns = Mapping[Kind, Callable[[Any], Any]]
"""Writers of the result of a `ComputedOp`, by the kind of the first operand's dtype."""


def row(
    float: T | None = None,
    integer: T | None = None,
    bool: T | None = None,
    *,
    unsigned: T | None = None,
) -> Mapping[Kind, T]:
    """The entries of a table for each kind of dtype; unsigned integers have what others have,
    unless something else is given."""
    found = {Kind.FLOAT: float, Kind.SIGNED: integer, Kind.BOOL: bool}
    found[Kind.UNSIGNED] = integer if unsigned is None else unsigned
    return {kind: each for kind, each in found.items() if each is not None}


def of_any(writer: Callable[[Any], Any]) -> Columns:
    """One writer for all dtypes."""
    return dict.fromkeys(Kind, writer)


def first_operand(of: ComputedOp[Any, V]) -> V:
    """A writer: the op changes nothing."""
    return of.operands[0]


def written(table: Mapping[str, Columns], language: str, of: ComputedOp[Any, V]) -> V:
    """The result of a computation by a table. Raises for an op or a dtype that it lacks."""
    if (columns := table.get(of.op.name)) is None:
        raise refusal(of.op)
    if (writer := columns.get(of.source.kind)) is None:
        raise PassFailedException(f"{language} has no {of.op.name} of {of.source.name}")
    return writer(of)
