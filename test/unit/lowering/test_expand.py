"""What expand, select, linearize and plan compute is what the kernel computed before them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st
from random_seeds import searched
from stages import Array, kernel, load, memory, results_by_stage, store


def check(text: str, inputs: list[Array], expected: Array, *, rtol: float = 1e-6) -> None:
    """The first argument is the output."""
    for stage, results in results_by_stage(text, "k", inputs).items():
        np.testing.assert_allclose(results[0], expected, rtol=rtol, err_msg=f"after {stage}")


def random(*shape: int, dtype: type = np.float32) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def constants(*numbers: int) -> str:
    return "".join(f"%c{n} = tg.const {n} : tensor<index>\n" for n in sorted(set(numbers)))


def split(name: str, outer: int, inner: int, kinds: tuple[str, str], axis: int) -> str:
    """`%name = %name0 * inner + %name1`, over two ranges."""
    return (
        f"%{name}0 = tg.range {axis} {kinds[0]} to %c{outer} : tensor<index>\n"
        f"%{name}1 = tg.range {axis + 1} {kinds[1]} to %c{inner} : tensor<index>\n"
        f"%{name}s = tg.mul %{name}0, %c{inner} : tensor<index>\n"
        f"%{name} = tg.add %{name}s, %{name}1 : tensor<index>\n"
    )


def gemm(
    extents: tuple[int, int, int, int, int, int],
    kinds: tuple[str, str, str, str, str, str],
    order: tuple[int, ...],
    reduce_order: tuple[int, int],
    flat: bool,
) -> str:
    """C[i, j] = sum over k of A[i, k] * B[k, j], every axis split in two; C is flat if asked."""
    i0, i1, j0, j1, k0, k1 = extents
    m, n, k = i0 * i1, j0 * j1, k0 * k1
    loops = ["i0", "i1", "j0", "j1"]
    reduced = ["k0", "k1"]
    c = f"{m * n}xf32" if flat else f"{m}x{n}xf32"
    body = constants(*extents, n)
    body += split("i", i0, i1, kinds[0:2], 0) + split("j", j0, j1, kinds[2:4], 2)
    body += split("k", k0, k1, kinds[4:6], 4)
    body += load("a", "A", f"{m}x{k}xf32", ["i", "k"]) + load("b", "B", f"{k}x{n}xf32", ["k", "j"])
    over = ", ".join(f"%{reduced[r]}" for r in reduce_order)
    body += "%p = tg.mul %a, %b : tensor<f32>\n"
    body += f"%r = tg.reduce add %p [] over {over} : tensor<f32> -> tensor<f32>\n"
    body += f"%row = tg.mul %i, %c{n} : tensor<index>\n%at = tg.add %row, %j : tensor<index>\n"
    body += store("s", "C", c, ["at"] if flat else ["i", "j"], "r")
    body += "%e = tg.end %s over " + ", ".join(f"%{loops[o]}" for o in order) + " : !tg.void\n"
    body += "tg.sink %e : !tg.void"
    types = (c, f"{m}x{k}xf32", f"{k}x{n}xf32")
    params = [f"{name}: {memory(t)}" for name, t in zip("CAB", types, strict=True)]
    return kernel("k", params, body)


EXTENT = st.integers(1, 3)
OUTPUT = st.sampled_from(["loop", "upcast"])
REDUCED = st.sampled_from(["reduce", "unroll"])


@searched(
    25,
    st.tuples(*[EXTENT] * 6),
    st.tuples(OUTPUT, OUTPUT, OUTPUT, OUTPUT, REDUCED, REDUCED),
    st.permutations(range(4)),
    st.sampled_from([(0, 1), (1, 0)]),
    st.booleans(),
)
def test_gemm_with_any_axis_types(extents, kinds, order, reduce_order, flat) -> None:
    """Any mixture of loops, UPCAST and UNROLL, nested in any order."""
    i0, i1, j0, j1, k0, k1 = extents
    a, b = random(i0 * i1, k0 * k1), random(k0 * k1, j0 * j1)
    expected = a @ b
    text = gemm(extents, kinds, tuple(order), reduce_order, flat)
    out = np.full(expected.size if flat else expected.shape, np.nan, np.float32)
    check(text, [out, a, b], expected.reshape(out.shape), rtol=1e-5)


@pytest.mark.parametrize("kinds", [*itertools.product(("reduce", "unroll"), repeat=2)])
def test_softmax_over_one_range(kinds: tuple[str, str]) -> None:
    """Two REDUCEs of which one needs the other, and the STORE, all written over one RANGE."""
    first = "upcast" if kinds[0] == "unroll" else "loop"
    body = constants(3, 4)
    body += f"%i = tg.range 0 {first} to %c3 : tensor<index>\n"
    body += f"%k = tg.range 1 {kinds[1]} to %c4 : tensor<index>\n"
    body += load("x", "X", "3x4xf32", ["i", "k"])
    body += "%m = tg.reduce max %x [] over %k : tensor<f32> -> tensor<f32>\n"
    body += "%d = tg.sub %x, %m : tensor<f32>\n%p = tg.exp2 %d : tensor<f32>\n"
    body += "%t = tg.reduce add %p [] over %k : tensor<f32> -> tensor<f32>\n"
    body += "%q = tg.div %p, %t : tensor<f32>\n"
    body += store("s", "O", "3x4xf32", ["i", "k"], "q")
    body += "%e = tg.end %s over %k, %i : !tg.void\ntg.sink %e : !tg.void"
    x = random(3, 4)
    p = np.exp2(x - x.max(1, keepdims=True))
    text = kernel("k", [f"O: {memory('3x4xf32')}", f"X: {memory('3x4xf32')}"], body)
    check(text, [np.zeros_like(x), x], p / p.sum(1, keepdims=True), rtol=1e-5)


def test_reductions_of_one_stage_share_a_loop_and_others_do_not() -> None:
    """sum and sum of squares together; the sum of |x - mean| after them; a nested maximum."""
    body = constants(3, 4, 5)
    body += "%i = tg.range 0 loop to %c3 : tensor<index>\n"
    body += "%k = tg.range 1 reduce to %c4 : tensor<index>\n"
    body += "%l = tg.range 2 reduce to %c5 : tensor<index>\n"
    body += load("x", "X", "3x4x5xf32", ["i", "k", "l"])
    body += "%top = tg.reduce max %x [] over %l : tensor<f32> -> tensor<f32>\n"
    body += "%sum = tg.reduce add %top [] over %k : tensor<f32> -> tensor<f32>\n"
    body += "%sq = tg.mul %top, %top : tensor<f32>\n"
    body += "%sqs = tg.reduce add %sq [] over %k : tensor<f32> -> tensor<f32>\n"
    body += "%d = tg.sub %top, %sum : tensor<f32>\n"
    body += "%ds = tg.reduce mul %d [] over %k : tensor<f32> -> tensor<f32>\n"
    body += "%r = tg.add %ds, %sqs : tensor<f32>\n"
    body += store("s", "O", "3xf32", ["i"], "r")
    body += "%e = tg.end %s over %i : !tg.void\ntg.sink %e : !tg.void"
    x = random(3, 4, 5)
    top = x.max(2)
    expected = (top - top.sum(1, keepdims=True)).prod(1) + (top * top).sum(1)
    text = kernel("k", [f"O: {memory('3xf32')}", f"X: {memory('3x4x5xf32')}"], body)
    check(text, [np.zeros(3, np.float32), x], expected, rtol=1e-4)


@pytest.mark.parametrize("kind", ["reduce", "unroll"])
def test_f16_sums_accumulate_in_f32(kind: str) -> None:
    """2048 + 1 + 1 + ... is 2048 in f16, which has 11 bits."""
    body = constants(0, 9) + f"%k = tg.range 0 {kind} to %c9 : tensor<index>\n"
    body += load("x", "X", "9xf16", ["k"])
    body += "%r = tg.reduce add %x [] over %k : tensor<f16> -> tensor<f16>\n"
    body += store("s", "O", "1xf16", ["c0"], "r") + "tg.sink %s : !tg.void"
    x = np.array([2048, *[1] * 8], np.float16)
    text = kernel("k", [f"O: {memory('1xf16')}", f"X: {memory('9xf16')}"], body)
    check(text, [np.zeros(1, np.float16), x], np.array([2056], np.float16), rtol=0)


@pytest.mark.parametrize("kinds", [("reduce", "reduce"), ("reduce", "unroll"), ("unroll",) * 2])
def test_ordered_sums_add_in_order(kinds: tuple[str, str]) -> None:
    """1e8 - 1e8 + 1 + ...: any other order of addition gives another result."""
    body = constants(0, 3, 4) + split("k", 3, 4, kinds, 0)
    body += load("x", "X", "12xf32", ["k"])
    body += "%r = tg.reduce add %x [] over %k0, %k1 ordered : tensor<f32> -> tensor<f32>\n"
    body += store("s", "O", "1xf32", ["c0"], "r") + "tg.sink %s : !tg.void"
    x = np.array([1, 1e8, 1, -1e8, 3, 1e8, 1, 1, -1e8, 7, 1e-3, 5], np.float32)
    expected = np.float32(0)
    for value in x:
        expected += value
    text = kernel("k", [f"O: {memory('1xf32')}", f"X: {memory('12xf32')}"], body)
    check(text, [np.zeros(1, np.float32), x], np.array([expected]), rtol=0)


def test_max_of_nothing_and_of_nan() -> None:
    """A dynamic bound of 0 leaves the identity; NaN propagates."""
    body = "%k = tg.range 0 reduce to %n : tensor<index>\n" + constants(0)
    body += load("x", "X", "4xf32", ["k"])
    body += "%r = tg.reduce max %x [] over %k : tensor<f32> -> tensor<f32>\n"
    body += store("s", "O", "1xf32", ["c0"], "r") + "tg.sink %s : !tg.void"
    params = [f"O: {memory('1xf32')}", f"X: {memory('4xf32')}", "n: tensor<index>"]
    text = kernel("k", params, body).replace("tg.param 2", 'tg.param 2 "n" min 0 max 4')
    x = np.array([1, np.nan, 3, 2], np.float32)
    for n, expected in ((0, -np.inf), (1, 1), (4, np.nan)):
        check(text, [np.zeros(1, np.float32), x, n], np.array([expected], np.float32))


@pytest.mark.parametrize("kinds", [*itertools.product(("loop", "upcast"), repeat=2)])
def test_indices_that_share_an_axis(kinds: tuple[str, str]) -> None:
    """x[i + j, i - 1]: outside is 0, and the column before the first is not in the row before."""
    body = constants(1, 3, 4) + f"%i = tg.range 0 {kinds[0]} to %c3 : tensor<index>\n"
    body += f"%j = tg.range 1 {kinds[1]} to %c4 : tensor<index>\n"
    body += "%a = tg.add %i, %j : tensor<index>\n%b = tg.sub %i, %c1 : tensor<index>\n"
    body += load("x", "X", "4x4xf32", ["a", "b"]) + store("s", "O", "3x4xf32", ["i", "j"], "x")
    body += "%e = tg.end %s over %j, %i : !tg.void\ntg.sink %e : !tg.void"
    x = random(4, 4)
    expected = np.zeros((3, 4), np.float32)
    for i, j in itertools.product(range(3), range(4)):
        if i + j < 4 and i >= 1:
            expected[i, j] = x[i + j, i - 1]
    text = kernel("k", [f"O: {memory('3x4xf32')}", f"X: {memory('4x4xf32')}"], body)
    check(text, [np.ones((3, 4), np.float32), x], expected)


@pytest.mark.parametrize("kind", ["loop", "upcast"])
def test_gates(kind: str) -> None:
    """A gated LOAD gives its `alt`, and a gated STORE leaves what was there."""
    body = constants(2, 3, 4) + "%alt = tg.const 9.0 : tensor<f32>\n"
    body += f"%i = tg.range 0 {kind} to %c4 : tensor<index>\n"
    body += f"%j = tg.range 1 {kind} to %c3 : tensor<index>\n"
    body += "%g = tg.cmplt %i, %c2 : (tensor<index>, tensor<index>) -> tensor<i1>\n"
    body += "%h = tg.cmplt %j, %i : (tensor<index>, tensor<index>) -> tensor<i1>\n"
    m = memory("f32")
    body += f"%at = tg.index %X[%j] : ({memory('3xf32')}, tensor<index>) -> {m}\n"
    body += f"%x = tg.load %at alt %alt gate %g : {m}, tensor<f32>, tensor<i1> -> tensor<f32>\n"
    body += (
        f"%to = tg.index %O[%i, %j] : ({memory('4x3xf32')}, tensor<index>, tensor<index>) -> {m}\n"
    )
    body += f"%s = tg.store %to, %x gate %h : {m}, tensor<f32>, tensor<i1>\n"
    body += "%e = tg.end %s over %j, %i : !tg.void\ntg.sink %e : !tg.void"
    x, out = random(3), random(4, 3)
    i, j = np.meshgrid(np.arange(4), np.arange(3), indexing="ij")
    expected = np.where(j < i, np.where(i < 2, x[None, :], 9), out)
    text = kernel("k", [f"O: {memory('4x3xf32')}", f"X: {memory('3xf32')}"], body)
    check(text, [out, x], expected)


@pytest.mark.parametrize("kind", ["loop", "upcast"])
def test_in_place(kind: str) -> None:
    """Each cell is read before it is written."""
    body = constants(4) + f"%i = tg.range 0 {kind} to %c4 : tensor<index>\n"
    body += load("x", "O", "4xf32", ["i"]) + "%y = tg.add %x, %x : tensor<f32>\n"
    body += store("s", "O", "4xf32", ["i"], "y")
    body += "%e = tg.end %s over %i : !tg.void\ntg.sink %e : !tg.void"
    x = random(4)
    check(kernel("k", [f"O: {memory('4xf32')}"], body), [x], 2 * x)
