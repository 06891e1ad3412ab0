"""SCANs become kernels that call: a loop over the steps, around a CALL of the body's function.

A state is in a stack of memory. A step reads one row of it and writes another one: of two rows in
turn, or of one row for each step if the program needs the states of all steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from tgdialect.ops import tg

Row = int | SSAValue


@dataclass(frozen=True)
class ScanMemory:
    """Which rows of the stacks of a SCAN hold which state."""

    op: tg.ScanOp

    @cached_property
    def stacked_states(self) -> dict[int, tuple[int, int]]:
        """The stacked results that are states of each step: for the position of each among the
        results of the body, the state and the first of the rows that are the result."""
        op, count = self.op, self.op.states.data
        results = op.results_of_body
        new = {value: slot for slot, value in reversed(list(enumerate(results[:count])))}
        found: dict[int, tuple[int, int]] = {}
        for position, value in enumerate(results[count:], count):
            slot = op.slot_of_parameter(value)
            if slot is not None and slot < count:
                found[position] = slot, int(op.reverse is not None)
            elif value in new:
                found[position] = new[value], int(op.reverse is None)
        return found

    @cached_property
    def kept(self) -> frozenset[int]:
        """The states of which there is a row for each step."""
        return frozenset(slot for slot, _ in self.stacked_states.values())

    @property
    def outputs(self) -> Sequence[int]:
        """The positions of the results that the body writes to memory: the new states, and what is
        stacked by itself."""
        positions = range(len(self.op.results_of_body))
        return [i for i in positions if i not in self.stacked_states]

    def rows(self, state: int) -> int:
        """The number of rows of a stack."""
        return self.op.steps.data + 1 if state in self.kept else 2

    def first(self, state: int) -> int:
        """The row of a state before the first step."""
        return self.op.steps.data if self._is_backwards(state) else 0

    def last(self, state: int) -> int:
        """The row of a state after the last step of a SCAN without `while`."""
        if state not in self.kept:
            return self.op.steps.data % 2
        return 0 if self._is_backwards(state) else self.op.steps.data

    def _is_backwards(self, state: int) -> bool:
        return self.op.reverse is not None and state in self.kept


def row_of(builder: tg.OpBuilder, stack: SSAValue, row: Row) -> SSAValue:
    """A view of one row of memory."""
    return builder.put(
        tg.ReshapeOp(rows_of(builder, stack, row, 1), tg.tensor(stack).get_shape()[1:])
    )


def rows_of(builder: tg.OpBuilder, stack: SSAValue, first: Row, count: int) -> SSAValue:
    """A view of some rows of memory."""
    shape = tg.tensor(stack).get_shape()[1:]
    return builder.put(tg.ShrinkOp(stack, [first, *[0] * len(shape)], [count, *shape]))


def scan_kernel(
    name: str, memory: ScanMemory, callee: str, types: Sequence[TensorType[Attribute]], more: int
) -> tg.KernelOp:
    """The kernel that calls the function of a SCAN's body in each step.

    Its parameters are the stacks of the states, the sequences and constants, `more` constants, the
    BINARYs of the body, memory for the results that are stacked by themselves and, with `while`,
    for the number of steps.
    """
    op = memory.op
    states, steps = op.states.data, op.steps.data
    builder = tg.OpBuilder.at_end(Block(), op.location)
    put = builder.put
    if op.is_while is not None:
        # An index that is loaded is on no device if its memory names none.
        types = [
            *types[:-1],
            tg.tensor_type(tg.I32, (1,), tg.PlaceAttr.of(None, tg.AddrSpace.GLOBAL)),
        ]
    params = [put(tg.ParamOp(slot, type)) for slot, type in enumerate(types)]
    one = builder.index_constant(1)
    step = put(tg.RangeOp(0, tg.AxisType.LOOP, builder.index_constant(steps)))
    loops, number = [step], step
    if op.is_while is not None:
        number = put(tg.CastOp(put(tg.LoadOp(_count(builder, params[-1], step))), tg.INDEX))
    read = put(tg.AndOp(number, one))
    written = put(tg.SubOp(one, read))
    if op.is_while is not None:
        # A loop of one iteration or none: the bound of a loop may be loaded.
        flag = put(tg.LoadOp(put(tg.IndexOp(put(tg.AfterOp(params[0], [step])), [read]))))
        loops.insert(0, put(tg.RangeOp(1, tg.AxisType.LOOP, put(tg.CastOp(flag, tg.INDEX)))))
    element = step
    if op.reverse is not None:
        element = put(tg.SubOp(builder.index_constant(steps - 1), step))
    in_turn, kept = (read, written), (read, written)
    if memory.kept:
        after = put(tg.AddOp(element, one))
        kept = (element, after) if op.reverse is None else (after, element)
    inputs: list[SSAValue] = []
    outputs: list[SSAValue] = []
    for slot, param in enumerate(params):
        if slot < states:
            stack = put(tg.AfterOp(param, loops[:1]))
            before, after = kept if slot in memory.kept else in_turn
            inputs.append(row_of(builder, stack, before))
            outputs.append(row_of(builder, stack, after))
        elif slot < len(op.arguments) + more:
            inputs.append(row_of(builder, param, element) if op.is_sequence(slot) else param)
        elif op.is_while is None:
            outputs.append(row_of(builder, param, element))
    effect = put(tg.CallOp(callee, [*inputs, *outputs]))
    if op.is_while is not None:
        following = put(tg.CastOp(put(tg.AddOp(number, one)), tg.I32))
        effect = put(tg.StoreOp(_count(builder, params[-1], effect), following))
    builder.insert(tg.SinkOp([put(tg.EndOp(effect, loops))]))
    kernel = tg.KernelOp(name, Region(builder.block))
    kernel.location = op.location
    return kernel


def _count(builder: tg.OpBuilder, counter: SSAValue, after: SSAValue) -> SSAValue:
    """Where the number of steps is, after an effect or in a loop."""
    return builder.put(
        tg.IndexOp(builder.put(tg.AfterOp(counter, [after])), [builder.index_constant(0)])
    )
