"""Short texts whose meaning would be long: each is printed as it was, or is one located error."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp

from tgdialect import registry
from tgdialect.diagnostics import CompilationError, SourceFile, parse_module

MANY = 500_000_000


def attribute(text: str) -> str:
    return f"builtin.module attributes {{a = {text}}} {{\n}}\n"


def aliases(first: str, pattern: str, count: int, end: str = "#") -> str:
    """Each alias stands for the one before, as the pattern says, from `first` on."""
    lines = [f"{end}a0 = {first}\n"]
    lines += [f"{end}a{i} = {pattern.replace('$', f'{end}a{i - 1}')}\n" for i in range(1, count)]
    return "".join(lines) + attribute(f"{end}a{count - 1}")


SPLATS = [
    attribute(f"dense<1.000000e+00> : tensor<{MANY}xf32>"),
    attribute(f"dense<-1> : tensor<{MANY}x4xi8>"),
    attribute(f"dense<true> : vector<{MANY}xi1>"),
    attribute(f"dense<7> : tensor<{MANY}xindex>"),
    attribute(f"dense<(1.000000e+00,2.000000e+00)> : tensor<{MANY}xcomplex<f32>>"),
    f"""builtin.module {{
  func.func @f() -> tensor<{MANY}xbf16> {{
    %0 = arith.constant dense<5.000000e-01> : tensor<{MANY}xbf16>
    func.return %0 : tensor<{MANY}xbf16>
  }}
}}
""",
]
"""As they are printed."""

REFUSED = {
    "arrays of aliases": (aliases("[1, 1]", "[$, $]", 41), "#a12: the aliases stand for more"),
    "dictionaries": (aliases("{x = 1}", "{x = $, y = $}", 60), "the aliases stand for more"),
    "tuples": (aliases("tuple<i1>", "tuple<$, $>", 60, "!"), "the aliases stand for more"),
    "functions": (aliases("i1", "($, $) -> $", 60, "!"), "the aliases stand for more"),
    "locations": (
        aliases('loc("a")', "loc(fused[$, $])", 60).replace("attributes {a = ", "{} loc(")[:-6]
        + ")\n",
        "the aliases stand for more",
    ),
    "uses of one": (
        aliases("[1, 1]", "[$, $]", 11)
        + "builtin.module attributes {"
        + ", ".join(f"b{i} = #a10" for i in range(200))
        + "} {}",
        "the aliases stand for more",
    ),
    "uses of long data": (
        f'#long = #tg.data<"{"00" * 5000}">\n' + attribute("[" + ", ".join(["#long"] * 900) + "]"),
        "#long: the aliases stand for more",
    ),
    "uses of a long text": (
        f'#long = "{"x" * 10000}"\n' + attribute("[" + ", ".join(["#long"] * 900) + "]"),
        "#long: the aliases stand for more",
    ),
    "a chain": (aliases("tuple<i1>", "tuple<$>", 900, "!"), "nested more than 64 deep"),
    "itself": (attribute("#a").replace("builtin", "#a = [#a]\nbuiltin"), "undefined symbol"),
    "arrays": (attribute("[" * 9000 + "]" * 9000), "nested too deeply"),
    "types": (attribute("tuple<" * 2800 + "i1" + ">" * 2800), "nested too deeply"),
    "parentheses": (attribute("(" * 9000 + "i1" + ")" * 9000), "nested too deeply"),
    "regions": ("builtin.module {" * 1200 + "}" * 1200, "nested too deeply"),
    "sums": (
        attribute("affine_map<(d0) -> (" + "d0 + " * 3000 + "d0)>"),
        "an affine expression more than 200 deep",
    ),
    "signs": (attribute("affine_map<(d0) -> (" + "-" * 4000 + "d0)>"), "nested too deeply"),
    "width": (attribute("1 : i99999999999"), "an integer of 99999999999 bits, more than 16777215"),
    "digits": (attribute("9" * 19000), "an integer of more than 4300 digits"),
    "digits of a foreign attribute": (
        f"module attributes {{llvm.y = 0x{'F' * 4000}}} {{}}",
        "an integer of more than 4300 digits",
    ),
    "hexadecimal digits": (attribute("0x" + "F" * 19000), "an integer of more than 4300 digits"),
    "an extent": (
        attribute("tensor<99999999999999999999xf32>"),
        "an extent of 99999999999999999999, more than 2^63 - 1",
    ),
    "an extent of a vector": (
        attribute("vector<1x99999999999999999999x!tg.void>"),
        "an extent of 99999999999999999999, more than 2^63 - 1",
    ),
    "elements": (
        attribute("dense<1.0> : tensor<99999999999x9999999999xf32>"),
        "999999999890000000001 elements, more than 2^63 - 1",
    ),
    "some elements": (
        attribute(f"dense<[1.0, 2.0]> : tensor<{MANY}xf32>"),
        "Shape mismatch in dense literal",
    ),
    "no element": (attribute(f"dense<> : tensor<{MANY}xf32>"), "at least one element"),
    "some bits": (attribute('dense<"0x0000803F00"> : tensor<1xf32>'), "0x and 8 digits for each"),
    "no bits": (attribute('dense<"zz0000803F"> : tensor<1xf32>'), "0x and 8 digits for each"),
    "results": ('%a:4000000000 = "builtin.module"() ({}) : () -> ()', "given 4000000000 to bind"),
}
SCRIPT = """
import contextlib, io, json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from tgdialect.tools.tg_opt import TgOptMain
for text in json.load(sys.stdin):
    open("in.mlir", "w").write(text)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = TgOptMain.main(["in.mlir"])
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def tg_opt(texts: list[str], folder) -> list[tuple[int, str, str]]:
    """The outcome of tg-opt for each text, in 2 GiB of memory."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_repeats_is_printed_as_it_was(tmp_path):
    bits = attribute(f'dense<"0x0000803F"> : tensor<{MANY}xf32>')
    found = tg_opt([*SPLATS, bits], tmp_path)
    assert found == [[0, text + "\n", ""] for text in (*SPLATS, SPLATS[0])]


def test_what_would_be_long_is_refused_where_it_is(tmp_path):
    found = tg_opt([text for text, _ in REFUSED.values()], tmp_path)
    for name, (code, out, err) in zip(REFUSED, found, strict=True):
        assert (code, out) == (1, ""), name
        assert re.match(r"in\.mlir:\d+:\d+: error: ", err), (name, err)
        assert REFUSED[name][1] in err, name
        assert err.count("error: ") == 1, name


def parsed(text: str) -> ModuleOp:
    return parse_module(registry.make_context(), SourceFile("in.mlir", text))


@pytest.mark.parametrize("count", [1, 4, 1024, 1025, 5000])
@pytest.mark.parametrize("element", ["1.5", "0x3FC00000", '"0x0000C03F"'])
def test_one_element_for_all(count: int, element: str):
    dense = parsed(attribute(f"dense<{element}> : tensor<{count}xf32>")).attributes["a"]
    assert isinstance(dense, DenseIntOrFPElementsAttr)
    assert dense.is_splat()
    assert set(dense.get_values()) == {1.5}
    assert str(dense) == f"dense<1.500000e+00> : tensor<{count}xf32>"
    if count <= 1024:  # It is the attribute that xDSL makes.
        assert dense == DenseIntOrFPElementsAttr.from_list(dense.type, [1.5] * count)


def test_aliases_that_stand_for_little_are_taken():
    """Many uses of a short alias, and deep ones of locations, as in models of real size."""
    text = "#map = affine_map<(d0) -> (d0)>\n" + attribute("[" + ", ".join(["#map"] * 20000) + "]")
    assert len(parsed(text).attributes["a"].data) == 20000
    long = f'#long = #tg.data<"{"00" * 1_000_000}">\n'
    found = parsed(long + attribute("[" + ", ".join(["#long"] * 200) + "]")).attributes["a"].data
    assert len({id(each) for each in found}) == 1
    text = '#loc0 = loc("a":1:1)\n' + "".join(
        f'#loc{i} = loc(callsite("f{i}" at #loc{i - 1}))\n' for i in range(1, 100)
    )
    assert parsed(text + "builtin.module {} loc(#loc99)\n").location.name == "builtin.callsite_loc"


CONSTANTS = """llvm.func @f(%p: !llvm.ptr) {{
  %0 = llvm.mlir.constant({value}) : {type}
  llvm.store %0, %p : {type}, !llvm.ptr
  llvm.return
}}
"""


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        ("dense<1> : tensor<2000xi32>", "!llvm.array<2000 x i32>", "[i32 1" + ", i32 1" * 1999),
        ("dense<0> : tensor<500000000xi32>", "!llvm.array<500000000 x i32>", "zeroinitializer"),
        ("dense<1> : vector<2000xi32>", "vector<2000xi32>", "splat (i32 1)"),
        ("dense<1> : tensor<500000000xi32>", "!llvm.array<500000000 x i32>", None),
        ("dense<1> : vector<500000000xi32>", "vector<500000000xi32>", None),
        ("dense<1> : tensor<4xi32>", "!llvm.array<2000 x i32>", None),
    ],
)
def test_constants_of_llvm(value: str, type: str, text: str | None):
    from xdsl.utils.exceptions import LLVMTranslationException

    from tgdialect.backends.llvm_ir import llvm_ir

    module = parsed(CONSTANTS.format(value=value, type=type))
    if text is not None:
        assert text in llvm_ir(module)
        return
    with pytest.raises(LLVMTranslationException, match=r"2000 elements|equal elements") as error:
        llvm_ir(module)
    assert vars(error.value)["location"].line.data == 2


def test_more_axes_than_numpy_has(capsys, tmp_path):
    from tgdialect.tools.tg_run import main

    type = f"tensor<{'1x' * 65}f32>"
    program = f"func.func @main(%x: {type}) -> {type} {{\n  func.return %x : {type}\n}}\n"
    (tmp_path / "in.mlir").write_text(program)
    assert main([str(tmp_path / "in.mlir"), "--input", "1"]) == 1
    message = ":1:1: error: @main takes or returns a tensor of 65 axes, and NumPy has 64 at most\n"
    assert message in capsys.readouterr().err


def test_a_located_error_of_python():
    with pytest.raises(CompilationError, match=r"in\.mlir:2:1: error: #a1 stands for attributes"):
        parsed("#a0 = [" * 0 + "#a0 = " + "[" * 60 + "]" * 60 + "\n#a1 = [[[[[#a0]]]]]\n")
