"""Attributes of the branch that closes a loop: what LLVM is to do with the loop.

`llvm.cond_br %c, ^body, ^exit {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}`
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

LOOP_ANNOTATION = "loop_annotation"
"""The name of the attribute of a branch."""


@irdl_attr_definition
class LoopUnrollAttr(ParametrizedAttribute):
    """`#llvm.loop_unroll<full = true>`: the loop becomes its iterations, one after the other. The
    only kind of unrolling that is known here."""

    name = "llvm.loop_unroll"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("full")
            parser.parse_punctuation("=")
            parser.parse_keyword("true")
        return ()

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<full = true>")


@irdl_attr_definition
class LoopAnnotationAttr(ParametrizedAttribute):
    """`#llvm.loop_annotation<unroll = <full = true>>`."""

    name = "llvm.loop_annotation"

    unroll: LoopUnrollAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("unroll")
            parser.parse_punctuation("=")
            # Upstream prints a name for the attribute, which it defines at the top of the module.
            unroll = parser.parse_optional_attribute()
            if unroll is None:
                unroll = LoopUnrollAttr(*LoopUnrollAttr.parse_parameters(parser))
        return (unroll,)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<unroll = ")
        self.unroll.print_parameters(printer)
        printer.print_string(">")


FULLY_UNROLLED = LoopAnnotationAttr(LoopUnrollAttr())
