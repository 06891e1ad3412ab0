"""Axes without cells, and dynamic ones that may have one or none: each stage leaves valid IR of
its level, and the results are the interpreter's."""

from __future__ import annotations

import numpy as np
import pytest
from parsing import tg_context
from stages import parse

import tgdialect as tg
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages
from tgdialect.lowering.verify import verify_level


def function(inputs, result, body):
    """The text of a function; in the body `%0`, `%1` are the inputs, and `%r` is the result."""
    types = [f"tensor<{each}>" for each in inputs]
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    return (
        f"func.func @main({arguments}) -> tensor<{result}> {{\n{body}\n"
        f"func.return %r : tensor<{result}>\n}}"
    )


def reduce(kind, shape, axis, result):
    return f"%r = tg.reduce {kind} %a0 [{axis}] : tensor<{shape}> -> tensor<{result}>"


PROGRAMS = [
    (["0x3xi16"], "0x3xi16", "%r = tg.neg %a0 : tensor<0x3xi16>"),
    *(
        ([shape], result, reduce(kind, shape, axis, result))
        for kind in ("add", "mul", "max")
        for shape, axis, result in (("4x0xf32", 1, "4x1xf32"), ("0x5xf32", 1, "0x1xf32"))
    ),
    (["0x8x8xi32"], "1x8x1xi32", reduce("add", "0x8x8xi32", "0, 2", "1x8x1xi32")),
    (["0xf32"], "5xf32", "%r = tg.pad %a0 at [2] to [5] : tensor<0xf32> -> tensor<5xf32>"),
    (
        ["0xf32"],
        "1xf32",
        "%p = tg.pad %a0 at [2] to [5] : tensor<0xf32> -> tensor<5xf32>\n"
        "%r = tg.reduce max %p [0] : tensor<5xf32> -> tensor<1xf32>",
    ),
    (
        ["0x3xf32", "4xindex"],
        "4x3xf32",
        "%r = tg.index %a0[%a1] : (tensor<0x3xf32>, tensor<4xindex>) -> tensor<4x3xf32>",
    ),
    (
        ["2x3xf32", "0xindex"],
        "0x3xf32",
        "%r = tg.index %a0[%a1] : (tensor<2x3xf32>, tensor<0xindex>) -> tensor<0x3xf32>",
    ),
    (
        ["4x3xf32"],
        "0x3xf32",
        "%r = tg.shrink %a0 at [4, 0] to [0, 3] : tensor<4x3xf32> -> tensor<0x3xf32>",
    ),
    (
        ["4x0x3xf32"],
        "0x7xf32",
        "%r = tg.reshape %a0 [0, 7] : tensor<4x0x3xf32> -> tensor<0x7xf32>",
    ),
    (["1x3xf32"], "0x3xf32", "%r = tg.expand %a0 [0, 3] : tensor<1x3xf32> -> tensor<0x3xf32>"),
    (["0xf32"], "0xi8", "%r = tg.bitcast %a0 to i8 : tensor<0xf32> -> tensor<0xi8>"),
    (
        ["4x0x1xf32", "1x0x5xf32"],
        "4x1x5xf32",
        "%p = tg.mul %a0, %a1 : (tensor<4x0x1xf32>, tensor<1x0x5xf32>) -> tensor<4x0x5xf32>\n"
        "%r = tg.reduce add %p [1] : tensor<4x0x5xf32> -> tensor<4x1x5xf32>",
    ),
    (
        ["0x8xf32", "8x8xf32"],
        "8x8xf32",
        "%c = tg.contiguous %a0 : tensor<0x8xf32>\n"
        "%s = tg.reduce add %c [0] : tensor<0x8xf32> -> tensor<1x8xf32>\n"
        "%r = tg.add %s, %a1 : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
    ),
]

LIMITED = "%n: tensor<index> {{tg.min = 0 : index, tg.max = {most} : index}}"
ROWS = "%x: tensor<4x?xf32> {tg.dims = array<i64: 0>}"
DYNAMIC = [
    ("4x?xf32", "%r = tg.neg %x : tensor<4x?xf32>"),
    ("4x1xf32", "%r = tg.reduce max %x [1] : tensor<4x?xf32> -> tensor<4x1xf32>"),
    ("1x?xf32", "%r = tg.reduce add %x [0] : tensor<4x?xf32> -> tensor<1x?xf32>"),
    (
        "4x1xf32",
        "%c = tg.contiguous %x : tensor<4x?xf32>\n"
        "%r = tg.reduce add %c [1] : tensor<4x?xf32> -> tensor<4x1xf32>",
    ),
]


def check(text, inputs):
    expected = run(parse(text), "main", inputs)[0]
    for mode in ("none", "heuristic"):
        module, ctx, level = parse(text), tg_context(), "tensor"
        for stage in stages(mode=mode):
            stage.apply(ctx, module)
            module.verify()
            verify_level(module, level := getattr(stage, "level_after", level))
        result = np.asarray(tg.compile(text, opt=mode)(*inputs))
        assert np.array_equal(result, expected), text


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p[2].split(" : ")[0])
def test_static_axes(program):
    check(function(*program), [np.ones(*shape_and_dtype(type)) for type in program[0]])


def shape_and_dtype(type):
    *shape, dtype = type.replace("index", "i64").split("x")
    return [int(extent) for extent in shape], dtype[0] + str(int(dtype[1:]) // 8)


@pytest.mark.parametrize(("n", "most"), [(0, 0), (0, 1), (1, 1)])
def test_dynamic_axes(n, most):
    for result, body in DYNAMIC:
        check(
            f"func.func @main({LIMITED.format(most=most)}, {ROWS}) -> tensor<{result}> {{\n{body}\n"
            f"func.return %r : tensor<{result}>\n}}",
            [n, np.ones((4, n), "f4")],
        )
