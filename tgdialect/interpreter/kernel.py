"""What each op of a kernel or LINEAR does, and running one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.custom import custom_result
from tgdialect.interpreter.execution import Execution, Function, Value
from tgdialect.interpreter.live import AssumptionError, LiveView
from tgdialect.interpreter.machine import Machine
from tgdialect.interpreter.movement import MOVEMENTS, Movement, extent, extents
from tgdialect.interpreter.pure import PURE, load
from tgdialect.interpreter.schedule import Schedule, schedule
from tgdialect.interpreter.values import Array, aligned, all_valid
from tgdialect.interpreter.wmma import wmma
from tgdialect.ops.arrays import Data
from tgdialect.ops.attributes import VoidType
from tgdialect.ops.call import CallOp
from tgdialect.ops.codegen import (
    AtomicAddOp,
    CustomOp,
    IfOp,
    InsOp,
    SpecialOp,
    WmmaOp,
)
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ParamOp

# -- one function per op -------------------------------------------------------------------------


def _pure(run: Execution, op: Operation) -> Value:
    operands = [run.array(op, operand) for operand in op.operands]
    return run.result(op, PURE[op.name](op, operands, run.plan.lanes))


def _binary(run: Execution, op: Operation) -> Value:
    run.machine.custom.allow(op.name)
    return _pure(run, op)


def _movement(run: Execution, op: Operation) -> Value:
    source = run.value(op.operands[0])
    operands = [run.array(op, operand) for operand in op.operands[1:]]
    movement = Movement(op, operands, run.plan.lanes)
    if isinstance(source, LiveView):
        return LiveView(source.memory, source.location.moved(movement))
    assert source is not None
    return movement.of(source)


def _identity(run: Execution, op: Operation) -> Value:
    return run.value(op.operands[0])


def _ordering(run: Execution, op: Operation) -> Value:
    return None


def _param(run: Execution, op: Operation) -> Value:
    assert isinstance(op, ParamOp)
    if op.slot.data >= len(run.parameters):
        raise InterpretationError(f"parameter {op.slot.data} has no argument")
    return run.lift(run.parameters[op.slot.data])


def _buffer(run: Execution, op: Operation) -> Value:
    assert isinstance(op, BufferOp)
    sizes = [run.array(op, operand) for operand in op.operands]
    return run.buffer(op, extents(tensor(op.result).get_shape(), sizes))


def _range(run: Execution, op: Operation) -> Value:
    """A range that is not stepped: all its values, along its axis."""
    assert isinstance(op, RangeOp)
    bound = run.bound(op)
    index = run.values_of(op, int(bound.max(initial=0)))
    run.mask_range(op, bound, index)
    return Array(index)


def _load(run: Execution, op: Operation) -> Value:
    """LOAD: memory is touched only where the gate is true."""
    assert isinstance(op, LoadOp)
    buffer = run.value(op.buffer)
    lanes = run.plan.lanes
    alt = gate = None
    if op.alt is not None and op.gate is not None:
        alt, gate = run.array(op, op.alt), run.array(op, op.gate)
    if isinstance(buffer, LiveView):
        mask = None
        if gate is not None:
            rank = len(tensor(op.buffer).get_shape())
            mask = aligned(gate.materialised(), lanes, rank)
        data = run.array(op, op.buffer, mask)
    else:
        assert buffer is not None
        data = buffer
    return run.result(op, load(op, data, alt, gate, lanes))


def _store(run: Execution, op: Operation) -> Value:
    """STORE and ATOMICADD: valid cells of the value, where the gate is true, in active lanes."""
    view = run.value(op.operands[0])
    assert isinstance(view, LiveView)
    value = run.array(op, op.operands[1])
    rank = len(tensor(op.operands[0]).get_shape())
    lanes = run.plan.lanes
    masks = [value.valid]
    if (active := run.active(op)) is not None:
        masks.append(active.reshape(active.shape + (1,) * rank))
    if len(op.operands) > 2:
        masks.append(aligned(run.array(op, op.operands[2]).materialised(), lanes, rank))
    adds = isinstance(op, AtomicAddOp)
    shape = run.lane_shape(op)
    view.memory.scatter(
        view.location,
        value.data,
        all_valid(masks),
        adds=adds,
        # Each lane adds; of stores that do not vary with the lane, one is enough, if there is one.
        shape=shape if adds else [min(size, 1) for size in shape],
        writer=run.writer(op),
        iterations=run.iterations(op),
    )
    return None


def _reduce(run: Execution, op: Operation) -> Value:
    assert isinstance(op, ReduceOp)
    return run.reduce(op)


def _special(run: Execution, op: Operation) -> Value:
    """A thread or workgroup index: an axis that is never left."""
    assert isinstance(op, SpecialOp)
    if (known := run.known.get(op.result)) is not None:
        return known
    return Array(run.values_of(op, max(extent(run.array(op, op.bound)), 0)))


def _barrier(run: Execution, op: Operation) -> Value:
    run.barrier(op)
    return None


def _if(run: Execution, op: Operation) -> Value:
    assert isinstance(op, IfOp)
    run.masks[op] = run.array(op, op.gate).materialised()
    return None


def _wmma(run: Execution, op: Operation) -> Value:
    assert isinstance(op, WmmaOp)
    operands = [run.array(op, operand) for operand in op.operands]
    lanes = run.plan.lanes
    threads = run.group_axes()
    if op.config.threads > 1:
        if (active := run.active(op)) is not None and not bool(active.all()):
            raise InterpretationError("a wmma is not reached by all threads of a warp")
        shape = run.lane_shape(op)
        operands = [
            Array(
                np.broadcast_to(
                    x.materialised(),
                    np.broadcast_shapes(shape + (1,) * (x.data.ndim - lanes), x.data.shape),
                )
            )
            for x in operands
        ]
    return run.result(op, wmma(op, operands, lanes, threads))


def _custom(run: Execution, op: Operation) -> Value:
    assert isinstance(op, CustomOp | InsOp)
    key = op.fmt.data if isinstance(op, CustomOp) else op.mnemonic.data
    function = run.machine.custom.function(op.name, key)
    value = function(*(run.array(op, operand).materialised() for operand in op.operands))
    if isinstance(op.result.type, VoidType):
        return None
    return run.result(op, Array(custom_result(op, value)))


def _call(run: Execution, op: Operation) -> Value:
    """A CALL in a LINEAR: what the callee writes is in memory at once."""
    assert isinstance(op, CallOp)
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if callee is None:
        raise InterpretationError(f"there is no symbol @{op.callee.string_value()}")
    lanes = run.plan.lanes
    arrays: list[Data] = []
    for operand in op.operands:
        data = run.array(op, operand).materialised()
        if any(size != 1 for size in data.shape[:lanes]):
            raise InterpretationError("a CALL differs between the iterations of a loop")
        arrays.append(data.reshape(data.shape[lanes:]))
    outcome = run.machine.call(callee, arrays)
    for operand, content in zip(op.operands, outcome.contents, strict=True):
        view = run.value(operand)
        if content is not None and isinstance(view, LiveView):
            shape = (1,) * lanes + content.data.shape
            view.memory.scatter(
                view.location, content.data.reshape(shape), content.written().reshape(shape)
            )
    return None


KERNEL: dict[str, Function] = {
    **dict.fromkeys(PURE, _pure),
    **dict.fromkeys(MOVEMENTS, _movement),
    "tg.detach": _identity,
    "tg.contiguous_backward": _identity,
    "tg.after": _identity,
    "tg.binary": _binary,
    "tg.param": _param,
    "tg.buffer": _buffer,
    "tg.load": _load,
    "tg.store": _store,
    "tg.atomicadd": _store,
    "tg.reduce": _reduce,
    "tg.range": _range,
    "tg.end": _ordering,
    "tg.group": _ordering,
    "tg.sink": _ordering,
    "tg.special": _special,
    "tg.barrier": _barrier,
    "tg.if": _if,
    "tg.endif": _ordering,
    "tg.wmma": _wmma,
    "tg.custom": _custom,
    "tg.ins": _custom,
    "tg.call": _call,
}
"""Every op of a kernel, by name."""


# -- running ---------------------------------------------------------------------------------------


def run_block(
    block: Block,
    machine: Machine,
    *,
    graph: bool,
    bind: Callable[[Schedule], tuple[Sequence[Value], Mapping[SSAValue, Value]]],
) -> tuple[Sequence[Value], Mapping[SSAValue, Value]]:
    """Execute a kernel's block, or the block of a LINEAR, and return what `bind` made for it.

    `bind` makes the values of the PARAMs by slot and of what the block captures, with fresh memory:
    where an assumption about private memory proves wrong, all is done again without it.
    """
    for assume_private in (True, False):
        plan = schedule(block, graph=graph, assume_private=assume_private)
        parameters, captured = bind(plan)
        try:
            Execution(plan, machine, KERNEL, parameters, captured).run()
        except AssumptionError:
            continue
        return parameters, captured
    raise InterpretationError("a private memory is read before it is written")
