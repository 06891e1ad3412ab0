"""SCANs become kernels that call: a loop over the steps, around a CALL of the body's function.

A state is in a stack of memory. A step reads one row of it and writes another one: of two rows in
turn, or of one row for each step if the program needs the states of all steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.source import parameters

Row = int | SSAValue
"""An index: a number, or an index value."""

_INNER_LOOP = 256
"""The iterations of each loop of a nest that a `while` of more steps is (a power of two). Larger:
more iterations that do nothing after the last step, which take a nanosecond each; smaller: more
loops, of which each but the innermost runs a few instructions every so many steps."""


_MOST_LOOPS = 4
"""The most loops of such a nest: 2^32 iterations, as many as are counted."""


@dataclass(frozen=True)
class AxisExtent:
    """An extent of memory: a number of cells, plus the argument of this slot if there is one."""

    cells: int
    slot: int | None = None


@dataclass(frozen=True)
class ScanMemory:
    """Which rows of the stacks of a SCAN hold which state."""

    op: tg.ScanOp

    @cached_property
    def stacked_states(self) -> dict[int, tuple[int, int]]:
        """The stacked results that are states of each step: for the position of each among the
        results of the body, the state and the first of the rows that are the result. None with
        `while`, as rows of steps that are not taken are zeros."""
        op, count = self.op, self.op.states.data
        results = op.results_of_body
        new = {value: slot for slot, value in reversed(list(enumerate(results[:count])))}
        found: dict[int, tuple[int, int]] = {}
        for position, value in enumerate(results[count:], count) if op.is_while is None else ():
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

    def is_backwards(self, state: int) -> bool:
        """Whether the first state is in the last row."""
        return self.op.reverse is not None and state in self.kept

    # -- extents

    def steps(self, more: int = 0) -> AxisExtent:
        """The number of steps, and some more."""
        if self.op.steps is not None:
            return AxisExtent(self.op.steps.data + more)
        assert self.op.steps_at is not None
        return AxisExtent(more, self.op.steps_at.data)

    def stack(self, state: int) -> Sequence[AxisExtent]:
        """The shape of the stack of a state."""
        rows = self.steps(1) if state in self.kept else AxisExtent(2)
        return rows, *self.shape_of(self.params[state].result)

    def argument(self, slot: int) -> Sequence[AxisExtent]:
        """The shape of a sequence or a constant."""
        inner = self.shape_of(self.params[slot].result)
        return (self.steps(), *inner) if self.op.is_sequence(slot) else inner

    def stacked(self, position: int) -> Sequence[AxisExtent]:
        """The shape of a result that is stacked."""
        return self.steps(), *self.shape_of(self.op.results_of_body[position])

    def shape_of(self, value: SSAValue) -> Sequence[AxisExtent]:
        """The shape of a value of the body.

        Raises PassFailedException unless its dynamic extents are PARAMs.
        """
        found: list[AxisExtent] = []
        for dim in tg.shape_of(value):
            if isinstance(dim, int):
                found.append(AxisExtent(dim))
            elif isinstance(dim, SSAValue) and dim in self._slots:
                found.append(AxisExtent(0, self._slots[dim]))
            else:
                message = (
                    "the dynamic extents of what a SCAN takes and stacks are PARAMs of its body"
                )
                raise locate(PassFailedException(message), self.op)
        return found

    @cached_property
    def params(self) -> Sequence[tg.ParamOp]:
        """The PARAMs of the body by slot."""
        return parameters(self.op.body.block)

    @cached_property
    def _slots(self) -> Mapping[SSAValue, int]:
        params = (op for op in self.op.body.block.ops if isinstance(op, tg.ParamOp))
        return {param.result: param.slot.data for param in params}


class Rows(tg.OpBuilder):
    """Appends views of rows of memory, and index arithmetic."""

    def value(self, row: Row) -> SSAValue:
        """An index as a value."""
        return self.index_constant(row) if isinstance(row, int) else row

    def plus(self, a: Row, b: Row) -> Row:
        """The sum of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return a if b == 0 else self.put(tg.AddOp(self.value(a), self.value(b)))

    def minus(self, a: Row, b: Row) -> Row:
        """The difference of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return self.put(tg.SubOp(self.value(a), self.value(b)))

    def is_odd(self, row: Row) -> Row:
        """1 for an odd index, 0 for an even one."""
        return row % 2 if isinstance(row, int) else self.put(tg.AndOp(row, self.value(1)))

    def extent(
        self, extent: AxisExtent, arguments: Sequence[SSAValue] | Mapping[int, SSAValue]
    ) -> Row:
        """An extent, given the arguments."""
        if extent.slot is None:
            return extent.cells
        return self.plus(arguments[extent.slot], extent.cells)

    def row(self, stack: SSAValue, row: Row) -> SSAValue:
        """A view of one row of memory."""
        return self.put(tg.ReshapeOp(self.rows(stack, row, 1), _dims(stack)[1:]))

    def rows(self, stack: SSAValue, first: Row, count: Row) -> SSAValue:
        """A view of some rows of memory."""
        shape = _dims(stack)[1:]
        return self.put(tg.ShrinkOp(stack, [first, *[0] * len(shape)], [count, *shape]))


def _dims(memory: SSAValue) -> Sequence[Row]:
    """The extents of memory, all of which are known."""
    return [dim for dim in tg.shape_of(memory) if not isinstance(dim, tg.UnknownDim)]


def scan_kernel(
    name: str,
    memory: ScanMemory,
    callee: str,
    operands: Sequence[tuple[TensorType[Attribute], Sequence[AxisExtent]]],
    more: int,
) -> tg.KernelOp:
    """The kernel that calls the function of a SCAN's body in each step.

    Its parameters are the stacks of the states, the sequences and constants, `more` constants, the
    BINARYs of the body, memory for the results that are stacked by themselves and, with `while`,
    for the number of steps. `operands` are their types and shapes.
    """
    op = memory.op
    states = op.states.data
    builder = Rows.at_end(Block(), op.location)
    put = builder.put
    params = _parameters(builder, memory, operands)
    steps = builder.extent(memory.steps(), params)
    if op.is_while is None:
        step = put(tg.RangeOp(0, tg.AxisType.LOOP, builder.value(steps)))
        loops, number, read = [step], step, builder.is_odd(step)
    else:
        is_counted = op.sequences.data > 0 or len(op.results_of_body) > states
        step, loops, number, read = _while_loops(builder, params[0], params[-1], steps, is_counted)
    written = builder.minus(1, read)
    element: Row = step
    if op.reverse is not None:
        element = builder.minus(builder.minus(steps, 1), step)
    in_turn, kept = (read, written), (read, written)
    if memory.kept:
        after = builder.plus(element, 1)
        kept = (element, after) if op.reverse is None else (after, element)
    inputs: list[SSAValue] = []
    outputs: list[SSAValue] = []
    for slot, param in enumerate(params):
        if slot < states:
            stack = put(tg.AfterOp(param, loops[:1]))
            before, after = kept if slot in memory.kept else in_turn
            inputs.append(builder.row(stack, before))
            outputs.append(builder.row(stack, after))
        elif slot < len(op.arguments) + more:
            inputs.append(builder.row(param, element) if op.is_sequence(slot) else param)
        elif op.is_while is None or slot < len(params) - 1:
            outputs.append(builder.row(param, element))
    effect = put(tg.CallOp(callee, [*inputs, *outputs]))
    if op.is_while is not None:
        following = put(tg.CastOp(builder.value(builder.plus(number, 1)), tg.I32))
        effect = put(tg.StoreOp(_count(builder, params[-1], effect), following))
    builder.insert(tg.SinkOp([put(tg.EndOp(effect, loops))]))
    kernel = tg.KernelOp(name, Region(builder.block))
    kernel.location = op.location
    return kernel


def _parameters(
    builder: Rows,
    memory: ScanMemory,
    operands: Sequence[tuple[TensorType[Attribute], Sequence[AxisExtent]]],
) -> list[SSAValue]:
    """A PARAM for each argument: first index scalars, which are extents of memory."""
    found: dict[int, SSAValue] = {}
    is_memory = {slot: tg.place_of(t).addrspace is not None for slot, (t, _) in enumerate(operands)}
    for slot in sorted(is_memory, key=is_memory.__getitem__):
        type, shape = operands[slot]
        if is_memory[slot]:
            dims = [builder.value(builder.extent(e, found)) for e in shape if e.slot is not None]
            found[slot] = builder.put(tg.ParamOp(slot, type, dims))
        else:
            found[slot] = builder.put(memory.params[slot].clone())
    return [found[slot] for slot in range(len(operands))]


def _while_loops(
    builder: Rows, flags: SSAValue, counter: SSAValue, steps: Row, is_counted: bool
) -> tuple[SSAValue, list[SSAValue], SSAValue, Row]:
    """The loops of a `while`: the RANGE over the steps, all loops, the innermost one first, the
    number of steps that were taken, and the row of the state.

    No loop ends early. The bound of a loop may be loaded, so that within a loop over all steps is
    one of one iteration or none, which ends when the first state is false. If nothing is counted by
    the step, many steps are a nest of loops that are entered while it is true.
    """
    put = builder.put
    levels, most = 1, steps if isinstance(steps, int) else MinMax()[steps].hi
    while not is_counted and levels < _MOST_LOOPS and _INNER_LOOP**levels < most:
        levels += 1
    bound: Row = steps if levels == 1 else _INNER_LOOP
    loops = [put(tg.RangeOp(0, tg.AxisType.LOOP, builder.value(bound)))]
    while True:
        number = put(tg.CastOp(put(tg.LoadOp(_count(builder, counter, loops[0]))), tg.INDEX))
        now, row = put(tg.AfterOp(flags, loops[:1])), builder.is_odd(number)
        flag = put(tg.LoadOp(put(tg.IndexOp(now, [builder.value(row)]))))
        if levels > 1 and len(loops) == levels:
            flag = put(tg.AndOp(flag, put(tg.CmpLtOp(number, builder.value(steps)))))
        bound = put(tg.CastOp(flag, tg.INDEX))
        if len(loops) < levels:
            bound = put(tg.MulOp(bound, builder.value(_INNER_LOOP)))
        loops.insert(0, put(tg.RangeOp(len(loops), tg.AxisType.LOOP, bound)))
        if len(loops) > levels:
            return loops[-1], loops, number, row


def _count(builder: tg.OpBuilder, counter: SSAValue, after: SSAValue) -> SSAValue:
    """Where the number of steps is, after an effect or in a loop."""
    return builder.put(
        tg.IndexOp(builder.put(tg.AfterOp(counter, [after])), [builder.index_constant(0)])
    )
