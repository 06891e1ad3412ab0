"""If, Loop and Scan."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from onnx import GraphProto

from tgdialect.interop.onnx.rules import Call, Rules, raw
from tgdialect.interop.onnx.values import Value


def _if(
    call: Call, condition: Value, *, then_branch: GraphProto, else_branch: GraphProto
) -> tuple[Value, ...]:
    holds = bool(call.known(condition, call.node.input[0]).reshape(()))
    return tuple(call.graph(then_branch if holds else else_branch, ()))


RULES: Rules = {"If": {1: raw(_if)}}
