"""Printing of modules, in the same text as xDSL's `str`, in a third of the time.

The printer says which devices a program names: nobody has to look for them in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.printer import Printer

from tgdialect.fast_xdsl.operations import FastOp
from tgdialect.ops.attributes import PlaceAttr


class PrintedProgram(NamedTuple):
    """The text of a module, and the devices that it names; "" stands for lists of several."""

    text: str
    devices: frozenset[str]


class _Printer(Printer):
    """Prints each type once, and keeps its text: most of the text of a program is types, of which
    it has few. So it does with ops, up to the names of values: most ops of a program are like an
    earlier one."""

    def __init__(self, stream: StringIO) -> None:
        super().__init__(stream)
        self._put = stream.write
        self._texts: dict[int, tuple[Attribute, str]] = {}
        """By the identity of each type, which must not be that of a later one."""
        self._ops: dict[tuple[object, ...], Sequence[str | int]] = {}
        """The words of an op, and the numbers of its values between them: results, then operands.
        By its class and the identities of its attributes and types."""
        self._words: list[str | SSAValue] | None = None
        """The words of the present op, if they are to be kept."""
        self.devices: set[str] = set()

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self._put(text)
            if self._words is not None:
                self._words.append(text)

    def print_ssa_value(self, value: SSAValue) -> str:
        words, self._words = self._words, None
        name = super().print_ssa_value(value)
        if words is not None:
            words.append(value)
        self._words = words
        return name

    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, PlaceAttr) and (device := attribute.device) is not None:
            self.devices.add(device if isinstance(device, str) else "")
        if not isinstance(attribute, TypeAttribute):
            super().print_attribute(attribute)
            return
        known = self._texts.get(id(attribute))
        if known is None:
            known = self._texts[id(attribute)] = attribute, self._text_of(attribute)
        self.print_string(known[1])

    def _text_of(self, type: TypeAttribute) -> str:
        """The text of a type, which has no line breaks."""
        put, words, parts = self._put, self._words, list[str]()
        self._put, self._words = parts.append, None
        super().print_attribute(type)
        self._put, self._words = put, words
        return "".join(parts)

    def print_op(self, op: Operation) -> None:
        if not isinstance(op, FastOp) or op.regions or op.successors:
            super().print_op(op)
            return
        values = (*op.results, *op.operands)
        attributes = (*op.properties.values(), *op.attributes.values())
        types = [value.type for value in values]
        names = *op.properties, None, *op.attributes
        key = op.__class__, names, len(op.results), *map(id, attributes), *map(id, types)
        if (words := self._ops.get(key)) is not None:
            for word in words:
                if isinstance(word, str):
                    self._put(word)
                else:
                    self.print_ssa_value(values[word])
            return
        # If a value occurs twice, words do not say which of the two they name.
        numbers = {value: number for number, value in enumerate(values)}
        self._words = [] if len(numbers) == len(values) else None
        super().print_op(op)
        if (found := self._words) is not None:
            self._ops[key] = [word if isinstance(word, str) else numbers[word] for word in found]
        self._words = None


def printed(op: Operation) -> PrintedProgram:
    """The text of an op, and the devices that its types and attributes name."""
    printer = _Printer(stream := StringIO())
    printer.print_op(op)
    return PrintedProgram(stream.getvalue(), frozenset(printer.devices))
