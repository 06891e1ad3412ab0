"""The `tg` dialect."""

from __future__ import annotations

from xdsl.ir import Dialect

from tgdialect.ops import (
    attributes,
    call,
    codegen,
    elementwise,
    folding,
    marker,
    memory,
    movement,
    multi,
    ordering,
    reduce,
    scan,
    source,
)
from tgdialect.ops.canonicalization import Patterns, register_patterns
from tgdialect.ops.instructions import INSTRUCTIONS
from tgdialect.targets import MOST
from tgdialect.targets.attribute import TargetAttr
from tgdialect.targets.instructions import signatures

TG = Dialect(
    "tg",
    [
        # source
        source.ParamOp,
        source.BufferOp,
        source.ConstOp,
        source.VConstOp,
        source.BinaryDataOp,
        # movement
        movement.PermuteOp,
        movement.FlipOp,
        movement.ReshapeOp,
        movement.ExpandOp,
        movement.PadOp,
        movement.ShrinkOp,
        movement.IndexOp,
        movement.StackOp,
        movement.BitcastOp,
        # reduce
        reduce.ReduceOp,
        # call
        call.FunctionOp,
        call.CallOp,
        call.TupleOp,
        call.GetTupleOp,
        call.KernelOp,
        scan.ScanOp,
        # load and store
        memory.LoadOp,
        memory.StoreOp,
        memory.CopyOp,
        # ordering
        ordering.RangeOp,
        ordering.EndOp,
        ordering.AfterOp,
        ordering.GroupOp,
        ordering.SinkOp,
        ordering.LinearOp,
        # elementwise
        *elementwise.PRIMITIVES,
        *elementwise.DECOMPOSED,
        # marker
        marker.ContiguousOp,
        marker.ContiguousBackwardOp,
        marker.DetachOp,
        # codegen
        codegen.BarrierOp,
        codegen.InsOp,
        codegen.SpecialOp,
        codegen.IfOp,
        codegen.EndIfOp,
        codegen.WmmaOp,
        codegen.ShuffleOp,
        codegen.CustomOp,
        codegen.AtomicAddOp,
        codegen.CustomFunctionOp,
        codegen.ProgramOp,
        codegen.SourceOp,
        # multi-device
        multi.ReplicatedOp,
    ],
    [
        attributes.NumberAttr,
        attributes.DataAttr,
        attributes.PlaceAttr,
        attributes.VoidType,
        attributes.TupleType,
        attributes.AxisTypeAttr,
        attributes.ReduceKindAttr,
        attributes.InvalidAttr,
        attributes.OptAttr,
        attributes.WmmaAttr,
        TargetAttr,
    ],
    [
        folding.ConstantMaterialization(),
    ],
)
"""Every op, type and attribute of the dialect."""


def _canonicalizations() -> Patterns:
    # Imported when `canonicalize` runs, for a short start-up time.
    from tgdialect.transforms.canonicalization import CANONICALIZATIONS

    return CANONICALIZATIONS


register_patterns(_canonicalizations)
INSTRUCTIONS.update(signatures(MOST.values()))
