"""CALLs of a program's own kernel, with views of memory and index arithmetic as arguments."""

from __future__ import annotations

import numpy as np
import pytest
from stages import parse

import tgdialect as tg
from tgdialect.interpreter import run

G, H = "#tg.place<global>", '#tg.place<"CPU", global>'
WHOLE = f"tensor<4x6xf32, {H}>"

VIEWS = [
    (f"%v = tg.reshape %a [24] : {WHOLE} -> tensor<24xf32, {H}>", (24,)),
    (f"%v = tg.shrink %a at [1, 0] to [2, 6] : {WHOLE} -> tensor<2x6xf32, {H}>", (2, 6)),
    (f"%v = tg.shrink %a at [1, 2] to [2, 3] : {WHOLE} -> tensor<2x3xf32, {H}>", (2, 3)),
    (f"%v = tg.shrink %a at [%n, 0] to [1, 6] : {WHOLE} -> tensor<1x6xf32, {H}>", (1, 6)),
    (f"%v = tg.permute %a [1, 0] : {WHOLE} -> tensor<6x4xf32, {H}>", (6, 4)),
    (f"%v = tg.flip %a [true, false] : {WHOLE}", (4, 6)),
    (f"%v = tg.index %a[%two] : ({WHOLE}, tensor<index>) -> tensor<6xf32, {H}>", (6,)),
    (
        f"%u = tg.permute %a [1, 0] : {WHOLE} -> tensor<6x4xf32, {H}>\n"
        f"%v = tg.reshape %u [24] : tensor<6x4xf32, {H}> -> tensor<24xf32, {H}>",
        (24,),
    ),
]


def called_twice(view, shape):
    """A kernel adds its second argument to each cell of a view; it is called twice."""
    type = "x".join(map(str, shape)) + "xf32"
    ranges = "\n".join(
        f"%n{i} = tg.const {n} : tensor<index>\n%i{i} = tg.range {i} loop to %n{i} : tensor<index>"
        for i, n in enumerate(shape)
    )
    indices = [f"%i{i}" for i in range(len(shape))]
    types = ", ".join([f"tensor<{type}, {G}>", *["tensor<index>"] * len(shape)])
    again = view.replace("%a", "%b").replace("%v", "%w").replace("%u", "%t")
    return f"""tg.kernel @add {{
      %o = tg.param 0 : tensor<{type}, {G}>
      %k = tg.param 1 : tensor<index>
      {ranges}
      %p = tg.index %o[{", ".join(indices)}] : ({types}) -> tensor<f32, {G}>
      %x = tg.load %p : tensor<f32, {G}> -> tensor<f32>
      %f = tg.cast %k to f32 : tensor<index> -> tensor<f32>
      %y = tg.add %x, %f : tensor<f32>
      %s = tg.store %p, %y : tensor<f32, {G}>, tensor<f32>
      %e = tg.end %s over {", ".join(indices[::-1])} : !tg.void
      tg.sink %e : !tg.void
    }}
    func.func @main(%a: {WHOLE}, %n: tensor<index> {{tg.min = 0 : index, tg.max = 3 : index}}) {{
      %two = tg.const 2 : tensor<index>
      %m = tg.add %n, %two : tensor<index>
      {view}
      %0 = tg.call @add(%v, %m) : tensor<{type}, {H}>, tensor<index> -> !tg.void
      %b = tg.after %a, %0 : ({WHOLE}, !tg.void) -> {WHOLE}
      {again}
      %1 = tg.call @add(%w, %n) : tensor<{type}, {H}>, tensor<index> -> !tg.void
      tg.sink %1 : !tg.void
      func.return
    }}"""


@pytest.mark.parametrize("opt", ["none", "heuristic"])
def test_a_view_is_an_argument(opt):
    for view, shape in VIEWS:
        text = called_twice(view, shape)
        expected, x = np.arange(48, dtype="f4").reshape(2, 4, 6)[[1, 1]]
        x = x.copy()
        run(parse(text), "main", [expected, 3])
        tg.compile(text, opt=opt)(x, 3)
        assert np.array_equal(x, expected), view


def test_symbols_that_a_program_has_taken():
    """`main_0` would be the first kernel of @main, and is a function; so would `main_1` be."""
    text = "".join(
        f"func.func @{name}(%a: tensor<4xf32>) -> tensor<4xf32> {{\n%r = tg.{op} %a : tensor<4xf32>"
        "\nfunc.return %r : tensor<4xf32>\n}\n"
        for name, op in (("main", "neg"), ("main_0", "exp2"), ("main_1", "neg"))
    )
    x = np.arange(4, dtype="f4")
    assert np.array_equal(tg.compile(text, entry="main")(x), -x)
    assert np.array_equal(tg.compile(text, entry="main_0")(x), np.exp2(x))
