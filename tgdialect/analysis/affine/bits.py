"""Indices as sums of independent bits: where each bit of a coordinate lies in memory.

OptOp TC computes the row and the column of an element from bits of several ranges, with quotients
and remainders. This finds the distance in memory that each of these bits stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from tgdialect.analysis.divisors import Divisors
from tgdialect.ops import tg


@dataclass(frozen=True)
class BitSum:
    """An index: a part that no bit decides, plus the stride of each bit that is set."""

    divisor: int
    """A number that divides the other part, whatever it is; 0 if that is 0."""
    strides: Mapping[str, int] = field(default_factory=dict[str, int])
    """By the name of a bit, more than 0; `a^b` is the exclusive or of two."""

    def __add__(self, other: BitSum) -> BitSum:
        strides = dict(self.strides)
        for bit, stride in other.strides.items():
            strides[bit] = strides.get(bit, 0) + stride
        return BitSum(math.gcd(self.divisor, other.divisor), strides)

    def scaled(self, factor: int) -> BitSum | None:
        """The sum times a factor, which is not negative where there are bits."""
        if factor <= 0:
            return None if self.strides and factor else BitSum(self.divisor * abs(factor))
        strides = {bit: stride * factor for bit, stride in self.strides.items()}
        return BitSum(self.divisor * factor, strides)

    def split(self, at: int) -> tuple[BitSum, BitSum] | None:
        """The quotient and the remainder by a number; None where a carry between the two may
        depend on several bits."""
        low = {bit: stride for bit, stride in self.strides.items() if stride % at}
        if self.divisor % at or sum(low.values()) >= at:
            return None
        high = {bit: s // at for bit, s in self.strides.items() if bit not in low}
        return BitSum(self.divisor // at, high), BitSum(0, low)

    def xor(self, other: BitSum) -> BitSum | None:
        """The exclusive or: a bit of one with one of the other is the bit `a^b`. None where a sum
        has a part that no bit decides, or bits that are not at places of their own."""
        ours, theirs = ({stride: bit for bit, stride in s.strides.items()} for s in (self, other))
        is_exact = all(stride.bit_count() == 1 for stride in (*ours, *theirs))
        count = len(self.strides) + len(other.strides)
        if self.divisor or other.divisor or not is_exact or count != len(ours) + len(theirs):
            return None
        places = {**ours, **theirs}
        return BitSum(
            0, {"^".join(sorted(s[at] for s in (ours, theirs) if at in s)): at for at in places}
        )


class BitSums(tg.Computed["BitSum | None"]):
    """The indices of a kernel as sums of the bits of some ranges; None if one is none."""

    def __init__(self, ranges: Mapping[SSAValue, Sequence[str]]) -> None:
        """`ranges` names the bits of each range, from the least significant one up."""
        super().__init__(
            {
                value: BitSum(0, {bit: 1 << i for i, bit in enumerate(bits)})
                for value, bits in ranges.items()
            }
        )
        self._divisors = Divisors()

    def flattened(self, indices: Iterable[SSAValue], steps: Iterable[int]) -> BitSum | None:
        """The sum of indices times steps; None if it is no sum of bits."""
        total = BitSum(0)
        for index, step in zip(indices, steps, strict=True):
            term = self[index]
            if term is None or (scaled := term.scaled(step)) is None:
                return None
            total += scaled
        return total

    def _compute(self, value: SSAValue) -> BitSum | None:
        operands = [self._known[operand] for operand in tg.operands_of(value)]
        if all(each is not None and not each.strides for each in operands):
            return BitSum(self._divisors[value])
        if len(operands) != 2:
            return None
        left, right = operands
        if left is None or right is None:
            return None
        first, second = map(tg.known_index, tg.operands_of(value))
        match value.owner:
            case tg.AddOp():
                return left + right
            case tg.XorOp():
                return left.xor(right)
            case tg.MulOp() if second is not None:
                return left.scaled(second)
            case tg.MulOp() if first is not None:
                return right.scaled(first)
            case tg.IDivOp() | tg.ModOp() if second is not None and second > 0:
                parts = left.split(second)
                return None if parts is None else parts[isinstance(value.owner, tg.ModOp)]
            case _:
                return None
