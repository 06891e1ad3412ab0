"""Arguments at the edge: numbers that a dtype does not have, narrow floats, empty and 0-d tensors,
and what is no argument at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import tgdialect as tg
from tgdialect import Tensor as T


def test_lists_are_rounded_once():
    assert T([0.1], dtype="float64").item() == 0.1
    assert T([[1e300]], dtype="float64").item() == 1e300
    assert T([65519.999999], dtype="float16").item() == 65504
    assert T([1 + 2**-8 + 2**-40], dtype="bfloat16").item() == 1 + 2**-7
    assert T([2**53 + 1, 2**62 + 1]).tolist() == [2**53 + 1, 2**62 + 1]
    assert T([2**64 - 1]).dtype.name == "ui64"
    assert T([2**64], dtype="float64").item() == 2.0**64
    assert T([0.5, math.nan, 1e20], dtype="int32").tolist() == [0, 0, 2**31 - 1]
    x = T([0.0, 0.0], dtype="float64").assign([0.1, 0.2])
    x[1] = [0.3]
    assert x.tolist() == [0.1, 0.3]
    assert [(t.dtype.name, t.item()) for t in (T(2**40), T.full((1,), 2**63))] == [
        ("i64", 2**40),
        ("ui64", 2**63),
    ]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"])
def test_integers_of_another_dtype_wrap(dtype: str):
    numbers = [0, 1, -1, 300, -300, 2**31, -(2**33), 2**40 + 5]
    wanted = np.array(numbers).astype(dtype)
    assert T(numbers, dtype=dtype).tolist() == wanted.tolist()
    assert [T(number, dtype=dtype).item() for number in numbers] == wanted.tolist()


def test_memory_at_an_address():
    array = np.arange(6, dtype=np.int16)
    x = T.from_blob(array.ctypes.data, (2, 3), dtype="int16")
    array[0] = 7
    assert x.tolist() == [[7, 1, 2], [3, 4, 5]]
    assert T(None).shape == (0,)


def test_numbers_of_numpy():
    x = T([1.0, 2.0])
    for result in (np.float32(2) * x, x * np.int64(2), np.float64(1) + x + np.int8(-1) + x):
        assert isinstance(result, T)
        assert result.tolist()[0] == 2
    assert (x ** np.float32(2)).tolist() == [1, 4]
    assert x.sum(np.int64(0)).item() == 3


def test_integers_that_the_dtype_does_not_have():
    x, array = T([0, 5, 255], dtype="uint8"), np.array([0, 5, 255])
    for number in (-1, 5, 256, np.int64(2**40)):
        np.testing.assert_array_equal((x == number).numpy(), array == number)
        np.testing.assert_array_equal((x != number).numpy(), array != number)
        np.testing.assert_array_equal((x < number).numpy(), array < number)
        np.testing.assert_array_equal((x <= number).numpy(), array <= number)
        np.testing.assert_array_equal((x > number).numpy(), array > number)
        np.testing.assert_array_equal((x >= number).numpy(), array >= number)
    assert T([0], dtype="int").bitwise_or(0xFFFFFFFF).item() == -1
    assert (x & -2).tolist() == [0, 4, 254]
    classes = T(np.zeros(4, "u1"))
    loss = T.zeros(4, 10).sparse_categorical_crossentropy(classes)
    assert loss.item() == pytest.approx(math.log(10))


def test_narrow_floats_are_summed_in_f32():
    n = 70000
    bits, wide = (T(np.tile(pair, n).astype("f2")) for pair in ([0.0, 1.0], [-300.0, 300.0]))
    assert (bits.var().item(), bits.mean().item(), wide.std().item()) == (0.25, 0.5, 300)
    assert [t.item() for t in bits.var_mean()] == [0.25, 0.5]
    zeros = T(np.zeros((n, 2), "f2"))
    assert zeros.softmax(0)[0, 0].item() == float(np.float16(1 / n))
    assert zeros.logsumexp(0)[0].item() == float(np.float16(math.log(n)))
    classes = T(np.zeros(n, "i4"))
    for name in ("cross_entropy", "sparse_categorical_crossentropy"):
        assert getattr(zeros, name)(classes).item() == pytest.approx(math.log(2), rel=1e-3)
    assert wide.layernorm()[:2].tolist() == [-1, 1]
    assert T([300.0, 400.0], dtype="half").normalize(dim=0).tolist() == pytest.approx(
        [0.6, 0.8], rel=1e-3
    )
    norm = tg.nn.BatchNorm(2)
    with T.train():
        x = T(np.tile([-300.0, 300.0], (8, 1)).T.reshape(2, 8).repeat(4, 0).astype("f2"))
        assert norm(x.reshape(8, 2, 4)).dtype.name == "f32"


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "long integer": (lambda: T([2**64]), ValueError, "beyond 64 bits"),
    "ragged": (lambda: T([1, [2, 3]]), ValueError, "lists of different shapes"),
    "text": (lambda: T("abc"), TypeError, "a tensor of str"),
    "infinite integer": (lambda: T.full(2, math.inf, "int"), OverflowError, "inf is not represent"),
    "added integer": (lambda: T([1], "uint8") + -1, ValueError, "-1 is not representable in ui8"),
    "short mask": (lambda: T.arange(10)[T([True, False])], IndexError, r"mask of shape \(2,\)"),
    "late mask": (lambda: T.ones(2, 3)[..., T([True, False])], IndexError, "at axis 1"),
    "grid of a matrix": (lambda: T.ones(2, 2).meshgrid(), ValueError, "meshgrid"),
    "no tensor": (lambda: T([1.0]).dot(None), TypeError, "a tensor is needed, not NoneType"),
    "no tensor to differentiate": (lambda: T([1.0]).sum().gradient(1), TypeError, "a tensor"),
    "no axis": (lambda: T([1.0]).sum("x"), TypeError, "an axis is an integer, not str"),
    "no extent": (lambda: T.zeros(1.5), TypeError, "an extent is an integer, not float"),
    "long extent": (lambda: T.rand(2**70), ValueError, "more than 64 bits"),
    "no number": (lambda: T.full((2,), "1"), TypeError, "a number is needed, not str"),
    "no stride": (lambda: T.ones(1, 1, 4, 4).max_pool2d(2, stride=0), ValueError, "strides"),
    "no axes": (lambda: T(1.0).cat(T(2.0)), IndexError, "cat of tensors without axes"),
    "stack of nothing": (lambda: T.stack(()), ValueError, "stack of no tensors"),
    "stack of a sequence and more": (
        lambda: T.stack((T([1]), T([2])), T([3])),
        ValueError,
        "either one sequence or its members",
    ),
    "axes backwards": (lambda: T.ones(2, 2).flatten(1, 0), ValueError, "axis 0, which is before"),
    "few repeats": (lambda: T.ones(2, 3).repeat(2), ValueError, "a count for each axis"),
    "pairs and numbers": (lambda: T.ones(2, 2).pad((None, 1)), TypeError, "pairs and None"),
    "padding beyond": (lambda: T([1], "uint8").pad((1, 1), value=300), ValueError, "300 is not"),
    "long range": (lambda: T.arange(129, dtype="int8"), OverflowError, "128 is not representable"),
    "early range": (lambda: T.arange(-129, 0, dtype="int8"), ValueError, "-129 is not"),
    "range down": (lambda: T.arange(127, -130, -1, dtype="int8"), ValueError, "-129 is not"),
    "line of bools": (lambda: T.linspace(5, 10, 3, "bool"), TypeError, "linspace of dtype i1"),
    "line of parts": (lambda: T.linspace(0, 1, 2.5), TypeError, "an extent is an integer"),
    "line beyond": (lambda: T.linspace(0, 300, 4, "int8"), ValueError, "300 is not"),
    "part of a diagonal": (lambda: T.ones(2, 2).triu(0.5), TypeError, "an extent is an integer"),
    "drawn beyond": (lambda: T.randint(3, high=300, dtype="uint8"), ValueError, "299 is not"),
    "ellipsis twice": (lambda: T.einsum("...i...->i", T.ones(2)), ValueError, "one ellipsis at"),
    "no letter": (lambda: T.einsum("1i->i1", T.ones(2, 3)), ValueError, "'1' is no letter"),
    "no classes": (lambda: T([1, 2]).one_hot(-1), ValueError, "one_hot of -1 classes"),
    "classes in floats": (lambda: T([1.0]).one_hot(3), TypeError, "classes of dtype f32"),
    "index in floats": (lambda: T.ones(3).gather(0, T([1.0])), TypeError, "an index of dtype f32"),
    "index in bools": (
        lambda: T.ones(3).gather(0, T([True])),
        RuntimeError,
        "an index of dtype i1",
    ),
    "long index": (lambda: T.ones(3)[2**64], IndexError, "which has 3"),
    "deleted cell": (lambda: T.ones(3).__delitem__(0), TypeError, "cannot be deleted"),
    "name of a dtype": (lambda: T.ones(3).sum(dtype=""), AttributeError, "'' is not a dtype"),
    "name of a mode": (lambda: T.ones(3).pad((1, 1), mode="typo"), NotImplementedError, "'typo'"),
    "bytes of a dtype": (lambda: T.ones(3).bitcast("float64"), RuntimeError, "no multiple of 8"),
    "large window": (
        lambda: T.ones(1, 1, 2).conv2d(T.ones(1, 1, 3)),
        RuntimeError,
        "does not fit",
    ),
    "no memory": (lambda: T.from_blob(0, (1,)), ValueError, "address 0"),
    "interpolated nothing": (
        lambda: T.ones(1, 0).interpolate((3,)),
        ValueError,
        "without elements",
    ),
    "no step": (
        lambda: T.ones(1, 1, 4).conv_transpose2d(T.ones(1, 1, 2), stride=0),
        ValueError,
        "with stride 0",
    ),
    "unpooled by others": (
        lambda: T.ones(1, 1, 2, 2).max_unpool2d(T([[0]])),
        ValueError,
        r"max_unpool2d of \(1, 1, 2, 2\) in 2 axes by \(1, 1\)",
    ),
    "unpooled too far": (
        lambda: T.ones(1, 2, 2).max_unpool2d(T.ones(1, 2, 2, dtype="int"), output_size=(6, 4)),
        ValueError,
        r"windows span \(4, 4\)",
    ),
    "no groups": (lambda: T.ones(1, 1, 4).conv2d(T.ones(1, 1, 2), groups=0), ValueError, "groups"),
    "no dtype": (lambda: T.ones(2, dtype=T([1.0])), TypeError, "is not a dtype"),
    "no shift": (lambda: T.ones(2).roll(None), TypeError, "an extent is an integer"),
    "wrapped twice": (
        lambda: T.ones(1, 4).pad((-3, 4), mode="circular"),
        ValueError,
        "padding 0, 4 for axis 1 of extent 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str):
    run, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        run()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
@pytest.mark.parametrize(
    "name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "sort", "argsort", "argmax"]
)
def test_axes_of_empty_and_0d_tensors(name: str, shape: tuple[int, ...]):
    for axis in (max(len(shape), 1), -max(len(shape), 1) - 1):
        with pytest.raises(IndexError, match=f"axis {axis} of a tensor with {len(shape)} axes"):
            getattr(T.zeros(*shape), name)(axis)


def test_axis_0_of_a_0d_tensor():
    for cut in (lambda x: x.split(1), lambda x: x.chunk(1), lambda x: x.roll(1, 0)):
        with pytest.raises(IndexError, match="axis 0 of a tensor with 0 axes"):
            cut(T(1.0))


SCATTERED: dict[str, tuple[tuple[Any, ...], type[Exception], str]] = {
    "axis": ((1, T([0]), T([1.0])), IndexError, "axis 1 of"),
    "axis without elements": ((1, T.zeros(0, dtype="int"), T.zeros(0)), IndexError, "axis 1 of"),
    "index in floats": ((0, T([0.0]), T([1.0])), TypeError, "an index of dtype f32"),
    "dtype of src": ((0, T([0]), T([1])), TypeError, "scatter of i32 to f32"),
    "rank of src": ((0, T([0]), T([[1.0]])), RuntimeError, "as many axes"),
    "extent of src": ((0, T([0, 1]), T([1.0])), RuntimeError, "axis 0 of the index is longer"),
    "reduce": ((0, T([0]), T([1.0]), "typo"), ValueError, "got 'typo'"),
    "reduce of nothing": ((0, T.zeros(0, dtype="int"), T.zeros(0), "typo"), ValueError, "'typo'"),
}


@pytest.mark.parametrize("name", SCATTERED)
def test_refused_scatters(name: str):
    (dim, index, src, *reduce), error, message = SCATTERED[name]
    with pytest.raises(error, match=message):
        T.ones(3).scatter(dim, index, src, *reduce)
    with pytest.raises(error, match=message):
        T.ones(3).scatter_reduce(dim, index, src, *(reduce or ["sum"]))


def test_a_scatter_along_an_axis_by_an_index_that_is_longer_in_another():
    index = T.zeros(3, 2, dtype="int")
    with pytest.raises(RuntimeError, match="axis 0 of the index is longer"):
        T.ones(2, 2).scatter(1, index, T.ones(3, 2))


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss", "sparse_categorical_crossentropy"])
def test_classes_of_losses(name: str):
    x = T.ones(4, 10)
    for classes in (T([[1], [2], [3], [4]]), T([1]), T([1, 2, 3]), T(1)):
        with pytest.raises(ValueError, match=rf"{name} of \(4, 10\) by .*: classes are \(4,\)"):
            getattr(x, name)(classes)
    with pytest.raises(TypeError, match="classes of dtype f32"):
        getattr(x, name)(T([1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(ValueError, match="10 classes by weights"):
        x.nll_loss(T([1, 2, 3, 4]), weight=T.ones(3))


def test_ranges_beyond_32_bits():
    assert T.arange(2**31, 2**31 + 3).dtype.name == "i64"
    for bounds in (
        (2**31, 2**31 + 3),
        (0, 2**33, 2**31),
        (2**33, 0, -(2**31)),
        (-(2**31), 2**31 - 1, 2**31 - 1),
        (2**63, 2**63 + 3),
        (2**63 + 3, 2**63, -1),
        (2**53, 2**53 + 3, 2),
    ):
        assert T.arange(*bounds).tolist() == list(range(*bounds))
    assert T.arange(-128, 128, dtype="int8").tolist() == list(range(-128, 128))


def test_empty_and_0d_tensors():
    assert T.arange(10).masked_select(T(np.eye(10, dtype=bool))).tolist() == list(range(10))
    assert T.arange(5).gather(0, T.zeros(2, 0, dtype="int")).shape == (2, 0)
    assert T.zeros(0).cat(T.ones(5, 5), dim=1).shape == (5, 5)
    assert T.ones(5, 5).cat(T.zeros(0), T.ones(5, 1), dim=-1).shape == (5, 6)
    assert T(1.0).unfold(0, 1, 1).tolist() == [1]
    assert [grid.tolist() for grid in T(1.0).meshgrid(T([2, 3]))] == [[[1, 1]], [[2, 3]]]
    assert T(1.0).meshgrid()[0].tolist() == [1]


def test_more_kinds_of_arguments():
    x = T([[1, 5], [2, 3]])
    assert x.max(T(3)).tolist() == [[3, 5], [3, 3]]
    assert T.stack((x, x + 1), dim=-1).tolist() == x.stack(x + 1, dim=-1).tolist()
    assert T.cat([x, x + 1], dim=1).tolist() == x.cat(x + 1, dim=1).tolist()
    assert x.isclose(5).tolist() == [[False, True], [False, False]]
    assert x.isclose(2.00001).tolist() == [[False, False], [True, False]]
    assert T([1.0, 1 + 1e-7, math.inf, math.nan]).isclose(1.0).tolist() == [
        True,
        True,
        False,
        False,
    ]
    assert T([1, 1]).allclose(1.0).item()
    found = T([1, 0]).nonzero(size=2, fill_value=-1.5), T([1, 0]).masked_select(T([True, False]), 2)
    assert [t.dtype.name for t in found] == ["i32", "i32"]
    assert x.min(T([2, 4])).tolist() == [[1, 4], [2, 3]]
    assert x.repeat_interleave(T([3, 0]), 1).tolist() == [[1, 1, 1], [2, 2, 2]]
    assert x.repeat_interleave(T([2]), 0).shape == (4, 2)
    assert T.ones(1, 1, 5).squeeze((0, 1)).shape == (5,)
    assert T.ones(1, 2, 1).squeeze((0, 1)).shape == (2, 1)
    weight, image = T.ones(3, 2, 3, 4), T.ones(2, 5, 5)
    assert image.conv2d(weight, padding="same").shape == (3, 5, 5)
    assert image.unsqueeze(0).conv2d(weight, padding="valid").shape == (1, 3, 3, 2)
    batch = image.unsqueeze(0).conv_transpose2d(T.ones(2, 3, 3, 3))
    np.testing.assert_array_equal(
        image.conv_transpose2d(T.ones(2, 3, 3, 3)).numpy(), batch.numpy()[0]
    )


def test_gradients_where_exponentials_overflow():
    x = T([0.0, 100.0], requires_grad=True)
    assert x.logcumsumexp().sum().gradient(x)[0].tolist() == [1, 1]
    y = T([1e4, math.inf, 0.0], requires_grad=True)
    for total in (y.logsumexp(0), y.logcumsumexp(0)[2]):
        assert total.item() == math.inf
        assert total.gradient(y)[0].numpy()[[0, 2]].tolist() == [0, 0]
    assert T([-math.inf, -math.inf]).logsumexp(0).item() == -math.inf
    zero = T([0.0])
    assert zero.asinh().sum().gradient(zero)[0].item() == 1


def test_gradients_at_infinities():
    x = T([-math.inf, 0.5, math.inf], requires_grad=True)
    near = 2 / math.sqrt(math.pi) * math.exp(-0.25)
    assert x.erf().sum().gradient(x)[0].tolist() == pytest.approx([0, near, 0], rel=1e-6)
    assert x.erfc().sum().gradient(x)[0].tolist() == pytest.approx([0, -near, 0], rel=1e-6)
    share = 1 / (1 + math.exp(-0.5))
    assert x.softplus().sum().gradient(x)[0].tolist() == pytest.approx([0, share, 1], rel=1e-6)
    for factors in ([-math.inf, 0, 1], [math.inf, -2, 3], [math.inf, -math.inf, 2], [0, 0, 5]):
        x = T([float(f) for f in factors], requires_grad=True)
        others = [math.prod(factors[:i] + factors[i + 1 :]) for i in range(3)]
        np.testing.assert_equal(x.prod().gradient(x)[0].tolist(), others)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_softplus_with_beta_and_threshold(kind: type[np.floating[Any]]):
    """`beta` 1 is the op alone; of another one, each product rounds."""
    x = np.array([-math.inf, -30, -2, 0, 0.5, 2, 40, math.inf], kind)
    for beta in (1, 1.0, 2.5, -0.5):
        exact = np.logaddexp(beta * x.astype(np.float64), 0) / beta
        tolerance = (1 if beta == 1 else 100) * np.finfo(kind).eps
        np.testing.assert_allclose(T(x).softplus(beta).numpy(), exact, rtol=tolerance)
    above = T(x).softplus(2.0, threshold=3.0).numpy()
    np.testing.assert_array_equal(above[x > 1.5], x[x > 1.5])
    np.testing.assert_array_equal(above[x < 1.5], T(x).softplus(2.0).numpy()[x < 1.5])
    assert (T([3, -3]).softplus().numpy() == T([3.0, -3.0]).softplus().numpy()).all()
    with pytest.raises(ValueError, match="softplus with beta 0"):
        T(x).softplus(0)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_gelu_of_the_error_function_does_not_cancel(kind: type[np.floating[Any]]):
    """From where 1 + erf loses digits to where the result is almost subnormal, and at the ends."""
    x = np.linspace(-12.5 if kind is np.float32 else -37, 6, 200).astype(kind)
    with mp.workprec(100):
        exact = [float(mpf(v) * mp.erfc(-mpf(v) / mp.sqrt(2)) / 2) for v in x.tolist()]
    relative = np.abs(T(x).gelu("none").numpy() / np.array(exact) - 1)
    assert (relative < 4 * np.finfo(kind).eps).all()  # Less than 2 where MULACC is rounded once.
    ends = T(np.array([-3e38, -0.0, 3e38, math.inf, -math.inf, math.nan], kind)).gelu("none")
    expected = np.array([-0.0, -0.0, 3e38, math.inf, math.nan, math.nan], kind)
    np.testing.assert_array_equal(ends.numpy(), expected)
    assert np.signbit(ends.numpy()[:2]).all()


def test_the_package_of_layers():
    import tgdialect.nn.optim
    import tgdialect.nn.state
    from tgdialect.nn import Linear

    assert tg.nn is tgdialect.nn
    assert Linear is tg.nn.Linear
    assert set(tgdialect.nn.state.get_state_dict(Linear(2, 3))) == {"weight", "bias"}
    assert tgdialect.nn.optim.SGD is tg.nn.optim.SGD
