"""A program as the function that each work item of a grid runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import UnitAttr, i8, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.gpu_dialect.gpu import KERNEL
from tgdialect.lowering.render.dynamic_local import DynamicLocal
from tgdialect.lowering.render.gpu.vendors import GLOBAL, LOCAL, Vendor, added_product, shuffle
from tgdialect.lowering.render.llvm.function import LLVMFunction
from tgdialect.lowering.render.memory import copy_parts
from tgdialect.lowering.render.output import PointerView
from tgdialect.lowering.render.ptx import PROXY_FENCE
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.matrix import MatrixInstruction


class KernelFunction(LLVMFunction):
    """A kernel under construction, and the variables of its workgroup."""

    global_pointer = GLOBAL
    has_work_items = True
    is_of_host = False
    keeps_sums = False
    masks_counts = True

    def __init__(
        self,
        name: str,
        parameters: Sequence[SSAValue],
        target: Target,
        vendor: Vendor,
        dynamic: DynamicLocal | None = None,
    ) -> None:
        """`dynamic` is where the LOCAL buffers are that the launch allocates."""
        self.stack_pointer = vendor.stack
        super().__init__(name, parameters, target)
        self._vendor = vendor
        self._dynamic = dynamic
        self.variables: list[llvm.GlobalOp] = []
        """The memory of a workgroup: one variable for each LOCAL buffer, or one without a size for
        all of them, whose size the launch says."""
        if dynamic is not None:
            self._start = self._variable("$local", 0, dynamic.alignment)

    def kernel(self, workgroup: Sequence[int]) -> llvm.FuncOp:
        """The function, for workgroups of these extents."""
        function = self.finish()
        attribute, extents = self._vendor.workgroup(workgroup)
        function.attributes |= {
            KERNEL: UnitAttr(),
            self._vendor.kernel: UnitAttr(),
            attribute: extents,
        }
        return function

    def special(self, op: tg.SpecialOp, bound: SSAValue) -> SSAValue:
        name = op.symbol.data
        if (axes := self._vendor.indices.get(name[:-1])) is None:
            raise PassFailedException(f"{op.name} of {name}: a grid has gidx and lidx")
        index = self.put(axes[int(name[-1])]())
        return self.emit(llvm.ZExtOp, (index,), i64)

    def copy_asynchronously(
        self, to: PointerView[SSAValue], source: PointerView[SSAValue], gate: SSAValue | None
    ) -> bool:
        parts = copy_parts(self, to, source, gate)
        if (copy := self._vendor.copy) is None or parts is None:
            return False
        for target, origin, bytes, exists in parts:
            known = None
            if exists is not None:
                # Nothing is read there, but the address may be looked up.
                if origin.index is not None:
                    index = self.select(exists, origin.index, self.number(0))
                    origin = replace(origin, index=index)
                known = self.select(exists, self.number(bytes, i32), self.number(0, i32))
            self.insert(copy(self.address(target), self.address(origin), bytes, known))
        return True

    def wait_for_copies(self, pending: int) -> None:
        for each in self._vendor.wait(pending):
            self.insert(each)

    def show_to_matrix_instructions(self) -> None:
        """Later `wgmma`s have a path of their own to LOCAL memory."""
        self.insert(llvm.InlineAsmOp(PROXY_FENCE, "", (), [], 0, has_side_effects=True))

    def barrier(self, op: tg.BarrierOp) -> None:
        for each in self._vendor.barrier():
            self.insert(each)

    def multiply_matrices(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, fragments: Sequence[SSAValue]
    ) -> SSAValue:
        return self._vendor.multiply(self, instruction, fragments)

    def begin_sums(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, sums: PointerView[SSAValue] | None
    ) -> None:
        assert sums is not None
        struct = llvm.LLVMStructType.from_type_list([tg.F32] * sums.lanes)
        self._sums_memory = self.address(sums)
        self._sums = self.load(self._sums_memory, struct, 4)

    def multiply_add(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, factors: Sequence[Sequence[SSAValue]]
    ) -> None:
        for pair in factors:
            self._sums = added_product(self, instruction, pair, self._sums)

    def end_sums(self, op: tg.WmmaOp, sums: PointerView[SSAValue]) -> None:
        self.store(self._sums, self._sums_memory, 4)

    def shuffle_items(self, op: tg.ShuffleOp, value: SSAValue) -> SSAValue:
        return shuffle(self, op, value, self._vendor.move)

    def allocate_buffer(self, op: tg.BufferOp, bytes: int, alignment: int) -> SSAValue:
        """REG: zeroed memory of the work item. LOCAL: a variable of the workgroup."""
        if tg.place(op.result).addrspace is tg.AddrSpace.REG:
            return super().allocate_buffer(op, bytes, alignment)
        if self._dynamic is None:
            return self._variable(f".local{len(self.variables)}", bytes, alignment)
        return self.offset(self._start, self.number(self._dynamic.offsets[op.result]), i8)

    def _variable(self, suffix: str, bytes: int, alignment: int) -> SSAValue:
        """A variable of the workgroup: external without a size, as PTX wants it."""
        name, linkage = self._name + suffix, "internal" if bytes else "external"
        type = llvm.LLVMArrayType(bytes, i8)
        self.variables.append(llvm.GlobalOp(type, name, linkage, addr_space=3, alignment=alignment))
        return self.address_of(name, LOCAL)


def indices(ops: Sequence[Operation]) -> dict[str, SSAValue]:
    """The bounds of the SPECIALs of a program, by name: its workgroups and their work items."""
    return {op.symbol.data: op.bound for op in ops if isinstance(op, tg.SpecialOp)}
