"""The host function of a grid: it launches kernels, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.gpu_dialect import LaunchFuncOp
from tgdialect.lowering.render.dynamic_local import dynamic_local
from tgdialect.lowering.render.gpu.kernel import indices
from tgdialect.lowering.render.gpu.vendors import GLOBAL
from tgdialect.lowering.render.llvm.function import LLVMFunction
from tgdialect.lowering.render.names import SOURCE
from tgdialect.lowering.render.walker import LinearWalker
from tgdialect.ops import tg
from tgdialect.ops.walk import computed_from
from tgdialect.targets import Target

MODULE = "kernels"
"""The name of the `gpu.module`."""


class _Launch(NamedTuple):
    """How a program is launched, read from its ops once for all of its calls."""

    params: Sequence[tg.ParamOp]
    bounds: Mapping[str, SSAValue]
    """The extents of the grid and the workgroup, by the name of the SPECIAL."""
    perhaps_empty: Sequence[str]
    """The names of those that may be 0."""
    ops: Sequence[Operation]
    """The ops that the extents are computed by, in order."""
    local: int | None
    """The bytes of LOCAL memory that the launch allocates; None if the program declares it."""


def _launch(program: tg.ProgramOp, target: Target) -> _Launch | None:
    """How a program is launched; None if it calls others."""
    if program.calls:
        return None
    ops, intervals = ops_of(program.linear.body.block), MinMax()
    bounds = indices(ops)
    needed = {op for bound in bounds.values() for op in computed_from(bound)}
    dynamic = dynamic_local(ops, target)
    return _Launch(
        [op for op in ops if isinstance(op, tg.ParamOp)],
        bounds,
        [index for index, bound in bounds.items() if intervals[bound].lo < 1],
        [op for op in ops if op in needed],
        None if dynamic is None else dynamic.nbytes,
    )


class LaunchingFunction(LLVMFunction):
    """A host function under construction. Pointers are those of the device."""

    global_pointer = GLOBAL

    is_of_host = False

    def __init__(
        self,
        name: str,
        parameters: Sequence[SSAValue],
        target: Target,
        programs: Mapping[str, tg.ProgramOp],
    ) -> None:
        super().__init__(name, parameters, target)
        self._programs = programs
        self._launches: dict[str, _Launch | None] = {}

    def call(self, name: str, arguments: Sequence[SSAValue]) -> None:
        """Launch a kernel on as many workgroups as its SPECIALs say; none if that is 0. A program
        that calls others is a function of the host."""
        if name not in self._launches:
            self._launches[name] = _launch(self._programs[name], self._target)
        if (launch := self._launches[name]) is None:
            super().call(name, arguments)
            return
        walker = LinearWalker(self, self._target)
        slots = [param.slot.data for param in launch.params]
        walker.bind([p.result for p in launch.params], [arguments[slot] for slot in slots])
        scalars = walker.scalars(launch.ops, launch.bounds.values())
        extents = dict(zip(launch.bounds, scalars, strict=True))
        empty = [extents[index] for index in launch.perhaps_empty]
        for extent in empty:
            self.begin_if(self.compare("sgt", extent, self.number(0)))
        grid, workgroup = (
            [extents.get(f"{kind}{axis}", self.number(1)) for axis in range(3)]
            for kind in ("gidx", "lidx")
        )
        shared = None if launch.local is None else self.number(launch.local, i32)
        kernel = SOURCE.symbol(name)
        self.insert(LaunchFuncOp(MODULE, kernel, grid, workgroup, arguments, shared))
        for _ in empty:
            self.end_if()

    def begin_once(self, flag: SSAValue) -> None:
        """Nothing: values that constants decide are computed in each call, as the flag is in memory
        of the device, which the host cannot read."""

    def end_once(self, flag: SSAValue) -> None:
        """Nothing has been begun."""
