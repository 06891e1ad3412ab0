"""Applying the table of levels to a module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.symbols import SIGNATURE, is_foreign
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.verify.rules import Rule
from tgdialect.lowering.verify.table import LEVELS, Body


@dataclass(frozen=True)
class VerifyLevelPass(ModulePass):
    """Check that the module is at a level: tensor, function, kernels, tiles, target, linear, ..."""

    name = "tg-verify"

    level: str
    """tensor, function, kernels, tiles, target, linear, planned or llvm."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        verify_level(op, self.level)


def verify_level(module: ModuleOp, level: str) -> None:
    """Raise VerifyException, located at the op, for the first that does not belong in the level.

    The level is one of `LEVELS`, else PassFailedException is raised.
    """
    if (containers := LEVELS.get(level)) is None:
        raise PassFailedException(f"level {level!r} is not one of {', '.join(LEVELS)}")
    for op in module.ops:
        if is_foreign(op) or (level == "llvm" and SIGNATURE in op.attributes):
            continue
        if (container := containers.get(op.name)) is None:
            raise locate(VerifyException(f"{op.name} is not part of level {level}"), op)
        for rule in container.rules:
            _apply(rule, op)
        _verify_body(op, container.body, level)


def _verify_body(container: Operation, body: Body, level: str) -> None:
    stack = [(op, body) for region in container.regions for op in _ops(region.blocks)]
    while stack:
        op, body = stack.pop()
        if op.name not in body.ops:
            inside = container.name
            message = f"{op.name} is not part of {inside} at level {level}"
            raise locate(VerifyException(message + _where(op.name)), op)
        for rule in body.rules:
            _apply(rule, op)
        if op.regions:
            inner = body.nested.get(op.name, body)
            stack += ((each, inner) for region in op.regions for each in _ops(region.blocks))


def _where(op_name: str) -> str:
    """The container of an op at the first level that has it, for an error."""
    for containers in LEVELS.values():
        for name, container in containers.items():
            if op_name in container.body.ops:
                return f"; it belongs in a {name}"
    return ""


def _ops(blocks: Iterable[Block]) -> list[Operation]:
    """Reversed, for a stack."""
    return [op for block in blocks for op in ops_of(block)][::-1]


def _apply(rule: Rule, op: Operation) -> None:
    try:
        rule(op)
    except VerifyException as error:
        if "location" in vars(error):
            raise
        raise locate(error, op) from None
