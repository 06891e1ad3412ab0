"""The `rocdl` dialect: the special registers and synchronisation of AMD's GPUs."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition

from tgdialect.gpu_dialect.registers import SpecialRegisterOp
from tgdialect.gpu_dialect.target import ROCDLTargetAttr

KERNEL = "rocdl.kernel"
"""The unit attribute of a function that the host can launch."""
GROUP_SIZE = "rocdl.flat_work_group_size"
"""The attribute of a kernel with the least and the greatest size of its workgroups: `"64,64"`."""


@irdl_op_definition
class WorkItemIdXOp(SpecialRegisterOp):
    """The index of the work item in its workgroup, x: the fastest-varying axis."""

    name = "rocdl.workitem.id.x"


@irdl_op_definition
class WorkItemIdYOp(SpecialRegisterOp):
    """The index of the work item in its workgroup, y."""

    name = "rocdl.workitem.id.y"


@irdl_op_definition
class WorkItemIdZOp(SpecialRegisterOp):
    """The index of the work item in its workgroup, z."""

    name = "rocdl.workitem.id.z"


@irdl_op_definition
class WorkGroupIdXOp(SpecialRegisterOp):
    """The index of the workgroup in the grid, x."""

    name = "rocdl.workgroup.id.x"


@irdl_op_definition
class WorkGroupIdYOp(SpecialRegisterOp):
    """The index of the workgroup in the grid, y."""

    name = "rocdl.workgroup.id.y"


@irdl_op_definition
class WorkGroupIdZOp(SpecialRegisterOp):
    """The index of the workgroup in the grid, z."""

    name = "rocdl.workgroup.id.z"


@irdl_op_definition
class SBarrierOp(IRDLOperation):
    """Waits until all work items of the workgroup are here. Says nothing about memory: that is what
    fences with `syncscope("workgroup")` are for."""

    name = "rocdl.s.barrier"
    assembly_format = "attr-dict"


ROCDL = Dialect(
    "rocdl",
    [
        SBarrierOp,
        WorkGroupIdXOp,
        WorkGroupIdYOp,
        WorkGroupIdZOp,
        WorkItemIdXOp,
        WorkItemIdYOp,
        WorkItemIdZOp,
    ],
    [ROCDLTargetAttr],
)
