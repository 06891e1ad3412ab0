"""The operations of ALU, which age names each, and the op of the dialect that computes it."""

from __future__ import annotations

from collections.abc import Mapping

from tgdialect.ops import elementwise as e

TRUNCATED = {"BinaryOps.IDIV": "tg_legacy.idiv", "BinaryOps.MOD": "tg_legacy.mod"}
"""Operations that round toward zero; the specification's round down."""

ALU: Mapping[str, type[e.ElementwiseOp]] = {
    "UnaryOps.EXP2": e.Exp2Op,
    "UnaryOps.LOG2": e.Log2Op,
    "UnaryOps.SIN": e.SinOp,
    "UnaryOps.SQRT": e.SqrtOp,
    "UnaryOps.RECIP": e.RecipOp,
    "UnaryOps.NEG": e.NegOp,
    "BinaryOps.ADD": e.AddOp,
    "BinaryOps.SUB": e.SubOp,
    "BinaryOps.MUL": e.MulOp,
    "BinaryOps.DIV": e.DivOp,
    "BinaryOps.MAX": e.MaxOp,
    "BinaryOps.CMPLT": e.CmpLtOp,
    "BinaryOps.CMPNE": e.CmpNeOp,
    "BinaryOps.CMPEQ": e.CmpEqOp,
    "BinaryOps.XOR": e.XorOp,
    "BinaryOps.SHL": e.ShlOp,
    "BinaryOps.SHR": e.ShrOp,
    "BinaryOps.OR": e.OrOp,
    "BinaryOps.AND": e.AndOp,
    "TernaryOps.WHERE": e.WhereOp,
    "TernaryOps.MULACC": e.MulAccOp,
}
"""The other operations, as the tutorial's age names them. DIV of integers rounds toward zero, and
NEG of bools is NOT."""

_WIDER: Mapping[str, e.Domain] = {
    "UnaryOps.NEG": e.Domain.ANY,
    "BinaryOps.DIV": e.Domain.NUMBER,
}
"""The domains of operations that the op of the dialect is not defined on all of."""


def domain_of(operation: str) -> e.Domain:
    """The dtypes that an operation is defined on; of WHERE, those of the condition."""
    if operation in TRUNCATED:
        return e.Domain.INTEGER
    return _WIDER.get(operation) or ALU[operation].DOMAIN
