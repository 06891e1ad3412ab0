"""Vectors of a linear program, written as text, against the interpreter."""

import ctypes

import numpy as np
import pytest
from parsing import tg_context
from stages import parse
from xdsl.utils.exceptions import VerifyException

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.interpreter import run
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.verify import verify_level
from tgdialect.runtime.loader import load


def program(rows: int, lanes: int, out: int, body: str) -> str:
    """A program that stacks the rows of parameter 1 as %m, and stores %v, of `out` lanes."""
    x, o = (f"tensor<{n}xf32, #tg.place<global>>" for n in (rows * lanes, out))
    lines = [f"%o = tg.param 0 : {o}", f"%x = tg.param 1 : {x}"]

    def location(name: str, memory: str, type: str, start: int, count: int) -> None:
        values = ", ".join(map(str, range(start, start + count)))
        at = f"{count}x"
        lines.append(f"%{name}_at = tg.vconst [{values}] : tensor<{at}index>")
        types = f"({type}, tensor<{at}index>) -> tensor<{at}f32, #tg.place<global>>"
        lines.append(f"%{name}_in = tg.index %{memory}[%{name}_at] : {types}")

    for row in range(rows):
        location(f"r{row}", "x", x, row * lanes, lanes)
        lines.append(
            f"%r{row} = tg.load %r{row}_in : tensor<{lanes}xf32, #tg.place<global>> "
            f"-> tensor<{lanes}xf32>"
        )
    names = ", ".join(f"%r{row}" for row in range(rows))
    types = ", ".join([f"tensor<{lanes}xf32>"] * rows)
    lines.append(f"%m = tg.stack {names} : ({types}) -> tensor<{rows}x{lanes}xf32>")
    lines.append(body)
    location("s", "o", o, 0, out)
    lines.append(
        f"%s = tg.store %s_in, %v : tensor<{out}xf32, #tg.place<global>>, tensor<{out}xf32>"
    )
    lines.append("tg.sink %s : !tg.void")
    return "tg.program @k {\n%0 = tg.linear {\n" + "\n".join(lines) + "\n}\n}"


def permuted(rows: int, lanes: int, order: str) -> str:
    height, width = (rows, lanes) if order == "[0, 1]" else (lanes, rows)
    return (
        f"%p = tg.permute %m {order} : tensor<{rows}x{lanes}xf32> -> tensor<{height}x{width}xf32>\n"
        f"%v = tg.reshape %p [{rows * lanes}] "
        f": tensor<{height}x{width}xf32> -> tensor<{rows * lanes}xf32>"
    )


def indexed(rows: int, lanes: int, row: int) -> str:
    return (
        f"%c = tg.const {row} : tensor<index>\n%v = tg.index %m[%c] "
        f": (tensor<{rows}x{lanes}xf32>, tensor<index>) -> tensor<{lanes}xf32>"
    )


def lane(lanes: int, position: int) -> str:
    """Of the first row, in a STACK of one."""
    return (
        f"%c = tg.const {position} : tensor<index>\n%l = tg.index %r0[%c] "
        f": (tensor<{lanes}xf32>, tensor<index>) -> tensor<f32>\n"
        "%v = tg.stack %l : (tensor<f32>) -> tensor<1xf32>"
    )


PROGRAMS = {
    **{
        f"{rows}x{lanes} {order}": (rows, lanes, rows * lanes, permuted(rows, lanes, order))
        for rows, lanes in (
            *((4, 4), (2, 8), (4, 8), (1, 4), (1, 1)),
            *((4, 2), (8, 2), (8, 4), (16, 4), (16, 8), (32, 8), (32, 16), (64, 16)),
        )
        for order in ("[0, 1]", "[1, 0]")
    },
    "3x4 [0, 1]": (3, 4, 12, permuted(3, 4, "[0, 1]")),
    "3x1 [0, 1]": (3, 1, 3, permuted(3, 1, "[0, 1]")),
    **{f"row {row}": (2, 4, 4, indexed(2, 4, row)) for row in (-1, 0, 1, 2)},
    **{f"lane {at}": (1, 4, 1, lane(4, at)) for at in (-1, 0, 3, 4)},
    **{f"lane {at} of one": (1, 1, 1, lane(1, at)) for at in (-1, 0, 1)},
    **{
        f"{kind} of one lane": (
            *(1, 1, 1),
            f"%v = tg.reduce {kind} %r0 [0] : tensor<1xf32> -> tensor<1xf32>",
        )
        for kind in ("add", "mul", "max")
    },
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_vectors(name: str) -> None:
    rows, lanes, out, body = PROGRAMS[name]
    module = parse(program(rows, lanes, out, body))
    module.verify()
    verify_level(module, "linear")
    # The first is -0.0: a sum of it alone is +0.0.
    x = -np.arange(rows * lanes, dtype=np.float32)
    expected, result = (np.full(out, 7, np.float32) for _ in range(2))
    run(module, "k", [expected, x])
    RenderPass().apply(tg_context(), module)
    module.verify()
    code = load(CpuTarget.host().object_code(llvm_ir(module)))
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address("k"))
    function(result.ctypes.data, x.ctypes.data)
    np.testing.assert_array_equal(result.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize(("rows", "lanes"), [(3, 3), (3, 6), (2, 3), (4, 3)])
def test_only_transposes_by_interleaving(rows: int, lanes: int) -> None:
    module = parse(program(rows, lanes, rows * lanes, permuted(rows, lanes, "[1, 0]")))
    with pytest.raises(VerifyException, match="their number is a power of two"):
        verify_level(module, "linear")
