"""`func.func` and `func.return` as our parser reads them against xDSL's."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from tgdialect.diagnostics import SourceFile
from tgdialect.diagnostics.parser import LocatedParser

HEAD = "func.func @f(%a: tensor<2xf32>, %b: i32) -> (tensor<2xf32>, i32) {\n  "


def context() -> Context:
    made = Context()
    made.load_dialect(Builtin)
    made.load_dialect(Func)
    return made


@pytest.mark.parametrize(
    "text",
    [
        "return",
        "func.return",
        "return %a : tensor<2xf32>",
        "return %a, %b : tensor<2xf32>, i32",
        "return {x = 1 : i32} %a, %b : tensor<2xf32>, i32",
        "return %b, %b : i32, i32 loc(unknown)",
        '"func.return"(%b) : (i32) -> ()',
    ],
)
def test_return_is_that_of_xdsl(text: str) -> None:
    assert_same(f"{HEAD}{text}\n}}")


def assert_same(text: str) -> None:
    wanted = Parser(context(), text).parse_module()
    assert str(LocatedParser(context(), SourceFile("text", text)).parse_module()) == str(wanted)


BODY = "{\n  return\n}"


@pytest.mark.parametrize(
    "text",
    [
        f"func.func @f() {BODY}",
        f"func.func private @f ( ) {BODY}",
        "func.func private @f()",
        "func.func private @f() -> i32",
        "func.func private @f(i32, tensor<2xf32> {x.y = 1 : i32}) -> (i32 {x.y}, f32)",
        f"func.func @f(%a: i32) {BODY}",
        f"func.func public @f(%a: i32 {{x.y}}, %b: tensor<?xf32>) -> () {BODY}",
        f"func.func nested @f(%a: i32 loc(unknown)) attributes {{x.y = 2 : i32}} {BODY}",
        'func.func @f(%a: i32 {x.y = "s"} loc(unknown)) -> (i32 {x.y}) {\n  return %a : i32\n}',
        f'func.func @"a b"(%a: i32) {BODY}',
        f"func.func @f // comment\n(%a: i32) {BODY}",
        '"func.func"() ({}) {sym_name = "f", function_type = () -> ()} : () -> ()',
    ],
)
def test_function_is_that_of_xdsl(text: str) -> None:
    assert_same(text)
    second = text.replace("@f", "@g").replace('"f"', '"g"').replace("a b", "c")
    assert_same(f"{text}\n{second}")


@pytest.mark.parametrize(
    "text",
    [
        f"func.func @f(%a: i32, i32) {BODY}",
        f"func.func @f(i32, %a: i32) {BODY}",
        f"func.func @f(%a) {BODY}",
        f"func.func @f(%a: i32 {BODY}",
        f"func.func @f(%a: i32, %a: i32) {BODY}",
        f"func.func @f(%a: i32 loc(unknown) {{x.y}}) {BODY}",
        f"func.func other @f() {BODY}",
        f'func.func @f() attributes {{sym_name = "g"}} {BODY}',
    ],
)
def test_function_is_malformed_as_with_xdsl(text: str) -> None:
    assert_malformed(text)


def assert_malformed(text: str) -> None:
    with pytest.raises(ParseError):
        Parser(context(), text).parse_module()
    with pytest.raises(ParseError):
        LocatedParser(context(), SourceFile("text", text)).parse_module()


@pytest.mark.parametrize(
    "text",
    ["return %a", "return %a :", "return %a : i32", "return %a, %b : i32", "return : i32"],
)
def test_return_is_malformed_as_with_xdsl(text: str) -> None:
    assert_malformed(f"{HEAD}{text}\n}}")
