"""The operations of ALU, which age names each, and the op of the dialect that computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tgdialect.ops import elementwise as e

TRUNCATED = {"BinaryOps.IDIV": "tg_legacy.idiv", "BinaryOps.MOD": "tg_legacy.mod"}
"""Operations that round toward zero; the specification's round down."""

_OPS: Mapping[str, Sequence[type[e.ElementwiseOp]]] = {
    "UnaryOps": (e.Exp2Op, e.Log2Op, e.SinOp, e.SqrtOp, e.RecipOp, e.NegOp),
    "BinaryOps": (
        *(e.AddOp, e.SubOp, e.MulOp, e.DivOp, e.MaxOp, e.CmpLtOp, e.CmpNeOp, e.CmpEqOp),
        *(e.XorOp, e.ShlOp, e.ShrOp, e.OrOp, e.AndOp),
    ),
    "TernaryOps": (e.WhereOp, e.MulAccOp),
}

ALU: Mapping[str, type[e.ElementwiseOp]] = {
    f"{kind}.{op.name.removeprefix('tg.').upper()}": op for kind, ops in _OPS.items() for op in ops
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
