"""Printing of modules, in the same text as xDSL's `str`, in a third of the time.

The printer says which devices a program names: nobody has to look for them in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

from xdsl.ir import Attribute, Operation, OpResult, SSAValue, TypeAttribute
from xdsl.printer import Printer

from tgdialect.diagnostics import is_known, may_have_names
from tgdialect.fast_xdsl.operations import FastOp
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.ops.attributes import PlaceAttr
from tgdialect.ops.source import BufferOp, ParamOp


class PrintedProgram(NamedTuple):
    """A module as text.

    `text` has the locations of the module if they name nodes. `key` is the same for modules that
    differ in nothing but these, and in names of values other than arguments. `devices` are those
    that the module names; "" stands for lists of several.
    """

    text: str
    key: str
    devices: frozenset[str]


class _Printer(Printer):
    """Prints each type once, and keeps its text: most of the text of a program is types, of which
    it has few. So it does with ops, up to the names of values: most ops of a program are like an
    earlier one."""

    def __init__(
        self, stream: StringIO, *, has_locations: bool = False, has_names: bool = True
    ) -> None:
        super().__init__(stream)
        self._has_locations, self._has_names = has_locations, has_names
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
        if not self._has_names and value not in self._ssa_values and not _is_parameter(value):
            self._ssa_values[value] = self._get_new_valid_name_id()
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

    def _text_of(self, attribute: Attribute) -> str:
        """The text of a type or location, which has no line breaks."""
        put, words, parts = self._put, self._words, list[str]()
        self._put, self._words = parts.append, None
        super().print_attribute(attribute)
        self._put, self._words = put, words
        return "".join(parts)

    def print_op(self, op: Operation) -> None:
        self._print_op(op)
        if self._has_locations and is_known(location := op.location):
            known = self._texts.get(id(location))
            if known is None:
                known = self._texts[id(location)] = location, self._text_of(location)
            self._put(f" {known[1]}")

    def _print_op(self, op: Operation) -> None:
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


def _is_parameter(value: SSAValue) -> bool:
    """Whether the name of a value is known to those who call the program."""
    return not isinstance(value, OpResult) or isinstance(value.op, ParamOp | BufferOp)


def printed(op: Operation) -> PrintedProgram:
    """An op as text."""
    has_locations = any(may_have_names(each.location) for each in nested_ops(op))
    printer = _Printer(stream := StringIO(), has_locations=has_locations)
    printer.print_op(op)
    text = key = stream.getvalue()
    if has_locations:
        _Printer(stream := StringIO(), has_names=False).print_op(op)
        key = stream.getvalue()
    return PrintedProgram(text, key, frozenset(printer.devices))
