"""Kernels whose ops are in order, as a listing has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import needed_ops
from tgdialect.diagnostics import lasting_hint, locate, noted
from tgdialect.legacy.attributes import LegacyWmmaAttr, UnrolledAxes
from tgdialect.legacy.ops import control, framework
from tgdialect.legacy.ops import memory as old_memory
from tgdialect.legacy.ops.compute import WmmaOp
from tgdialect.legacy.upgrade.arithmetic import Arithmetic
from tgdialect.legacy.upgrade.loops import (
    Access,
    Variable,
    access_of,
    cell_of,
    loop_bodies,
    memory_of,
    pointer_sizes,
    reduced,
    scalar_cells,
    updated_buffers,
    variable_of,
)
from tgdialect.legacy.upgrade.memory import MemoryVersions, keep_order
from tgdialect.legacy.upgrade.views import all_of, filled, reshaped
from tgdialect.ops import codegen, ordering, tg
from tgdialect.ops import elementwise as e
from tgdialect.targets.matrix import MMA_16X8X16, Fragments
from tgdialect.transforms.dead_ops import erase_dead_ops

_FRAGMENTS: Mapping[tuple[str, tuple[int, int, int], int], Fragments] = {
    ("CUDA", (16, 8, 16), 32): MMA_16X8X16,
}
"""The fragments of A, B and the accumulator, by device, (M, N, K) and threads, which the older
configuration does not state."""


def _upgraded_config(config: LegacyWmmaAttr) -> tg.WmmaAttr:
    """The configuration of `tg.wmma`; raises PassFailedException for fragments that are unknown."""
    if config.threads == 1:
        dims, none = ArrayAttr(IntAttr(d) for d in config.m_n_k), ArrayAttr[StringAttr](())
        return tg.WmmaAttr(dims, IntAttr(1), none, none, none)
    key = config.device.data, config.m_n_k, config.threads
    if (known := _FRAGMENTS.get(key)) is None:
        m, n, k = config.m_n_k
        raise PassFailedException(
            f"which elements a thread of {config.device.data} holds in a {m}x{n}x{k} wmma of "
            f"{config.threads} threads is not known: write it as tg.wmma, which states it"
        )
    return known.config


_REG = tg.PlaceAttr.of(None, tg.AddrSpace.REG)
_GLOBAL = tg.PlaceAttr.of(None, tg.AddrSpace.GLOBAL)


@dataclass
class Carried:
    """An accumulator that loops carry from one iteration to the next."""

    variable: Variable
    initial: SSAValue
    """Its value before the loop."""
    memory: SSAValue
    """The BUFFER that has it."""
    inside: SSAValue
    """The version of the BUFFER in the loop."""
    old: SSAValue
    """Its value at the beginning of an iteration."""


@dataclass
class Open:
    """A block that is open: a loop with what it carries, or a condition."""

    range: tg.RangeOp | None
    carried: list[Carried] = field(default_factory=list[Carried])


class OrderedKernel:
    """A kernel that is being rewritten, op by op, in the order of execution.

    The method for an op is `on_` and its name, or `on_tg_` for an op of `tg`; ops without one are
    arithmetic.
    """

    def __init__(self, ops: Sequence[Operation], *, reduces: bool) -> None:
        """`reduces` says whether loops that reduce become REDUCEs."""
        self.reduces = reduces
        self.block = Block()
        self.builder = tg.OpBuilder.at_end(self.block)
        intervals = MinMax()
        self.arithmetic = Arithmetic(self.builder, intervals)
        self.values = self.arithmetic.values
        self.versions = MemoryVersions(self.builder)
        self.sizes = pointer_sizes(ops, intervals)
        self.slots = _argument_slots(ops)
        self.updated = updated_buffers(ops)
        self.cells = scalar_cells(ops)
        self.bodies = loop_bodies(ops, self.cells)
        self.locations: dict[tuple[SSAValue, SSAValue], SSAValue] = {}
        """The INDEX of each version of a buffer at a position."""
        self.variables: dict[Variable, SSAValue] = {}
        """The present values of accumulators."""
        self.open: list[Open] = []
        self.items: list[tg.RangeOp] = []
        """The loops over work items: each has its own registers and LOCAL memory."""
        self.conditions: list[SSAValue] = []
        """The conditions of the blocks that are open."""

    def rewrite(self, op: Operation) -> None:
        """Rewrite an op whose operands are rewritten."""
        self.builder.location = op.location
        for operand in op.operands:
            if (variable := variable_of(operand)) is not None:
                self.values[operand] = self.variables[variable]
        rule = getattr(self, f"on_{op.name.removeprefix('tg_legacy.').replace('.', '_')}", None)
        if rule is not None:
            noted(rule.__name__, op)
            rule(op)
        elif isinstance(op, tg.TgOp) and not _is_computed(op):
            raise PassFailedException(f"{op.name} does not belong in a kernel")
        else:
            self.arithmetic.rewrite(op)
        for result in op.results:
            if (new := self.values.get(result)) is not None:
                new.name_hint = new.name_hint or result.name_hint

    def put(self, op: Operation) -> SSAValue:
        return self.builder.put(op)

    # -- memory ----------------------------------------------------------------------------------

    def on_define_global(self, op: old_memory.DefineGlobalOp) -> None:
        dtype = tg.tensor(op.result).element_type
        type = tg.tensor_type(dtype, (self.sizes[op.result],), _GLOBAL)
        self._define(op, tg.ParamOp(self.slots[op.result], type))
        if op.symbol is not None:
            self.values[op.result].name_hint = lasting_hint(op.symbol.data)

    def on_define_var(self, op: framework.DefineVarOp) -> None:
        low, high = op.min.data, op.max.data
        type, name = tg.tensor_type(tg.INDEX), op.symbol.data
        param = self.put(tg.ParamOp(self.slots[op.result], type, name=name, min=low, max=high))
        param.name_hint = lasting_hint(name)
        self._enter_index(op.result, param)

    def on_tg_param(self, op: tg.ParamOp) -> None:
        dims = [self.arithmetic.index(dim) for dim in op.dims]
        new = op.rebuild(dims)
        new.properties["slot"] = tg.NumberAttr(self.slots[op.result])
        self._define(op, new)

    def on_define_local(self, op: old_memory.DefineLocalOp) -> None:
        self._define(op, tg.BufferOp(next(self.builder.free_slots), tg.tensor(op.result)))

    def on_tg_buffer(self, op: tg.BufferOp) -> None:
        if op.result not in self.cells:
            self._define(op, tg.BufferOp(next(self.builder.free_slots), tg.tensor(op.result)))
            return
        zero = self.put(tg.ConstOp(0, tg.tensor(op.result).element_type))
        for cell in range(self.cells[op.result]):
            self.variables[op.result, cell] = zero

    def _define(self, op: Operation, new: Operation) -> None:
        self.values[op.results[0]] = self.put(new)

    def on_load(self, op: old_memory.LoadOp) -> None:
        access = access_of(op)
        if (variable := cell_of(access, self.cells)) is not None:
            self.values[op.result] = self.variables[variable]
            return
        axes = self._axes(access, access.conditions, () if op.alt is None else (op.alt,))
        buffer, position = self._memory(access), self._position(access, op.result, axes)
        version = self.version(op, buffer, None)
        if memory_of(access.buffer) in self.updated:
            version = self._in(self.items, version)
        location = self._location(version, position)
        gate = self._gate(access.conditions, op.result, axes)
        shape = tg.tensor(location).get_shape()
        alternative = None if gate is None else self._alternative(op, axes, shape)
        value = self.put(tg.LoadOp(location, alternative, gate))
        self.arithmetic.unrolled.axes[op.result] = axes
        shape = *(size for _, size in axes), *tg.tensor(op.result).get_shape()
        self.values[op.result] = reshaped(self.builder, value, shape)

    def _alternative(
        self, op: old_memory.LoadOp, axes: UnrolledAxes, shape: Sequence[int]
    ) -> SSAValue:
        """The value of a LOAD where its gate is false; 0 if it does not say."""
        if op.alt is not None:
            return self._spread(op.alt, self.values[op.alt], axes, op.result)
        return filled(self.builder, tg.ConstOp(0, tg.tensor(op.result).element_type), shape)

    def on_store(self, op: old_memory.StoreOp) -> None:
        access = access_of(op)
        if (variable := cell_of(access, self.cells)) is not None:
            self.update(variable, self.values[op.value])
            return
        conditions = (*access.conditions, *self.conditions)
        axes = self._axes(access, conditions, (op.value,))
        buffer, position = self._memory(access), self._position(access, op.value, axes)
        where = None if position is None or tg.tensor(position).get_shape() else position
        version = self.version(op, buffer, where)
        value = self._spread(op.value, self.values[op.value], axes, op.value)
        gate = self._gate(conditions, op.value, axes)
        version = self._in_loops(version, [v for v in (position, value, gate) if v is not None])
        location = self._location(version, position)
        effect = self.put(tg.StoreOp(location, value, gate))
        self.values[op.result] = effect
        self.versions.wrote(buffer, where, effect)

    def version(
        self, op: old_memory.LoadOp | old_memory.StoreOp, buffer: SSAValue, where: SSAValue | None
    ) -> SSAValue:
        """The version of a buffer that a LOAD sees, or that a STORE writes at a position."""
        if isinstance(op, old_memory.LoadOp):
            return self.versions.to_read(buffer)
        return self.versions.to_write(buffer, where)

    def _memory(self, access: Access) -> SSAValue:
        position = access.position
        if tg.tensor(access.buffer).get_shape() if position is None else tg.is_memory(position):
            rule = "a kernel accesses memory at a position, not in a VIEW or whole"
            raise PassFailedException(rule)
        return self.values[memory_of(access.buffer)]

    def _axes(
        self, access: Access, conditions: Sequence[SSAValue], values: Sequence[SSAValue]
    ) -> UnrolledAxes:
        """The unrolled axes of an access."""
        position = () if access.position is None else (access.position,)
        return self.arithmetic.unrolled.union((*position, *conditions, *values))

    def _spread(self, old: SSAValue, new: SSAValue, axes: UnrolledAxes, like: SSAValue) -> SSAValue:
        """A value with all unrolled axes of an access, as one axis."""
        value = self.arithmetic.unrolled.spread(old, new, axes, tg.tensor(like).get_shape())
        return self._flattened(value)

    def _position(self, access: Access, like: SSAValue, axes: UnrolledAxes) -> SSAValue | None:
        """The positions of the elements of an access, as one axis."""
        if access.position is None:
            return None
        index = self.arithmetic.index(access.position)
        if access.lanes == 1:
            return self._spread(access.position, index, axes, like)
        if (first := tg.known_index(index)) is not None and not axes:
            return self.put(tg.VConstOp(range(first, first + access.lanes)))
        index = self.arithmetic.unrolled.spread(access.position, index, axes, ())
        if axes:
            index = reshaped(self.builder, index, (*tg.tensor(index).get_shape(), 1))
        lanes = self.put(tg.VConstOp(range(access.lanes)))
        return self._flattened(self.put(e.AddOp(index, lanes)))

    def _location(self, buffer: SSAValue, position: SSAValue | None) -> SSAValue:
        if position is None:
            return buffer
        key = buffer, position
        if key not in self.locations:
            self.locations[key] = self.put(tg.IndexOp(buffer, (position,)))
        return self.locations[key]

    def _gate(
        self, conditions: Sequence[SSAValue], like: SSAValue, axes: UnrolledAxes
    ) -> SSAValue | None:
        """Whether all conditions hold; None without any."""
        values = [self._spread(each, self.values[each], axes, like) for each in conditions]
        return all_of(self.builder, values)

    def _in_loops(self, buffer: SSAValue, operands: Sequence[SSAValue]) -> SSAValue:
        """A version of memory for a STORE of some operands, in all loops that are open.

        A graph executes a STORE in the loops that it depends on; in a listing it is in all loops
        around it, which may have no iteration.
        """
        around = [block.range for block in self.open if block.range is not None]
        if tg.tensor(buffer).encoding != _GLOBAL:
            around += self.items
        return self._in(around, buffer, operands)

    def _in(
        self, loops: Sequence[tg.RangeOp], buffer: SSAValue, operands: Sequence[SSAValue] = ()
    ) -> SSAValue:
        """A version of memory in all of some loops, for an access with other operands.

        An operand that depends on a loop without iterations may be simplified to a constant, which
        does not; so the version has to be AFTER a loop that may be empty.
        """
        inside = set(self.versions.ranges(buffer))
        ranges = {r for v in operands for r in self.versions.ranges(v)}
        inside |= {r for r in ranges if (tg.known_index(r.bound) or 0) > 0}
        missing = [r.result for r in loops if r not in inside]
        return self.put(tg.AfterOp(buffer, missing)) if missing else buffer

    def _flattened(self, value: SSAValue) -> SSAValue:
        shape = tg.tensor(value).get_shape()
        return value if len(shape) < 2 else reshaped(self.builder, value, (prod(shape),))

    def on_tg_barrier(self, op: codegen.BarrierOp) -> None:
        self.versions.synchronise(lambda effects: self.put(codegen.BarrierOp(effects)))

    # -- loops and conditions --------------------------------------------------------------------

    def on_tg_special(self, op: codegen.SpecialOp) -> None:
        bound = self.arithmetic.index(op.bound)
        range = self.builder.insert(tg.RangeOp(next(self.builder.free_axes), op.axis_type, bound))
        self.items.append(range)
        self._enter_index(op.result, range.result)

    def begin_loop(self, op: control.LoopBegin | tg.RangeOp) -> None:
        range = self.new_loop(op)
        body = self.bodies[op]
        written = [self.values[buffer] for buffer in body.writes]
        carried = [self.values[buffer] for buffer in body.carried(op.result)]
        self.versions.enter(range, written, carried)
        accumulators = [self.carry(variable, (range,)) for variable in body.assigned]
        self.open.append(Open(range, accumulators))

    on_range = on_loop = on_tg_range = begin_loop

    def new_loop(self, op: control.LoopBegin | tg.RangeOp) -> tg.RangeOp:
        """The RANGE of a loop, which begins at 0, and the iterator."""
        axis = next(self.builder.free_axes)
        if isinstance(op, tg.RangeOp):
            extent = self.arithmetic.index(op.bound)
            range = self.builder.insert(tg.RangeOp(axis, tg.AxisType.LOOP, extent))
            self._enter_index(op.result, range.result)
            return range
        start, end = self.arithmetic.index(op.start), self.arithmetic.index(op.end)
        first = tg.known_index(start)
        extent = end if first == 0 else self._extent(start, end)
        range = self.builder.insert(tg.RangeOp(axis, tg.AxisType.LOOP, extent))
        iterator = range.result if first == 0 else self.put(e.AddOp(range.result, start))
        self._enter_index(op.result, iterator)
        return range

    def _extent(self, start: SSAValue, end: SSAValue) -> SSAValue:
        """The number of iterations of a loop that does not begin at 0."""
        first, last = tg.known_index(start), tg.known_index(end)
        if first is not None and last is not None:
            return self.builder.index_constant(max(last - first, 0))
        difference = self.put(e.SubOp(end, start))
        return self.put(e.MaxOp(difference, self.builder.index_constant(0)))

    def _enter_index(self, old: SSAValue, index: SSAValue) -> None:
        """Record an integer that is made as an index."""
        index.name_hint = index.name_hint or old.name_hint
        self.arithmetic.indices[old] = index
        dtype = tg.tensor(old).element_type
        self.values[old] = index if dtype == tg.INDEX else self.put(e.CastOp(index, dtype))

    def carry(self, variable: Variable, ranges: Sequence[tg.RangeOp]) -> Carried:
        """Begin an iteration: the accumulator is in memory, where the iteration before put it."""
        initial = self.variables[variable]
        type = tg.tensor_type(tg.tensor(initial).element_type, tg.tensor(initial).get_shape(), _REG)
        memory = self.put(tg.BufferOp(next(self.builder.free_slots), type))
        stored = self.put(tg.StoreOp(self._in_loops(memory, (initial,)), initial))
        inside = self.put(tg.AfterOp(memory, (stored, *(r.result for r in ranges))))
        old = self.variables[variable] = self.put(tg.LoadOp(inside))
        return Carried(variable, initial, memory, inside, old)

    def end_blocks(self, op: tg.TgOp) -> None:
        for _ in op.closed_blocks:
            self._end_block()

    on_endrange = on_endloop = on_endif = on_blockend = on_tg_end = end_blocks

    def _end_block(self) -> None:
        block = self.open.pop()
        if block.range is None:
            self.conditions.pop()
            return
        kept: list[Carried] = []
        for each in block.carried:
            new = self.variables[each.variable]
            result = self.reduction(each, (block.range,))
            if result is not None:
                self.variables[each.variable] = result
            elif new is each.old:
                self.variables[each.variable] = each.initial
            else:
                self.versions.effect(self.put(tg.StoreOp(each.inside, new)))
                keep_order(block.range)
                kept.append(each)
        effects = self.versions.leave()
        for each in kept:
            after = self.put(tg.AfterOp(each.memory, effects))
            self.variables[each.variable] = self.put(tg.LoadOp(after))

    def reduction(self, carried: Carried, ranges: Sequence[tg.RangeOp]) -> SSAValue | None:
        """An accumulator after loops, where they reduce; None where they do not."""
        if not self.reduces:
            return None
        new = self.variables[carried.variable]
        initial, old = carried.initial, carried.old
        return reduced(self.builder, ranges, initial, old, new, self.versions.ranges)

    def on_if(self, op: control.IfOp) -> None:
        self.conditions.append(op.condition)
        self.open.append(Open(None))

    # -- accumulators ----------------------------------------------------------------------------

    def on_define_acc(self, op: old_memory.DefineAccOp) -> None:
        self.arithmetic.changing.add(op.result)
        self.variables[op.result, 0] = self.values[op.initial]

    def on_assign(self, op: framework.AssignOp | control.PhiOp) -> None:
        variable = variable_of(op.target)
        if variable is None:
            raise PassFailedException("a kernel assigns to accumulators only: memory has STORE")
        self.arithmetic.changing.add(op.result)
        self.update(variable, self.values[op.value])

    on_phi = on_assign

    def update(self, variable: Variable, value: SSAValue) -> None:
        """Give an accumulator a value, where the conditions around it hold."""
        for condition in self.conditions:
            old = self.variables[variable]
            value = self.put(e.WhereOp(self.values[condition], value, old))
        self.variables[variable] = value

    # -- the rest --------------------------------------------------------------------------------

    def on_wmma(self, op: WmmaOp) -> None:
        config = _upgraded_config(op.config)
        pairs = zip(op.operands, config.operand_shapes, strict=True)
        a, b, c = (reshaped(self.builder, self.values[o], shape) for o, shape in pairs)
        value = self.put(tg.WmmaOp(a, b, c, config))
        self.values[op.result] = reshaped(self.builder, value, tg.tensor(op.result).get_shape())

    def on_custom(self, op: framework.CustomOp | framework.CustomIOp) -> None:
        self.arithmetic.rewrite(op)
        if isinstance(op.result.type, tg.VoidType):
            self.versions.effect(self.values[op.result])

    on_customi = on_custom

    def nothing(self, op: Operation) -> None:
        """An op that is read where it is used, or that the order of the ops says."""

    on_cast = on_name = on_index = on_tg_after = on_tg_group = on_tg_sink = nothing

    def finished(self, name: str) -> tg.KernelOp:
        """The finished kernel: the loops that are open are those around all that it writes."""
        effects: Sequence[SSAValue] = self.versions.effects
        open_ranges = {r for effect in effects for r in self.versions.ranges(effect)}
        ranges = [r for r in self.block.ops if isinstance(r, tg.RangeOp) and r in open_ranges]
        ranges.sort(key=lambda r: r.axis_type.data is tg.AxisType.LOCAL)
        if ranges:
            body = effects[0] if len(effects) == 1 else self.put(ordering.GroupOp(effects))
            effects = [self.put(tg.EndOp(body, [r.result for r in reversed(ranges)]))]
        if not effects:
            raise PassFailedException(f"kernel {name} writes nothing")
        self.put(tg.SinkOp(effects))
        erase_dead_ops(self.block, needed_ops(self.block))
        return tg.KernelOp(name, Region(self.block))


def _argument_slots(ops: Sequence[Operation]) -> dict[SSAValue, int]:
    """The slots of arguments: of DEFINE_GLOBALs in their order, then of variables."""
    buffers = [op for op in ops if isinstance(op, old_memory.DefineGlobalOp | tg.ParamOp)]
    buffers.sort(key=lambda op: op.slot.data)
    for op, other in pairwise(buffers):
        if op.slot == other.slot:
            raise locate(PassFailedException(f"argument {op.slot.data} is defined twice"), other)
    variables = [op for op in ops if isinstance(op, framework.DefineVarOp)]
    return {op.result: slot for slot, op in enumerate((*buffers, *variables))}


def _is_computed(op: tg.TgOp) -> bool:
    """Whether an op is arithmetic on values."""
    return op.has_trait(tg.PureInGraph) and not any(map(tg.is_memory, op.operands))
