"""The lexer of `diagnostics/parser.py` against xDSL's, on random text."""

import random

import pytest
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

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
