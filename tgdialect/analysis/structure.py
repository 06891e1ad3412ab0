"""The structure of blocks, and of what computes a value, as text: up to the names of values and
locations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DenseArrayBase, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tgdialect.ops import tg

_WITHOUT_FLOATS = (TensorType, DenseArrayBase, tg.NumberAttr, tg.AxisTypeAttr, tg.ReduceKindAttr)
"""Attributes that have one text if they are equal: they have no floats, of which 0.0 and -0.0 are
equal."""


class Computation(NamedTuple):
    """The structure of what computes some values."""

    text: str
    numbers: dict[SSAValue, int]
    """The values in it, leaves among them, with their numbers in the text: values of two equal
    texts that have the same number have the same place."""


class Structures:
    """Texts that are equal for ops of the same structure, in this process and in any other.

    That of an op takes two microseconds, and to print it takes 60: the texts of attributes, most of
    which many ops share, are kept as long as this object lives.
    """

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Attribute, str]] = {}
        """By the identity of each attribute, which must not be that of a later one."""
        self._equal: dict[Attribute, str] = {}
        """By equality: of those in `_WITHOUT_FLOATS`."""

    def of(self, block: Block) -> str:
        """The structure of a block, whose regions inside use no values of it: their ops are
        isolated from above. It has a line for the arguments, and one for each op."""
        numbers: dict[SSAValue, int] = {argument: i for i, argument in enumerate(block.args)}
        arguments = " ".join(self.text(argument.type) for argument in block.args)
        return "\n".join([arguments, *(self._line(op, numbers) for op in block.ops)])

    def computing(
        self, values: Sequence[SSAValue], leaf: Callable[[SSAValue], str | None]
    ) -> Computation | None:
        """The structure of all that computes some values, down to leaves; None if an argument is
        not one, if extents or offsets are values, or if views wait for effects.

        `leaf` gives what a leaf is, and None for a value that is computed.
        """
        numbers: dict[SSAValue, int] = {}
        lines: list[str] = []
        leaves: dict[SSAValue, str | None] = {}

        def is_unknown(op: Operation | Block) -> bool:
            is_other = isinstance(op, tg.ResizeOp | tg.WindowOp | tg.AfterOp)
            return not isinstance(op, tg.TgOp) or (is_other and len(op.operands) > 1)

        def sources(value: SSAValue) -> Sequence[SSAValue]:
            leaves[value] = leaf(value)
            # Nothing behind an unknown op is looked at: an effect needs all that was done before.
            is_last = leaves[value] is not None or is_unknown(value.owner)
            return () if is_last else tg.operands_of(value)

        for value in tg.postorder(values, sources):
            op = value.owner
            if (text := leaves[value]) is not None:
                numbers[value] = len(numbers)
                lines.append(text)
            elif isinstance(op, Block) or is_unknown(op):
                return None
            else:
                lines.append(self._line(op, numbers))
        roots = " ".join(str(numbers[value]) for value in values)
        return Computation("\n".join([*lines, roots]), numbers)

    def _line(self, op: Operation, numbers: dict[SSAValue, int]) -> str:
        """An op; `numbers` gets its results."""
        words = [op.name, *(str(numbers.get(operand, "?")) for operand in op.operands)]
        for attributes in (op.properties, op.attributes):
            for name in sorted(attributes):
                words += (name, self.text(attributes[name]))
        words += (":", *(self.text(result.type) for result in op.results))
        for region in op.regions:
            words += ("{", *map(self.of, region.blocks), "}")
        for result in op.results:
            numbers[result] = len(numbers)
        return " ".join(words)

    def text(self, attribute: Attribute) -> str:
        """An attribute as text."""
        if (known := self._texts.get(id(attribute))) is not None:
            return known[1]
        may_have_floats = type(attribute) not in _WITHOUT_FLOATS
        text = None if may_have_floats else self._equal.get(attribute)
        if text is None:
            text = str(attribute)
            if isinstance(attribute, tg.DataAttr) and not isinstance(attribute.data, bytes):
                text = repr(attribute.data)  # With the folder, and the version of the file.
            if not may_have_floats:
                self._equal[attribute] = text
        self._texts[id(attribute)] = attribute, text
        return text
