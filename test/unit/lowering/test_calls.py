"""The requirements of a program on the memory that a CALL passes."""

from __future__ import annotations

import pytest
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.render.calls import check_call, requirements
from tgdialect.ops import tg
from tgdialect.runtime.compiler import load_module


def text(depth: int, divisor: int) -> str:
    """A CALL that passes memory of an extent like that of the callee, whose quotients are nested so
    deep; by another divisor in the caller."""

    def extents(by: int) -> str:
        lines = [
            f"%a{i} = tg.add %q{i}, %q0 : !i\n%q{i + 1} = tg.idiv %a{i}, %by : !i"
            for i in range(depth)
        ]
        numbers = f"%by = tg.const {by} : !i\n"
        return numbers + "\n".join(lines)

    return f"""
#g = #tg.place<global>
#cpu = #tg.place<"CPU", global>
!i = tensor<index>
tg.program @callee {{
  %0 = tg.linear {{
    %q0 = tg.param 0 min 1 max 1000 : !i
    {extents(2)}
    %x = tg.param 1(%q{depth}) : tensor<?xf32, #g>
    tg.sink
  }}
}}
func.func @main(%q0: !i {{tg.min = 1 : index, tg.max = 1000 : index}}) {{
  %0 = tg.linear {{
    {extents(divisor)}
    %b = tg.buffer 0(%q{depth}) : tensor<?xf32, #cpu>
    %1 = tg.call @callee(%q0, %b) : (!i, tensor<?xf32, #cpu>) -> !tg.void
    tg.sink %1 : !tg.void
  }}
  func.return
}}
"""


@pytest.mark.parametrize("depth", [1, 4, 3000])
@pytest.mark.parametrize("divisor", [2, 3])
def test_extents_of_nested_quotients(depth: int, divisor: int):
    """Equal extents of two programs are seen to be equal; graphs may be arbitrarily deep."""
    module = load_module(text(depth, divisor))
    (call,) = (op for op in module.walk() if isinstance(op, tg.CallOp))
    (program,) = (op for op in module.ops if isinstance(op, tg.ProgramOp))
    wanted = requirements(program.linear.body.block)
    if divisor == 2:
        check_call(call, wanted, MinMax())
        return
    with pytest.raises(PassFailedException, match="axis 0 of argument 1 of @callee is not known"):
        check_call(call, wanted, MinMax())
