"""The IR in the docstrings of ops parses, verifies, and is of the op that it documents."""

from __future__ import annotations

import re

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from tgdialect.diagnostics import SourceFile, parse_module, verify_module
from tgdialect.dialect import TG

EXAMPLES = [
    (op.name, example)
    for op in TG.operations
    for example in re.findall(r"`([^`]*\btg\.[^`]*)`", op.__doc__ or "")
]

RANGE = """
%n = tg.const 4 : tensor<index>
%r = tg.range 0 loop to %n : tensor<index>
%0 = tg.cast %r to f32 : tensor<index> -> tensor<f32>
"""

LOOPS = """
%n = tg.const 4 : tensor<index>
%0 = tg.range 0 loop to %n : tensor<index>
%1 = tg.range 1 loop to %n : tensor<index>
%b = tg.buffer 0 : tensor<4x4xindex, #tg.place<"CPU", global>>
%i = tg.index %b[%0, %1]
  : (tensor<4x4xindex, #tg.place<"CPU", global>>, tensor<index>, tensor<index>)
  -> tensor<index, #tg.place<"CPU", global>>
%2 = tg.store %i, %0 : tensor<index, #tg.place<"CPU", global>>, tensor<index>
"""

IF = """
%0 = tg.const true : tensor<i1>
%1 = tg.if %0 : tensor<i1>
"""

KERNEL = """
tg.kernel @k {
  %p = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %v = tg.load %p : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  %0 = tg.store %p, %v
    : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  @
  %s = tg.sink %0 : !tg.void
}
"""

AROUND = {
    "tg.reduce": RANGE + "@",
    "tg.end": LOOPS + "@",
    "tg.if": "@\n%e = tg.endif %1",
    "tg.endif": IF + "@",
    "tg.barrier": KERNEL,
    "tg.call": KERNEL.replace("@\n", "\n") + "@",
}
"""What an example stands in that does not stand alone."""


def context() -> Context:
    result = Context()
    for dialect in (Builtin, Func, TG):
        result.load_dialect(dialect)
    return result


def program(name: str, example: str) -> str:
    """An example in a function or kernel that defines its operands."""
    around = AROUND.get(name, "@")
    if name == "tg.reduce" and "%r" not in example:
        around = "@"
    if name == "tg.barrier":
        return around.replace("@\n", example + "\n")
    parser = Parser(context(), example)
    parser.parse_op()
    before, _, after = around.rpartition("@")
    outside, before = (before, "") if name == "tg.call" else ("", before)
    arguments = ", ".join(
        f"%{operand}: {value.type}"
        for operand, values in parser.forward_ssa_references.items()
        for value in values.values()
        if f"%{operand} =" not in before
    )
    return f"{outside}\nfunc.func @f({arguments}) {{\n{before}\n{example}\n{after}\nreturn\n}}"


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_examples_are_valid(name: str, example: str):
    module = parse_module(context(), SourceFile(name, program(name, example)))
    verify_module(module)
    assert name in {op.name for op in module.walk()}


def test_every_op_has_an_example():
    assert {name for name, _ in EXAMPLES} == {op.name for op in TG.operations}
