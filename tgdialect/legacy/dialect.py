"""The `tg_legacy` dialect, and the ops of the older vocabularies that are ops of `tg` unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.ir import Dialect

from tgdialect.legacy.attributes import LegacyWmmaAttr, ViewAttr
from tgdialect.legacy.ops import (
    blocks,
    compute,
    constants,
    control,
    framework,
    indexing,
    memory,
    movement,
    vectors,
)
from tgdialect.ops import codegen, elementwise, marker, ordering, source
from tgdialect.ops import movement as new_movement
from tgdialect.ops.base import TgOp

TG_LEGACY = Dialect(
    "tg_legacy",
    [
        # framework
        framework.KernelOp,
        framework.NameOp,
        framework.DeviceOp,
        framework.MultiOp,
        framework.CopyOp,
        framework.AssignOp,
        framework.BindOp,
        framework.DefineVarOp,
        framework.UniqueOp,
        framework.EmptyOp,
        framework.NoopOp,
        framework.CustomOp,
        framework.CustomIOp,
        # constants
        constants.ConstOp,
        constants.VConstOp,
        # lowering and indexing
        indexing.ViewOp,
        indexing.IndexOp,
        movement.PadOp,
        movement.ShrinkOp,
        indexing.ValidOp,
        indexing.GepOp,
        # memory
        memory.BufferOp,
        memory.BufferViewOp,
        memory.DefineGlobalOp,
        memory.DefineLocalOp,
        memory.DefineAccOp,
        memory.LoadOp,
        memory.StoreOp,
        memory.CastOp,
        # compute
        compute.AluOp,
        compute.IDivOp,
        compute.ModOp,
        compute.FDivOp,
        compute.ReduceAxisOp,
        compute.WmmaOp,
        # control flow
        control.RangeOp,
        control.LoopOp,
        control.EndRangeOp,
        control.EndLoopOp,
        control.PhiOp,
        control.IfOp,
        control.EndIfOp,
        # vectors
        vectors.VectorizeOp,
        vectors.UnrollOp,
        vectors.ContractOp,
        vectors.CatOp,
        # blocks
        blocks.BlockOp,
        blocks.BlockStartOp,
        blocks.BlockForkOp,
        blocks.BlockEndOp,
    ],
    [ViewAttr, LegacyWmmaAttr],
)
"""Every op and attribute that the specification no longer has, or has in another form."""


class Unchanged(NamedTuple):
    """An op of the UOp Summary that is an op of `tg`, and the stage that it belonged to."""

    op: type[TgOp]
    stage: str


UNCHANGED: Mapping[str, Unchanged] = {
    "SINK": Unchanged(ordering.SinkOp, "graph construction, scheduling"),
    "CONST": Unchanged(source.ConstOp, "all"),
    "RESHAPE": Unchanged(new_movement.ReshapeOp, "high level, lowering"),
    "PERMUTE": Unchanged(new_movement.PermuteOp, "high level, lowering"),
    "EXPAND": Unchanged(new_movement.ExpandOp, "high level, lowering"),
    "FLIP": Unchanged(new_movement.FlipOp, "high level, lowering"),
    "EXP2": Unchanged(elementwise.Exp2Op, "all"),
    "LOG2": Unchanged(elementwise.Log2Op, "all"),
    "SIN": Unchanged(elementwise.SinOp, "all"),
    "SQRT": Unchanged(elementwise.SqrtOp, "all"),
    "RECIP": Unchanged(elementwise.RecipOp, "all"),
    "NEG": Unchanged(elementwise.NegOp, "all"),
    "ADD": Unchanged(elementwise.AddOp, "all"),
    "MUL": Unchanged(elementwise.MulOp, "all"),
    "MAX": Unchanged(elementwise.MaxOp, "all"),
    "CMPLT": Unchanged(elementwise.CmpLtOp, "all"),
    "CMPNE": Unchanged(elementwise.CmpNeOp, "all"),
    "XOR": Unchanged(elementwise.XorOp, "all"),
    "SHL": Unchanged(elementwise.ShlOp, "all"),
    "SHR": Unchanged(elementwise.ShrOp, "all"),
    "OR": Unchanged(elementwise.OrOp, "all"),
    "AND": Unchanged(elementwise.AndOp, "all"),
    "SUB": Unchanged(elementwise.SubOp, "all"),
    "POW": Unchanged(elementwise.PowOp, "all"),
    "WHERE": Unchanged(elementwise.WhereOp, "all"),
    "MULACC": Unchanged(elementwise.MulAccOp, "all"),
    "CAST": Unchanged(elementwise.CastOp, "all"),
    "BITCAST": Unchanged(new_movement.BitcastOp, "all"),
    "BARRIER": Unchanged(codegen.BarrierOp, "lowering, codegen"),
    "CONTIGUOUS": Unchanged(marker.ContiguousOp, "graph construction, early simplification"),
    "CONTIGUOUS_BACKWARD": Unchanged(
        marker.ContiguousBackwardOp, "graph construction, early simplification"
    ),
    "DETACH": Unchanged(marker.DetachOp, "graph construction, early simplification"),
}
"""The ops of the UOp Summary that are written with an op of `tg`: name, sources and meaning are the
same. Only PAD has to say what it pads with, `fill 0`: the older vocabulary has no invalid cells."""
