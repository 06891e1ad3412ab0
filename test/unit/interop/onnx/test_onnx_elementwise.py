"""Elementwise operators, reductions and normalizations on random shapes, dtypes and special values,
against ONNX Runtime, or ONNX's reference where that has no kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import ModelProto, helper
from onnx.reference import ReferenceEvaluator
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel
from single_node import compare, model_of, reference

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int32", "int64", "uint8", "int8")
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)


def _shape(rng: np.random.Generator, rank: int) -> tuple[int, ...]:
    return tuple(int(e) for e in rng.integers(2, 6, rank))


def _part(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to another one."""
    kept = shape[int(rng.integers(0, len(shape) + 1)) :]
    return tuple(1 if rng.random() < 0.3 else e for e in kept)


def _values(
    rng: np.random.Generator, dtype: str, shape: tuple[int, ...], *, special: bool = True
) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return np.asarray(rng.random(shape) < 0.5)
    if kind.kind in "iu":
        return rng.integers(0 if kind.kind == "u" else -9, 10, shape).astype(kind)
    found = np.asarray(rng.standard_normal(shape) * 3).astype(kind)
    if special:
        at = rng.random(shape) < 0.15
        found = np.where(at, rng.choice(SPECIAL, shape), found).astype(kind)
    return found


def _wanted(model: ModelProto) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    try:
        return reference(model)
    except NoKernel:
        evaluator = ReferenceEvaluator(model)
        return lambda feed: evaluator.run(None, dict(feed))


def _check(
    op: str,
    inputs: Sequence[Any],
    *,
    opset: int = 21,
    result: str | None = None,
    ndim: int | None = None,
    results: int = 1,
    only_reference: bool = False,
    **attributes: Any,
) -> None:
    first = next(x for x in inputs if x is not None)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(result or first.dtype))
    rank = max(x.ndim for x in inputs if x is not None) if ndim is None else ndim
    constant = [i for i, x in enumerate(inputs) if i and x is not None and x.dtype == np.int64]
    constant = constant if op.startswith(("Reduce", "Cum")) else []
    model = model_of(
        op,
        inputs,
        [(kind, rank)] * results,
        opset=opset,
        symbolic=dict.fromkeys(range(len(inputs)), ()),
        constant=constant,
        **attributes,
    )
    feed = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and i not in constant}
    evaluator = ReferenceEvaluator(model) if only_reference else None
    wanted = _wanted(model) if evaluator is None else lambda f: evaluator.run(None, dict(f))
    narrow = first.dtype.itemsize == 2
    with np.errstate(all="ignore"):
        compare(
            model,
            [feed],
            rtol=2e-3 if narrow else 2e-5,
            atol=1e-3 if narrow else 2e-6,
            wanted=wanted,
        )


UNARY: Mapping[str, tuple[tuple[str, ...], Mapping[str, Any]]] = {
    "Abs": ((*FLOATS, *INTEGERS), {}),
    "Acos": (FLOATS[:2], {}),
    "Acosh": (FLOATS[:1], {}),
    "Asin": (FLOATS[:2], {}),
    "Asinh": (FLOATS[:1], {}),
    "Atan": (FLOATS, {}),
    "Atanh": (FLOATS[:1], {}),
    "BitwiseNot": (INTEGERS, {}),
    "Ceil": (FLOATS, {}),
    "Celu": (FLOATS[:1], {"alpha": 0.7}),
    "Cos": (FLOATS[:2], {}),
    "Cosh": (FLOATS[:1], {}),
    "Elu": (FLOATS, {"alpha": 1.5}),
    "Erf": (FLOATS[:1], {}),
    "Exp": (FLOATS, {}),
    "Floor": (FLOATS, {}),
    "Gelu": (FLOATS[:2], {"approximate": "tanh"}),
    "HardSigmoid": (FLOATS[:2], {"alpha": 0.3, "beta": 0.4}),
    "HardSwish": (FLOATS[:2], {}),
    "IsInf": (FLOATS[:2], {"detect_negative": 0}),
    "IsNaN": (FLOATS, {}),
    "LeakyRelu": (FLOATS, {"alpha": 0.2}),
    "Log": (FLOATS[:2], {}),
    "Mish": (FLOATS[:1], {}),
    "Neg": ((*FLOATS, "int32", "int64", "int8"), {}),
    "Not": (("bool",), {}),
    "Reciprocal": (FLOATS[:2], {}),
    "Relu": ((*FLOATS, "int32", "int8"), {}),
    "Round": (FLOATS, {}),
    "Selu": (FLOATS, {}),
    "Shrink": (("float32", "float64", "int32"), {"lambd": 1.5, "bias": 1.0}),
    "Sigmoid": (FLOATS, {}),
    "Sign": (INTEGERS, {}),
    "Sin": (FLOATS[:2], {}),
    "Sinh": (FLOATS[:1], {}),
    "Softplus": (FLOATS[:2], {}),
    "Softsign": (FLOATS[:2], {}),
    "Sqrt": (FLOATS[:2], {}),
    "Tan": (FLOATS[:1], {}),
    "Tanh": (FLOATS, {}),
    "ThresholdedRelu": (FLOATS[:2], {"alpha": 0.6}),
}
"""Operators of one operand: the dtypes, and attributes."""

_FINITE = {"Gelu", "Mish", "HardSwish", "Softsign", "Celu", "Erf", "Shrink", "ThresholdedRelu"}
"""Operators of which ONNX Runtime has no NaN or infinities, or others than the formula."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("op", UNARY)
def test_unary(op: str, seed: int):
    rng = np.random.default_rng([seed, *op.encode()])
    kinds, attributes = UNARY[op]
    dtype = str(rng.choice(kinds))
    x = _values(rng, dtype, _shape(rng, int(rng.integers(0, 4))), special=op not in _FINITE)
    result = "bool" if op.startswith("Is") else None
    _check(op, [x], result=result, **attributes)


BINARY: Mapping[str, tuple[str, ...]] = {
    "Add": (*FLOATS, *INTEGERS),
    "And": ("bool",),
    "BitwiseAnd": INTEGERS,
    "BitwiseOr": INTEGERS,
    "BitwiseXor": INTEGERS,
    "Div": (*FLOATS, "int32", "int64"),
    "Equal": ("float32", "float64", "int32", "int64", "bool"),
    "Greater": ("float32", "float64", "int32", "int64"),
    "GreaterOrEqual": ("float32", "float64", "int32", "int64"),
    "Less": ("float32", "float64", "int32", "int64"),
    "LessOrEqual": ("float32", "float64", "int32", "int64"),
    "Max": (*FLOATS, "int32", "int64", "uint32", "int8"),
    "Min": (*FLOATS, "int32", "int64", "uint32", "int8"),
    "Mod": ("int32", "int64", "int8"),
    "Mul": (*FLOATS, *INTEGERS),
    "Or": ("bool",),
    "PRelu": ("float32", "float64"),
    "Pow": ("float32", "float64"),
    "Sub": (*FLOATS, *INTEGERS),
    "Xor": ("bool",),
}
"""Operators of two operands that broadcast, and the dtypes."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("op", BINARY)
def test_binary(op: str, seed: int):
    rng = np.random.default_rng([seed, *op.encode()])
    dtype = str(rng.choice(BINARY[op]))
    shape = _shape(rng, int(rng.integers(0, 4)))
    special = op not in ("PRelu",)
    a, b = (_values(rng, dtype, s, special=special) for s in (shape, _part(rng, shape)))
    if op in ("Div", "Mod") and a.dtype.kind in "iu":
        b = np.where(b == 0, 3, b).astype(dtype)
    is_test = op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
    if rng.random() < 0.5 and op != "PRelu":
        a, b = (a, b) if op in ("Div", "Mod") else (b, a)
    _check(op, [a, b], result="bool" if is_test else None, ndim=len(shape))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_remainders_of_floats(seed: int):
    """The sign of a zero is that of the divisor, as the specification has it since opset 28."""
    rng = np.random.default_rng(seed)
    a, b = (_values(rng, "float64", (40,), special=False).round(1) for _ in range(2))
    b[b == 0] = 1
    a[:5] = [0.0, -0.0, 6, -6, 3]
    b[:5] = [-2, 2, -2, 2, -3]
    fmod = int(rng.integers(2))
    _check("Mod", [a, b], opset=28, fmod=fmod, only_reference=True)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_powers(seed: int):
    """Of mixed dtypes: the result has that of the base."""
    rng = np.random.default_rng(seed)
    kinds = ("float32", "float64", "int32", "int64")
    base, exponent = (str(rng.choice(kinds)) for _ in range(2))
    a = _values(rng, base, (3, 4), special=False)
    b = np.abs(_values(rng, exponent, (4,), special=False)) % 4
    if np.dtype(base).kind == "i":
        a, b = np.abs(a), np.floor(b)
    _check("Pow", [a, b.astype(exponent)])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_shifts(seed: int):
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["uint8", "uint16", "uint32", "uint64"]))
    bits = 8 * np.dtype(dtype).itemsize
    x = rng.integers(0, 2**bits - 1, (3, 4), dtype=dtype)
    y = rng.integers(0, bits, (4,)).astype(dtype)
    _check("BitShift", [x, y], direction=str(rng.choice(["LEFT", "RIGHT"])))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_clip_and_sums(seed: int):
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["float32", "float64", "int32", "int64"]))
    # Without a bound, ONNX Runtime clamps infinities to the greatest float.
    x = _values(rng, dtype, _shape(rng, 3), special=False)
    low, high = (
        None if rng.random() < 0.3 else _values(rng, dtype, (), special=False) for _ in "ab"
    )
    _check("Clip", [x, low, high])
    shape = _shape(rng, 3)
    parts = [_values(rng, "float32", _part(rng, shape)) for _ in range(int(rng.integers(1, 4)))]
    rank = max(p.ndim for p in parts)
    for op in ("Sum", "Mean", "Max", "Min"):
        _check(op, parts, ndim=rank)


REDUCTIONS = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"),
    *("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op: str, seed: int):
    rng = np.random.default_rng([seed, *op.encode()])
    kinds = (
        ("float32", "float64") if "Log" in op or op == "ReduceL2" else ("float32", "int32", "int64")
    )
    x = _values(rng, str(rng.choice(kinds)), _shape(rng, int(rng.integers(1, 4))), special=False)
    if "Log" in op:
        x = np.abs(x)
    opset = int(rng.choice([11, 13, 18]))
    axes = [int(a) for a in rng.permutation(x.ndim)[: int(rng.integers(0, x.ndim + 1))]]
    keepdims = int(rng.integers(2))
    ndim = x.ndim if keepdims else (x.ndim - len(axes)) * bool(axes)
    if opset >= (13 if op == "ReduceSum" else 18):
        noop = int(rng.integers(2)) if axes else 0
        given = [x, np.array(axes, np.int64)]
        _check(op, given, opset=opset, ndim=ndim, keepdims=keepdims, noop_with_empty_axes=noop)
    else:
        named = {"axes": axes} if axes else {}
        _check(op, [x], opset=opset, ndim=ndim, keepdims=keepdims, **named)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_positions_and_running_sums(seed: int):
    rng = np.random.default_rng(seed)
    x = _values(rng, str(rng.choice(["float32", "int32"])), _shape(rng, 3), special=False).round()
    axis, keepdims = int(rng.integers(-3, 3)), int(rng.integers(2))
    op = str(rng.choice(["ArgMax", "ArgMin"]))
    last = int(rng.integers(2))
    _check(
        *(op, [x]),
        result="int64",
        ndim=2 + keepdims,
        axis=axis,
        keepdims=keepdims,
        select_last_index=last,
    )
    flags = {"exclusive": int(rng.integers(2)), "reverse": int(rng.integers(2))}
    _check("CumSum", [x, np.array(axis)], **flags)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_softmax(seed: int):
    """Before opset 13 all axes from `axis` on are one."""
    rng = np.random.default_rng(seed)
    op = str(rng.choice(["Softmax", "LogSoftmax", "Hardmax"]))
    x = _values(rng, "float32", _shape(rng, 3), special=False)
    _check(op, [x], opset=int(rng.choice([11, 13])), axis=int(rng.integers(0, 3)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(20))
def test_normalizations(seed: int):
    rng = np.random.default_rng(seed)
    x = _values(rng, "float32", _shape(rng, 4), special=False)
    channels = x.shape[1]
    scale, bias, mean = (_values(rng, "float32", (channels,), special=False) for _ in range(3))
    variance = np.abs(_values(rng, "float32", (channels,), special=False)) + 0.1
    epsilon = float(rng.random() * 1e-2)
    _check(
        *("BatchNormalization", [x, scale, bias, mean, variance]),
        opset=int(rng.choice([7, 9, 14, 15])),
        epsilon=epsilon,
    )
    _check("InstanceNormalization", [x, scale, bias], epsilon=epsilon)
    _check("LRN", [x], size=int(rng.choice([1, 3, 5])), alpha=0.3, beta=0.6, bias=1.2)
    axis = int(rng.integers(-3, 4))
    rest = x.shape[axis:]
    weight, shift = (_values(rng, "float32", rest, special=False) for _ in range(2))
    _check("LayerNormalization", [x, weight, shift], axis=axis, epsilon=epsilon)
    _check("LpNormalization", [x], axis=axis, p=int(rng.integers(1, 3)))
