"""The operators of ONNX that are imported: a row for each opset since which a rule holds.

An operator without a row is imported by the function that its specification gives, if any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tgdialect.interop.onnx.ops import (
    contrib,
    control,
    convolution,
    creation,
    elementwise,
    indexing,
    movement,
    normalization,
    products,
    quantization,
    recurrent,
    reduction,
    resizing,
    sequences,
    signal,
)
from tgdialect.interop.onnx.rules import Rule, Rules

FAMILIES = (
    elementwise,
    creation,
    movement,
    indexing,
    reduction,
    normalization,
    products,
    convolution,
    resizing,
    signal,
    quantization,
    recurrent,
    control,
    sequences,
)
"""The families of the default domain."""


def _merged(*tables: Rules) -> Rules:
    found: dict[str, Mapping[int, Callable[..., Any] | Rule]] = {}
    for table in tables:
        if twice := found.keys() & table.keys():
            raise ValueError(f"operators with two rows: {', '.join(sorted(twice))}")
        found.update(table)
    return found


TABLE: Mapping[str, Rules] = {
    "": _merged(*(family.RULES for family in FAMILIES), contrib.DEFAULT_DOMAIN),
    "ai.onnx.ml": elementwise.CLASSICAL,
    "ai.onnx.preview.training": normalization.TRAINING,
    "com.microsoft": contrib.RULES,
}
"""The rules by domain."""


def versions_of(domain: str, op_type: str) -> Mapping[int, Callable[..., Any] | Rule]:
    """The rules of an operator by the opset since which they hold; none if it has none."""
    return TABLE.get(domain, {}).get(op_type, {})


def rule_of(domain: str, op_type: str, opset: int) -> Callable[..., Any] | Rule | None:
    """The rule of an operator in an opset; None if there is none."""
    versions = versions_of(domain, op_type)
    since = max((since for since in versions if since <= opset), default=None)
    return None if since is None else versions[since]
