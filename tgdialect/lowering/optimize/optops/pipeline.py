"""PIPELINE: software pipelining of the copies that STAGE has made in a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.ir import SSAValue

from tgdialect.analysis.ranges import closed_ranges, loops_of
from tgdialect.lowering.kernel_memory import version
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.recomputation import computed_again
from tgdialect.ops import tg


def pipeline(axes: Axes, axis: int, count: int) -> None:
    """Start the copies of a loop `count - 1` iterations early, to `count` buffers in turns.

    before -> after:
        pipeline 0, 2:  for %0 { copy tile %0 to %b; use %b } ->
            copy tile 0 to %b[0]
            for %0 { if %0 + 1 < extent: copy tile %0 + 1 to %b[(%0 + 1) mod 2]; use %b[%0 mod 2] }
    Three buffers or more are first filled by a loop. Where there is no later tile the last one is
    loaded again, and not stored. The copies are those to LOCAL memory that STAGEs have made in the
    loop. A tile is copied while the one before is used, and one BARRIER an iteration suffices. The
    iterations have an order from then on: the range becomes a `reduce`. Source: Lam, "Software
    Pipelining", PLDI 1988.
    """
    at = axes[axis]
    if at not in axes.ends or at.axis_type.data not in (tg.AxisType.LOOP, tg.AxisType.REDUCE):
        raise IllegalOptError(f"range {axis} is no serial loop that an END closes")
    if count < 2:
        raise IllegalOptError(f"a pipeline has 2 buffers or more, not {count}")
    if axes.extent(at) < count:
        raise IllegalOptError(f"range {axis} to {axes.extent(at)} has fewer than {count} tiles")
    if not (copies := [*_copies(axes, at)]):
        raise IllegalOptError(f"no tile of a parameter is copied to LOCAL memory in range {axis}")
    axes.check_local({copy.buffer for copy in copies}, count)
    for copy in copies:
        _pipeline(axes, at, count, copy)
    axes.set_type(at, tg.AxisType.REDUCE)
    axes.erase_dead_ops()


@dataclass(frozen=True)
class _Copy:
    """A buffer, the one STORE to it, the END of the loops of that, and the LOADs."""

    buffer: tg.BufferOp
    store: tg.StoreOp
    end: tg.EndOp
    loads: Sequence[tg.LoadOp]


def _copies(axes: Axes, at: tg.RangeOp) -> Iterator[_Copy]:
    """The copies of parameters to LOCAL memory that iterations of a loop make for themselves."""
    for end in dict.fromkeys(axes.ends.values()):
        store = end.body.owner
        if not isinstance(store, tg.StoreOp) or at not in axes.open[end]:
            continue
        memory = tg.memory_of(store.buffer)
        found = (op for op in axes.ops if isinstance(op, tg.LoadOp | tg.StoreOp))
        accesses = [op for op in found if tg.memory_of(op.buffer) is memory]
        loads = [op for op in accesses if isinstance(op, tg.LoadOp)]
        if (
            isinstance(buffer := memory.owner, tg.BufferOp)
            and tg.place(memory).addrspace is tg.AddrSpace.LOCAL
            and isinstance(value := store.value.owner, tg.LoadOp)
            and isinstance(tg.memory_of(value.buffer).owner, tg.ParamOp)
            and not axes.is_bound_to(store.value, {at})
            and len(loads) == len(accesses) - 1
            and all(_versions(load) == [end.result] for load in loads)
            and _versions(store) == [at.result]
        ):
            yield _Copy(buffer, store, end, loads)


def _versions(access: tg.LoadOp | tg.StoreOp) -> Sequence[SSAValue] | None:
    """The operations that must precede this access; None for other locations than `(after
    buffer)[...]`."""
    index = access.buffer.owner
    after = index.source.owner if isinstance(index, tg.IndexOp) else None
    if not isinstance(after, tg.AfterOp) or not isinstance(after.buffer.owner, tg.BufferOp):
        return None
    return list(after.dependencies)


def _pipeline(axes: Axes, at: tg.RangeOp, count: int, copy: _Copy) -> None:
    """Pipeline one copy."""
    builder, type = tg.OpBuilder.before(copy.store), tg.tensor(copy.buffer.result)
    put, constant = builder.put, builder.index_constant
    shape = count, *type.get_shape()
    cells = tg.tensor_type(type.element_type, shape, tg.place(copy.buffer.result))
    buffers = tg.OpBuilder.before(copy.buffer).put(tg.BufferOp(copy.buffer.slot.data, cells))
    nest = loops_of(closer := axes.ends[at])
    outer = sorted(axes.open[closer], key=lambda r: r.axis.data)
    around = [range.result for range in (*outer, *nest[: nest.index(at)])]
    # The first tiles, before the loop, in a loop of their own.
    first = count - 1
    tile = constant(0) if first == 1 else builder.range(tg.AxisType.LOOP, first).result
    memory = version(builder, buffers, around)
    before = _copied(builder, copy, {at.result: tile}, tile, memory, None)
    # In the loop, the tile that is used `count - 1` iterations later.
    modulus = constant(count)
    ahead = put(tg.AddOp(at.result, constant(first)))
    gate = put(tg.CmpLtOp(ahead, at.bound))
    tile = put(tg.WhereOp(gate, ahead, constant(axes.extent(at) - 1)))
    memory = version(builder, buffers, [before, at.result])
    end = _copied(builder, copy, {at.result: tile}, put(tg.ModOp(ahead, modulus)), memory, gate)
    filled, turn = version(builder, buffers, [end]), put(tg.ModOp(at.result, modulus))
    for load in copy.loads:
        index = load.buffer.owner
        assert isinstance(index, tg.IndexOp)
        cell = tg.OpBuilder.before(index).put(tg.IndexOp(filled, [turn, *index.indices]))
        index.result.replace_all_uses_with(cell)


def _copied(
    builder: tg.OpBuilder,
    copy: _Copy,
    mapping: dict[SSAValue, SSAValue],
    turn: SSAValue,
    memory: SSAValue,
    gate: SSAValue | None,
) -> SSAValue:
    """Copy the tile of the iteration that `mapping` has to the buffer whose turn it is. Returns the
    END of the copy. Without a gate the copy is before the loop, and has ranges of its own, of which
    `turn` may be one."""
    put, store, again = builder.put, copy.store, partial(computed_again, builder, mapping=mapping)
    assert isinstance(store.buffer.owner, tg.IndexOp)
    ranges = closed_ranges(copy.end)
    if gate is None:
        for range in ranges:
            kind = range.axis_type.data
            mapping[range.result] = put(tg.RangeOp(next(builder.free_axes), kind, range.bound))
        if isinstance(turn.owner, tg.RangeOp):
            ranges = [*ranges, turn.owner]
    value = again(store.value)
    cell = put(tg.IndexOp(memory, [turn, *map(again, store.buffer.owner.indices)]))
    if store.gate is not None:
        also = again(store.gate)
        gate = also if gate is None else put(tg.AndOp(gate, also))
    body = put(tg.StoreOp(cell, value, gate))
    return put(tg.EndOp(body, [mapping.get(range.result, range.result) for range in ranges]))
