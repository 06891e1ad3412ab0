"""The lexer of `diagnostics/parser.py` against xDSL's, on random text."""

import random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

import tgdialect as tg
from tgdialect import registry
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.diagnostics.parser import _Lexer  # pyright: ignore[reportPrivateUsage]

PIECES = (
    *':,()[]<>{}=+-*/?|%#!^@."\\ \n\t\x0b\x85é²_$;',
    *(
        "->",
        "...",
        "{-#",
        "#-}",
        "//",
        "// x\n",
        "%0",
        "%a.b",
        "%1x",
        "@f",
        '@"f"',
        '"s\\0A"',
        "#1",
    ),
    *("0", "12", "0x1F", "0xi32", "1.5e3", "2x3", "7.", "tg.add", "x4", "tensor", "f32", "_a$"),
)


def tokens(lexer: MLIRLexer) -> list[tuple[object, ...]]:
    """The tokens up to the end, or to an error and with its message."""
    found: list[tuple[object, ...]] = []
    try:
        while (token := lexer.lex()).kind is not MLIRTokenKind.EOF:
            found.append((token.kind, token.text, token.span.start, token.span.end))
    except ParseError as error:
        found.append((error.msg, error.span))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_tokens_are_those_of_xdsl(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        text = "".join(rng.choices(PIECES, k=rng.randint(1, 12)))
        source = Input(text, "text")
        assert tokens(_Lexer(source)) == tokens(MLIRLexer(source)), repr(text)


def test_plain_tokens_keep_their_text() -> None:
    found = tokens(_Lexer(Input("%0 = tg.add %a, %b : tensor<4x?xf32> // sum", "text")))
    assert [token[1] for token in found[:5]] == ["%0", "=", "tg.add", "%a", ","]


NAMES = (
    *("_1", "_", "__2", "$", "-", "a-b.c$d", "0", "00", "_1_2", "-1", "a_", "a_1", "a_1_2_3"),
    *("$0", ".5", "x.1", "-_1", "_-1", "_01", "7"),
)
"""Names that MLIR's grammar allows for values: `suffix-id`. xDSL takes `_1` off a name each time
that a value is copied, and cannot copy one of which nothing is left."""


@pytest.mark.parametrize("name", NAMES)
def test_names_of_values_survive_copies(name: str):
    other = f"{name}1" if name[0].isdecimal() else f"{name}_1"
    text = f"""
      func.func @main(%{name}: tensor<4xf32>) -> tensor<4xf32> {{
        %x = tg.neg %{name} : tensor<4xf32>
        %{other} = tg.sqrt %x : tensor<4xf32>
        func.return %{other} : tensor<4xf32>
      }}"""
    module = parsed = parse(text)
    printed = str(module)
    for _ in range(4):
        module = module.clone()
    assert str(module) == printed == str(parse(printed))
    assert tg.compile(parsed)(np.full(4, -9, np.float32)).tolist() == [3.0] * 4


def parse(text: str) -> ModuleOp:
    return parse_module(registry.make_context(), SourceFile("in.mlir", text))


@pytest.mark.parametrize("name", ["é", "größe", "_1", "_1_2", "x_3"])
def test_names_from_elsewhere(name: str):
    """Sizes, and arguments of functions, have Python's names."""
    size = tg.Variable(name, 1, 9)
    assert tg.Tensor.ones(size.bind(3)).sum().item() == 3
    scope: dict[str, Any] = {}
    exec(f"def f({name}): return {name} * 2", scope)
    program = tg.function(scope["f"]).lower(tg.Tensor([1.0, 2.0]))
    printed = program.as_text()
    assert str(parse(printed)) == printed
    assert tg.compile(printed)(np.ones(2, np.float32)).tolist() == [2, 2]
