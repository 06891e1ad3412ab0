"""Data in and out, laziness, gradients of gradients, what a tensor looks like."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import numpy as np
import pytest
from parity import torch, values

import tgdialect as tg
from tgdialect.frontend import realization

on_host = pytest.mark.skipif(tg.Device.DEFAULT != "CPU", reason="about memory of the host")


def test_data_comes_in_and_goes_out():
    for data, dtype in (
        (3, "i32"),
        (2.5, "f32"),
        (True, "i1"),
        ([1, 2], "i32"),
        ([1.0, 2], "f32"),
        ([[True]], "i1"),
        ([2**40], "i64"),
        (np.arange(3), "i64"),
        (np.float64(1), "f64"),
        (np.ones((2, 0), np.int8), "i8"),
        ([], "f32"),
    ):
        t = tg.Tensor(data)
        assert t.dtype.name == dtype
        np.testing.assert_array_equal(t.numpy(), np.asarray(data))
        assert t.shape == np.asarray(data).shape
    assert tg.Tensor([1, 2], dtype="half").dtype.name == "f16"
    assert tg.Tensor(tg.Tensor([1.0]), dtype="int").tolist() == [1]
    with pytest.raises(TypeError, match="a tensor of"):
        tg.Tensor([object()])


@on_host
def test_arrays_are_not_copied():
    x = values(3)
    t = tg.Tensor(x)
    assert np.shares_memory(t.numpy(), x)
    columns = values(4, 6)[:, ::2]
    np.testing.assert_array_equal(tg.Tensor(columns).numpy(), columns)


@pytest.mark.parity
@on_host
def test_dlpack_and_numpy():
    source = torch.arange(6.0).reshape(2, 3)
    t = tg.Tensor(source)
    assert t.tolist() == source.tolist()
    assert torch.from_dlpack(t * 2).tolist() == (source * 2).tolist()
    assert np.asarray(t).tolist() == source.tolist()
    assert np.from_dlpack(t + 1).tolist() == (source + 1).tolist()


def test_item_and_lists():
    assert tg.Tensor([[7]]).item() == 7
    assert tg.Tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert len(tg.Tensor([1, 2, 3])) == 3
    assert [t.item() for t in tg.Tensor([1, 2])] == [1, 2]
    with pytest.raises(ValueError, match="a tensor of one element"):
        tg.Tensor([1, 2]).item()
    assert tg.Tensor([1]) > 0
    with pytest.raises(TypeError, match=r"\(2,\) is neither true nor false: .any"):
        bool(tg.Tensor([1, 2]) > 0)
    with pytest.raises(TypeError, match="0-d"):
        len(tg.Tensor(1))


def test_representations():
    t = tg.Tensor([1.0, 2.0])
    assert repr(t) == "Tensor([1., 2.], f32)"
    assert repr(t + 1) == "<Tensor 2xf32, not computed yet>"
    assert "<td>2</td>" in t._repr_html_()
    assert "not computed" in (t + 1)._repr_html_()


def test_equal_programs_are_compiled_once(monkeypatch: pytest.MonkeyPatch):
    compiled: list[object] = []
    original = realization.compile
    monkeypatch.setattr(
        realization,
        "compile",
        lambda module, **how: compiled.append(module) or original(module, **how),
    )
    for seed in range(3):
        x = values(7, 3, seed=seed)
        np.testing.assert_allclose((tg.Tensor(x) * 17 + 0.125).numpy(), x * 17 + 0.125, rtol=1e-6)
    assert len(compiled) == 1


def test_realize_together():
    x = tg.Tensor(values(4))
    a, b = x + 1, x * 2
    a.realize(b)
    assert a.node.data is not None
    assert b.node.data is not None


def test_graphs_are_freed():
    weight = tg.Tensor(values(3))
    refs = [weakref.ref((weight * i).node) for i in range(3)]
    gc.collect()
    assert all(ref() is None for ref in refs)
    result = weight + 1
    inner = weakref.ref(result.node)
    result.realize()
    assert inner() is result.node
    assert not result.node.operands


def test_gradients_accumulate():
    x = tg.Tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [5, 7]
    x.grad = None
    loss = (x * x).sum()
    assert loss.item() == 5
    loss.backward()
    assert x.grad.tolist() == [2, 4]


def test_gradient_with_respect_to_an_intermediate():
    x = tg.Tensor([3.0])
    y = x * 2
    z = (y * y).sum()
    assert z.gradient(y)[0].tolist() == [12]
    assert z.gradient(x, y)[0].tolist() == [24]


@pytest.mark.parity
def test_gradients_of_gradients():
    x = values(5, low=0.5)
    mine, theirs = tg.Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    (first,) = (mine.sin() * mine.exp()).sum().gradient(mine)
    (second,) = (first * first).sum().gradient(mine)
    (first_,) = torch.autograd.grad((theirs.sin() * theirs.exp()).sum(), theirs, create_graph=True)
    (second_,) = torch.autograd.grad((first_ * first_).sum(), theirs)
    np.testing.assert_allclose(first.numpy(), first_.detach().numpy(), rtol=1e-5)
    np.testing.assert_allclose(second.numpy(), second_.numpy(), rtol=1e-5)


def test_gradient_errors():
    x, y = tg.Tensor([1.0, 2.0]), tg.Tensor([1.0])
    with pytest.raises(RuntimeError, match="only a scalar has gradients"):
        x.gradient(x)
    assert x.sum().gradient(y)[0].tolist() == [0]
    total = (x * x).sum()
    x += 1
    with pytest.raises(RuntimeError, match="was assigned to after it was used"):
        total.gradient(x)
    with pytest.raises(RuntimeError, match="only floats have gradients"):
        tg.Tensor([1], requires_grad=True)
    with pytest.raises(RuntimeError, match="only floats have gradients"):
        tg.Tensor([1]).requires_grad = True
    with pytest.raises(RuntimeError, match="by a float, not by i32"):
        x.sum().gradient(tg.Tensor([1]))
    with pytest.raises(ValueError, match="a gradient of shape"):
        x.gradient(x, gradient=tg.Tensor([1.0, 2.0, 3.0]))
    x = tg.Tensor([1.0, 2.0])
    assert x.gradient(x, gradient=tg.Tensor([[2.0]]))[0].tolist() == [2, 2]
    assert x.gradient(x, gradient=tg.Tensor([2.0, 3.0]))[0].tolist() == [2, 3]


def test_requires_grad_is_set_as_in_pytorch():
    x, y = tg.Tensor([3.0]), tg.Tensor([2.0], requires_grad=True)
    x.requires_grad, y.requires_grad = True, False
    (x * y * y).sum().backward()
    assert x.grad is not None
    assert x.grad.item() == 4
    assert y.grad is None


def test_gradients_are_added_in_place():
    x = tg.Tensor([3.0], requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert first is not None
    assert first.tolist() == [2 + 6]


def test_detach_stops_gradients():
    x = tg.Tensor([3.0], requires_grad=True)
    (x * x.detach()).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3]


def test_assign_and_replace():
    t = tg.Tensor([1.0, 2.0], requires_grad=True)
    t.assign([3.0, 4.0])
    assert t.tolist() == [3, 4]
    (t * t).sum().backward()
    assert t.grad is not None
    assert t.grad.tolist() == [6, 8]
    with pytest.raises(ValueError, match="cannot be expanded"):
        t.assign(tg.Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError, match="assign dtype mismatch: i32 to f32"):
        t.assign(tg.Tensor([1, 2]))


def test_every_method_is_documented():
    text = (Path(__file__).parents[3] / "docs" / "tensor.md").read_text()
    hidden = {
        "adopt",
        "expire",
        "grad",
        "node",
        "of_node",
        "of_values",
        "requires_grad",
        "training",
        "views",
    }
    names = {name for name in dir(tg.Tensor) if not name.startswith("_")} - hidden
    assert sorted(name for name in names if f"| `{name}` |" not in text) == []


def test_what_is_said_to_be_missing_is_missing():
    text = (Path(__file__).parents[3] / "docs" / "tensor.md").read_text(encoding="utf-8")
    there, missing = text.split("## What tinygrad 0.14 has and this has not")
    names = set(re.findall(r"^\| `(\w+)` \|", missing, re.MULTILINE))
    assert names
    ours = {name for name in dir(tg.Tensor) if not name.startswith("_")}
    assert names & ours == set()
    # No name of tinygrad's is left out, and the tables name only what it has.
    tinygrad = pytest.importorskip("tinygrad")
    theirs = {name for name in dir(tinygrad.Tensor) if not name.startswith("_")}
    assert theirs - ours == names
    column = re.findall(r"^\| `\w+` \| `([^`|]+)` \|", there, re.MULTILINE)
    assert {name for name in column if name not in theirs} == {"copy_to_device", "uop.axis"}
    assert all(hasattr(tinygrad.uop.ops.UOp, name) for name in ("copy_to_device", "axis"))


def test_replace_keeps_the_history():
    x = tg.Tensor([1.0, 2.0], requires_grad=True)
    y = tg.Tensor.zeros(2)
    y.replace(x * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(ValueError, match="replace"):
        y.replace(tg.Tensor.zeros(3))


@on_host
def test_numpy_copies_where_it_is_told_to():
    t = tg.Tensor([1.0, 2.0])
    copy = np.array(t)
    copy[0] = 9
    assert t.tolist() == [1, 2]
    assert np.shares_memory(np.asarray(t), t.numpy())
    with pytest.raises(ValueError, match="copy"):
        np.asarray(t, dtype=np.float64, copy=False)


def test_topk_of_a_scalar():
    with pytest.raises(ValueError, match="topk of 2 along an axis of 1"):
        tg.Tensor(1.0).topk(2)


def test_tensors_of_anything():
    assert tg.Tensor.empty(2, 3).numpy().shape == (2, 3)
    assert tg.Tensor.zeros(2, 3, dtype="int8").empty_like().dtype.name == "i8"


def test_sequential():
    assert tg.Tensor([1.0]).sequential([lambda x: x + 1, tg.Tensor.exp2]).tolist() == [4]


def test_bytes_are_memory():
    for name, dtype in tg.dtypes.NAMES.items():
        if dtype.is_bool:
            assert tg.Tensor(b"\0\1\2", dtype=name).tolist() == [False, True, True]
            continue
        numbers = np.arange(5).astype(tg.dtypes.numpy_of(dtype))
        data = numbers.tobytes()
        for memory in (data, bytearray(data), memoryview(b"x" + data)[1:]):
            found = tg.Tensor(memory, dtype=name)
            assert (found.dtype, found.shape) == (dtype, (5,))
            np.testing.assert_array_equal(found.numpy(), numbers)
        assert tg.Tensor(b"", dtype=name).shape == (0,)
        if dtype.itemsize > 1:
            with pytest.raises(ValueError, match=f"7 bytes are no whole number of {dtype.name}"):
                tg.Tensor(data[:7], dtype=name)
    assert tg.Tensor(b"ab").tolist() == [97, 98]


@pytest.mark.parametrize(
    "name", ["u8", "i4", "i2", "f2", "f4", "f8", "<f4", ">i8", "?", "B", None, ""]
)
def test_codes_are_no_names(name: str | None):
    """NumPy's have bytes, `i8` of MLIR has bits."""
    with pytest.raises(TypeError, match=r"is not a dtype|is NumPy's"):
        tg.Tensor([1.0]).cast(name)
    assert tg.Tensor([1.0]).cast("i8").dtype == tg.dtypes.int8
    assert tg.Tensor([1.0]).cast(np.dtype("i8")).dtype == tg.dtypes.int64
