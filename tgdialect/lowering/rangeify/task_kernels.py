"""The kernels of tasks, up to their loops: what they store, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeGuard

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.positions import Index
from tgdialect.lowering.rangeify.alike import Facts
from tgdialect.lowering.rangeify.analyses import Analyses
from tgdialect.lowering.rangeify.cells import Cell, materialised
from tgdialect.lowering.rangeify.kernel import KernelBuilder, MemoryCell, Realised
from tgdialect.lowering.rangeify.kernel_set import Emitted
from tgdialect.lowering.rangeify.online import OnlineKernel
from tgdialect.lowering.rangeify.planning.padding import Slabs
from tgdialect.lowering.rangeify.planning.plan import Fusion
from tgdialect.lowering.rangeify.results import is_result
from tgdialect.ops import tg

MANY_PARTS = 32
"""The most operands of a STACK of which an iteration of its kernel stores an element each. Larger:
code for each of them; smaller: the kernel chooses the operand of each element."""


MANY_INTERLEAVED = 8
"""The fewest operands of a STACK along the last axis for which a kernel chooses the operand of an
element: it transposes squares in registers. Smaller: choices for few operands; larger: STOREs of
one element each, which are far apart. For 8 arrays of 10^6 f32 it took 2.8 ms, and 4.5 ms by
STOREs; for 4 arrays both took 2.2 ms."""


class TaskKernels:
    """Emits the kernels of the tasks of one function, by its plan."""

    def __init__(
        self, plan: Fusion, realised: dict[Operation, Realised], analyses: Analyses, facts: Facts
    ) -> None:
        """`realised` are the buffers that there are so far. What a kernel depends on besides ops,
        types and the plan, it asks of `facts`."""
        self.location: LocationAttr = UnknownLoc()
        """The location of the present task."""
        self._plan = plan
        self._realised = realised
        self._form = facts.recorded(analyses.is_closed.form)
        self._interval = facts.recorded(analyses.intervals.__getitem__)
        self._is_valid = facts.recorded(analyses.validity.__getitem__)
        self._is_result = facts.recorded(is_result)

    def builder(self) -> KernelBuilder:
        """A new kernel."""
        k = KernelBuilder(self._realised, self._plan.local_axes, self._form, self._interval)
        k.location = self.location
        return k

    def realising(self, op: Operation, made: Realised, mask: Callable[[], SSAValue]) -> Emitted:
        """A kernel that stores a value, as it is `made`, and its validity in the buffer that `mask`
        makes if cells may be invalid."""
        k, result = self.builder(), op.results[0]
        k.parameter(made.data)
        if self._is_stored_in_parts(op, result):
            return self._store_parts(k, op, op, lambda index: k.locate(made.data, made.at(index)))
        index, ranges = self._loops(k, op, tg.shape_of(result))
        cell, at = k.root_cell(op, index), made.at(index)
        stores = [k.store(k.locate(made.data, at), Cell(materialised(k, cell), None))]
        if cell.valid is not None:
            stores.append(k.store(k.locate(mask(), at), Cell(cell.valid, None)))
        return Emitted(k, stores, ranges)

    def filling(self, op: tg.PadOp, made: Realised, slabs: Slabs) -> Emitted:
        """A kernel that stores the fill value of a PAD in some cells of its buffer."""
        k = self.builder()
        k.parameter(made.data)
        index, ranges = k.loops(slabs.shape, tg.AxisType.LOOP, (), made.order)
        fill = Cell(k.emit(tg.ConstOp, op.fill), None)
        stores: list[SSAValue] = []
        for start in slabs.starts:
            at = tuple(i + first for i, first in zip(index, start, strict=True))
            stores.append(k.store(k.locate(made.data, made.at(at)), fill))
        return Emitted(k, stores, ranges)

    def online(
        self, op: Operation, data: SSAValue, *, is_grid: bool, is_relaxed: bool
    ) -> tuple[OnlineKernel, Emitted]:
        """A kernel that stores a value of which sums are computed in one pass over blocks in a view
        of memory."""
        k = self.builder()
        k.parameter(tg.memory_of(data))
        kernel = OnlineKernel(k, *self._plan.online[op], is_grid=is_grid, is_relaxed=is_relaxed)
        cell, index, gate, ranges = kernel.emit()
        return kernel, Emitted(k, [k.store(k.locate(data, index), cell, gate)], ranges)

    def storing(
        self,
        root: Operation | None,
        target: SSAValue,
        value: SSAValue,
        gate: SSAValue | None = None,
        *,
        in_parts: bool = True,
    ) -> Emitted:
        """A kernel that writes a value to a view of memory. Its loops are those that are planned
        for the `root`, if one is given."""
        k = self.builder()
        # The memory cell, the value, and the gate at the index of the loops.
        leaf = tg.memory_of(target)
        k.parameter(leaf)
        parts = value.owner
        if (
            in_parts
            and gate is None
            and isinstance(parts, tg.StackOp)
            and parts not in self._realised
            and self._is_stored_in_parts(parts, value)
            and not (_interleaves(target) and len(parts.sources) >= MANY_INTERLEAVED)
        ):
            return self._store_parts(k, root, parts, partial(k.locate, target))
        index, ranges = self._loops(k, root, tg.shape_of(target))
        where = k.locate(target, index)
        cell = k.cell(value, index)
        if self._is_result(leaf):
            cell = Cell(materialised(k, cell), None)
        condition = None
        if gate is not None:
            gated = k.cell(gate, index if tg.tensor(gate).get_shape() else ())
            condition = k.both(gated.value, gated.valid)
        return Emitted(k, [k.store(where, cell, condition)], ranges)

    def _is_stored_in_parts(self, op: Operation, value: SSAValue) -> TypeGuard[tg.StackOp]:
        """Whether an iteration of a kernel stores an element of each operand, instead of choosing
        the operand of an element."""
        return (
            isinstance(op, tg.StackOp) and len(op.sources) <= MANY_PARTS and self._is_valid(value)
        )

    def _store_parts(
        self,
        k: KernelBuilder,
        root: Operation | None,
        stack: tg.StackOp,
        locate: Callable[[Index], Sequence[MemoryCell]],
    ) -> Emitted:
        """STOREs of an element of each operand of a STACK in the loops of a kernel, where `locate`
        says."""
        index, ranges = self._loops(k, root, tg.shape_of(stack.result)[1:], first=1)
        stores: list[SSAValue] = []
        for number, source in enumerate(stack.sources):
            cell = k.cell(source, index)
            where = locate((tg.Affine(constant=number), *index))
            stores.append(k.store(where, Cell(materialised(k, cell), None)))
        return Emitted(k, stores, ranges)

    def _loops(
        self, k: KernelBuilder, root: Operation | None, shape: tg.Shape, *, first: int = 0
    ) -> tuple[Index, list[SSAValue]]:
        """The loops of a kernel, in the order and with the splits that are planned. They are those
        of the axes from the `first` on."""
        if root is None:
            return k.loops(shape, tg.AxisType.LOOP)
        splits = self._plan.splits.get(root, ())[first:]
        order = [a - first for a in self._plan.orders.get(root, ()) if a >= first]
        return k.loops(shape, tg.AxisType.LOOP, splits, order)


def _interleaves(view: SSAValue) -> bool:
    """Whether neighbours in memory are along the first axis of a view."""
    op = view.owner
    return (
        isinstance(op, tg.PermuteOp)
        and tg.integers(op, "order")[0] == len(tg.tensor(view).shape) - 1
    )
