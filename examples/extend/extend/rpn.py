"""`.rpn` files: functions on vectors in reverse Polish notation.

# The number of elements of each vector, then the functions.
4
main: x y hypot z max
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FileLineColLoc,
    Float32Type,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from extend.hypot import HypotOp
from tgdialect.diagnostics import CompilationError, Diagnostic, SourceFile
from tgdialect.input_formats import TextFrontend
from tgdialect.ops import tg

FUNCTION = re.compile(r"(\w+):(.*)")
WORD = re.compile(r"\S+")
OPERATORS = {"+": tg.AddOp, "-": tg.SubOp, "*": tg.MulOp, "max": tg.MaxOp, "hypot": HypotOp}


@dataclass(frozen=True)
class RpnFrontend(TextFrontend):
    """Reads `.rpn` files."""

    name = "rpn"

    def parse_text(self, ctx: Context, source: SourceFile) -> ModuleOp:
        """Raises CompilationError with all that is wrong in a file."""
        return _Reader(source).module()


class _Reader:
    """Reads one file."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []

    def module(self) -> ModuleOp:
        """The functions of the file. Raises CompilationError."""
        size: int | None = None
        functions: list[Operation] = []
        for number, line in enumerate(self.source.text.splitlines(), self.source.first_line):
            if not (code := line.partition("#")[0].rstrip()):
                continue
            if size is None:
                size = self._size(number, code)
            elif (found := FUNCTION.fullmatch(code)) is None:
                self._error(number, 1, "expected NAME: WORDS")
            else:
                functions.append(self._function(number, found, TensorType(f32, [size])))
        if self.errors:
            raise CompilationError(self.errors)
        return ModuleOp(functions)

    def _error(self, line: int, column: int, message: str) -> None:
        self.errors.append(Diagnostic(message, file=self.source.name, line=line, column=column))

    def _size(self, line: int, text: str) -> int:
        if re.fullmatch("[0-9]{1,9}", text):
            return int(text)
        self._error(line, 1, "expected the number of elements")
        return 1

    def _function(self, line: int, found: re.Match[str], type: TensorType[Float32Type]) -> FuncOp:
        """A function of the values that its words name, in the order of their first uses."""
        words = [(word[0], word.start() + 1) for word in WORD.finditer(found[0], found.start(2))]
        inputs = list(dict.fromkeys(text for text, _ in words if text not in OPERATORS))
        function = FuncOp(found[1], ([type] * len(inputs), [type]))
        values = dict(zip(inputs, function.args, strict=True))
        for text, value in values.items():
            value.name_hint = text
        stack: list[SSAValue] = []
        for text, column in words:
            if text in values:
                stack.append(values[text])
            elif len(stack) < 2:
                self._error(line, column, f"{text!r} takes two values")
                return function
            else:
                file = StringAttr(self.source.name)
                location = FileLineColLoc(file, IntAttr(line), IntAttr(column))
                builder = tg.OpBuilder.at_end(function.body.block, location)
                b, a = stack.pop(), stack.pop()
                stack.append(builder.put(OPERATORS[text](a, b)))
        if len(stack) != 1:
            self._error(line, found.end(), f"{len(stack)} values are left, not one")
            return function
        function.body.block.add_op(ReturnOp(stack[0]))
        return function
