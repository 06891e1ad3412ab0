"""What `tg-simplify` does to the loops of kernels leaves in memory what was there before."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from tgdialect.dialect import TG
from tgdialect.interpreter import run
from tgdialect.transforms.simplify import simplify

LOCATION = "(tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>"
STORE = "tensor<f32, #tg.place<global>>, tensor<f32>"


def kernel(body: str, n: int) -> ModuleOp:
    """A kernel on %o and %x of 8 f32, with ranges %i over n and %j over 4."""
    text = f"""
    tg.kernel @k {{
      %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
      %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
      %c0 = tg.const 0 : tensor<index>
      %c4 = tg.const 4 : tensor<index>
      %n = tg.const {n} : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %j = tg.range 1 loop to %c4 : tensor<index>
      {body}
    }}"""
    context = Context()
    for dialect in (Builtin, TG):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def store_modulo(location: str, value: str) -> str:
    """o[location] = value over i and j."""
    return f"""
      %m = tg.mul %i, %c4 : tensor<index>
      %s = tg.add %m, %j : tensor<index>
      %r = tg.mod %s, %c4 : tensor<index>
      %q = tg.idiv %s, %c4 : tensor<index>
      %p = tg.index %x[{value}] : {LOCATION}
      %v = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
      %l = tg.index %o[{location}] : {LOCATION}
      %w = tg.store %l, %v : {STORE}
      %e = tg.end %w over %j, %i : !tg.void
      %k = tg.sink %e : !tg.void"""


def reduce_constant(kind: str, options: str = "") -> str:
    """o[j] = reduction over i of x[j + i - i]."""
    return f"""
      %d = tg.sub %i, %i : tensor<index>
      %a = tg.add %d, %j : tensor<index>
      %p = tg.index %x[%a] : {LOCATION}
      %v = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
      %r = tg.reduce {kind} %v [] over %i {options} : tensor<f32> -> tensor<f32>
      %l = tg.index %o[%j] : {LOCATION}
      %w = tg.store %l, %r : {STORE}
      %e = tg.end %w over %j : !tg.void
      %k = tg.sink %e : !tg.void"""


BODIES = {
    "the location loses i": store_modulo("%r", "%r"),
    "the location loses j": store_modulo("%q", "%q"),
    "the location keeps both": store_modulo("%s", "%r"),
    "sum": reduce_constant("add"),
    "sum in order": reduce_constant("add", "ordered"),
    "product": reduce_constant("mul"),
    "maximum": reduce_constant("max"),
}


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_memory_is_the_same(body: str, n: int):
    contents: list[np.ndarray] = []
    module = kernel(body, n)
    for _ in range(2):
        o, x = np.full(8, 9, np.float32), np.arange(1, 9, dtype=np.float32)
        run(module, "k", [o, x])
        contents.append(o)
        simplify(module)
        module.verify()
    np.testing.assert_array_equal(*contents)
