"""Every elementwise op on every dtype that it is defined on, against the interpreter."""

from fractions import Fraction
from random import Random

import ml_dtypes
import numpy as np
import pytest
from kernels import (
    DTYPES,
    INTEGERS,
    NARROW_FLOATS,
    TARGETS,
    WIDE_FLOATS,
    bits,
    compiled,
    elementwise,
    pairs,
    specials,
)
from opencl_device import DEVICE, needs_opencl

import tgdialect as tg
from tgdialect.interpreter.elementwise import compute
from tgdialect.ops.arrays import NUMPY_DTYPES
from tgdialect.ops.dtypes import DTYPES as ROWS
from tgdialect.ops.elementwise import TRANSCENDENTAL, UnaryOp

ROW = {row.name: row for row in ROWS.values()}
FLOATS = (*WIDE_FLOATS, *NARROW_FLOATS)
NUMBERS = (*INTEGERS, *FLOATS)

COMPARISONS = ("cmplt", "cmpne", "cmpgt", "cmpge", "cmple", "cmpeq")
EXACT_BINARY = {
    "add": DTYPES,
    "mul": DTYPES,
    "max": DTYPES,
    "sub": NUMBERS,
    "div": FLOATS,
    "idiv": INTEGERS,
    "mod": INTEGERS,
    "xor": ("i1", *INTEGERS),
    "or": ("i1", *INTEGERS),
    "and": ("i1", *INTEGERS),
    "shl": INTEGERS,
    "shr": INTEGERS,
    **dict.fromkeys(COMPARISONS, DTYPES),
}
EXACT_UNARY = {
    "recip": FLOATS,
    "sqrt": FLOATS,
    "trunc": DTYPES,
    "neg": NUMBERS,
    "not": ("i1",),
}
ULPS = {"f32": 2, "f64": 3, "f16": 1, "bf16": 1, "f8E4M3FN": 1, "f8E5M2": 1}


def on_targets(*values):
    """Each value on each target, with the features of a CPU that there are to test."""
    return [(value, features, "cpu") for value, features in values] + [
        (value, (), target) for value, features in values if not features for target in TARGETS[1:]
    ]


def run(ops, dtype, arrays, features=(), target="cpu"):
    """[(op, its name, output dtype)] on arrays of one dtype -> the outputs, all in one kernel."""
    lines = [(text, result) for text, _, result in ops]
    size = len(arrays[0])
    outputs = [np.zeros(size, NUMPY_DTYPES[result]) for _, _, result in ops]
    text = elementwise(lines, [dtype] * len(arrays), size)
    kernel = compiled(text, features=features, target=target)("k")
    kernel(*outputs, *arrays)
    return outputs


def exact_ops(dtype):
    one, t = f"tensor<{dtype}>", f"(tensor<{dtype}>, tensor<{dtype}>) -> tensor"
    for name, dtypes in EXACT_BINARY.items():
        if dtype in dtypes:
            result = "i1" if name in COMPARISONS else dtype
            yield f"tg.{name} %a, %b : {t}<{result}>", f"tg.{name}", result
    for name, dtypes in EXACT_UNARY.items():
        if dtype in dtypes:
            yield f"tg.{name} %a : {one}", f"tg.{name}", dtype


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("dtype", "features", "target"), on_targets(*((d, ()) for d in DTYPES), ("f16", ("f16c",)))
)
def test_exact_ops(dtype, features, target):
    a, b = pairs(NUMPY_DTYPES[dtype])
    ops = list(exact_ops(dtype))
    for (_, name, result), output in zip(
        ops, run(ops, dtype, [a, b], features, target), strict=True
    ):
        operands = [a] if name.removeprefix("tg.") in EXACT_UNARY else [a, b]
        with np.errstate(all="ignore"):
            expected = compute(name, operands, [ROW[dtype]] * len(operands), ROW[result])
        wrong = np.flatnonzero(bits(output) != bits(expected))
        examples = [(a[i], b[i], output[i], expected[i]) for i in wrong[:5]]
        assert not len(wrong), f"{name} of {dtype}: (a, b, got, expected) = {examples}"


@pytest.mark.sampled(16)
@pytest.mark.parametrize(
    ("source", "features", "target"),
    on_targets(*((d, ()) for d in DTYPES), *((d, ("f16c",)) for d in ("f16", "f32", "f64"))),
)
def test_casts(source, features, target):
    values = specials(NUMPY_DTYPES[source])
    if source in NARROW_FLOATS:  # all there are
        width = 8 * values.dtype.itemsize
        values = np.arange(2**width, dtype=f"u{values.dtype.itemsize}").view(values.dtype)
    elif source in ("f32", "f64", "i64", "ui64"):
        values = np.concatenate([values, near_ties(values.dtype)])
    types = f"tensor<{source}> -> tensor"
    ops = [(f"tg.cast %a to {d} : {types}<{d}>", f"tg.cast to {d}", d) for d in DTYPES]
    for (_, name, dtype), output in zip(
        ops, run(ops, source, [values], features, target), strict=True
    ):
        with np.errstate(all="ignore"):
            expected = compute("tg.cast", [values], [ROW[source]], ROW[dtype])
        wrong = np.flatnonzero(bits(output) != bits(expected))
        examples = [(values[i], output[i], expected[i]) for i in wrong[:5]]
        assert not len(wrong), f"{name} from {source}: (x, got, expected) = {examples}"


def near_ties(dtype):
    """Values next to the midpoints of narrower formats, where rounding twice goes wrong."""
    random = np.random.default_rng(0)
    if dtype.kind == "f":
        exponents = np.exp2(random.integers(-30, 18, 3000).astype(dtype))
        midpoints = (1 + (random.integers(0, 2048, 3000) + 0.5) / 1024).astype(dtype) * exponents
        return np.concatenate(
            [midpoints, *(np.nextafter(midpoints, s * np.inf).astype(dtype) for s in (-1, 1))]
        )
    shifts = random.integers(0, 40, 3000)
    midpoints = (random.integers(0, 2**23, 3000) * 2 + 1) << shifts
    return np.concatenate([midpoints - 1, midpoints, midpoints + 1]).astype(dtype)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", DTYPES)
def test_bitcasts_to_the_same_size(source, target):
    values = specials(NUMPY_DTYPES[source])
    if source in NARROW_FLOATS:  # every NaN keeps its bits
        width = 8 * values.dtype.itemsize
        values = np.arange(2**width, dtype=f"u{values.dtype.itemsize}").view(values.dtype)
    results = [d for d in DTYPES if NUMPY_DTYPES[d].itemsize == values.dtype.itemsize]
    types = f"tensor<{source}> -> tensor"
    ops = [(f"tg.bitcast %a to {d} : {types}<{d}>", d, d) for d in results]
    for dtype, output in zip(results, run(ops, source, [values], target=target), strict=True):
        expected = values.view(np.uint8) != 0 if dtype == "i1" else values
        same = output.view(f"u{output.dtype.itemsize}") == expected.view(
            f"u{output.dtype.itemsize}"
        )
        assert same.all(), f"{source} to {dtype}"


@pytest.mark.sampled(16)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_where(dtype, target):
    a, b = pairs(NUMPY_DTYPES[dtype])
    t = f"tensor<{dtype}>"
    ops = [
        (f"tg.cmplt %a, %b : ({t}, {t}) -> tensor<i1>", "", "i1"),
        (f"tg.where %v0, %a, %b : (tensor<i1>, {t}, {t}) -> {t}", "", dtype),
    ]
    condition, output = run(ops, dtype, [a, b], target=target)
    assert np.array_equal(bits(output), bits(np.where(condition, a, b)))


@pytest.mark.sampled(32)
@pytest.mark.parametrize(
    ("dtype", "features", "target"),
    on_targets(*((d, features) for d in NUMBERS for features in ((), ("fma",)))),
)
def test_mulacc(dtype, features, target):
    """A float may be rounded once or twice."""
    a, b = pairs(NUMPY_DTYPES[dtype])
    c = np.roll(a, 7)
    ops = [(f"tg.mulacc %a, %b, %c : tensor<{dtype}>", "tg.mulacc", dtype)]
    (output,) = run(ops, dtype, [a, b, c], features, target)
    row = ROW[dtype]
    with np.errstate(all="ignore"):
        product = compute("tg.mul", [a, b], [row, row], row)
        twice = compute("tg.add", [product, c], [row, row], row)
        in_f32 = compute("tg.mulacc", [a, b, c], [row, row, row], row)
    for i in np.flatnonzero((bits(output) != bits(twice)) & (bits(output) != bits(in_f32))):
        assert is_rounded(output[i], a[i], b[i], c[i]), (a[i], b[i], c[i], output[i], twice[i])


def is_rounded(result, *operands):
    """Whether a result is the float nearest to a * b + c."""
    a, b, c = (Fraction(float(x)) for x in operands)
    exact, info = a * b + c, ml_dtypes.finfo(result.dtype)
    if np.isinf(result):
        return abs(exact) > Fraction(float(info.max))
    bound = max(abs(exact) * Fraction(float(info.eps)), Fraction(float(info.smallest_subnormal)))
    return abs(Fraction(float(result)) - exact) <= bound / 2


@pytest.mark.sampled(112)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", TRANSCENDENTAL, ids=lambda op: op.name)
def test_transcendental(op, dtype, target):
    """The recipes' accuracy is tested in test_transcendental.py: here, that they are compiled."""
    a, b = pairs(NUMPY_DTYPES[dtype])
    operands, text = ([a], "%a") if issubclass(op, UnaryOp) else ([a, b], "%a, %b")
    ops = [(f"{op.name} {text} : tensor<{dtype}>", op.name, dtype)]
    (output,) = run(ops, dtype, operands, target=target)
    with np.errstate(all="ignore"):
        expected = compute(op.name, operands, [ROW[dtype]] * len(operands), ROW[dtype])
    assert np.array_equal(np.isnan(output), np.isnan(expected))
    order = np.where(np.signbit(output), -1, 1) * (bits(np.abs(output)).astype(np.int64))
    wanted = np.where(np.signbit(expected), -1, 1) * (bits(np.abs(expected)).astype(np.int64))
    distance = np.where(np.isnan(output), 0, np.abs(order - wanted))
    worst = distance.argmax()
    assert distance[worst] <= ULPS[dtype], (a[worst], b[worst], output[worst], expected[worst])


@pytest.mark.parametrize("target", TARGETS)
def test_threefry(target):
    a, b = pairs(np.dtype(np.uint64))
    (output,) = run(
        [("tg.threefry %a, %b : tensor<ui64>", "", "ui64")], "ui64", [a, b], target=target
    )
    assert np.array_equal(output, compute("tg.threefry", [a, b], [ROW["ui64"]] * 2, ROW["ui64"]))


@pytest.mark.sampled(32)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("count", ["i8", "ui8", "i64", "ui64", "index"])
@pytest.mark.parametrize("dtype", ["i8", "ui8", "i32", "ui32", "i64", "ui64"])
def test_shift_counts_of_another_dtype(dtype, count, target):
    values, counts = specials(NUMPY_DTYPES[dtype]), specials(NUMPY_DTYPES[count])
    a, b = (m.ravel().copy() for m in np.meshgrid(values, counts))
    text = f"%a, %b : (tensor<{dtype}>, tensor<{count}>) -> tensor<{dtype}>"
    size = len(a)
    outputs = [np.zeros(size, a.dtype) for _ in range(2)]
    lines = [(f"tg.shl {text}", dtype), (f"tg.shr {text}", dtype)]
    text = elementwise(lines, [dtype, count], size)
    compiled(text, target=target)("k")(*outputs, a, b)
    for name, output in zip(("tg.shl", "tg.shr"), outputs, strict=True):
        expected = compute(name, [a, b], [ROW[dtype], ROW[count]], ROW[dtype])
        assert np.array_equal(output, expected), name


@pytest.mark.parametrize(
    "target", ["interpreter", "cpu", "c", pytest.param("opencl", marks=needs_opencl)]
)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_sign_and_payload_of_nan(dtype, target):
    random, size = Random(dtype), int(dtype[1:])
    exponent = np.array(np.inf, f"f{size // 8}").view(f"u{size // 8}").item()
    quiet = exponent | exponent >> 1 & ~exponent
    plain = [quiet, quiet | 1 << size - 1]
    for nan in (*plain, *(p | random.getrandbits(20) for p in plain for _ in range(5))):
        text = f"""func.func @main() -> tensor<i{size}> {{
          %c = tg.const {nan:#x} : tensor<{dtype}>
          %i = tg.bitcast %c to i{size} : tensor<{dtype}> -> tensor<i{size}>
          return %i : tensor<i{size}>
        }}"""
        result = tg.compile(text, target=DEVICE if target == "opencl" else target)()
        assert int(result) % 2**size == nan
