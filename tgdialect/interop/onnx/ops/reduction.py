"""reductions, running sums, argmax."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from tgdialect.interop.onnx.rules import Rules

RULES: Rules = {}
