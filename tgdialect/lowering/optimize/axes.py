"""A kernel as OptOps see it: its ranges by their axis ids, and what is in the loop of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from functools import cache, cached_property
from typing import Any, TypeVar, cast

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.strides import Strides, strides, unclamped
from tgdialect.analysis.overwriting import check_overwriting
from tgdialect.analysis.ranges import Ranges, closed_ranges, needed_ops, open_ranges
from tgdialect.diagnostics import acted, told
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.packing import Packing
from tgdialect.lowering.passed_memory import aliased_kernels
from tgdialect.lowering.recomputation import IN_LOOPS, renumber
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORKGROUP
from tgdialect.ops.properties import static_bytes
from tgdialect.ops.views import movements
from tgdialect.targets import Target
from tgdialect.targets.attribute import target_of
from tgdialect.transforms.dead_ops import erase_dead_ops
from tgdialect.transforms.simplify import Engines, scheduled_engine, simplify

T = TypeVar("T")


class IllegalOptError(PassFailedException):
    """An OptOp is not legal for a kernel; the message says why."""


class NoChangeError(IllegalOptError):
    """An OptOp changes nothing of a kernel: a program may have it, a search need not try it."""


class Axes:
    """The ranges of a kernel, and analyses of them, which are dropped whenever a range changes."""

    def __init__(
        self,
        kernel: tg.KernelOp,
        original: tg.KernelOp | None = None,
        constants: Set[int] = frozenset(),
        aliased: Set[str] | None = None,
        *,
        may_round: bool = False,
    ) -> None:
        """
        Args:
            original: the kernel that this one is a copy of, whose CALLs say which memory is passed.
            constants: the slots whose contents are the same in every call of the program.
            aliased: `aliased_kernels` of the module; found when they are first asked for if None.
            may_round: whether a heuristic may choose matrix instructions that round factors first.
        """
        self.kernel = kernel
        self.may_round = may_round
        self.constants = constants
        self.prepacked: dict[tg.KernelOp, Packing] = {}
        """The kernels that STAGEs have made: they run before this one, and pack what it loads."""
        self._original = kernel if original is None else original
        self._aliased = aliased
        self._is_checked = False
        self._engine = scheduled_engine()
        self._waits = self._is_rough = False

    @property
    def engines(self) -> Engines:
        """The engine that has simplified the kernel before."""
        return {self.kernel: self._engine}

    @property
    def is_copy(self) -> bool:
        """Whether the kernel is a copy, which nothing calls."""
        return self._original is not self.kernel

    def trial(self) -> Axes:
        """A copy of the kernel, for OptOps of which all have to be legal."""
        kernel, facts = self.kernel.clone(), (self._original, self.constants, self._aliased)
        return Axes(kernel, *facts, may_round=self.may_round)

    def adopt(self, trial: Axes) -> None:
        """Take over what OptOps have made of a copy."""
        self.kernel.body.detach_block(old := self.kernel.body.block)
        old.erase()
        self.kernel.body.add_block(trial.kernel.body.detach_block(trial.kernel.body.block))
        self._engine = trial._engine
        self.changed()
        if not self.is_copy:
            acted("matrix instructions", self.kernel)

    @property
    def target(self) -> Target:
        """The target that the module states, or that of this machine."""
        return target_of(self._original.parent_op())

    def check_memory_order(self) -> None:
        """Raise PassFailedException where an iteration reads what another one may write.

        OptOps do not change which iterations conflict: one check before the first is enough."""
        if not self._is_checked:
            check_overwriting(self.ops, is_grid=self.target.is_grid)
            self._is_checked = True

    @cached_property
    def has_shared_memory(self) -> bool:
        """Whether some CALL passes the same memory for two parameters."""
        aliased, module = self._aliased, self._original.parent_op()
        if aliased is None:
            aliased = aliased_kernels(module) if module is not None else frozenset[str]()
        return self._original.sym_name.data in aliased

    @cached_property
    def ops(self) -> Sequence[Operation]:
        """The ops that the SINK needs, in a topological order."""
        return needed_ops(self.kernel.body.block)

    @cached_property
    def open(self) -> dict[Operation, Ranges]:
        """The ranges in whose loops each op is."""
        return open_ranges(self.ops)

    @cached_property
    def ranges(self) -> dict[int, tg.RangeOp]:
        return {op.axis.data: op for op in self.ops if isinstance(op, tg.RangeOp)}

    @property
    def params(self) -> Sequence[tg.ParamOp]:
        return [op for op in self.ops if isinstance(op, tg.ParamOp)]

    @cached_property
    def closers(self) -> Sequence[tg.EndOp | tg.ReduceOp]:
        """The ops that close ranges, inner nests first."""
        return [op for op in self.ops if isinstance(op, tg.EndOp | tg.ReduceOp)]

    @cached_property
    def ends(self) -> dict[tg.RangeOp, tg.EndOp]:
        """The END that closes each range that one closes."""
        ends = (op for op in self.closers if isinstance(op, tg.EndOp))
        return {range: end for end in ends for range in closed_ranges(end)}

    @cached_property
    def reductions(self) -> Mapping[tg.RangeOp, Sequence[tg.ReduceOp]]:
        """The REDUCEs over each range."""
        found = (op for op in self.closers if isinstance(op, tg.ReduceOp))
        return by_range((op, closed_ranges(op)) for op in found)

    @cached_property
    def written(self) -> Set[SSAValue]:
        """The memory that the kernel writes."""
        writes = (op for op in self.ops if isinstance(op, tg.StoreOp | tg.AtomicAddOp))
        return {tg.memory_of(op.operands[0]) for op in writes}

    @cached_property
    def accesses(self) -> Mapping[tg.RangeOp, Sequence[tg.LoadOp | tg.StoreOp | tg.AtomicAddOp]]:
        """The accesses in the loop of each range."""
        found = (op for op in self.ops if isinstance(op, tg.LoadOp | tg.StoreOp | tg.AtomicAddOp))
        return by_range((op, self.open[op]) for op in found)

    @cached_property
    def kept(self) -> dict[type, Any]:
        """Models of the kernel by their class, until it changes."""
        return {}

    def changed(self) -> None:
        for name in _ANALYSES:
            self.__dict__.pop(name, None)

    def simplify(self) -> bool:
        """Simplify what has changed since the last time; in `simplified_once`, later. Whether it
        was now."""
        self._is_rough = self._waits
        if not self._waits:
            with told(None) if self.is_copy else nullcontext():
                simplify(self.kernel, self.engines)
        self.changed()
        return not self._waits

    @contextmanager
    def simplified_once(self) -> Generator[None]:
        """Have OptOps that simplify the kernel leave that to the end. Each iteration of the loops
        that are split meanwhile has to write cells of its own, as in the copies of STAGE."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False
            if self._is_rough:
                self.simplify()

    def erase_dead_ops(self) -> None:
        """Erase the ops that the SINK does not need."""
        self.changed()
        erase_dead_ops(self.kernel.body.block, self.ops)

    def __getitem__(self, axis: int) -> tg.RangeOp:
        if (range := self.ranges.get(axis)) is None:
            there_are = ", ".join(map(str, sorted(self.ranges)))
            raise IllegalOptError(f"there is no range {axis}; there are: {there_are or 'none'}")
        return range

    def extent(self, range: tg.RangeOp) -> int:
        """How many iterations a range has. Raises IllegalOptError where that is not known."""
        if (extent := tg.known_index(range.bound)) is None:
            raise IllegalOptError(f"the extent of range {range.axis.data} is dynamic")
        return extent

    def is_multiple(self, range: tg.RangeOp, size: int) -> bool:
        """Whether the extent of a range is a multiple of a size in every call."""
        return tg.polynomial(range.bound).is_multiple_of(size)

    def check_no_fragment(self, range: tg.RangeOp) -> None:
        """Raise IllegalOptError for a range that TC has made: an instruction decides its extent."""
        axis = range.axis.data
        if range.axis_type.data is tg.AxisType.WARP or axis in self.fragments:
            raise IllegalOptError(f"range {axis} is of the fragments of a WMMA")

    def check_unordered(self, range: tg.RangeOp) -> None:
        """Raise IllegalOptError for a loop whose iterations have an order."""
        if range in self.ends and range.axis_type.data is tg.AxisType.REDUCE:
            raise IllegalOptError(f"the iterations of range {range.axis.data} have an order")

    def check_bounds_none(self, range: tg.RangeOp) -> None:
        """Raise IllegalOptError for a range on which the extent of another one depends."""
        if range in self.bounding:
            raise IllegalOptError(f"the extent of another range depends on range {range.axis.data}")

    def reduction(self, range: tg.RangeOp) -> tg.ReduceOp:
        """The REDUCE over a range, in any order. Raises IllegalOptError where there is not one."""
        axis, kind = range.axis.data, range.axis_type.data
        if kind is not tg.AxisType.REDUCE or range in self.ends:
            raise IllegalOptError(f"range {axis} is {kind}, and not of a REDUCE")
        reduce, *others = self.reductions[range]
        if others:
            raise IllegalOptError(f"several REDUCEs are over range {axis}")
        if reduce.ordered is not None:
            raise IllegalOptError(f"the REDUCE over range {axis} is ordered")
        return reduce

    def has_atomics(self, range: tg.RangeOp) -> bool:
        """Whether an ATOMICADD is in the loop of a range."""
        return any(isinstance(op, tg.AtomicAddOp) for op in self.accesses.get(range, ()))

    def check_work_items(self, range: tg.RangeOp, kind: tg.AxisType, extent: int) -> None:
        """Raise IllegalOptError if a range of this type and extent gave a nest more work items than
        the workgroups of a grid can have."""
        most, name = self.target.workgroup, self.target.name
        if kind not in WORKGROUP or not self.target.is_grid:
            return
        for op in self.closers:
            nest = {*self.open[op], *closed_ranges(op)}
            items = [r for r in nest if r.axis_type.data in WORKGROUP and r is not range]
            count = math.prod(tg.known_index(r.bound) or 1 for r in items) * extent
            if range in nest and count > most:
                message = f"a workgroup would have {count} work items, and the target {name} allows"
                raise IllegalOptError(f"{message} {most}")

    def check_local(self, own: Set[tg.BufferOp], count: int, more: int = 0) -> None:
        """Raise IllegalOptError if a workgroup has no memory for so many copies of some buffers,
        the other ones in LOCAL memory, and so many bytes more."""
        for op in self.ops if own else ():
            if isinstance(op, tg.BufferOp) and tg.place(op.result).addrspace is tg.AddrSpace.LOCAL:
                more += static_bytes(op.result) * (count if op in own else 1)
        if more > self.target.local and own:
            raise IllegalOptError(f"buffers of {more} bytes do not fit into LOCAL memory")

    @cached_property
    def fragments(self) -> Set[int]:
        """The axis ids of the ranges of the fragments of WMMAs."""
        reduces = (op for op in self.closers if isinstance(op, tg.ReduceOp) and op.wmma)
        return {axis for op in reduces for axis in tg.integers(op, "fragment")}

    @cached_property
    def bounding(self) -> Mapping[tg.RangeOp, tg.RangeOp]:
        """The ranges on which the extents of others depend, and the first of these."""
        found: dict[tg.RangeOp, tg.RangeOp] = {}
        for other in self.ranges.values():
            for range in self.around(other.bound):
                found.setdefault(range, other)
        return found

    def stores(self, range: tg.RangeOp) -> Iterator[tg.StoreOp]:
        """The STOREs in the loop of a range."""
        return (op for op in self.accesses.get(range, ()) if isinstance(op, tg.StoreOp))

    @cached_property
    def _users(self) -> Mapping[SSAValue, Sequence[Operation]]:
        """The views and accesses of each memory."""
        memories: dict[SSAValue, SSAValue] = {}
        found: dict[SSAValue, list[Operation]] = {}
        for op in self.ops:
            if isinstance(op, tg.BufferOp | tg.ParamOp):
                memories[op.result], found[op.result] = op.result, []
            elif op.operands and (memory := memories.get(op.operands[0])) is not None:
                found[memory].append(op)
                if isinstance(op, tg.MovementOp | tg.AfterOp):
                    memories[op.results[0]] = memory
        return found

    def around(self, value: SSAValue) -> Ranges:
        """The ranges in whose loops a value is."""
        owner = value.owner
        return self.open.get(owner, frozenset()) if isinstance(owner, tg.TgOp) else frozenset()

    def depends(self, value: SSAValue, range: tg.RangeOp) -> bool:
        return range in self.around(value)

    @cached_property
    def strides(self) -> Callable[[SSAValue], Strides]:
        """The strides of a location along the ranges, each found once."""
        known: dict[SSAValue, tg.Polynomial] = {}

        def found(location: SSAValue) -> Strides:
            return strides(location, self.around, known)

        return cache(found)

    def reads(self, range: tg.RangeOp) -> Iterator[tg.LoadOp]:
        return (op for op in self.accesses.get(range, ()) if isinstance(op, tg.LoadOp))

    # -- changing ranges

    def set_type(self, range: tg.RangeOp, kind: tg.AxisType) -> None:
        range.axis_type = unchecked.made(tg.AxisTypeAttr, data=kind)

    def replace(
        self, range: tg.RangeOp, outer: tg.RangeOp, inner: tg.RangeOp, index: SSAValue
    ) -> None:
        """Replace a range by two that are in the block; `index` is the number of its iteration."""
        renumber(range, index, index.owner, outer, inner)
        for op in dict.fromkeys(use.operation for use in range.result.uses):
            pair = (inner, outer) if isinstance(op, tg.EndOp) else (outer, inner)
            new = [r.result for r in pair]
            op.operands = [v for o in op.operands for v in (new if o is range.result else [o])]
        self.kernel.body.block.erase_op(range)
        self.changed()

    def split(
        self,
        range: tg.RangeOp,
        parts: tuple[int | SSAValue, int],
        kinds: tuple[tg.AxisType, tg.AxisType],
        *,
        top: bool = False,
        overlap: bool = False,
    ) -> tuple[tg.RangeOp, tg.RangeOp]:
        """Two ranges, the outer first, in place of one. The new one is the inner, or with `top` the
        outer; the other keeps its axis id. With `overlap` the last part begins in the one
        before."""
        builder = tg.OpBuilder.before(range)
        old, new = range.axis.data, next(builder.free_axes)
        numbers = (new, old) if top else (old, new)
        dtype, (count, size) = tg.tensor(range.bound).element_type, parts
        put, constant = builder.put, builder.index_constant
        bounds = [p if isinstance(p, SSAValue) else put(tg.ConstOp(p, dtype)) for p in parts]
        made = zip(numbers, kinds, bounds, strict=True)
        outer, inner = (builder.insert(tg.RangeOp(*each)) for each in made)
        start = put(tg.MulOp(outer, constant(size)))
        if overlap:
            if isinstance(count, int):
                last = constant(self.extent(range) - size)
            else:
                # PADTO masks the iterations of a range that is shorter than a part.
                extent = padded_extent(range)
                assert extent is not None, "parts of a range that is not padded do not overlap"
                last = put(tg.MaxOp(put(tg.SubOp(extent, constant(size))), constant(0)))
            start = put(tg.WhereOp(put(tg.CmpLtOp(start, last)), start, last))
        self.replace(range, outer, inner, put(tg.AddOp(start, inner)))
        return outer, inner

    def share(
        self, range: tg.RangeOp, count: int, kind: tg.AxisType
    ) -> tuple[tg.RangeOp, tg.RangeOp]:
        """A range over so many chunks of a dynamic extent, and one over the iterations of a chunk,
        which keeps its axis id, in place of one range. Chunks differ by one iteration at most."""
        builder = tg.OpBuilder.before(range)
        put, chunks = builder.put, builder.index_constant(count)
        outer = builder.insert(tg.RangeOp(next(builder.free_axes), kind, chunks))
        numbers = outer.result, put(tg.AddOp(outer, builder.index_constant(1)))
        whole = (put(tg.MulOp(range.bound, number)) for number in numbers)
        start, end = (put(tg.IDivOp(each, chunks)) for each in whole)
        bound = put(tg.SubOp(end, start))
        inner = builder.insert(tg.RangeOp(range.axis.data, range.axis_type.data, bound))
        self.replace(range, outer, inner, put(tg.AddOp(start, inner)))
        return outer, inner

    # -- buffers that each iteration has for itself

    def shared_buffers(self, range: tg.RangeOp) -> Sequence[tg.BufferOp]:
        """The buffers of the kernel that are written in the loop of a range at cells that do not
        depend on it."""
        cells = (store.buffer for store in self.stores(range))
        shared = (tg.memory_of(c).owner for c in cells if not self.depends_on_index(c, range))
        return [*dict.fromkeys(owner for owner in shared if isinstance(owner, tg.BufferOp))]

    def depends_on_index(self, location: SSAValue, range: tg.RangeOp) -> bool:
        """Whether which cell a location is depends on a range."""
        operands = (o for movement in movements(location) for o in movement.operands[1:])
        return any(self.depends(operand, range) for operand in operands)

    def is_bound_to(self, value: SSAValue, ranges: Set[tg.RangeOp]) -> bool:
        """Whether a value depends on a REDUCE or STORE in the loop of one of some ranges. Such a
        value cannot be computed again in other loops."""
        ops = tg.computed_from(value)
        return any(isinstance(op, IN_LOOPS) and self.open[op] & ranges for op in ops)

    def is_private(self, buffer: tg.BufferOp, range: tg.RangeOp) -> bool:
        """Whether a buffer is used in the loop of a range only."""
        if tg.place(buffer.result).addrspace is tg.AddrSpace.GLOBAL:
            return False
        kinds, users = tg.LoadOp | tg.StoreOp | tg.AtomicAddOp, self._users[buffer.result]
        return all(range in self.open[op] for op in users if isinstance(op, kinds))

    def privatize(self, buffer: tg.BufferOp, range: tg.RangeOp) -> None:
        """Give each iteration of a range a copy of a buffer: one more axis. It is the last, so that
        vectors lie along it, or the first for work items, whose copies lie one after another."""
        is_first = range.axis_type.data is tg.AxisType.LOCAL
        extent = self.extent(range)

        def shape(view: SSAValue) -> Sequence[int]:
            old = tg.tensor(view).get_shape()
            return (extent, *old) if is_first else (*old, extent)

        where = tg.place(buffer.result)
        type = tg.tensor_type(tg.tensor(buffer.result).element_type, shape(buffer.result), where)
        block = self.kernel.body.block
        wider = tg.OpBuilder.before(buffer).put(buffer.rebuild(buffer.dims, type))
        views: dict[SSAValue, SSAValue] = {buffer.result: wider}
        for op in ops_of(block):
            if not op.operands or (view := views.get(op.operands[0])) is None:
                continue
            builder = tg.OpBuilder.before(op)
            if isinstance(op, tg.LoadOp | tg.StoreOp | tg.AtomicAddOp):
                # The location of a buffer of no axes is the buffer.
                cell = builder.put(tg.IndexOp(view, [range.result]))
                op.operands = (cell, *op.operands[1:])
            elif isinstance(op, tg.IndexOp):
                own = range.result
                indices = (own, *op.indices) if is_first else (*op.indices, own)
                cell = builder.put(op.rebuild([view, *indices]))
                op.result.replace_all_uses_with(cell)
            elif isinstance(op, tg.AfterOp | tg.BitcastOp):
                views[op.result] = builder.put(op.rebuild([view, *op.operands[1:]]))
            else:
                assert isinstance(op, tg.ReshapeOp)
                views[op.result] = builder.put(tg.ReshapeOp(view, shape(op.result)))
        self.erase_dead_ops()

    def check_views(self, buffer: tg.BufferOp) -> None:
        """Raise IllegalOptError where a view of a buffer has no place for one more axis."""
        for op in self._users[buffer.result]:
            if isinstance(op, tg.BitcastOp) and tg.tensor(op.result).get_shape():
                sizes = {tg.dtype_of(value).itemsize for value in (op.source, op.result)}
                if len(sizes) > 1:
                    raise IllegalOptError("a BITCAST of a buffer has elements of another size")

    # -- order

    def nest(self, range: tg.RangeOp) -> tg.EndOp | tg.ReduceOp:
        """The op that closes a range: its END, or else the first REDUCE over it."""
        return self.ends.get(range) or self.reductions[range][0]

    def reorder(self, order: Sequence[tg.RangeOp]) -> None:
        """Nest ranges in this order, the outermost first, wherever they are closed together."""
        position = {range: i for i, range in enumerate(order)}
        for op in self.closers:
            ranges = closed_ranges(op)
            wanted = sorted((r for r in ranges if r in position), key=position.__getitem__)
            if isinstance(op, tg.EndOp):
                wanted.reverse()
            new = iter(wanted)
            placed = [next(new) if r in position else r for r in ranges]
            op.operands = (op.operands[0], *(r.result for r in placed))
        self.changed()


_ANALYSES = {name for name, value in vars(Axes).items() if isinstance(value, cached_property)}
_ANALYSES.remove("has_shared_memory")
"""The analyses of a kernel, which a change makes wrong."""


def padded_extent(range: tg.RangeOp) -> SSAValue | None:
    """The extent that PADTO has rounded up; None if the range is not padded."""
    for use in range.result.uses:
        user = use.operation
        if isinstance(user, tg.WhereOp) and unclamped(user.result) is range.result:
            return cast(tg.CmpLtOp, user.condition.owner).rhs
    return None


def by_range(found: Iterable[tuple[T, Iterable[tg.RangeOp]]]) -> Mapping[tg.RangeOp, Sequence[T]]:
    """The inverse of a relation to ranges: for each range, in the order given, what has it."""
    result: dict[tg.RangeOp, list[T]] = {}
    for each, ranges in found:
        for range in ranges:
            result.setdefault(range, []).append(each)
    return result
