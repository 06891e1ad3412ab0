"""Numbers that divide an index whatever its loop variables are: what alignments follow from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from xdsl.ir import SSAValue

from tgdialect.ops import tg


def _gcd(divisors: Sequence[int]) -> int:
    return math.gcd(*divisors)


def _of_mulacc(divisors: Sequence[int]) -> int:
    *factors, addend = divisors
    return math.gcd(math.prod(factors), addend)


def _of_where(divisors: Sequence[int]) -> int:
    _, *alternatives = divisors
    return math.gcd(*alternatives)


_RULES: dict[type, Callable[[Sequence[int]], int]] = {
    **dict.fromkeys((tg.AddOp, tg.SubOp, tg.MaxOp, tg.NegOp, tg.ModOp), _gcd),
    tg.MulOp: math.prod,
    tg.MulAccOp: _of_mulacc,
    tg.WhereOp: _of_where,
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
