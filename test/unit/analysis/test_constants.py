"""What depends on constant arguments alone, in random functions of copies."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from tgdialect.analysis.constants import constants
from tgdialect.dialect import TG
from tgdialect.ops.call import CallOp

TYPE = 'tensor<4xf32, #tg.place<"CPU", global>>'
VECTOR, SCALAR = (f"tensor<{cells}f32, #tg.place<global>>" for cells in ("4x", ""))
COPY = f"""
tg.kernel @copy {{
  %to = tg.param 0 : {VECTOR}
  %from = tg.param 1 : {VECTOR}
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %read = tg.index %from[%i] : ({VECTOR}, tensor<index>) -> {SCALAR}
  %value = tg.load %read : {SCALAR} -> tensor<f32>
  %written = tg.index %to[%i] : ({VECTOR}, tensor<index>) -> {SCALAR}
  %store = tg.store %written, %value : {SCALAR}, tensor<f32>
  %end = tg.end %store over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}}"""
BUFFERS = 6

COPIES = st.lists(
    st.tuples(
        st.integers(0, BUFFERS - 1).map("b{}".format),
        st.sampled_from(["given", "varying", *(f"b{i}" for i in range(BUFFERS))]),
    ),
    max_size=12,
)


@given(COPIES)
def test_constant_copies(copies: list[tuple[str, str]]):
    lines = [f"%b{i} = tg.buffer {i} : {TYPE}" for i in range(BUFFERS)]
    for to, source in copies:
        lines.append(f"tg.call @copy(%{to}, %{source}) : ({TYPE}, {TYPE}) -> !tg.void")
    arguments = f"%given: {TYPE} {{tg.constant}}, %varying: {TYPE}"
    body = "\n".join((*lines, "return"))
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    module = Parser(context, f"{COPY}\nfunc.func @main({arguments}) {{\n{body}\n}}").parse_module()
    function = module.ops.last
    assert isinstance(function, FuncOp)
    found = constants(function, function.body.block.ops)
    # By definition: a buffer varies if some copy to it is from memory that varies.
    varying = {"varying", *(f"b{i}" for i in range(BUFFERS))} - {to for to, _ in copies}
    for _ in copies:
        varying |= {to for to, source in copies if source in varying}
    assert {memory.name_hint for memory in found.memory}.isdisjoint(varying)
    calls = [op for op in function.body.block.ops if isinstance(op, CallOp)]
    expected = [call for call, copy in zip(calls, copies, strict=True) if varying.isdisjoint(copy)]
    assert list(found.calls) == expected
