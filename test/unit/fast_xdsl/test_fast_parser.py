"""The lexers, the parser and the context in place of xDSL's, on random text and on the examples."""

import random
from pathlib import Path

import pytest
from example_files import EXAMPLES
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from tgdialect.diagnostics.parser import LocatedParser
from tgdialect.dialect import TG
from tgdialect.fast_xdsl.context import FastContext
from tgdialect.fast_xdsl.parser import FastLexer, FastParser
from tgdialect.llvm_dialect import LLVM_WITH_GAPS

LEXERS = (FastLexer, LocatedParser.LEXER)
DIALECTS = (Builtin, Func, TG, LLVM_WITH_GAPS)

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


@pytest.mark.parametrize("kind", LEXERS)
@pytest.mark.parametrize("seed", range(20))
def test_tokens_are_those_of_xdsl(seed: int, kind: type[FastLexer]) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        text = "".join(rng.choices(PIECES, k=rng.randint(1, 12)))
        source = Input(text, "text")
        assert tokens(kind(source)) == tokens(MLIRLexer(source)), repr(text)


def test_plain_tokens_keep_their_text() -> None:
    found = tokens(FastLexer(Input("%0 = tg.add %a, %b : tensor<4x?xf32> // sum", "text")))
    assert [token[1] for token in found[:5]] == ["%0", "=", "tg.add", "%a", ","]


def loaded(context: Context) -> Context:
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    return context


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_modules_are_those_of_xdsl(path: Path) -> None:
    text, context = path.read_text(), loaded(Context())
    wanted = Parser(context, text).parse_module()
    found = FastParser(context, text, path.name).parse_module()
    assert found.is_structurally_equivalent(wanted)
    assert str(found) == str(wanted)


def test_context_has_what_that_of_xdsl_has() -> None:
    ours, theirs = loaded(FastContext()), loaded(Context())
    for field in ("_loaded_ops", "_loaded_attrs", "_loaded_types"):
        assert getattr(ours, field) == getattr(theirs, field) != {}
    for attribute in (next(TG.attributes), next(Builtin.attributes)):
        with pytest.raises(Exception, match="already") as raised:
            theirs.load_attr_or_type(attribute)
        with pytest.raises(type(raised.value), match="already"):
            ours.load_attr_or_type(attribute)
