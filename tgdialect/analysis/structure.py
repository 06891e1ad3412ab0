"""The structure of blocks as text, up to the names of values and locations."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute, Block, SSAValue


class Structures:
    """Texts that are equal for blocks of the same structure, in this process and in any other.

    That of an op takes two microseconds, and to print it takes 60: the texts of attributes, most of
    which many ops share, are kept as long as this object lives.
    """

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Attribute, str]] = {}
        """By the identity of each attribute, which must not be that of a later one."""

    def of(self, block: Block) -> str:
        """The structure of a block, whose regions inside use no values of it: their ops are
        isolated from above."""
        numbers: dict[SSAValue, int] = {}
        return "\n".join(self._lines(block, numbers))

    def _lines(self, block: Block, numbers: dict[SSAValue, int]) -> Iterator[str]:
        """A line for the arguments, and one for each op; `numbers` gets the values."""
        for argument in block.args:
            numbers[argument] = len(numbers)
        yield " ".join(self._text(argument.type) for argument in block.args)
        for op in block.ops:
            words = [op.name, *(str(numbers.get(operand, "?")) for operand in op.operands)]
            for attributes in (op.properties, op.attributes):
                for name in sorted(attributes):
                    words += (name, self._text(attributes[name]))
            words += (":", *(self._text(result.type) for result in op.results))
            for region in op.regions:
                words += ("{", *map(self.of, region.blocks), "}")
            yield " ".join(words)
            for result in op.results:
                numbers[result] = len(numbers)

    def _text(self, attribute: Attribute) -> str:
        known = self._texts.get(id(attribute))
        if known is None:
            known = self._texts[id(attribute)] = attribute, str(attribute)
        return known[1]
