"""
Malformed programs of the tg dialect and the error that each must give.

Add a row to `TEXTS`: `|` in the text marks where the error must be.
`test/unit/ops/test_malformed.py` runs them.
"""

from malformed import Malformed

ARGUMENTS = (
    '%x: tensor<4x8xf32>, %v: tensor<8xf32>, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, '
    "%n: tensor<index>, %p: tensor<i1>, %i: i32"
)


def _body(name: str, marked_lines: str, message: str) -> Malformed:
    """Lines of a function of the arguments above."""
    lines = "".join(f"  {line}\n" for line in marked_lines.split("\n"))
    text = (
        f"func.func @f({ARGUMENTS}) {{\n{lines}  // no error is reported here\n  func.return\n}}\n"
    )
    return Malformed(name, text, message)


def _module(name: str, marked_text: str, message: str) -> Malformed:
    return Malformed(name, marked_text + "\n", message)


M = 'tensor<4x8xf32, #tg.place<"CPU", global>>'
G = "tensor<f32, #tg.place<global>>"

TEXTS = [
    # Names.
    _body("unknown op", "%0 = |tg.adds %x, %x : tensor<4x8xf32>", "'tg.adds' is not registered"),
    _body("unknown dialect", "%0 = |tgg.add %x, %x : tensor<4x8xf32>", "'tgg' of operation"),
    _module("unknown type", "func.func private @f(!tg.vector|)", "'tg.vector' is not registered"),
    _module("unknown attribute", "func.func private @f() attributes {a = #tg.where|}", "tg.where"),
    _body("undeclared value", "%0 = tg.exp2 |%y : tensor<4x8xf32>", "undeclared SSA value %y"),
    _body(
        "redefined value",
        "%0 = tg.exp2 %x : tensor<4x8xf32>\n|%0 = tg.sin %v : tensor<8xf32>",
        "%0",
    ),
    _body(
        "use before definition",
        "%0 = |tg.exp2 %late : tensor<4x8xf32>\n%late = tg.sin %x : tensor<4x8xf32>",
        r"operand #0 \(%late\) does not dominate this use",
    ),
    _module(
        "duplicate kernel",
        "tg.kernel @k {\n  %0 = tg.sink\n}\n|tg.kernel @k {\n  %0 = tg.sink\n}",
        'Redefinition of symbol "k"',
    ),
    # Syntax of types and attributes.
    _module(
        "place without a place",
        "func.func private @f(tensor<4xf32, #tg.place<|>>)",
        "Expected 'axis' .a device, global, local, reg or axis = N",
    ),
    _module(
        "place in the wrong order",
        'func.func private @f(tensor<4xf32, #tg.place<global, |"CPU">>)',
        "Expected 'axis'",
    ),
    _module(
        "unclosed device list",
        'func.func private @f(tensor<4xf32, #tg.place<["A", "B", |axis = 0>>)',
        "string literal expected",
    ),
    _module(
        "tuple of scalars",
        "func.func private @f(!tg.tuple|<f32>)",
        "a tuple holds tensors, got f32",
    ),
    _body("unknown opt", "%0 = tg.sink opts [#tg.opt<|fuse 0>]", "Expected `tc`, `split`, `padto`"),
    _body(
        "axis type", "%0 = tg.range 0 |outer to %n : tensor<index>", "Expected `global`, `local`"
    ),
    _body(
        "reduce kind",
        "%0 = tg.reduce |min %x [0] : tensor<4x8xf32> -> tensor<1x8xf32>",
        "`add`, `mul`",
    ),
    # Syntax of ops.
    _body("missing operand", "%0 = tg.add %x, |: tensor<4x8xf32>", "operand expected"),
    _body("missing comma", "%0 = tg.add %x |%x : tensor<4x8xf32>", "Expected ','"),
    _body("missing colon", "%0 = tg.exp2 %x |tensor<4x8xf32>", "Expected ':'"),
    _body("missing type", "%0 = tg.exp2 %x :|", "expected '->' and a result type"),
    _body("missing result type", "%0 = tg.cast %x to i32 : tensor<4x8xf32> ->|", "type expected"),
    _body(
        "types without arrow",
        "%0 = tg.add %x, %v : tensor<4x8xf32>, tensor<8xf32>|",
        "expected '->'",
    ),
    _body(
        "too few operand types",
        "%0 = tg.add %x, %v : |(tensor<4x8xf32>) -> tensor<4x8xf32>",
        "Expected 2 operand types, but got 1|2 operands but 1 operand types",
    ),
    _body(
        "wrong operand type",
        "%0 = tg.add |%x, %v : tensor<8xf32>",
        "used with type tensor<8xf32>, but has been previously used or defined with type",
    ),
    _body("order without brackets", "%0 = tg.permute %x |1, 0 : tensor<4x8xf32>", r"'\[' expected"),
    _body("order of names", "%0 = tg.permute %x [|a, 0] : tensor<4x8xf32>", "[Ee]xpected integer"),
    _body("pad without to", "%0 = tg.pad %x at [0, 0] |: tensor<4x8xf32>", "Expected 'to'"),
    _body("gate without alt", f"%0 = tg.load %m |gate %p : {M}, tensor<i1> -> {M}", "Expected ':'"),
    _body("const without a value", "%0 = tg.const |: tensor<f32>", "nan, inf or invalid"),
    _body("const of a word", "%0 = tg.const |pi : tensor<f32>", "nan, inf or invalid"),
    _body("param without a slot", "%0 = tg.param |: tensor<f32>", "[Ee]xpected integer"),
    _module(
        "unclosed function",
        "func.func @f() {\n  %0 = tg.function() {\n  func.return\n}|",
        "Expected ':'",
    ),
    # Numbers and dtypes.
    _body("integer too great", "%0 = tg.const |300 : tensor<i8>", "300 is not representable in i8"),
    _body("fraction", "%0 = tg.const |1.5 : tensor<i32>", "1.5 is not representable in i32"),
    _body("float too great", "%0 = tg.const |1.0e400 : tensor<f64>", "too great for f64"),
    _body(
        "no infinity",
        "%0 = tg.const |-inf : tensor<f8E4M3FN>",
        "-inf is not representable in f8E4M3FN",
    ),
    _body(
        "unknown dtype",
        "%0 = |tg.cast %x to i7 : tensor<4x8xf32> -> tensor<4x8xi7>",
        "i7 is not a dtype",
    ),
    _body("no tensor", "%0 = |tg.exp2 %i : i32", "expected a tensor, got i32"),
    # Rules.
    _body(
        "broadcast",
        "%a = tg.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>\n"
        "%0 = |tg.add %x, %a : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>",
        "axis 0: 4 and 8 do not broadcast",
    ),
    _body(
        "written result",
        "%0 = |tg.add %x, %v : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32>",
        "written as tensor<8xf32>, but the op gives tensor<4x8xf32>",
    ),
    _body(
        "permutation",
        "%0 = |tg.permute %x [0, 0] : tensor<4x8xf32>",
        r"order \[0, 0\] is not a perm",
    ),
    _body(
        "reshape",
        "%0 = |tg.reshape %x [5] : tensor<4x8xf32> -> tensor<5xf32>",
        "from 4x8 to 5 changes",
    ),
    _body(
        "domain",
        "%0 = |tg.idiv %x, %x : tensor<4x8xf32>",
        "tg.idiv is defined on integers, not f32",
    ),
    _body(
        "store to a value",
        "%0 = |tg.store %x, %x : tensor<4x8xf32>, tensor<4x8xf32>",
        "STORE writes memory, not tensor<4x8xf32>",
    ),
    _body(
        "range bound",
        "%0 = |tg.range 0 loop to %v : tensor<8xf32>",
        "bound of a range is an integer",
    ),
    _body(
        "end of no range", "%0 = |tg.end %n over %n : tensor<index>", "an END closes RANGEs only"
    ),
    _body(
        "sink is used", "%0 = |tg.sink\n%1 = tg.group %0", "a SINK is a root: nothing may use it"
    ),
    _body("if without endif", "%0 = |tg.if %p : tensor<i1>", "an IF has one ENDIF, not 0"),
    _body("placeholders", '%0 = |tg.custom "f({0}, {1})"(%v) : tensor<8xf32>', "for 1 arguments"),
    _body("slots", "%0 = |tg.param 1 : tensor<f32>", "slots are not dense: there is no slot 0"),
    _body("missing callee", "%0 = |tg.call @k() : !tg.void", "there is no symbol @k"),
    _body(
        "missing property",
        '%0 = |"tg.permute"(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>',
        "'order'",
    ),
    _body(
        "property of another type",
        '%0 = |"tg.permute"(%x) <{order = 1 : i64}> : (tensor<4x8xf32>) -> tensor<8x4xf32>',
        "1 : i64",
    ),
    _body(
        "unknown property",
        '%0 = |"tg.exp2"(%v) <{fast}> : (tensor<8xf32>) -> tensor<8xf32>',
        "'fast'",
    ),
    _body(
        "operand count",
        '%0 = |"tg.add"(%v) : (tensor<8xf32>) -> tensor<8xf32>',
        "[Ee]xpected 2 operands",
    ),
    _body("result count", '|"tg.exp2"(%v) : (tensor<8xf32>) -> ()', "[Ee]xpected 1 result"),
    # Regions.
    _body(
        "capture",
        "%0 = tg.exp2 %v : tensor<8xf32>\n%1 = |tg.function() {\n"
        "  %2 = tg.tuple %0 : tensor<8xf32> -> !tg.tuple<tensor<8xf32>>\n"
        "} : !tg.tuple<tensor<8xf32>>",
        "IsolatedFromAbove",
    ),
    _body(
        "function without tuple",
        "%1 = |tg.function() {\n  %2 = tg.const 1.0 : tensor<f32>\n} : !tg.tuple<tensor<f32>>",
        "the body of a function ends in a tg.tuple",
    ),
    _module("empty kernel", "|tg.kernel @k {\n}", "'body' .*expected a single block"),
    _module(
        "kernel without sink",
        "|tg.kernel @k {\n  %0 = tg.const 1.0 : tensor<f32>\n}",
        "a kernel ends in its tg.sink",
    ),
    _module(
        "program without linear",
        '|tg.program @k {\n  %0 = tg.source "x"\n}',
        "begins with a tg.linear",
    ),
    _module(
        "axis ids",
        "|tg.kernel @k {\n  %n = tg.const 4 : tensor<index>\n"
        "  %i = tg.range 0 loop to %n : tensor<index>\n"
        "  %j = tg.range 0 loop to %n : tensor<index>\n  %s = tg.sink\n}",
        "two ranges have axis id 0",
    ),
    _module(
        "linear nesting",
        "%l = |tg.linear {\n  %n = tg.const 4 : tensor<index>\n"
        "  %i = tg.range 0 loop to %n : tensor<index>\n}",
        "tg.range is never closed",
    ),
    _module(
        "argument type",
        f"tg.kernel @k {{\n  %o = tg.param 0 : {G}\n  %s = tg.sink\n}}\n"
        "func.func @f(%a: tensor<4xf32>) {\n  %0 = |tg.call @k(%a) : tensor<4xf32> -> !tg.void\n"
        "  func.return\n}",
        "argument 0 is tensor<4xf32>, the parameter",
    ),
]
"""Texts, and the error of each."""
