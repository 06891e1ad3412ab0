"""The `tg_legacy` dialect, and the ops of the older vocabularies that are ops of `tg` unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import Dialect

from tgdialect.fast_xdsl.formats import operations_of
from tgdialect.legacy.attributes import LegacyWmmaAttr, ViewAttr
from tgdialect.legacy.ops import compute, control, framework, indexing, memory, vectors
from tgdialect.ops import tg

FAMILIES = framework, indexing, memory, compute, control, vectors
"""The files of the ops."""


TG_LEGACY = Dialect("tg_legacy", operations_of(*FAMILIES), [ViewAttr, LegacyWmmaAttr])
"""Every op and attribute that the specification no longer has, or has in another form."""


class Unchanged(NamedTuple):
    """An op of the UOp Summary that is an op of `tg`, and the stage that it belonged to."""

    op: type[tg.TgOp]
    stage: str


_ELEMENTWISE = (
    *(tg.Exp2Op, tg.Log2Op, tg.SinOp, tg.SqrtOp, tg.RecipOp, tg.NegOp),
    *(tg.AddOp, tg.MulOp, tg.MaxOp),
    *(tg.CmpLtOp, tg.CmpNeOp, tg.XorOp, tg.ShlOp, tg.ShrOp, tg.OrOp, tg.AndOp, tg.SubOp, tg.PowOp),
    *(tg.WhereOp, tg.MulAccOp, tg.CastOp),
)

_STAGES: Mapping[str, Sequence[type[tg.TgOp]]] = {
    "graph construction, scheduling": (tg.SinkOp,),
    "all": (tg.ConstOp, tg.BitcastOp, *_ELEMENTWISE),
    "high level, lowering": (tg.ReshapeOp, tg.PermuteOp, tg.ExpandOp, tg.FlipOp),
    "lowering, codegen": (tg.BarrierOp,),
    "graph construction, early simplification": (
        *(tg.ContiguousOp, tg.ContiguousBackwardOp, tg.DetachOp),
    ),
}

UNCHANGED: Mapping[str, Unchanged] = {
    op.name.removeprefix("tg.").upper(): Unchanged(op, stage)
    for stage, ops in _STAGES.items()
    for op in ops
}
"""The ops of the UOp Summary that are written with an op of `tg`: name, sources and meaning are the
same. Only PAD has to say what it pads with, `fill 0`: the older vocabulary has no invalid cells."""
