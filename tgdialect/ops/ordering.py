"""Ordering ops: loops, and edges of the order of execution.

A kernel is a graph: the order of its ops in the block means nothing until LINEAR. An op is inside
the loop of each RANGE that it depends on; END and REDUCE leave the loops of their ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl import irdl
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import MemoryWriteEffect, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import facts, locate
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.attributes import VOID, AxisType, AxisTypeAttr, NumberAttr, OptAttr
from tgdialect.ops.base import (
    INDEX_SCALAR,
    SIGNATURE,
    TENSOR,
    VOID_EDGE,
    NothingInGraph,
    PureInGraph,
    TgOp,
    Value,
    ValueOp,
    VoidOp,
)
from tgdialect.ops.properties import dtype_of, integer, is_memory, known_index, tensor
from tgdialect.ops.walk import computed, operands_of

EDGE = irdl.AnyOf((VOID_EDGE, TENSOR))
"""Constraint: any operand that can be ordered before an op."""


@op_definition
class RangeOp(TgOp):
    """RANGE (bound,), type: an iterator from 0 to bound; its axis id is unique in the kernel.

    `%1 = tg.range 0 loop to %0 : tensor<index>`
    """

    name = "tg.range"

    OPENS_BLOCK: ClassVar[bool] = True

    axis = irdl.prop_def(NumberAttr)
    axis_type = irdl.prop_def(AxisTypeAttr)
    bound = irdl.operand_def(TENSOR)
    result = irdl.result_def(INDEX_SCALAR)

    traits = irdl.traits_def(PureInGraph())

    assembly_format = "custom<Int>($axis) $axis_type `to` $bound attr-dict `:` type($bound)"

    def __init__(self, axis: int, axis_type: AxisType, bound: Value):
        kind = unchecked.made(AxisTypeAttr, data=axis_type)
        self.infer((bound,), {"axis": NumberAttr.of(axis), "axis_type": kind})

    def verify_rule(self) -> None:
        if self.axis.data < 0:
            raise VerifyException(f"axis id {self.axis.data} is negative")
        if not dtype_of(self.bound).is_integer or tensor(self.bound).get_shape():
            raise VerifyException(f"the bound of a range is an integer, not {self.bound.type}")
        # The min that a PARAM declares, or the value of a CONST.
        owner, least = self.bound.owner, known_index(self.bound)
        if isinstance(owner, Operation) and owner.name == "tg.param":
            least = integer(owner, "min")
        if least is not None and least < 0:
            raise VerifyException(f"the bound of range {self.axis.data} may be negative: {least}")


def dependent_ranges(
    root: SSAValue, known: dict[SSAValue, frozenset[RangeOp]] | None = None
) -> frozenset[RangeOp]:
    """The RANGEs whose loops a value is in: it depends on them, and no END or REDUCE closes them.

    `known` caches the results of calls on the same graph.
    """
    open_ranges: dict[SSAValue, frozenset[RangeOp]] = {} if known is None else known

    def compute(value: SSAValue) -> frozenset[RangeOp]:
        owner = value.owner
        if not isinstance(owner, TgOp) and isinstance(owner, Block):
            return _NO_RANGES
        return ranges_after(owner, [open_ranges[o] for o in owner.operands])

    return computed(root, open_ranges, operands_of, compute)


_NO_RANGES: frozenset[RangeOp] = frozenset()


def ranges_after(op: Operation, sources: Sequence[frozenset[RangeOp]]) -> frozenset[RangeOp]:
    """The ranges open in an op's result, given those open in its operands."""
    result = _NO_RANGES.union(*sources)
    if isinstance(op, RangeOp):
        return result | {op}
    closed = getattr(op, "ranges", ())
    return result.difference(r.owner for r in closed) if closed else result


@op_definition
class EndOp(VoidOp):
    """END (body, ranges...): close the loops of ranges, the innermost first.

    `%3 = tg.end %2 over %1, %0 : !tg.void`
    """

    name = "tg.end"

    CLOSES: ClassVar[slice | None] = slice(1, None)

    body = irdl.operand_def(EDGE)
    ranges = irdl.var_operand_def(INDEX_SCALAR)

    traits = irdl.traits_def(NothingInGraph())

    assembly_format = "$body `over` $ranges attr-dict `:` type($body)"

    def __init__(self, body: Value, ranges: Sequence[Value]):
        self.infer((body, *ranges))

    def verify_rule(self) -> None:
        if not self.ranges:
            raise VerifyException("an END closes at least one range")
        open_ranges = None if _is_linear(self) else dependent_ranges(self.body, facts(RangeOp))
        inner: set[RangeOp] = set()
        for value in self.ranges:
            range = value.owner
            if not isinstance(range, RangeOp):
                raise VerifyException("an END closes RANGEs only")
            if open_ranges is not None and range not in open_ranges:
                raise VerifyException(f"range {range.axis.data} is not open in the body")
            if range in inner or any(
                isinstance(use.operation, EndOp) and use.operation is not self
                for use in value.uses
                if use.index > 0
            ):
                raise VerifyException(f"range {range.axis.data} is closed more than once")
            if threads := [r for r in inner if r.axis_type.data is AxisType.THREAD]:
                number = threads[0].axis.data
                raise VerifyException(
                    f"thread range {number} is inside range {range.axis.data}, not around all loops"
                )
            if inner & dependent_ranges(range.bound, facts(RangeOp)):
                raise VerifyException(
                    f"range {range.axis.data} is inside a range that is closed before it"
                )
            inner.add(range)


def _is_linear(op: Operation) -> bool:
    """Whether the position of an op determines its loops, which the verifier of LINEAR checks."""
    return isinstance(op.parent_op(), LinearOp)


@op_definition
class AfterOp(ValueOp):
    """AFTER (buf, deps...): buf, once deps have executed. Assign is STORE followed by AFTER.

    `%2 = tg.after %0, %1 : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void)
      -> tensor<4xf32, #tg.place<"CPU", global>>`
    """

    name = "tg.after"

    buffer = irdl.operand_def(TENSOR)
    dependencies = irdl.var_operand_def(EDGE)

    assembly_format = f"$buffer `,` $dependencies {SIGNATURE}"

    def __init__(self, buffer: Value, dependencies: Sequence[Value]):
        self.infer((buffer, *dependencies))

    def verify_rule(self) -> None:
        if not is_memory(self.buffer):
            raise VerifyException(f"AFTER takes memory or a movement of it, not {self.buffer.type}")
        if not self.dependencies:
            raise VerifyException("AFTER waits for at least one op")


@op_definition
class GroupOp(VoidOp):
    """GROUP (u0, u1, ...): merge several STOREs into one node, unordered.

    `%2 = tg.group %0, %1`
    """

    name = "tg.group"

    members = irdl.var_operand_def(VOID_EDGE)

    assembly_format = "custom<Edges>($members) attr-dict"

    def __init__(self, members: Sequence[Value]):
        self.infer(members)


@op_definition
class SinkOp(VoidOp):
    """SINK (s0, s1, ...): collect side effects into a single root node.

    In a kernel it records the OptOps that were applied, from left to right.

    `%1 = tg.sink %0 : !tg.void`
    """

    name = "tg.sink"

    effects = irdl.var_operand_def(EDGE)
    opts = irdl.opt_prop_def(ArrayAttr[OptAttr])

    traits = irdl.traits_def(MemoryWriteEffect())

    assembly_format = "custom<Edges>($effects) (`opts` $opts^)? attr-dict (`:` type($effects)^)?"

    def __init__(self, effects: Sequence[Value], opts: ArrayAttr[OptAttr] | None = None):
        self.infer(effects, {"opts": opts})

    def verify_rule(self) -> None:
        if self.result.first_use is not None:
            raise VerifyException("a SINK is a root: nothing may use it")
        for effect in self.effects:
            if isinstance(effect.type, type(self.result.type)) or is_memory(effect):
                continue
            raise VerifyException(f"a SINK collects effects and memory, not {effect.type}")
        if not _is_linear(self):
            self._verify_closed()

    def _verify_closed(self) -> None:
        """Raise for an effect inside a loop, at what leads back into it where an END has closed
        it."""
        known = facts(RangeOp)
        for effect in self.effects:
            owner = effect.owner
            if not (inside := dependent_ranges(effect, known)) or isinstance(owner, Block):
                continue
            range = min(inside, key=lambda each: each.axis.data)
            uses = range.result.uses
            after: set[object] = {op for use in uses if isinstance(op := use.operation, EndOp)}
            for op in owner.parent.ops if owner.parent is not None and after else ():
                if op is self or after.isdisjoint(operand.owner for operand in op.operands):
                    continue
                if range in dependent_ranges(op.results[0], known):
                    message = f"range {range.axis.data} is used after its END"
                    raise locate(VerifyException(message), op)
                after.add(op)
            message = f"no END closes range {range.axis.data} around this {owner.name}"
            raise locate(VerifyException(message), owner)


@op_definition
class LinearOp(VoidOp):
    """LINEAR (uops...): a total order of ops, in which RANGE/END and IF/ENDIF nest.

    A value is used after its definition, and before the enclosing RANGE or IF is closed.

    `%0 = tg.linear { %1 = tg.const 1.5 : tensor<f32> }`
    """

    name = "tg.linear"
    HOLDS_KERNEL: ClassVar[bool] = True

    body = irdl.region_def("single_block")

    traits = irdl.traits_def(NoTerminator(), MemoryWriteEffect())

    assembly_format = "attr-dict-with-keyword $body"

    def __init__(self, body: Region):
        self.infer((), regions=(body,))

    def verify_rule(self) -> None:
        open_ops: list[Operation] = []
        values: list[list[SSAValue]] = [[]]
        closed: dict[SSAValue, bool] = {}
        for op in self.body.block.ops:
            _verify_uses(op, closed)
            if not isinstance(op, TgOp):
                continue
            if op.OPENS_BLOCK:
                open_ops.append(op)
                values.append([])
            for value in op.closed_blocks:
                if not open_ops or value.owner is not open_ops.pop():
                    raise VerifyException(f"{op.name} does not close the innermost open block")
                closed.update((v, True) for v in values.pop() if v.type != VOID)
            closed.update((v, False) for v in op.results)
            if not op.ESCAPES_BLOCK:
                values[-1].extend(op.results)
        if open_ops:
            raise VerifyException(f"{open_ops[-1].name} is never closed")


def _verify_uses(op: Operation, closed: dict[SSAValue, bool]) -> None:
    """Raise for an operand that is defined later, or in a RANGE or IF that is closed already."""
    for operand in op.operands:
        if operand.owner.parent is not op.parent or isinstance(operand.owner, Block):
            continue
        if operand not in closed:
            raise VerifyException(f"{op.name} uses {_show(operand)} before its definition")
        if closed[operand]:
            raise VerifyException(
                f"{op.name} uses {_show(operand)} after the RANGE or IF around its definition is "
                "closed"
            )


def _show(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "a value"
