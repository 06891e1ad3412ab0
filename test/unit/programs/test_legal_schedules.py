"""Schedules and programs that were wrong, or refused though they are legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from agreement import identical
from executors import EXECUTORS, between_fences, interpret
from expression import Array
from parsing import parse_module
from random_arrays import random_array
from random_schedules import ScheduledBuild
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect import Tensor as T
from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import apply_opts, begin_schedule, parse_opt
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.select import SelectPass
from tgdialect.ops.call import KernelOp
from tgdialect.ops.properties import tensor
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.transforms.simplify import SimplifyPass, simplify


def inputs_of(module: ModuleOp) -> Sequence[Array]:
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    types = [tensor(argument) for argument in main.args]
    return [random_array(t.element_type, t.get_shape(), i) for i, t in enumerate(types)]


@dataclass(frozen=True)
class ScheduleFirstPass(LoweringPass):
    """Apply OptOps to the first kernel."""

    name = "tg-optimize"
    level_before = level_after = "kernels"

    opts: Sequence[str]

    def lower(self, module: ModuleOp) -> None:
        kernel = next(each for each in module.ops if isinstance(each, KernelOp))
        axes = Axes(kernel)
        begin_schedule(axes)
        apply_opts(axes, [parse_opt(text) for text in self.opts])
        simplify(module)


def check_schedule(text: str, *opts: str) -> None:
    """Compile with OptOps for the first kernel, and compare with the interpreter, between
    fences."""
    module = parse_module(text)
    inputs = inputs_of(module)
    build = ScheduledBuild(module, optimize=ScheduleFirstPass(opts))
    executable = HostExecutable(build.program(), lambda: build)
    expected = interpret(module, [array.copy() for array in inputs])
    for x, y in zip(expected, between_fences(executable, inputs), strict=True):
        assert identical(x, y), f"{opts}:\n{x!r}\n{y!r}"


def kernel(body: str, *types: str) -> str:
    """A kernel @k on memory of these types, whose first is the result, and a @main that calls it.
    In the body `!i` is the type of an index, `@f32` of a cell of global memory."""
    params = [f"%p{i} = tg.param {i} : tensor<{t}, #tg.place<global>>" for i, t in enumerate(types)]
    body = body.replace("!i", "tensor<index>")
    memory = [f'tensor<{t}, #tg.place<"CPU", global>>' for t in types]
    result = f'tensor<{types[0]}, #tg.place<"CPU">>'
    arguments = ", ".join(f"%b{i}: {m}" for i, m in enumerate(memory))
    passed = ", ".join(f"%b{i}" for i in range(len(types)))
    return "\n".join(
        [
            "tg.kernel @k {",
            *params,
            body,
            "}",
            f"func.func @main({arguments}) -> {result} {{",
            f"%c = tg.call @k({passed}) : ({', '.join(memory)}) -> !tg.void",
            f"%a = tg.after %b0, %c : ({memory[0]}, !tg.void) -> {memory[0]}",
            f"%l = tg.load %a : {memory[0]} -> {result}",
            f"return %l : {result}",
            "}",
        ]
    )


G = "tensor<{}, #tg.place<global>>"
XOR = kernel(
    f"""
  %c64 = tg.const 64 : !i
  %i = tg.range 0 loop to %c64 : !i
  %c4 = tg.const 4 : !i
  %k = tg.range 1 reduce to %c4 : !i
  %m = tg.mul %i, %k : !i
  %c7 = tg.const 7 : !i
  %x = tg.xor %m, %c7 : !i
  %v = tg.cast %x to i32 : !i -> tensor<i32>
  %r = tg.reduce add %v [] over %k : tensor<i32> -> tensor<i32>
  %q = tg.index %p0[%i] : ({G.format("64xi32")}, !i) -> {G.format("i32")}
  %s = tg.store %q, %r : {G.format("i32")}, tensor<i32>
  %d = tg.end %s over %i : !tg.void
  %e = tg.sink %d : !tg.void""",
    "64xi32",
)
ATOMIC = kernel(
    f"""
  %n = tg.const 16 : !i
  %z = tg.const 0 : !i
  %i = tg.range 0 loop to %n : !i
  %at = tg.after %p0, %i : ({G.format("4xi32")}, !i) -> {G.format("4xi32")}
  %q = tg.index %at[%z] : ({G.format("4xi32")}, !i) -> {G.format("i32")}
  %v = tg.const 3 : tensor<i32>
  %s = tg.atomicadd %q, %v : {G.format("i32")}, tensor<i32>
  %d = tg.end %s over %i : !tg.void
  %e = tg.sink %d : !tg.void""",
    "4xi32",
)
IN_PLACE = kernel(
    f"""
  %n = tg.const 13 : !i
  %one = tg.const 1 : !i
  %i = tg.range 0 loop to %n : !i
  %j = tg.range 1 loop to %one : !i
  %q = tg.index %p0[%i, %j] : ({G.format("13x1xi8")}, !i, !i) -> {G.format("i8")}
  %v = tg.load %q : {G.format("i8")} -> tensor<i8>
  %w = tg.neg %v : tensor<i8>
  %s = tg.store %q, %w : {G.format("i8")}, tensor<i8>
  %d = tg.end %s over %j, %i : !tg.void
  %e = tg.sink %d : !tg.void""",
    "13x1xi8",
)
WRAPPED = kernel(
    f"""
  %n = tg.const 12 : !i
  %f = tg.const 4611686018427387904 : !i
  %i = tg.range 0 loop to %n : !i
  %m = tg.mul %i, %f : !i
  %v = tg.cast %m to i64 : !i -> tensor<i64>
  %q = tg.index %p0[%i] : ({G.format("12xi64")}, !i) -> {G.format("i64")}
  %s = tg.store %q, %v : {G.format("i64")}, tensor<i64>
  %d = tg.end %s over %i : !tg.void
  %e = tg.sink %d : !tg.void""",
    "12xi64",
)
DEAD_BUFFER = kernel(
    f"""
  %unused = tg.buffer 0 : tensor<5xf64, #tg.place<local>>
  %n = tg.const 6 : !i
  %i = tg.range 0 loop to %n : !i
  %j = tg.range 1 loop to %n : !i
  %k = tg.range 2 reduce to %n : !i
  %x = tg.index %p1[%j, %k] : ({G.format("6x6xi32")}, !i, !i) -> {G.format("i32")}
  %v = tg.load %x : {G.format("i32")} -> tensor<i32>
  %h = tg.cast %i to i32 : !i -> tensor<i32>
  %w = tg.mul %v, %h : tensor<i32>
  %r = tg.reduce add %w [] over %k : tensor<i32> -> tensor<i32>
  %q = tg.index %p0[%i, %j] : ({G.format("6x6xi32")}, !i, !i) -> {G.format("i32")}
  %s = tg.store %q, %r : {G.format("i32")}, tensor<i32>
  %d = tg.end %s over %j, %i : !tg.void
  %e = tg.sink %d : !tg.void""",
    "6x6xi32",
    "6x6xi32",
)
TRANSPOSED = """
func.func @main(%a: tensor<41x37xf32>) -> tensor<37x41xf32> {
  %t = tg.permute %a [1, 0] : tensor<41x37xf32> -> tensor<37x41xf32>
  %n = tg.neg %t : tensor<37x41xf32>
  return %n : tensor<37x41xf32>
}"""
WINDOW = """
func.func @main(%x: tensor<13x65x5xui8>) -> tensor<13x66x6xui8, #tg.place<"CPU">> {
  %b = tg.buffer 0 : tensor<13x66x6xui8, #tg.place<"CPU", global>>
  %w = tg.shrink %b at [0, 1, 1] to [13, 65, 5] : tensor<13x66x6xui8, #tg.place<"CPU", global>>
    -> tensor<13x65x5xui8, #tg.place<"CPU", global>>
  %y = tg.add %x, %w : (tensor<13x65x5xui8>, tensor<13x65x5xui8, #tg.place<"CPU", global>>)
    -> tensor<13x65x5xui8, #tg.place<"CPU">>
  %s = tg.store %w, %y : tensor<13x65x5xui8, #tg.place<"CPU", global>>,
    tensor<13x65x5xui8, #tg.place<"CPU">>
  %a = tg.after %b, %s : (tensor<13x66x6xui8, #tg.place<"CPU", global>>, !tg.void)
    -> tensor<13x66x6xui8, #tg.place<"CPU", global>>
  %l = tg.load %a : tensor<13x66x6xui8, #tg.place<"CPU", global>>
    -> tensor<13x66x6xui8, #tg.place<"CPU">>
  return %l : tensor<13x66x6xui8, #tg.place<"CPU">>
}"""


@pytest.mark.parametrize("text", [XOR, ATOMIC, IN_PLACE, WRAPPED, DEAD_BUFFER, TRANSPOSED, WINDOW])
@pytest.mark.parametrize("name", ["cpu-none", "cpu-heuristic"])
def test_default_schedules(text: str, name: str) -> None:
    module = parse_module(text)
    inputs = inputs_of(module)
    expected = interpret(module, [array.copy() for array in inputs])
    for x, y in zip(expected, EXECUTORS[name](module, inputs), strict=True):
        assert identical(x, y), f"{x!r}\n{y!r}"


@pytest.mark.parametrize(
    ("text", "opts"),
    [
        (XOR, ["split 1, 4, unroll", "split 0, 64, upcast"]),
        (ATOMIC, ["split 0, 4, upcast"]),
        (IN_PLACE, ["padto 0, 16", "split 0, 8, upcast"]),
        (IN_PLACE, ["padto 0, 16, clamp", "split 0, 4, thread, top"]),
        (DEAD_BUFFER, ["stage 1, 1, local", "order 1, 0"]),
        (DEAD_BUFFER, ["order 2, 1"]),
        (TRANSPOSED, ["split 0, 16, global, overlap", "split 2, 16, upcast", "stage 1, 1, local"]),
        (TRANSPOSED, ["split 0, 16, global, overlap", "split 1, 8, upcast, overlap"]),
        (TRANSPOSED, ["padto 0, 48", "split 0, 16, upcast", "split 1, 41, thread, top"]),
    ],
)
def test_explicit_schedules(text: str, opts: Sequence[str]) -> None:
    check_schedule(text, *opts)


NARROW = ("i1", "i8", "ui8", "i16", "ui16", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i32")


@pytest.mark.sampled(7)
@pytest.mark.parametrize("width", [2, 3, 4, 5, 8, 16, 17, 33, 64])
@pytest.mark.parametrize("dtype", NARROW)
def test_stores_of_narrow_elements(dtype: str, width: int) -> None:
    """The last part has one element: with a mask that LLVM knows, and with one that it does not."""
    size = 2 * width + 1
    # i32 is narrow beside what is truncated to it.
    wide = "i64" if dtype == "i32" else "f32"
    text = f"""func.func @main(%x: tensor<{size}x{wide}>) -> tensor<{size}x{dtype}> {{
      %y = tg.cast %x to {dtype} : tensor<{size}x{wide}> -> tensor<{size}x{dtype}>
      return %y : tensor<{size}x{dtype}>
    }}"""
    check_schedule(text, f"padto 0, {width}", f"split 0, {3 * width}, upcast")
    check_schedule(text, f"padto 0, {width}", f"split 0, {width}, upcast")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("lanes", [12, 16, 20, 24, 32, 64])
@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "f32", "i64", "f64"])
@pytest.mark.parametrize("before", [0, 9])
def test_masked_loads_of_several_registers(dtype: str, lanes: int, before: int) -> None:
    """All lanes of some registers are off, and the others are on in some iterations: what is behind
    the end of memory is not read."""
    cell, source, result = (G.format(f"{n}{dtype}") for n in ("", "16x7x", f"{lanes}x"))
    body = f"""
      %extent = tg.const {lanes} : !i
      %lane = tg.range 0 loop to %extent : !i
      %steps = tg.const 65 : !i
      %step = tg.range 1 reduce to %steps : !i
      %minus = tg.const -{before} : !i
      %column = tg.add %lane, %minus : !i
      %from = tg.index %p1[%step, %column] : ({source}, !i, !i) -> {cell}
      %value = tg.load %from : {cell} -> tensor<{dtype}>
      %most = tg.reduce max %value [] over %step : tensor<{dtype}> -> tensor<{dtype}>
      %to = tg.index %p0[%lane] : ({result}, !i) -> {cell}
      %store = tg.store %to, %most : {cell}, tensor<{dtype}>
      %end = tg.end %store over %lane : !tg.void
      %sink = tg.sink %end : !tg.void"""
    check_schedule(kernel(body, f"{lanes}x{dtype}", f"16x7x{dtype}"), f"split 0, {lanes}, upcast")


def test_parts_that_overlap_say_the_same_in_the_interpreter() -> None:
    """tg-select makes STOREs of their own of what the last two parts have both."""
    module = parse_module(TRANSPOSED)
    (x,) = inputs_of(module)
    for stage in (
        *(CallifyPass(), RangeifyPass(), SimplifyPass()),
        *(OptimizePass("heuristic", ("avx",), 1), ExpandPass(), SelectPass("cpu", ("avx",))),
    ):
        stage.apply(Context(), module)
    (result,) = interpret(module, [x])
    assert identical(result, -x.T)


def test_a_part_of_one_iteration_is_refused() -> None:
    with pytest.raises(PassFailedException, match="a part of 1 of range 0 to 37 is no loop"):
        check_schedule(TRANSPOSED, "split 0, 1, upcast")


def test_reductions_of_what_a_reduction_changed() -> None:
    """Their buffers are seen through the RESHAPEs that MERGE makes."""
    x = np.arange(120, dtype=np.float32).reshape(4, 5, 6) % 7

    def centred(t: T) -> T:
        return t - t.mean((0, 1))

    wanted = x - x.mean((0, 1))
    np.testing.assert_allclose(centred(centred(T(x))).numpy(), wanted, atol=1e-5)
    given = T(x, requires_grad=True)
    (gradient,) = given.var((0, 1)).sum().gradient(given)
    np.testing.assert_allclose(gradient.numpy(), 2 * wanted / 19, atol=1e-5)


def test_batch_norm_after_a_convolution() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((4, 3, 8, 8)).astype(np.float32)
    w = random.standard_normal((5, 3, 3, 3)).astype(np.float32)
    y = T(x).conv2d(T(w)).relu()
    mean, variance = y.mean((0, 2, 3)), y.var((0, 2, 3), correction=0)
    shape = (1, 5, 1, 1)
    normal = (y - mean.reshape(shape)) * (variance + 1e-5).rsqrt().reshape(shape)
    again = normal - normal.mean((0, 2, 3)).reshape(shape)
    values = y.numpy()
    axes = (0, 2, 3)
    wanted = (values - values.mean(axes, keepdims=True)) / np.sqrt(
        values.var(axes, keepdims=True) + 1e-5
    )
    np.testing.assert_allclose(again.numpy(), wanted, atol=1e-4)
