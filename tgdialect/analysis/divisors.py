"""Numbers that divide an index whatever its loop variables are: what alignments follow from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from xdsl.ir import SSAValue

from tgdialect.ops import tg


def _gcd(divisors: Sequence[int]) -> int:
    return math.gcd(*divisors)


_RULES: dict[type, Callable[[Sequence[int]], int]] = {
    **dict.fromkeys((tg.AddOp, tg.SubOp, tg.MaxOp, tg.NegOp, tg.ModOp), _gcd),
    tg.MulOp: math.prod,
    tg.MulAccOp: lambda divisors: math.gcd(divisors[0] * divisors[1], divisors[2]),
    tg.WhereOp: lambda divisors: math.gcd(*divisors[1:]),
}
"""A divisor of the result, from divisors of the operands. Of 0 every number is one; 0 says so."""


class Divisors(tg.Computed[int]):
    """A divisor of each scalar index; 0 if the index is 0. Where arithmetic wraps, only powers of
    two hold."""

    def _sources(self, value: SSAValue) -> Iterable[SSAValue]:
        return tg.operands_of(value) if type(value.owner) in _RULES else ()

    def _compute(self, value: SSAValue) -> int:
        if (number := tg.known_index(value)) is not None:
            return abs(number)
        rule = _RULES.get(type(value.owner))
        return 1 if rule is None else rule([self._known[each] for each in tg.operands_of(value)])
