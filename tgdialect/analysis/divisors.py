"""Numbers that divide an index whatever its loop variables are: what alignments follow from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from xdsl.ir import SSAValue

from tgdialect.ops import tg
from tgdialect.ops.properties import known_index
from tgdialect.ops.walk import computed, operands_of


def _gcd(divisors: Sequence[int]) -> int:
    return math.gcd(*divisors)


_RULES: dict[type, Callable[[Sequence[int]], int]] = {
    **dict.fromkeys((tg.AddOp, tg.SubOp, tg.MaxOp, tg.NegOp, tg.ModOp), _gcd),
    tg.MulOp: math.prod,
    tg.MulAccOp: lambda divisors: math.gcd(divisors[0] * divisors[1], divisors[2]),
    tg.WhereOp: lambda divisors: math.gcd(*divisors[1:]),
}
"""A divisor of the result, from divisors of the operands. Of 0 every number is one; 0 says so."""


class Divisors:
    """Divisors of indices, each found once. Where arithmetic wraps, only powers of two hold."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, int] = {}

    def __getitem__(self, index: SSAValue) -> int:
        """A divisor of a scalar index; 0 if the index is 0."""
        return computed(index, self._known, _operands, self._divisor)

    def _divisor(self, value: SSAValue) -> int:
        if (number := known_index(value)) is not None:
            return abs(number)
        rule = _RULES.get(type(value.owner))
        return 1 if rule is None else rule([self._known[operand] for operand in _operands(value)])


def _operands(value: SSAValue) -> Iterable[SSAValue]:
    return operands_of(value) if type(value.owner) in _RULES else ()
