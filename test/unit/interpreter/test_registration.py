"""tg under xDSL's own interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.interpreter import Interpreter, InterpreterFunctions, impl, register_impls
from xdsl.interpreters import register_implementations
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import InterpretationError

from tgdialect.dialect import TG
from tgdialect.interpreter import register_tg_implementations
from tgdialect.ops.base import TENSOR

M = 'tensor<4xf32, #tg.place<"CPU", global>>'
ON = 'tensor<4xf32, #tg.place<"CPU">>'
KERNEL_ROOM = "#tg.place<global>"


@pytest.fixture
def interpreter(parse):
    """xDSL's interpreter of a program."""

    def make(text):
        result = Interpreter(parse(text))
        register_tg_implementations(result)
        return result

    return make


def test_a_function_on_tensors(interpreter):
    run = interpreter("""
    func.func @half(%x: tensor<3xf32>) -> tensor<3xf32> {
      %h = tg.const 0.5 : tensor<f32>
      %r = tg.mul %x, %h : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }
    func.func @main(%x: tensor<3xf32>) -> (tensor<5xf32>, tensor<1xf32>) {
      %t = tg.function(%x) {
        %p = tg.param 0 : tensor<3xf32>
        %n = tg.neg %p : tensor<3xf32>
        %u = tg.tuple %n : (tensor<3xf32>) -> !tg.tuple<tensor<3xf32>>
      } : (tensor<3xf32>) -> !tg.tuple<tensor<3xf32>>
      %n = tg.gettuple %t 0 : !tg.tuple<tensor<3xf32>> -> tensor<3xf32>
      %h = func.call @half(%n) : (tensor<3xf32>) -> tensor<3xf32>
      %p = tg.pad %h at [1] to [5] : tensor<3xf32> -> tensor<5xf32>
      %m = tg.reduce max %p [0] : tensor<5xf32> -> tensor<1xf32>
      return %p, %m : tensor<5xf32>, tensor<1xf32>
    }""")
    padded, maximum = run.call_op("main", (np.array([2, 4, 6], "f4"),))
    assert isinstance(padded, np.ndarray)
    assert padded.tolist() == [0, -1, -2, -3, 0]
    assert maximum.tolist() == [-1]


def test_memory_arguments_are_changed_in_place(interpreter):
    run = interpreter(f"""
    func.func @fill(%b: {M}, %v: tensor<f32>) {{
      %l = tg.reshape %v [1] : tensor<f32> -> tensor<1xf32>
      %e = tg.expand %l [4] : tensor<1xf32> -> tensor<4xf32>
      %s = tg.store %b, %e : {M}, tensor<4xf32>
      return
    }}
    func.func @main(%b: {M}, %v: tensor<f32>) -> {ON} {{
      %r = tg.load %b : {M} -> {ON}
      func.call @fill(%b, %v) : ({M}, tensor<f32>) -> ()
      return %r : {ON}
    }}""")
    b = np.arange(4, dtype="f4")
    (r,) = run.call_op("main", (b, np.float32(7)))
    assert r.tolist() == [0, 1, 2, 3]
    assert b.tolist() == [7] * 4


def test_kernels_and_linears_run_from_functions(interpreter):
    P, C = f"tensor<4xf32, {KERNEL_ROOM}>", f"tensor<f32, {KERNEL_ROOM}>"
    run = interpreter(f"""
    tg.kernel @twice {{
      %x = tg.param 0 : {P}
      %n = tg.const 4 : tensor<index>
      %i = tg.range 0 loop to %n : tensor<index>
      %p = tg.index %x[%i] : ({P}, tensor<index>) -> {C}
      %v = tg.load %p : {C} -> tensor<f32>
      %w = tg.add %v, %v : tensor<f32>
      %s = tg.store %p, %w : {C}, tensor<f32>
      %e = tg.end %s over %i : !tg.void
      %k = tg.sink %e : !tg.void
    }}
    func.func @main(%b: {M}) {{
      %l = tg.linear {{
        %c = tg.call @twice(%b) : ({M}) -> !tg.void
        %d = tg.call @twice(%b) : ({M}) -> !tg.void
      }}
      return
    }}""")
    b = np.arange(4, dtype="f4")
    run.call_op("main", (b,))
    assert b.tolist() == [0, 4, 8, 12]


def test_wrong_arguments(interpreter):
    run = interpreter(
        "func.func @main(%x: tensor<3xf32>) { %r = tg.neg %x : tensor<3xf32> return }"
    )
    with pytest.raises(InterpretationError, match="float64 of shape"):
        run.call_op("main", (np.zeros(3),))


def test_unordered_stores_to_a_buffer_race(interpreter):
    run = interpreter(f"""
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {{
      %b = tg.buffer 0 : {M}
      %s = tg.store %b, %x : {M}, tensor<4xf32>
      %t = tg.store %b, %y : {M}, tensor<4xf32>
      return
    }}""")
    with pytest.raises(InterpretationError, match=r"race: .* write cell 0 of buffer 0"):
        run.call_op("main", (np.zeros(4, "f4"), np.ones(4, "f4")))


def test_read_only_arguments_are_not_written(interpreter):
    run = interpreter(f"""
    func.func @main(%a: {M}, %b: {M}, %x: tensor<4xf32>) {{
      %s = tg.store %a, %x : {M}, tensor<4xf32>
      %t = tg.store %b, %x : {M}, tensor<4xf32>
      return
    }}""")
    a, b = np.zeros(4, "f4"), np.zeros(4, "f4")
    b.flags.writeable = False
    with pytest.raises(InterpretationError, match=r"argument b is written, but .* read-only"):
        run.call_op("main", (a, b, np.ones(4, "f4")))
    assert a.tolist() == [0] * 4


@irdl_op_definition
class DoubleOp(IRDLOperation):
    """Another dialect's op on tensors."""

    name = "other.double"
    source = operand_def(TENSOR)
    result = result_def(TENSOR)


@register_impls
class OtherFunctions(InterpreterFunctions):
    @impl(DoubleOp)
    def run_double(self, interpreter, op, args):
        return (args[0] * 2,)


def test_beside_other_dialects():
    """As `xdsl-run` registers them: xDSL's own, then ours, which takes over `func`."""
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    context.load_dialect(TG)
    context.load_dialect(Dialect("other", [DoubleOp]))
    module = Parser(
        context,
        """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = tg.neg %x : tensor<2xf32>
          %1 = "other.double"(%0) : (tensor<2xf32>) -> tensor<2xf32>
          %2 = tg.add %1, %x : tensor<2xf32>
          func.return %2 : tensor<2xf32>
        }""",
    ).parse_module()
    run = Interpreter(module)
    register_implementations(run, context)
    register_tg_implementations(run)
    run.register_implementations(OtherFunctions())
    (r,) = run.call_op("main", (np.array([1, 5], "f4"),))
    assert r.tolist() == [-1, -5]
