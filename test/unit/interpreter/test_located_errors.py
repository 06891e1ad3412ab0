"""Each error of a program that the interpreter runs names a line and shows it with a caret."""

from __future__ import annotations

import numpy as np
import pytest

import tgdialect as tg

G = '#tg.place<"CPU", global>'
K = "#tg.place<global>"
ONE = np.ones(4, np.float32)

PROGRAMS = {
    "race": (
        f"""
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32, {G}> {{
          %b = tg.buffer 0 : tensor<4xf32, {G}>
          %s = tg.store %b, %x : tensor<4xf32, {G}>, tensor<4xf32>
          %t = tg.store %b, %y : tensor<4xf32, {G}>, tensor<4xf32> // HERE
          %c = tg.after %b, %s, %t : (tensor<4xf32, {G}>, !tg.void, !tg.void) -> tensor<4xf32, {G}>
          return %c : tensor<4xf32, {G}>
        }}""",
        (ONE, ONE),
        "race: two stores that neither waits for the other write cell 0 of buffer 0",
    ),
    "race that nothing reads": (
        f"""
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
          %b = tg.buffer 0 : tensor<4xf32, {G}>
          %s = tg.store %b, %x : tensor<4xf32, {G}>, tensor<4xf32>
          %t = tg.store %b, %y : tensor<4xf32, {G}>, tensor<4xf32> // HERE
          return %x : tensor<4xf32>
        }}""",
        (ONE, ONE),
        "race",
    ),
    "cycle": (
        f"""
        func.func @main(%x: tensor<4xf32>) -> tensor<4xi1, #tg.place<"CPU">> {{
          %b = tg.buffer 0 : tensor<4xf32, {G}>
          %s = tg.store %b, %x : tensor<4xf32, {G}>, tensor<4xf32>
          %c = tg.after %b, %s : (tensor<4xf32, {G}>, !tg.void) -> tensor<4xf32, {G}>
          %r = tg.cmplt %b, %c // HERE
            : (tensor<4xf32, {G}>, tensor<4xf32, {G}>) -> tensor<4xi1, #tg.place<"CPU">>
          return %r : tensor<4xi1, #tg.place<"CPU">>
        }}""",
        (ONE,),
        "cycle: tg.cmplt reads buffer 0",
    ),
    "dynamic PAD": (
        """
        func.func @main(%x: tensor<?xf32> {tg.dims = array<i64: 1>}, %n: tensor<index>,
            %m: tensor<index>) -> tensor<?xf32> {
          %r = tg.pad %x at [0] to [%m] : tensor<?xf32> -> tensor<?xf32> // HERE
          return %r : tensor<?xf32>
        }""",
        (ONE, 4, 3),
        "axis 0: offset 0 plus extent 4 exceeds 3",
    ),
    "extents of inputs": (
        """
        func.func @main(%x: tensor<?xf32> {tg.dims = array<i64: 1>}, // HERE
            %n: tensor<index>) -> tensor<?xf32> {
          return %x : tensor<?xf32>
        }""",
        (ONE, 3),
        "axis 0 is 4",
    ),
    "shape of an input": (
        """
        func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { // HERE
          return %x : tensor<3xf32>
        }""",
        (ONE,),
        "has shape",
    ),
    "bounds of a PARAM": (
        """
        func.func @main() -> tensor<index> { // HERE
          %n = tg.param 0 "n" min 1 max 3 : tensor<index>
          return %n : tensor<index>
        }""",
        (4,),
        "greater than 3",
    ),
    "CUSTOM": (
        """
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %r = tg.custom "f({0})"(%x) : (tensor<4xf32>) -> tensor<4xf32> // HERE
          return %r : tensor<4xf32>
        }""",
        (ONE,),
        "it belongs in a tg.kernel",
    ),
    "endless calls": (
        """
        func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %t = tg.call @f(%x) : (tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
          %r = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
          return %r : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %t = tg.call @f(%x) : (tensor<4xf32>) -> !tg.tuple<tensor<4xf32>> // HERE
          %r = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
          return %r : tensor<4xf32>
        }""",
        (ONE,),
        "nests more than 100 deep",
    ),
    "calls that double": (
        "\n".join(
            f"""
        func.func @{"main" if n == 20 else f"f{n}"}(%x: tensor<4xf32>) -> tensor<4xf32> {{
          %y = func.call @f{n - 1}(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %z = func.call @f{n - 1}(%y) : (tensor<4xf32>) -> tensor<4xf32>{" // HERE" * (n == 14)}
          return %z : tensor<4xf32>
        }}"""
            for n in range(1, 21)
        )
        + """
        func.func @f0(%x: tensor<4xf32>) -> tensor<4xf32> {
          return %x : tensor<4xf32>
        }""",
        (ONE,),
        "functions that are called again and again make over 16384 calls",
    ),
    "parallel iterations of a kernel": (
        f"""
        tg.kernel @main {{
          %o = tg.param 0 : tensor<4xf32, {K}>
          %x = tg.param 1 : tensor<4xf32, {K}>
          %n = tg.const 4 : tensor<index>
          %z = tg.const 0 : tensor<index>
          %i = tg.range 0 global to %n : tensor<index>
          %p = tg.index %x[%i] : (tensor<4xf32, {K}>, tensor<index>) -> tensor<f32, {K}>
          %v = tg.load %p : tensor<f32, {K}> -> tensor<f32>
          %q = tg.index %o[%z] : (tensor<4xf32, {K}>, tensor<index>) -> tensor<f32, {K}>
          %s = tg.store %q, %v : tensor<f32, {K}>, tensor<f32> // HERE
          %e = tg.end %s over %i : !tg.void
          %k = tg.sink %e : !tg.void
        }}""",
        (ONE, np.arange(4, dtype=np.float32)),
        "race: iteration (range 0 = 3) writes cell 0 of parameter 0, which iteration (range 0 = 0) "
        "has written with another value",
    ),
    "a kernel that reads before and after": (
        f"""
        tg.kernel @main {{
          %o = tg.param 0 : tensor<f32, {K}>
          %v = tg.load %o : tensor<f32, {K}> -> tensor<f32>
          %s = tg.store %o, %v : tensor<f32, {K}>, tensor<f32>
          %a = tg.after %o, %s : (tensor<f32, {K}>, !tg.void) -> tensor<f32, {K}>
          %w = tg.load %a : tensor<f32, {K}> -> tensor<f32>
          %g = tg.cmplt %w, %w : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %u = tg.load %o alt %w gate %g // HERE
            : tensor<f32, {K}>, tensor<f32>, tensor<i1> -> tensor<f32>
          %t = tg.store %a, %u : tensor<f32, {K}>, tensor<f32>
          %k = tg.sink %t : !tg.void
        }}""",
        (np.ones((), np.float32),),
        "cycle: tg.load reads memory as it was before a store that it waits for",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_location(name):
    text, inputs, message = PROGRAMS[name]
    (line,) = (i for i, row in enumerate(text.split("\n"), 1) if "// HERE" in row)
    with pytest.raises(tg.CompilationError) as caught:
        tg.compile(text, target="interpreter")(*(np.array(x) for x in inputs))
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert (diagnostic.file, diagnostic.line) == ("<string>", line)
    _, shown, caret, *_ = str(caught.value).split("\n")
    assert "// HERE" in shown
    assert caret.strip() == "^"


def test_errors_of_the_compiler_show_the_line():
    """As those of the interpreter, where text was given."""
    text, _, _ = PROGRAMS["race"]
    with pytest.raises(tg.CompilationError, match=r"<string>:5:\d+: error: .*\n.*// HERE\n +\^"):
        tg.compile(text)
