"""
Malformed inputs of tg-opt and the error that each must give.

Add a row to `TEXTS` (a file that is wrong: `|` in the text marks where the error must be) or to
`COMMANDS` (arguments that are wrong). `test_tg_opt_malformed.py` runs them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Malformed:
    """A text with a mark `|` where the error is reported, and a regular expression for it."""

    name: str
    marked_text: str
    message: str
    args: tuple[str, ...] = ()


def in_function(marked_line: str) -> str:
    """A file with the line as the first of a function of two i32 arguments, %a and %b."""
    return (
        "func.func @f(%a: i32, %b: i32) -> i32 {\n"
        f"  {marked_line}\n"
        "  // a comment that no error is reported in\n"
        "  func.return %a : i32\n"
        "}\n"
    )


def _line(name: str, marked_line: str, message: str) -> Malformed:
    return Malformed(name, in_function(marked_line), message)


TEXTS = [
    # Syntax of operations.
    _line("missing comma", "%0 = arith.addi %a |%b : i32", "Expected ','"),
    _line("missing type", '"test.op"()| ', "expected ':' and the type"),
    _line("missing operand list", '"test.op"|', r"'\(' expected"),
    _line("missing equals sign", "%0 |arith.addi %a, %b : i32", "Expected '='"),
    _line("stray character", "|$", r"Unexpected character: \$"),
    _line("stray token", "|]", "expected an operation, a block label or '}'"),
    _line("unclosed string", '"test.op"() {a = |"abc', "string literal is not closed"),
    _line("unclosed long string", f'"test.op"() {{a = |"{"a" * 200}', "literal is not closed"),
    _line("invalid escape", '"test.op"() {a = |"\\q"} : () -> ()', "invalid escape"),
    _line("lone percent sign", "%0 = arith.addi |%, %b : i32", "expected a name or number"),
    _line("lone at sign", '"test.op"() {a = |@} : () -> ()', "@ identifier expected"),
    _line("unclosed block comment", "|/* no such comment */", "expected an operation"),
    _line("no custom format", '"test.op"() : () -> ()\n  test.op |%a', "does not have a custom"),
    Malformed("unclosed region", "func.func @f() {\n  func.return|\n", "block label or '}'"),
    Malformed("closing brace alone", "|}", "expected an operation"),
    Malformed("unclosed arguments", "func.func @f(|", "Expected argument or type"),
    Malformed("no symbol name", "func.func private|", "expect symbol name"),
    Malformed("no region", "builtin.module { builtin.module |}", "Expected region"),
    Malformed("nested too deeply", '"test.op"() ({' * 500, "nested too deeply"),
    Malformed("attribute nested too deeply", '"test.op"() {a = ' + "[" * 9000, "nested too deeply"),
    # Names.
    _line("unknown dialect", "|nope.op %a", "dialect 'nope' of operation 'nope.op' is not reg"),
    _line("near dialect", "|arit.addi %a, %b : i32", "did you mean arith"),
    _line("near operation", "%0 = |arith.adi %a, %b : i32", "did you mean .*arith.addi"),
    _line("unknown operation", '|"frobnicate"() : () -> ()', "'frobnicate' is not registered"),
    _line("undeclared value", "%0 = arith.addi %a, |%x : i32", "undeclared SSA value %x"),
    _line("undeclared block", "cf.br |^nowhere", r"reference to undefined block \^nowhere"),
    _line("undefined attribute alias", '"test.op"() {a = #foo|} : () -> ()', "alias '#foo'"),
    _line("undefined type alias", '"test.op"() {a = !foo|} : () -> ()', "alias '!foo'"),
    _line("undefined symbol", "|func.call @g(%a) : (i32) -> ()", "'@g' could not be found"),
    _line("value defined twice", "|%a = arith.addi %a, %b : i32", "%a is already defined"),
    _line("duplicate attribute", '"test.op"() {a, a} |: () -> ()', "Duplicate key 'a'"),
    Malformed(
        "symbol defined twice",
        "func.func private @f()\n|func.func private @f()",
        'Redefinition of symbol "f"',
    ),
    Malformed(
        "block defined twice",
        '"test.op"() ({\n^a:\n  "test.termop"() : () -> ()\n|^a:\n}) : () -> ()',
        "re-declaration of block 'a'",
    ),
    Malformed("alias defined twice", "!a = i32\n!a |= i64", "re-declaration of alias '!a'"),
    Malformed(
        "argument named twice",
        "func.func @f(%a: i32, |%a: i32) { func.return }",
        "%a is already defined",
    ),
    # Attributes and types.
    _line("unknown type", "%0 = arith.constant 1 : |i0x", "type expected"),
    _line("unregistered type", "%0 = arith.constant 1 : !foo.bar|", "'foo.bar' is not registered"),
    _line("unfinished shape", "%0 = arith.constant 1 : tensor<4x8x|", "in shape delimiter"),
    _line("negative dimension", '"test.op"() {a = tensor<|-1xi32>} : () -> ()', "Expected shape"),
    _line("dynamic vector", '"test.op"() {a = vector<|?xi32>} : () -> ()', "Expected vector"),
    _line("float for integer", "%0 = arith.constant 1.5 : i32|", "not valid for integer type"),
    _line("string for integer", '%0 = |arith.constant "x" : i32', 'Unexpected attribute "x"'),
    _line("integer too large", "%0 = |arith.constant 300 : i8", "300 is out of range for type i8"),
    _line(
        "huge integer",
        f"%0 = |arith.constant {'9' * 5000} : i32",
        "an integer of more than 4300 digits",
    ),
    _line(
        "dense shape",
        "%0 = arith.constant dense<[1, 2]> : tensor<3xi32>|",
        r"Expected \[3\] shape from the type, but got \[2\]",
    ),
    _line(
        "dense ragged",
        "%0 = arith.constant dense<[[1, 2], [3]]|> : tensor<2x2xi32>",
        "inconsistent ranks",
    ),
    _line(
        "dense brackets",
        "%0 = arith.constant dense<[[1, 2], (3, 4|]]> : tensor<2x2xi32>",
        "unexpected token",
    ),
    _line("location", '"test.op"() : () -> () loc(foo|)', "Unsupported location type"),
    _line("affine map", '"test.op"() {a = affine_map<(d0) -> (|d1)>} : () -> ()', "not in space"),
    Malformed("alias without value", "#a = |", "attribute expected"),
    Malformed("metadata", "{-# foo |#-}", "expected `:`"),
    Malformed(
        "metadata of an unknown kind",
        "{-# other_resources: |{} #-}",
        "unexpected key in file metadata",
    ),
    Malformed(
        "external resource", "{-# external_resources: {a: {b: |c}} #-}", "string literal expected"
    ),
    # Types of operands and rules of operations.
    _line("operand type", "%0 = arith.addi |%a, %b : i64", "used with type i64"),
    _line("operand count", '%0 = |"arith.addi"(%a) : (i32) -> i32', "Expected 2 operands, but got"),
    _line("type count", '"test.op"(%a) : |(i32, i32) -> ()', "expected 2 operand types but had 1"),
    _line("result count", "|%0, %1 = arith.addi %a, %b : i32", "1 results, but was given 2"),
    _line("result index", '"test.op"(|%a#3) : (i32) -> ()', "index out of bounds"),
    _line(
        "result type", '%0 = |"arith.addi"(%a, %b) : (i32, i32) -> i64', "attribute i32 expected"
    ),
    _line("predicate", "%0 = |arith.cmpi foo, %a, %b : i32", "Unknown comparison mnemonic: foo"),
    _line("unknown property", '|"test.op"() <{a}> : () -> ()', "property 'a' is not defined"),
    _line("missing property", '|"func.call"() : () -> ()', "property 'callee' expected"),
    _line("terminator in the middle", "|func.return %a : i32", "must be the last operation"),
    _line("dominance", '|"test.op"(%x) : (i32) -> ()\n  %x = arith.addi %a, %b : i32', "dominate"),
    Malformed("region count", '|"builtin.module"() : () -> ()', "Expected 1 region, but got 0"),
    Malformed(
        "no terminator",
        "func.func @f(%a: i32) {\n  %0 = |arith.addi %a, %a : i32\n}",
        "'arith.addi' ends its block but is not a terminator",
    ),
    Malformed(
        "value of another function",
        'func.func @f() {\n  |"test.op"(%x) : (i32) -> ()\n  func.return\n}\n'
        "func.func @g() {\n  %x = arith.constant 1 : i32\n  func.return\n}",
        r"operand #0 \(%x\) does not dominate",
    ),
    Malformed(
        "value of a block that does not dominate",
        "func.func @f(%c: i1) {\n  cf.cond_br %c, ^a, ^b\n^a:\n  %x = arith.constant 1 : i32\n"
        '  cf.br ^b\n^b:\n  |"test.op"(%x) : (i32) -> ()\n  func.return\n}',
        r"operand #0 \(%x\) does not dominate",
    ),
    # Flags that make a text wrong.
    Malformed("empty with --no-implicit-module", "|", "expected an op", ("--no-implicit-module",)),
    Malformed(
        "no module with --no-implicit-module",
        "|func.func private @f()",
        "builtin.module operation expected",
        ("--no-implicit-module",),
    ),
    # Failures of a target.
    Malformed("no LLVM IR", '|"test.op"() : () -> ()', "no translation to LLVM", ("-t", "llvm")),
    Malformed("no assembly", '|"test.op"() : () -> ()', "no translation to LLVM", ("-t", "asm")),
    Malformed(
        "no LLVM IR in a function",
        'llvm.func @f() {\n  |"test.op"() : () -> ()\n  llvm.return\n}',
        "no translation to LLVM IR",
        ("-t", "llvm"),
    ),
    Malformed(
        "target of another kind",
        "|module attributes {tg.target = 1 : i32} {}",
        "tg.target is not a #tg.target",
        ("-p", "tg-rangeify"),
    ),
    Malformed(
        "second chunk",
        "func.func private @f()\n// -----\n\n  |foo",
        "'foo' is not registered",
        ("--split-input-file",),
    ),
]

BYTES = [
    ("zeros", b"\0\1\2", "1:1", "Unexpected character"),
    ("not UTF-8", b"module {\n \xff}", "2:2", "not UTF-8 text: byte 0xff"),
    ("MLIR bytecode", b"ML\xefR\x01\x02", "1:3", "MLIR bytecode"),
]
"""Files that are not text: name, content, line and column, message."""

COMMANDS = [
    # Pipelines.
    (("-p", "frobnicate"), "unknown pass 'frobnicate'; tg-opt --list-passes lists all"),
    (("-p", "cannonicalize"), "unknown pass 'cannonicalize'; did you mean canonicalize"),
    (("-p", "tg-rangify"), "unknown pass 'tg-rangify'; did you mean tg-rangeify"),
    (("-p", "cse,rangeify"), "unknown pass 'rangeify'; did you mean tg-rangeify"),
    (("-p", "cse,canonicalise"), "unknown pass 'canonicalise'; did you mean canonicalize"),
    (("--pass-pipeline=cse",), r"expected 'builtin.module\(...\)': write 'builtin.module\(cse\)'"),
    (("--pass-pipeline=builtin.module(cse",), r"expected '\)' at the end .*the text ends"),
    (("--pass-pipeline=builtin.module(cse))",), r"unexpected '\)' after the end"),
    (
        ("--pass-pipeline=builtin.module(func.fun(cse))",),
        "no operation 'func.fun' .*mean func.func",
    ),
    (("--pass-pipeline=builtin.module(scf.for(cse))",), "cannot run on each 'scf.for' by itself"),
    (
        ("--pass-pipeline=builtin.module(func.func(cse)",),
        r"expected '\)' at the end of the pipeline",
    ),
    (("--pass-pipeline=builtin.module(func.func(nope))",), "unknown pass 'nope'"),
    (("--pass-pipeline=func.func(cse)",), r"write 'builtin.module\(func.func\(cse\)\)'"),
    (("-p", "cse", "--pass-pipeline=builtin.module(cse)"), "not by both"),
    (("--cse", "--pass-pipeline=builtin.module(cse)"), "not by both"),
    (("--cse=a=1",), "pass 'cse' has no option 'a'"),
    (("--canonicalise",), "unknown option '--canonicalise', did you mean --canonicalize"),
    (("--mlir-opt",), "it needs --allow-external"),
    (("-p", "cse{"), "expected an option of 'cse' or '}', the text ends"),
    (("-p", "cse{=}"), "expected an option of 'cse' or '}', found '='"),
    (("-p", "{}"), "expected a name, found '{'"),
    (("-p", "cse{a=1}"), "pass 'cse' has no option 'a'; it has no options"),
    (("-p", "dmp-to-mpi{b}"), "has no option 'b'; its options are mpi-init: bool, generate-debug"),
    (("-p", "dmp-to-mpi{mpi-init=true mpi_init=false}"), "'mpi_init' of 'dmp-to-mpi' is given twi"),
    (("-p", "dmp-to-mpi{mpi-init=}"), "expected a value"),
    (("-p", "dmp-to-mpi{mpi-init=maybe}"), "option 'mpi-init' of .* is bool, not 'maybe'"),
    (("-p", "memref-stream-interleave{pipeline-depth=a}"), "is int, not 'a'"),
    (("-p", "scf-parallel-loop-tiling"), "requires parallel-loop-tile-sizes: tuple"),
    (("-p", "scf-parallel-loop-tiling{parallel-loop-tile-sizes=[1,2}"), r"expected '\]'"),
    (("-p", "mlir-opt[cse]"), "'mlir-opt' starts another program: it needs --allow-external"),
    (("-p", "mlir-opt{executable=/bin/true}"), "it needs --allow-external"),
    (("-p", "mlir-opt[cse", "--allow-external"), r"expected '\]'"),
    (("--mlir-print-ir-after=canonicalise",), "unknown pass 'canonicalise'; did you mean canon"),
    # Targets and flags.
    (("-t", "elf"), "unknown target 'elf'; choose from .*llvm"),
    (("-t", "mlir{"), "expected an option of 'mlir'"),
    (("-t", "mlir{print-debuginfo=3}"), "'print-debuginfo' of target 'mlir' is bool, not '3'"),
    (("--disable-verify", "--verify-each"), "exclude each other"),
    (("--mlir-elide-elementsattrs-if-larger=-1",), "expected a number from 0 to .*, not '-1'"),
    (("-o", ""), "expected the name of a file, not ''"),
    (("--frobnicate",), "unknown option '--frobnicate'"),
    (("--verify-diagnostic",), "did you mean --verify-diagnostics"),
    (("--verify-each=maybe",), "expected true or false, not 'maybe'"),
    (("-f", "fortran"), "no format 'fortran'; there are: mlir"),
    (("-o",), "expected one argument"),
    # Files.
    (("missing.mlir",), "cannot open input file 'missing.mlir': No such file"),
    (("",), "cannot open input file ''"),
    (("/",), "cannot open input file '/': Is a directory"),
    (("-o", "/missing/directory/file"), "cannot write /missing/directory/file: No such file"),
    (("-o", "/"), "cannot write /: Is a directory"),
    (("one.mlir", "two.mlir"), "more than one input file: 'one.mlir' and 'two.mlir'"),
]
"""Arguments (an input of nothing is added to those without a file name), and the error's text."""
