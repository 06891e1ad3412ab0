"""`canonicalize` and `tg-simplify` keep every cell of random tensor programs, also invalid ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from random_graphs import Graph, graphs
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, IntegerType
from xdsl.dialects.func import Func
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from tgdialect.dialect import TG
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.dtypes import BOOL, DTYPES, F32, F64, I32, INDEX, UI8
from tgdialect.ops.folding import evaluate
from tgdialect.transforms.canonicalization.elementwise import holds
from tgdialect.transforms.explicit_broadcast import ExplicitBroadcastPass
from tgdialect.transforms.simplify import SimplifyPass


def context() -> Context:
    result = Context()
    for dialect in (Builtin, Func, TG):
        result.load_dialect(dialect)
    return result


@pytest.mark.sampled(3)
@pytest.mark.parametrize("transform", [CanonicalizePass(), SimplifyPass(), ExplicitBroadcastPass()])
def test_values_stay(transform: ModulePass):
    @settings(max_examples=150)
    @given(graphs())
    def check(graph: Graph):
        before, text = graph.evaluate(), str(graph.module)
        transform.apply(context(), graph.module)
        graph.module.verify()
        for a, b in zip(before, graph.evaluate(), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{text}\n{graph.module}")
            if a.dtype.kind == "f":
                numbers = ~np.isnan(a)
                np.testing.assert_array_equal(
                    np.signbit(a)[numbers],
                    np.signbit(b)[numbers],
                    err_msg=f"{text}\n{graph.module}",
                )

    check()


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [(F64, F32), (F64, I32), (F32, IntegerType(16)), (I32, UI8), (INDEX, I32), (UI8, BOOL)],
)
def test_dtypes_that_hold_others(wide: Attribute, narrow: Attribute):
    assert holds(DTYPES[wide], DTYPES[narrow])
    assert not holds(DTYPES[narrow], DTYPES[wide])


def test_a_float_holds_the_integers_up_to_its_precision():
    assert not holds(DTYPES[F32], DTYPES[I32])
    assert not holds(DTYPES[F64], DTYPES[INDEX])
    assert not holds(DTYPES[IntegerType(8)], DTYPES[UI8])


@pytest.mark.parametrize("narrow", [d for d in DTYPES if DTYPES[d].bits == 8], ids=str)
@pytest.mark.parametrize("wide", DTYPES, ids=str)
def test_holds_every_value(wide: Attribute, narrow: Attribute):
    """By all values of the dtypes of 8 bits."""
    to, of = DTYPES[wide], DTYPES[narrow]
    values = np.arange(256, dtype=np.uint8).view(numpy_dtype(of)).tolist()
    exact = True
    for value in [0, 1] if of.is_bool else values:
        widened = evaluate("tg.cast", of, to, [value])
        assert widened is not None
        back = evaluate("tg.cast", to, of, [widened])
        assert back is not None
        exact &= repr(float(back)) == repr(float(value))
    # Integers that wrap to and fro come back, but they are others in between.
    wraps = to.is_integer and of.is_integer and not to.low <= of.low <= of.high <= to.high
    assert holds(to, of) == (exact and not wraps)
