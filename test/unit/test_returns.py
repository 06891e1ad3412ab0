"""`func.return` as our parser reads it against xDSL's."""

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
def test_is_that_of_xdsl(text: str) -> None:
    text = f"{HEAD}{text}\n}}"
    wanted = Parser(context(), text).parse_module()
    assert str(LocatedParser(context(), SourceFile("text", text)).parse_module()) == str(wanted)


@pytest.mark.parametrize(
    "text",
    ["return %a", "return %a :", "return %a : i32", "return %a, %b : i32", "return : i32"],
)
def test_is_malformed_as_with_xdsl(text: str) -> None:
    text = f"{HEAD}{text}\n}}"
    with pytest.raises(ParseError):
        Parser(context(), text).parse_module()
    with pytest.raises(ParseError):
        LocatedParser(context(), SourceFile("text", text)).parse_module()
