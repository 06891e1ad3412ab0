"""The `tg_legacy` dialect, and the ops of the older vocabularies that are ops of `tg` unchanged."""

from __future__ import annotations

from collections.abc import Mapping

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
    vectors,
)
from tgdialect.ops import codegen, elementwise, marker, movement, ordering, source
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

UNCHANGED: Mapping[str, type[TgOp]] = {
    "SINK": ordering.SinkOp,
    "CONST": source.ConstOp,
    "RESHAPE": movement.ReshapeOp,
    "PERMUTE": movement.PermuteOp,
    "EXPAND": movement.ExpandOp,
    "PAD": movement.PadOp,
    "SHRINK": movement.ShrinkOp,
    "FLIP": movement.FlipOp,
    "EXP2": elementwise.Exp2Op,
    "LOG2": elementwise.Log2Op,
    "SIN": elementwise.SinOp,
    "SQRT": elementwise.SqrtOp,
    "RECIP": elementwise.RecipOp,
    "NEG": elementwise.NegOp,
    "ADD": elementwise.AddOp,
    "MUL": elementwise.MulOp,
    "MAX": elementwise.MaxOp,
    "CMPLT": elementwise.CmpLtOp,
    "CMPNE": elementwise.CmpNeOp,
    "XOR": elementwise.XorOp,
    "SHL": elementwise.ShlOp,
    "SHR": elementwise.ShrOp,
    "OR": elementwise.OrOp,
    "AND": elementwise.AndOp,
    "SUB": elementwise.SubOp,
    "POW": elementwise.PowOp,
    "WHERE": elementwise.WhereOp,
    "MULACC": elementwise.MulAccOp,
    "CAST": elementwise.CastOp,
    "BITCAST": movement.BitcastOp,
    "BARRIER": codegen.BarrierOp,
    "CONTIGUOUS": marker.ContiguousOp,
    "CONTIGUOUS_BACKWARD": marker.ContiguousBackwardOp,
    "DETACH": marker.DetachOp,
}
"""The ops of the UOp Summary that are written with an op of `tg`: name, sources and meaning are the
same. Only PAD has to say what it pads with, `fill 0`: the older vocabulary has no invalid cells."""
