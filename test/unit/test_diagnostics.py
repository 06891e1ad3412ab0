"""Positions, rendering and the verifier's walk."""

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    Builtin,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    i32,
)
from xdsl.ir import Block, Region

from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    Severity,
    SourceFile,
    parse_module,
    verify_module,
)
from tgdialect.diagnostics.diagnostic import operation_diagnostic


def context() -> Context:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(test.Test)
    return ctx


def test_positions_in_a_chunk():
    source = SourceFile("f", "ab\n\ncd\r\n", first_line=10)
    assert [source.position(offset) for offset in (0, 2, 3, 4, 5, 8)] == [
        (10, 1),
        (10, 3),
        (11, 1),
        (12, 1),
        (12, 2),
        (13, 1),
    ]
    assert [source.line(n) for n in range(9, 15)] == [None, "ab", "", "cd", "", None]


def test_render():
    note = Diagnostic("see here", Severity.NOTE, "f", 1, 2, "abc")
    error = Diagnostic("wrong", Severity.ERROR, "f", 3, 4, "\tx  y", (note,))
    assert error.render() == "f:3:4: error: wrong\n\tx  y\n\t  ^\nf:1:2: note: see here\nabc\n ^"
    assert Diagnostic("wrong").render() == "error: wrong"
    assert Diagnostic("wrong", file="f").render() == "f: error: wrong"
    assert "\033[" in error.render(colored=True)
    assert "\033" not in Diagnostic("\033[31m", file="f").render()


def test_long_line_is_cut_around_the_caret():
    line = "a" * 5000 + "!" + "b" * 5000
    _, shown, caret = (
        Diagnostic("wrong", file="f", line=1, column=5001, source_line=line).render().split("\n")
    )
    assert len(shown) < 200
    assert shown[caret.index("^")] == "!"


def test_location_of_operations():
    at = FileLineColLoc(StringAttr("f.py"), IntAttr(3), IntAttr(7))
    inner = test.TestOp()
    outer = test.TestOp(regions=[Region(Block([inner]))])
    assert operation_diagnostic(inner, "m").file is None
    outer.location = at
    assert operation_diagnostic(inner, "m") == Diagnostic("m", file="f.py", line=3, column=7)
    inner.location = FusedLoc([UnknownLoc(), NameLoc(StringAttr("n"), at)], NoneAttr())
    outer.location = UnknownLoc()
    assert operation_diagnostic(inner, "m").line == 3


def test_parser_locates_nested_operations_and_keeps_given_locations():
    text = '"test.op"() ({\n  %0, %1 =\n    "test.op"() : () -> (i32, i32)\n}) : () -> ()\n'
    text += '"test.op"() : () -> () loc("g":5:6)'
    module = parse_module(context(), SourceFile("f", text, first_line=100))
    places = [
        (op.location.filename.data, op.location.line.data, op.location.column.data)
        for op in module.walk()
        if isinstance(op.location, FileLineColLoc)
    ]
    assert places == [("f", 100, 1), ("f", 100, 1), ("f", 102, 5), ("g", 5, 6)]


def verification_error(text: str) -> str:
    with pytest.raises(CompilationError) as error:
        verify_module(parse_module(context(), SourceFile("f", text)))
    (diagnostic,) = error.value.diagnostics
    return f"{diagnostic.line}:{diagnostic.message}"


def test_dominance_between_blocks():
    # A diamond whose join uses a value of the entry (good), and one of a branch (bad).
    diamond = """"test.op"() ({
  %e = "test.op"() : () -> i32
  "test.termop"()[^a, ^b] : () -> ()
^a:
  %x = "test.op"() : () -> i32
  "test.termop"()[^c] : () -> ()
^b:
  "test.termop"()[^c] : () -> ()
^c:
  "test.op"(%USED) : (i32) -> ()
  "test.termop"()[^a] : () -> ()
^unreachable:
  "test.op"(%x) : (i32) -> ()
  "test.termop"()[^c] : () -> ()
}) : () -> ()"""
    verify_module(parse_module(context(), SourceFile("f", diamond.replace("USED", "e"))))
    error = verification_error(diamond.replace("USED", "x"))
    assert error == "10:operand #0 (%x) does not dominate this use"


def test_dominance_from_enclosing_regions():
    nested = """"test.op"() ({
  %x = "test.op"() ({
    "test.op"(%USED) : (i32) -> ()
    "test.termop"() : () -> ()
  }) : () -> i32
  "test.termop"() : () -> ()
}) : () -> ()"""
    outside = '%o = "test.op"() : () -> i32\n'
    verify_module(parse_module(context(), SourceFile("f", outside + nested.replace("USED", "o"))))
    # The body of an operation cannot use its results.
    assert verification_error(nested.replace("USED", "x")).startswith("3:operand #0 (%x)")


def test_modules_are_graphs():
    text = '"test.op"(%x) : (i32) -> ()\n%x = "test.op"() : () -> i32'
    verify_module(parse_module(context(), SourceFile("f", text)))


def test_erased_operand():
    definition = test.TestOp(result_types=[i32])
    use = test.TestOp([definition.res[0]])
    module = ModuleOp([definition, use])
    definition.detach()
    definition.erase(safe_erase=False)
    with pytest.raises(CompilationError, match="operand #0 is a value that was erased"):
        verify_module(module)


def test_deep_nesting_is_verified_without_recursion():
    op = test.TestTermOp()
    for _ in range(5000):
        op = test.TestTermOp(regions=[Region(Block([op]))])
    verify_module(ModuleOp([op]))


def test_error_shows_the_source():
    source = SourceFile("f", 'module {\n  "test.op"() <{a = 1 : i32}> : () -> ()\n}')
    with pytest.raises(CompilationError) as error:
        verify_module(parse_module(context(), source))
    lines = str(error.value.with_source(source)).split("\n")
    assert lines[0].startswith("f:2:3: error: property 'a' is not defined")
    assert lines[1:] == [source.line(2), "  ^"]


def test_a_file_of_any_name_is_on_one_line():
    text = Diagnostic("wrong", file="a\n\x1b[2Jb: error: found", line=1, column=2).render()
    assert (
        text
        == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[2Jb: error: found:1:2: error: wrong"
    )


def test_texts_that_are_printed_with_escapes_stay_texts():
    attribute = StringAttr("é\0")
    source = SourceFile(
        "x.mlir", f"builtin.module attributes {{a = {attribute}}} {{}} loc({attribute}:1:2)"
    )
    module = parse_module(context(), source)
    assert module.attributes["a"] == attribute
    assert isinstance(module.location, FileLineColLoc)
    assert module.location.filename == attribute
