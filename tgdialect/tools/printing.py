"""How tg-opt prints IR, and the check that it can read what it prints."""

from io import StringIO
from itertools import zip_longest
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import AnyDenseElement, DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer
from xdsl.syntax_printer import SyntaxPrinter

from tgdialect.diagnostics import CompilationError, Diagnostic, SourceFile, parse_module


class ElidingPrinter(Printer):
    """Prints dense literals of more than `most_elements` elements that differ, if that is not None,
    as `dense_resource<__elided__>`."""

    most_elements: int | None = None

    def print_attribute(self, attribute: Attribute) -> None:
        if self.most_elements is None or not isinstance(attribute, DenseIntOrFPElementsAttr):
            super().print_attribute(attribute)
            return
        dense = cast("DenseIntOrFPElementsAttr[AnyDenseElement]", attribute)
        data, count = dense.data.data, len(dense)
        if count <= self.most_elements or data == data[: len(data) // count] * count:
            super().print_attribute(dense)
            return
        self.print_string("dense_resource<__elided__> : ")
        self.print_attribute(dense.type)


class ColoredPrinter(ElidingPrinter, SyntaxPrinter):
    """Prints with colors."""


def check_roundtrip(ctx: Context, module: ModuleOp, text: str, file: str) -> None:
    """
    Check that `text`, which is how a module is printed, parses to the same module.

    Raises `CompilationError` that shows where `text` does not parse, or the first line of the
    generic form that differs.
    """
    source = SourceFile(f"{file} as printed", text)
    again = parse_module(ctx, source)
    if module.is_structurally_equivalent(again):
        return
    lines = (_generic(each).splitlines() for each in (module, again))
    differing = ((a, b) for a, b in zip_longest(*lines, fillvalue="") if a != b)
    before, after = next(differing, ("", ""))
    message = (
        "the module is another one after it is printed and parsed: "
        f"'{before.strip()}' becomes '{after.strip()}'"
    )
    raise CompilationError(Diagnostic(message, file=file))


def _generic(op: Operation) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(op)
    return stream.getvalue()
