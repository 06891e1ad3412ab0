"""Python functions compiled ahead of a call: `tg.compile`, `tg.spec` and `Function.lower`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tgdialect as tg

A = np.arange(12, dtype=np.float32).reshape(4, 3)
B = np.linspace(-1, 1, 15, dtype=np.float32).reshape(3, 5)


def product(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
    return (a @ b).relu()


def test_a_function_of_tensors_is_an_executable():
    executable = tg.compile(product, tg.spec((4, 3)), B)
    assert isinstance(executable, tg.Executable)
    assert [parameter.name for parameter in executable.inputs] == ["a", "b"]
    out = np.empty((4, 5), np.float32)
    assert executable(A, B, out=out) is out
    np.testing.assert_allclose(out, np.maximum(A @ B, 0), rtol=1e-5)
    np.testing.assert_array_equal(executable(A, B), out)
    assert [kernel.flops for kernel in executable.kernels] == [160]
    assert "tg.kernel" in str(executable.module("rangeify"))


def test_several_results_and_structures():
    both = tg.compile(lambda x: (x + 1, x * 2), tg.spec((2,)))
    assert [r.tolist() for r in both(np.ones(2, np.float32))] == [[2, 2], [2, 2]]
    more = tg.compile(lambda p, d: {"sum": p[0] + d["c"], "k": [3]}, (A, B), {"c": A})
    result = more(A, B, 2 * A)
    np.testing.assert_array_equal(result["sum"], 3 * A)
    assert result["k"] == [3]


def test_the_same_spec_twice_is_two_inputs():
    vector = tg.spec((2,), "int32")
    one, two = np.array([1, 2], np.int32), np.array([5, 5], np.int32)
    assert tg.compile(lambda x, y: x - y, vector, vector)(one, two).tolist() == [-4, -3]
    subtract = tg.function(lambda x, y: x - y)
    same = tg.Tensor(one)
    assert subtract.lower(same, same).compile()(one, two).tolist() == [-4, -3]


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_named_extents(target: str):
    n = tg.Variable("n", 1, 8)
    compiled = tg.compile(product, tg.spec((4, "n")), tg.spec((n, 5)), target=target)
    for size in (3, 1, 8):
        a, b = A.repeat(3, 1)[:, :size], B.repeat(3, 0)[:size]
        np.testing.assert_allclose(compiled(a, b), np.maximum(a @ b, 0), rtol=1e-5)


def test_extents_are_checked():
    compiled = tg.compile(product, tg.spec((4, "n"), n=(1, 8)), tg.spec(("n", 5)))
    refused = [
        ((A, B[:2]), "b has shape"),
        ((A[0], B), "a has shape"),
        ((A,), r"expected 2 inputs \(a, b\), or 3 inputs \(a, b, n\), got 1"),
        ((np.ones((4, 9), np.float32), np.ones((9, 5), np.float32)), r"n is 9, outside \[1, 8\]"),
    ]
    for arrays, message in refused:
        with pytest.raises(ValueError, match=message):
            compiled(*arrays)
    with pytest.raises(TypeError, match="a is float32, got float64"):
        compiled(A.astype(np.float64), B)


def test_sizes_in_results():
    def halves(x: tg.Tensor) -> Any:
        return x.cat(x, dim=0), x.shape[0] * 2

    compiled: Any = tg.compile(halves, tg.spec(("n",), n=(1, 100)))
    for size in (1, 7):
        values = np.arange(size, dtype=np.float32)
        out = np.empty(2 * size, np.float32)
        result, length = compiled(values, out=out)
        assert result is out
        assert length == 2 * size
        np.testing.assert_array_equal(out, np.tile(values, 2))


def test_captured_tensors_are_read_at_the_call_and_assigned():
    weight, count = tg.Tensor([1.0, 2.0]), tg.Tensor([0.0])

    def step(x: tg.Tensor) -> tg.Tensor:
        count.assign(count + x.sum())
        return x * weight

    compiled: Any = tg.compile(step, tg.spec(("n", 2)))
    assert count.item() == 0  # Tracing changes nothing.
    assert compiled(np.ones((1, 2), np.float32)).tolist() == [[1, 2]]
    assert count.item() == 2
    weight.assign([5.0, 6.0])
    out = np.empty((2, 2), np.float32)
    compiled(np.ones((2, 2), np.float32), out=out)
    assert out.tolist() == [[5, 6], [5, 6]]
    assert count.item() == 6
    assert len(compiled.kernels) == 2
    assert "tg.kernel" in str(compiled.module("rangeify"))


def test_lower_as_jax_has_it():
    @tg.function
    def scaled(x: tg.Tensor, y: tg.Tensor, k: int = 2) -> tg.Tensor:
        return x * k + y

    lowered = scaled.lower(tg.spec((4,)), y=tg.Tensor.ones(4), k=7)
    assert "tg.mul %x" in lowered.as_text() == str(lowered)
    assert "tg.kernel" in lowered.as_text("rangeify") == str(lowered.module("rangeify"))
    assert [kernel.flops for kernel in lowered.kernels] == [8]
    compiled = lowered.compile()
    ones = np.ones(4, np.float32)
    assert compiled(ones, ones).tolist() == [8] * 4
    assert scaled.lower(tg.spec((4,)), ones).compile(opt="none")(ones, ones).tolist() == [3] * 4
    assert scaled(tg.Tensor(ones), tg.Tensor(ones)).tolist() == [3] * 4


def test_methods_lower():
    class Model:
        def __init__(self) -> None:
            self.weight = tg.Tensor([2.0, 3.0])

        @tg.function
        def forward(self, x: tg.Tensor) -> tg.Tensor:
            return x * self.weight

        def __call__(self, x: tg.Tensor) -> tg.Tensor:
            return self.forward(x) + 1

    model, ones = Model(), np.ones(2, np.float32)
    assert model.forward.lower(tg.spec((2,))).compile()(ones).tolist() == [2, 3]
    assert tg.compile(model.forward, ones)(ones).tolist() == [2, 3]
    assert tg.compile(model, ones)(ones).tolist() == [3, 4]


def assigning(x: tg.Tensor) -> tg.Tensor:
    return x.assign(x + 1)


TAKES = "compile takes MLIR text, a path, an xDSL module or a Python function, got"


@pytest.mark.parametrize(
    ("compile", "error", "message"),
    [
        (lambda: tg.compile(3), TypeError, f"{TAKES} int"),
        (lambda: tg.compile(A), TypeError, f"{TAKES} ndarray"),
        (lambda: tg.compile(3, target="interpreter"), TypeError, f"{TAKES} int"),
        (lambda: tg.compile("{}", A), TypeError, "specs are for Python functions"),
        (lambda: tg.compile(product, A), TypeError, "product: missing a required argument: 'b'"),
        (lambda: tg.compile(product, A, 3), TypeError, "expected a spec, .* got 3"),
        (lambda: tg.compile(product, A, B, target="tpu"), ValueError, "no target 'tpu'"),
        (lambda: tg.compile(assigning, A), ValueError, "assigns to its argument x"),
        (lambda: tg.compile(lambda x: 3, A), TypeError, "<lambda> returns no tensor"),
        (lambda: tg.compile(lambda x: A, A), TypeError, "<lambda> returns no tensor"),
        (
            lambda: tg.compile(product, tg.spec((4, "n"), n=(1, 5)), tg.spec(("n", 5), n=(1, 6))),
            ValueError,
            r"n has the bounds \(1, 5\) and \(1, 6\)",
        ),
        (
            lambda: tg.compile(lambda x: x, tg.Tensor.ones(tg.Variable("n", 1, 4).bind(2) + 2)),
            ValueError,
            "n is the extent of no argument",
        ),
        (lambda: tg.spec((4, "n"), k=(1, 2)), TypeError, "k has bounds, but is no extent"),
        (lambda: tg.spec(("n",), n=(3, 2)), ValueError, "n is between 3 and 2"),
        (lambda: tg.spec(("n",), n=3), TypeError, "the bounds of n are .* got 3"),
        (lambda: tg.spec(4), TypeError, "a sequence of extents, got 4"),
        (lambda: tg.spec((4, -1)), ValueError, "an extent is -1"),
        (lambda: tg.spec((4, 1.5)), TypeError, "a name or a Variable, got 1.5"),
        (lambda: tg.spec(("a b",)), ValueError, "'a b' is not a name"),
        (lambda: tg.spec((4,), "f23"), TypeError, "'f23' is not a dtype"),
    ],
)
def test_refusals(compile: Callable[[], Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        compile()
