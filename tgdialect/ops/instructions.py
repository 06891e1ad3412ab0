"""The instructions that INS may name, as far as the dialect knows them: their types.

An instruction of a table computes cell by cell, whatever the shape: one of vectors does in each
lane what it does to scalars. A matrix instruction multiplies the fragments of a warp.
`dialect.py` enters the tables of `targets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tgdialect.ops.attributes import WmmaAttr
from tgdialect.ops.dtypes import DType


class InstructionSignature(NamedTuple):
    """The dtypes of an instruction. `b32` is any integer of 32 bits, with a sign or without."""

    operands: tuple[str, ...]
    result: str | None
    """None if it has no result, and is executed for its effect."""
    config: WmmaAttr | None = None
    """The fragments of A, B and C that a matrix instruction multiplies; None for others."""

    @classmethod
    def of(cls, text: str) -> InstructionSignature:
        """The signature that reads `b32 b32 -> b32`; nothing is behind the arrow for no result."""
        operands, _, result = text.partition("->")
        return cls(tuple(operands.split()), result.strip() or None)

    def accepts(self, operands: Sequence[DType], result: DType | None) -> bool:
        """Whether these dtypes are those of the signature."""
        found = [*operands, *([] if result is None else [result])]
        wanted = [*self.operands, *([] if self.result is None else [self.result])]
        return (result is None) == (self.result is None) and (
            len(found) == len(wanted) and all(map(_is_of, found, wanted))
        )

    def shapes(self, result: tuple[int, ...]) -> Sequence[tuple[int, ...]]:
        """The shapes of the operands, if the result has this one, and of the result."""
        if self.config is None:
            return [result] * (len(self.operands) + 1)
        a, b, c = self.config.operand_shapes
        return [a, b, c, c]

    def __str__(self) -> str:
        kinds = [*self.operands, self.result or "!tg.void"]
        if self.config is not None:
            pairs = zip(self.shapes(()), kinds, strict=True)
            kinds = ["x".join(map(str, (*shape, kind))) for shape, kind in pairs]
        return f"({', '.join(kinds[:-1])}) -> {kinds[-1]}"


def _is_of(dtype: DType, kind: str) -> bool:
    """Whether a dtype is the one that a signature names."""
    if kind[1:].isdigit() and kind[0] == "b":
        return dtype.is_integer and dtype.name != "index" and dtype.bits == int(kind[1:])
    return dtype.name == kind


INSTRUCTIONS: dict[str, Mapping[str, Sequence[InstructionSignature]]] = {}
"""By the name of a target, or of a vendor for all of its targets: the signatures of each
instruction."""
