"""A SCAN in place of steps that are alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import count
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tgdialect.analysis.validity import Validity
from tgdialect.ops import tg
from tgdialect.transforms.reroll.graph import Row, ValueGraph
from tgdialect.transforms.reroll.steps import Element, Invariant, Lagged, NoSteps, Operand, Steps


class Roll:
    """The replacement of steps by a SCAN."""

    def __init__(self, graph: ValueGraph, steps: Steps) -> None:
        self.graph, self.steps = graph, steps
        self.positions = {op: position for position, op in enumerate(graph.order)}
        self.inside = self.ops_of(row for row in steps.ops if row not in steps.views)
        """The ops of all steps that the SCAN replaces."""
        self.states = [*steps.first]
        self.elements = [row for row, of in steps.given.items() if isinstance(of, Element)]
        backwards = [self.element(row).stride < 0 for row in self.elements]
        self.is_reverse = sum(backwards) * 2 > len(backwards)
        self.inside -= self.ops_of(self.computed_again())
        self.stacked = self.stored()
        """The ops of a step whose results are needed from more than the last one."""
        self.finals = [
            row
            for row in steps.ops
            if row not in self.stacked
            and self.is_used_outside(row[-1])
            and Lagged(row, 1) not in steps.first
        ]
        """Those that are needed from the last step alone, and are no states."""
        invariants = [of.node for of in steps.given.values() if isinstance(of, Invariant)]
        bases = dict.fromkeys(_base(graph, n) for n in invariants if not graph.is_constant[n])
        self.constants = [*bases]
        """The nodes that are given to all steps, which make views of them."""
        self.check()

    def ops_of(self, rows: Iterable[Row]) -> set[Operation]:
        """The ops of all steps that some ops of a step are, and those that equal them."""
        values = (value for row in rows for node in row for value in self.graph.values[node])
        return {value.owner for value in values if isinstance(value.owner, tg.TgOp)}

    def element(self, row: Row) -> Element:
        """The part of a value that each step is given."""
        return cast(Element, self.steps.given[row])

    def uses_outside(self, node: int) -> Iterator[Operation]:
        """The ops, other than those that are replaced, that use a node which is."""
        for value in self.graph.values[node]:
            if value.owner in self.inside:
                yield from (u.operation for u in value.uses if u.operation not in self.inside)

    def is_used_outside(self, node: int) -> bool:
        """Whether other ops than those that are replaced use a node which is."""
        return next(self.uses_outside(node), None) is not None

    def stored(self) -> dict[Row, None]:
        """The ops of a step whose results are needed from more than the last one."""
        rows = self.steps.ops
        return {row: None for row in rows if any(map(self.is_used_outside, row[:-1]))}

    def computed_again(self) -> Set[Row]:
        """The ops of a step that stay for those outside that need their results, as they are
        computed from less than these are, by ops that are fused with their users.

        A backward step needs most of what the forward step computes between two products.
        """
        steps, graph = self.steps, self.graph
        stored = self.stored()
        wanted = [
            row
            for row in stored
            if self.is_cheap(row)
            and any(not isinstance(op, tg.StackOp) for n in row for op in self.uses_outside(n))
        ]
        again = tg.Walk(wanted)
        needed: dict[Row, None] = {}
        for row in again:
            for operand in self.operands(row):
                if isinstance(operand, Lagged):
                    is_again = operand.lag == 0 and self.is_cheap(operand.op)
                    if is_again:
                        again.add([operand.op])
                    elif operand.op not in steps.views:
                        needed[operand.op] = None
        more = sum(graph.bytes(row[0]) for row in needed if row not in stored)
        less = sum(graph.bytes(row[0]) for row in wanted)
        return again.seen.keys() if more < less else set[Row]()

    def is_cheap(self, row: Row) -> bool:
        """Whether an op of a step, which is no state, is fused with its users."""
        op = self.graph.op(row[0])
        is_fused = isinstance(op, tg.ElementwiseOp | tg.MovementOp | tg.ConstOp)
        return is_fused and Lagged(row, 1) not in self.steps.first

    def operands(self, row: Row) -> Iterator[Operand]:
        """The operands of an op of a step."""
        operands = zip(*(self.graph.operands[node] for node in row), strict=True)
        return (self.steps.given[each] for each in operands)

    def apply(self) -> None:
        """Replace the steps."""
        graph, count = self.graph, self.steps.count
        nodes = (graph.op(node) for row in self.steps.ops for node in row)
        last = max(cast("Iterator[Operation]", nodes), key=self.positions.__getitem__)
        before = tg.OpBuilder.before(last)
        arguments = [
            *(self.graph.value(node) for node in self.steps.first.values()),
            *(_zeros(before, self.graph.value(row[0])) for row in self.finals),
            *(self.sequence(before, row) for row in self.elements),
            *(self.graph.value(node) for node in self.constants),
        ]
        scan = tg.ScanOp(
            arguments,
            Region(_ScanBody(self).block),
            states=len(self.states) + len(self.finals),
            sequences=len(self.elements),
            steps=count,
            reverse=self.is_reverse,
        )
        before.insert(scan)
        users = self.users_before(last)
        self.replace(before, scan)
        for op in users:
            op.detach()
            before.insert(op)
        for op in reversed(graph.order):
            is_left = op.parent is not None and len(op.results) == 1
            if (
                is_left
                and graph.kinds[graph.number[op.results[0]]] >= 0
                and not any(op.results[0].uses)
            ):
                Rewriter.erase_op(op)

    def check(self) -> None:
        """Raise NoSteps unless all that goes in or out can be in memory of one device."""
        graph, validity = self.graph, Validity()
        nodes = [*self.steps.first.values(), *self.constants]
        nodes += [self.element(row).source for row in self.elements]
        nodes += [row[0] for row in (*self.stacked, *self.finals)]
        nodes += [state.op[0] for state in self.states]
        values = [graph.value(node) for node in nodes]
        for value in values:
            if not tg.is_tensor(value.type) or DYNAMIC_INDEX in tg.tensor(value).get_shape():
                raise NoSteps("what steps are given is no tensor of known extents")
            if not validity[value]:
                raise NoSteps("what steps are given has invalid cells")
        places = [tg.place(value) for value in values]
        if len({place.device for place in places} - {None}) > 1 or any(
            place.axis is not None for place in places
        ):
            raise NoSteps("steps are on several devices")
        for (row, _), first in self.steps.first.items():
            old, new = tg.tensor(graph.value(first)), tg.tensor(graph.value(row[0]))
            if (old.element_type, old.get_shape()) != (new.element_type, new.get_shape()):
                raise NoSteps("the first state has another type")

    def sequence(self, builder: tg.OpBuilder, row: Row) -> SSAValue:
        """The parts of a value that steps are given, along a first axis."""
        element, count = self.element(row), self.steps.count
        axis, stride = element.axis, abs(element.stride)
        offsets = min(self.graph.offsets[node] for node in row)
        shape = tg.tensor(self.graph.value(row[0])).get_shape()
        source, size = self.graph.value(element.source), shape[axis]
        before, after = shape[:axis], shape[axis + 1 :]
        span = (*before, (count - 1) * stride + size, *after)
        if span != tg.tensor(source).get_shape():
            source = builder.put(tg.ShrinkOp(source, offsets, span))
        if stride != size:
            zeros, zero = [0] * len(shape), tg.number_attribute(0, tg.tensor(source).element_type)
            whole = (*before, count * stride, *after)
            source = builder.put(tg.PadOp(source, zeros, whole, zero))
            source = builder.put(tg.ReshapeOp(source, (*before, count, stride, *after)))
            source = builder.put(tg.ShrinkOp(source, [0, *zeros], (*before, count, size, *after)))
        # An axis of one cell is that of the steps.
        parts = (*before, count, *(self.parts(row)[axis:]))
        if parts != tg.tensor(source).get_shape():
            source = builder.put(tg.ReshapeOp(source, parts))
        rank = len(parts)
        if axis:
            others = [i for i in range(rank) if i != axis]
            source = builder.put(tg.PermuteOp(source, [axis, *others]))
        if (element.stride < 0) != self.is_reverse:
            source = builder.put(tg.FlipOp(source, [True, *[False] * (rank - 1)]))
        return source

    def parts(self, row: Row) -> tuple[int, ...]:
        """The shape of the part of a value that each step is given."""
        axis, shape = self.element(row).axis, tg.tensor(self.graph.value(row[0])).get_shape()
        return shape if shape[axis] > 1 else (*shape[:axis], *shape[axis + 1 :])

    def users_before(self, last: Operation) -> list[Operation]:
        """The ops that use steps, and stand before the last op of these."""
        found: dict[Operation, None] = {}
        begin = min(self.positions[op] for op in self.inside)
        for op in self.graph.order[begin : self.positions[last]]:
            if op not in self.inside and any(
                operand.owner in self.inside or operand.owner in found for operand in op.operands
            ):
                found[op] = None
        return [*found]

    def replace(self, builder: tg.OpBuilder, scan: tg.ScanOp) -> None:
        """Use the results of the SCAN instead of those of the steps."""
        count, states = self.steps.count, len(self.states)
        ends = {row: states + i for i, row in enumerate(self.finals)}
        ends |= {state.op: i for i, state in enumerate(self.states) if state.lag == 1}
        stacks = {
            row: builder.put(tg.GetTupleOp(scan, states + len(self.finals) + i))
            for i, row in enumerate(self.stacked)
        }
        for row in self.steps.ops:
            if row in stacks:
                self.replace_stacks(builder, row, stacks[row])
            for step, node in enumerate(row):
                if not self.is_used_outside(node):
                    continue
                if step == count - 1 and row in ends:
                    new = builder.put(tg.GetTupleOp(scan, ends[row]))
                else:
                    shape = tg.tensor(self.graph.value(node)).get_shape()
                    at = count - 1 - step if self.is_reverse else step
                    offsets, extents = [at, *[0] * len(shape)], (1, *shape)
                    new = builder.put(tg.ShrinkOp(stacks[row], offsets, extents))
                    new = builder.put(tg.ReshapeOp(new, shape))
                for value in self.graph.values[node]:
                    for use in [*value.uses]:
                        if use.operation not in self.inside:
                            use.operation.operands[use.index] = new

    def replace_stacks(self, builder: tg.OpBuilder, row: Row, stack: SSAValue) -> None:
        """Use the stacked results of an op instead of a STACK of its results in all steps."""
        order = row[::-1] if self.is_reverse else row
        for use in [*self.graph.value(row[0]).uses]:
            op = use.operation
            if not isinstance(op, tg.StackOp) or op in self.inside:
                continue
            nodes = tuple(self.graph.number[source] for source in op.operands)
            if nodes == order:
                new = stack
            elif nodes == order[::-1]:
                rank = len(tg.tensor(stack).get_shape())
                new = builder.put(tg.FlipOp(stack, [True, *[False] * (rank - 1)]))
            else:
                continue
            op.result.replace_all_uses_with(new)
            Rewriter.erase_op(op)


class _ScanBody(tg.OpBuilder):
    """The body of a SCAN."""

    def __init__(self, roll: Roll) -> None:
        super().__init__(InsertPoint.at_end(Block()))
        graph, steps = roll.graph, roll.steps
        self.slots = count()
        states = {state: self.param(graph.value(state.op[0])) for state in roll.states}
        for row in roll.finals:
            self.param(graph.value(row[0]))
        given = {row: self.param(graph.value(row[0]), roll.parts(row)) for row in roll.elements}
        inner = {graph.value(node): self.param(graph.value(node)) for node in roll.constants}
        known: dict[Row, SSAValue] = {}
        for row, part in given.items():
            shape = tg.tensor(graph.value(row[0])).get_shape()
            is_whole = shape == tg.tensor(part).get_shape()
            known[row] = part if is_whole else self.put(tg.ReshapeOp(part, shape))
        for row, of in steps.given.items():
            if isinstance(of, Invariant):
                known[row] = self.clone(graph.value(of.node), inner, everything=True)
        for row in steps.ops:
            op = cast(tg.TgOp, graph.op(row[0]))
            operands: list[SSAValue] = []
            for each in zip(*(graph.operands[node] for node in row), strict=True):
                match steps.given[each]:
                    case Lagged(lag=lag) as state if lag:
                        operands.append(states[state])
                    case _:
                        operands.append(known[each])
            known[row] = self.put(op.rebuild(operands))
        new = [known[op] if lag == 1 else states[Lagged(op, lag - 1)] for op, lag in roll.states]
        self.put(tg.TupleOp([*new, *(known[row] for row in (*roll.finals, *roll.stacked))]))

    def param(self, like: SSAValue, shape: Sequence[int] | None = None) -> SSAValue:
        """The next PARAM, of the dtype and shape of a value, wherever that is, or another shape."""
        type = tg.tensor(like)
        where = tg.tensor_type(type.element_type, type.get_shape() if shape is None else shape)
        return self.put(tg.ParamOp(next(self.slots), where))


def _base(graph: ValueGraph, node: int) -> int:
    """The node that a node is a view of."""
    while (
        graph.kinds[node] >= 0
        and isinstance(graph.op(node), tg.MovementOp)
        and len(graph.operands[node]) == 1
    ):
        (node,) = graph.operands[node]
    return node


def _zeros(builder: tg.OpBuilder, like: SSAValue) -> SSAValue:
    """Zeros of the type of a value."""
    type = tg.tensor(like)
    zero = builder.put(tg.ConstOp(0, type.element_type))
    shape = type.get_shape()
    return builder.put(tg.ExpandOp(builder.put(tg.ReshapeOp(zero, [1] * len(shape))), shape))
