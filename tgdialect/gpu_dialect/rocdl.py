"""The `rocdl` dialect: the special registers, synchronisation and shuffles of AMD's GPUs."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tgdialect.fast_xdsl.formats import op_definition
from tgdialect.gpu_dialect.registers import indices
from tgdialect.gpu_dialect.target import ROCDLTargetAttr

KERNEL = "rocdl.kernel"
"""The unit attribute of a function that the host can launch."""
GROUP_SIZE = "rocdl.flat_work_group_size"
"""The attribute of a kernel with the least and the greatest size of its workgroups: `"64,64"`."""


WORK_ITEM_INDICES = indices("rocdl.workitem.id", "the work item in its workgroup")
WORKGROUP_INDICES = indices("rocdl.workgroup.id", "the workgroup in the grid")


@op_definition
class SBarrierOp(IRDLOperation):
    """Waits until all work items of the workgroup are here. Says nothing about memory: that is what
    fences with `syncscope("workgroup")` are for."""

    name = "rocdl.s.barrier"
    assembly_format = "attr-dict"


@op_definition
class DsBpermuteOp(IRDLOperation):
    """The value of another work item of the wave, whose number in it is a quarter of the index.

    `%0 = rocdl.ds_bpermute %index, %value : (i32, i32) -> i32`
    """

    name = "rocdl.ds_bpermute"

    index = operand_def(i32)
    src = operand_def(i32)
    res = result_def(i32)

    assembly_format = "$index `,` $src attr-dict `:` functional-type(operands, results)"

    def __init__(self, index: SSAValue, src: SSAValue) -> None:
        super().__init__(operands=[index, src], result_types=[i32])


class _MbcntOp(IRDLOperation):
    """A count of the bits of a mask at the work items before this one, which is added."""

    in0 = operand_def(i32)
    in1 = operand_def(i32)
    res = result_def(i32)

    assembly_format = "$in0 `,` $in1 attr-dict `:` functional-type(operands, results)"

    traits = traits_def(Pure())

    def __init__(self, mask: SSAValue, more: SSAValue) -> None:
        super().__init__(operands=[mask, more], result_types=[i32])


@op_definition
class MbcntLoOp(_MbcntOp):
    """Of the first 32 work items of a wave: `%0 = rocdl.mbcnt.lo %mask, %n : (i32, i32) -> i32`."""

    name = "rocdl.mbcnt.lo"


@op_definition
class MbcntHiOp(_MbcntOp):
    """Of the last 32 work items of a wave: `%0 = rocdl.mbcnt.hi %mask, %n : (i32, i32) -> i32`."""

    name = "rocdl.mbcnt.hi"


ROCDL = Dialect(
    "rocdl",
    [DsBpermuteOp, MbcntHiOp, MbcntLoOp, SBarrierOp, *WORK_ITEM_INDICES, *WORKGROUP_INDICES],
    [ROCDLTargetAttr],
)
