"""Where two arguments of a program's CALL are views of the same cells, it runs on these."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter import run
from tgdialect.runtime.compiler import parse_verified

MEMORY = 'tensor<4xi32, #tg.place<"CPU", global>>'
BYTES = 'tensor<16xui8, #tg.place<"CPU", global>>'
PROGRAM = """
tg.program @copy {{
  tg.linear {{
    %out = tg.param 0 : tensor<4xi32, #tg.place<global>>
    %in = tg.param 1 : tensor<4xi32, #tg.place<global>>
    %n = tg.const 4 : tensor<index>
    %last = tg.const 3 : tensor<index>
    %i = tg.range 0 {5} to %n : tensor<index>
    %back = tg.sub %last, %i : tensor<index>
    %a = tg.index %in[{0}]
      : (tensor<4xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
    %v = tg.load %a : tensor<i32, #tg.place<global>> -> tensor<i32>
    %w = tg.add %v, %v : tensor<i32>
    %b = tg.index %out[%i]
      : (tensor<4xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
    %s = tg.store %b, %w : tensor<i32, #tg.place<global>>, tensor<i32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }}
}}
func.func @main(%x: {1}, %y: {1} {{tg.output}},
    %arena: tensor<32xui8, #tg.place<"CPU", global>> {{tg.workspace}}) {{
  %0 = tg.shrink %arena at [{3}] to [16] : tensor<32xui8, #tg.place<"CPU", global>> -> {2}
  %p = tg.bitcast %0 to i32 : {2} -> {1}
  %1 = tg.shrink %arena at [{4}] to [16] : tensor<32xui8, #tg.place<"CPU", global>> -> {2}
  %q = tg.bitcast %1 to i32 : {2} -> {1}
  tg.linear {{
    %2 = tg.call @copy(%p, %x) : ({1}, {1}) -> !tg.void
    %3 = tg.call @copy(%q, %p) : ({1}, {1}) -> !tg.void
    %4 = tg.call @copy(%y, %q) : ({1}, {1}) -> !tg.void
  }}
  return
}}
"""


def results(index: str, first: int, second: int, loop: str = "global") -> list[int]:
    text = PROGRAM.format(index, MEMORY, BYTES, first, second, loop)
    module = parse_verified("shared.mlir", text)
    (found,) = run(module, "main", [np.array([1, 2, 3, 4], np.int32)])
    return found.tolist()


def test_a_program_works_in_place():
    assert results("%i", 0, 16) == results("%i", 0, 0) == [8, 16, 24, 32]


@pytest.mark.parametrize(("index", "second"), [("%back", 0), ("%i", 8)])
def test_a_cell_is_not_written_before_another_iteration_reads_it(index: str, second: int):
    with pytest.raises(InterpretationError, match="race"):
        results(index, 0, second)


def test_iterations_in_order_read_what_those_before_have_written():
    assert results("%back", 0, 0, "loop") == [16, 32, 16, 8]


def test_apart_any_order_is_right():
    assert results("%back", 0, 16) == [32, 24, 16, 8]
