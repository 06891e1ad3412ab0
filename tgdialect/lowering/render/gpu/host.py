"""The host function of a grid: it launches kernels, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.gpu_dialect import LaunchFuncOp
from tgdialect.lowering.render.dynamic_local import dynamic_local
from tgdialect.lowering.render.gpu.kernel import indices
from tgdialect.lowering.render.gpu.vendors import GLOBAL
from tgdialect.lowering.render.llvm.function import LLVMFunction
from tgdialect.lowering.render.names import SOURCE
from tgdialect.lowering.render.walker import LinearWalker
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.source import ParamOp
from tgdialect.ops.walk import ops_of
from tgdialect.targets import Target

MODULE = "kernels"
"""The name of the `gpu.module`."""


class LaunchingFunction(LLVMFunction):
    """A host function under construction. Pointers are those of the device."""

    global_pointer = GLOBAL

    def __init__(
        self,
        name: str,
        parameters: Sequence[SSAValue],
        target: Target,
        programs: Mapping[str, ProgramOp],
    ) -> None:
        super().__init__(name, parameters, target)
        self._programs = programs

    def call(self, name: str, arguments: Sequence[SSAValue]) -> None:
        """Launch a kernel on as many workgroups as its SPECIALs say; none if that is 0. A program
        that calls others is a function of the host."""
        if self._programs[name].calls:
            super().call(name, arguments)
            return
        block = self._programs[name].linear.body.block
        walker = LinearWalker(self, self._target)
        for op in block.ops:
            if isinstance(op, ParamOp):
                walker.bind(op.result, arguments[op.slot.data])
        bounds, intervals = indices(ops_of(block)), MinMax()
        extents = {index: walker.scalar(bound, block) for index, bound in bounds.items()}
        empty = [extents[index] for index, bound in bounds.items() if intervals[bound].lo < 1]
        for extent in empty:
            self.begin_if(self.compare("sgt", extent, self.number(0)))
        grid, workgroup = (
            [extents.get(f"{kind}{axis}", self.number(1)) for axis in range(3)]
            for kind in ("gidx", "lidx")
        )
        dynamic = dynamic_local(block.ops, self._target)
        shared = None if dynamic is None else self.number(dynamic.nbytes, i32)
        kernel = SOURCE.symbol(name)
        self.insert(LaunchFuncOp(MODULE, kernel, grid, workgroup, arguments, shared))
        for _ in empty:
            self.end_if()

    def begin_once(self, flag: SSAValue) -> None:
        """What constants decide is computed in each call: the flag is in memory of the device,
        which the host cannot read."""

    def end_once(self, flag: SSAValue) -> None:
        """Nothing has been begun."""
