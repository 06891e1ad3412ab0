"""sequences and optionals, as lists of Python."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from tgdialect.interop.onnx.rules import Rules

RULES: Rules = {}
