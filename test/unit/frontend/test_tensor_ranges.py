"""Ranges of any length, positions in axes, and formulas of axes."""

from __future__ import annotations

import re

import pytest

import tgdialect as tg
from tgdialect.frontend import dtypes


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("2b -> 2b", "'2b -> 2b': '2b' is no name of an axis"),
        ("_a -> _a", "'_a' is no name of an axis"),
        ("a_ -> a_", "'a_' is no name of an axis"),
        ("...a -> ...a", "'...a' is no name of an axis"),
        ("a... -> a...", "'a...' is no name of an axis"),
        ("a -> b", "each name is once on both sides"),
        (" -> ", "of a tensor with 1 axes"),
    ],
)
def test_formulas_that_einops_refuses(formula: str, message: str):
    with pytest.raises(RuntimeError, match=re.escape(message)) as error:
        tg.Tensor.ones(1).rearrange(formula)
    assert isinstance(error.value, ValueError)


def test_long_ranges():
    """The windows over which a range of this length would be counted have 2^69 cells."""
    n = 2**34
    line = tg.Tensor.arange(n)
    assert line.dtype.name == "i64"
    assert line[n - 2 :].tolist() == [n - 2, n - 1]
    picked = line[tg.Tensor([0, 2**28 - 1, 2**28, 2**33 + 7], dtype="int64")]
    assert picked.tolist() == [0, 2**28 - 1, 2**28, 2**33 + 7]
    assert tg.Tensor.arange(7, 2**33, 5)[-1].item() == 7 + (2**33 - 8) // 5 * 5
    assert tg.Tensor.rand(2**17, 2**17).shape == (2**17, 2**17)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_positions_do_not_depend_on_the_default_integers(
    dtype: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dtypes, "default_int", dtypes.to_dtype(dtype))
    x = tg.Tensor.arange(300)
    assert x[-1:].tolist() == [299]
    assert (x % 2).nonzero()[-1].tolist() == [299]
    assert x.masked_select(x > 298).tolist() == [299]
    assert x.scatter(0, tg.Tensor([299], dtype="int64"), 5).tolist()[299] == 5
    few = tg.Tensor([1.0, 3.0, 2.0])
    for positions in (few.argmax(), few.argmin(), few.argsort(), few.sort()[1], few.topk(2)[1]):
        assert positions.dtype.name == "i32"
