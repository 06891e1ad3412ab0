"""Values that come from Python, NumPy and PyTorch, and go there."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from parity import torch

import tgdialect as tg

T = tg.Tensor
NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


@pytest.mark.parity
@pytest.mark.parametrize("name", [*NARROW, "float16", "float32", "int64", "bool"])
def test_dtypes_go_through_dlpack(name: str):
    source = torch.tensor([[1.0, 0.0, 2.0], [3.0, 0.5, 1.0]]).to(getattr(torch, name))
    for theirs in (source, source.t(), source[1], source[0, 0], source[:0]):
        mine = T(theirs)
        assert mine.double().tolist() == theirs.double().tolist()
        back = torch.from_dlpack(mine)
        assert (back.dtype, back.shape) == (theirs.dtype, theirs.shape)
        if theirs.is_contiguous():
            assert back.data_ptr() == theirs.data_ptr()
        computed = torch.from_dlpack(mine.clone())
        assert computed.double().tolist() == theirs.double().tolist()
    copy = torch.from_dlpack(T(source), copy=True)
    assert copy.data_ptr() != source.data_ptr()


@pytest.mark.parity
@pytest.mark.parametrize("name", NARROW)
def test_the_bytes_of_narrow_floats(name: str):
    """For libraries whose DLPack lacks the dtype, as docs/tensor.md says."""
    theirs, kind = torch.tensor([1.0, 3.0]).to(getattr(torch, name)), getattr(torch, name)
    integer = "int16" if name == "bfloat16" else "uint8"
    mine = T(theirs.view(getattr(torch, integer))).bitcast(T(theirs).dtype)
    assert mine.float().tolist() == [1, 3]
    assert torch.from_dlpack(mine.bitcast(integer)).view(kind).float().tolist() == [1, 3]


@pytest.mark.parity
def test_executables_take_bf16():
    exe = tg.compile(lambda x: x + x, tg.spec((3,), "bf16"))
    assert exe(torch.ones(3, dtype=torch.bfloat16)).astype(np.float32).tolist() == [2, 2, 2]


@pytest.mark.parity
def test_dtypes_that_there_are_not():
    for dtype in (torch.complex64, torch.float8_e4m3fnuz):
        with pytest.raises(TypeError, match="is none of ours"):
            T(torch.ones(2).to(dtype))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f8E4M3FN", "f8E5M2", "f32", "f64", "i8", "ui64"])
def test_numbers(dtype: str):
    for x in (T(3).cast(dtype), T([[3]]).cast(dtype)):
        assert (float(x), int(x), bool(x), f"{x:.1f}") == (3.0, 3, True, "3.0")
        assert (type(float(x)), type(int(x))) == (float, int)
        assert not bool(x - x)
        if x.dtype.is_integer:
            assert (operator.index(x), len(range(x))) == (3, 3)
        else:
            with pytest.raises(TypeError, match="a position is an integer, not"):
                operator.index(x)
    with pytest.raises(ValueError, match="one element"):
        float(T([1.0, 2.0]))
    with pytest.raises(ValueError, match="one element"):
        operator.index(T([1, 2]))


def test_round_and_membership():
    assert round(T([2.5, 3.5])).tolist() == [2, 4]
    assert round(T([1.25], dtype="f64"), 1).tolist() == [1.2]
    x = T([1, 2])
    assert 2 in x
    assert 3 not in x
    assert (x == None) is False  # noqa: E711
    assert (x != "x") is True
    assert None not in [x]
    assert x[T(1) :].tolist() == [2]


def test_a_traced_value_is_no_number():
    def function(x: tg.Tensor) -> tg.Tensor:
        return -x if x.sum() > 0 else x

    with pytest.raises(RuntimeError, match="not known while its function is traced"):
        tg.function(function)(T([1.0]))


FLOAT = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
BITS = ("and_", "or_", "xor", "lshift", "rshift")


def others(array: np.ndarray) -> list[Any]:
    """An array in the hands of several libraries."""
    return [array, torch.tensor(array)] if hasattr(torch, "__version__") else [array]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [*FLOAT, *COMPARED, *BITS])
def test_operators_with_arrays(name: str):
    function: Any = getattr(operator, name)
    kinds = (np.int32,) if name in BITS else (np.float32, np.float64, np.int32)
    for kind in kinds:
        a, b = np.array([[5, 6], [7, 2]], kind), np.array([2, 3], kind)
        for other in others(b):
            for found, wanted in (
                (function(T(a), other), function(a, b)),
                (function(other, T(a)), function(b, a)),
            ):
                assert type(found) is T
                got = found.numpy()
                if name != "truediv" or kind is not np.int32:  # Floats of integers are f32.
                    assert got.dtype == wanted.dtype
                np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_products_and_operators_in_place():
    m, v = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 0, 2], np.float32)
    for found in (m @ T(v), T(m) @ v, v @ T(m.T)):
        assert type(found) is T
        assert found.tolist() == (m @ v).tolist()
    x = T(v.copy())
    view = x[1:]
    x += v
    x @= np.eye(3, dtype=np.float32)
    assert (x.tolist(), view.tolist()) == ((2 * v).tolist(), (2 * v[1:]).tolist())
    for found in (T([True, False, True]).where(v, m[0]), T(m[0]).maximum(v), T(v).pow(m[0])):
        assert type(found) is T


def test_dtypes_of_operands():
    b = T([1.5, 2.5], dtype="bf16")
    array = np.array([2.0, 3.0], np.float32)
    assert {(b**array).dtype.name, (array + b).dtype.name} == {"f32"}
    assert (b + array.astype(b.numpy().dtype)).dtype.name == "bf16"
    # A number is weak.
    assert {(b * np.float64(2)).dtype.name, (np.float32(2) - b).dtype.name} == {"bf16"}
    assert isinstance(np.exp(T([0.0])), np.ndarray)
    assert type(np.asarray(b)) is np.ndarray
    for bad in (None, "x", np.array(["x"]), np.array([1j])):
        with pytest.raises(TypeError):
            b + bad
