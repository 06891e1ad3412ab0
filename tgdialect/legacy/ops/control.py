"""Loops, the updates of accumulators in them, conditions, and basic blocks of the linearizer."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl import irdl
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryWriteEffect

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import EffectOp, LegacyOp, PureOp
from tgdialect.legacy.ops.framework import is_accumulator, verify_assigned
from tgdialect.legacy.rules import made_by, producer, require, require_distinct, require_natural
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, VOID_EDGE, NothingInGraph
from tgdialect.ops.ordering import EDGE


def ends_of(begin: SSAValue) -> list[Operation]:
    """The ops that end the block of a loop or condition."""
    users = [use.operation for use in begin.uses]
    return [op for op in users if isinstance(op, LegacyOp) and begin in op.closed_blocks]


class LoopBegin(PureOp, ABC):
    """The start of a loop: its iterator goes from `start` to before `end`."""

    start = irdl.operand_def(TENSOR)
    end = irdl.operand_def(TENSOR)

    OPENS_BLOCK: ClassVar[bool] = True

    def verify_rule(self) -> None:
        for value in (self.start, self.end):
            is_scalar = tg.dtype_of(value).is_integer and not tg.tensor(value).get_shape()
            require(is_scalar, f"the bounds of a loop are integers, not {value.type}")
        types = self.start.type, self.end.type
        require(types[0] == types[1], f"a loop from {types[0]} to {types[1]}")
        start, end = tg.known_index(self.start), tg.known_index(self.end)
        is_backward = start is not None and end is not None and end < start
        require(not is_backward, f"a loop from {start} to {end}")
        ends = len(ends_of(self.result))
        require(ends <= 1, f"a loop ends once, not {ends} times")


@op_definition
class RangeOp(LoopBegin, op="range", syntax="custom<Int>($axis) `from` $start `to` $end"):
    """RANGE (start, end), axis: the iterator of a loop.

    Arguments: the number of the axis.
    Sources: the first value, and the one after the last.
    Stage: lowering, codegen.
    Becomes: `tg.range`, to which a start that is not 0 is added.

    `%2 = tg_legacy.range 0 from %0 to %1 : tensor<i32>`
    """

    axis = irdl.prop_def(tg.NumberAttr)

    def verify_rule(self) -> None:
        require_natural(self.axis.data, "axis")
        super().verify_rule()


@op_definition
class LoopOp(LoopBegin, op="loop", syntax="`from` $start `to` $end"):
    """LOOP (start, end): the iterator of a loop, in the tutorial's age.

    Arguments: none.
    Sources: the first value, and the one after the last.
    Stage: linear listings.
    Becomes: `tg.range`, as RANGE does.

    `%2 = tg_legacy.loop from %0 to %1 : tensor<i32>`
    """


def verify_loops(values: Sequence[SSAValue]) -> None:
    """Raise unless values are the iterators of different loops."""
    for value in values:
        made_by(value, LoopBegin, "expected a RANGE or LOOP, got ")
    require_distinct(values, "a loop", "loops")


class BlockEnd(LegacyOp, ABC, syntax="$begin attr-dict `:` type($begin)"):
    """The end of the block that its source began."""

    CLOSES: ClassVar[slice | None] = slice(None)

    BEGIN: ClassVar[type[LegacyOp]]
    """The op that begins such a block."""

    begin = irdl.operand_def(EDGE)
    result = irdl.result_def(VOID_EDGE)

    traits = irdl.traits_def(NothingInGraph())

    def verify_rule(self) -> None:
        this, begin = (k.name.rpartition(".")[2].upper() for k in (type(self), self.BEGIN))
        article = "an" if begin == "IF" else "a"
        made_by(self.begin, self.BEGIN, f"an {this} ends {article} {begin}, not ")


@op_definition
class EndRangeOp(BlockEnd, op="endrange"):
    """ENDRANGE (range,): the end of a loop.

    Arguments: none.
    Sources: its RANGE.
    Stage: lowering, codegen.
    Becomes: `tg.end` of what the loop writes; nothing where it only reduces.

    `%5 = tg_legacy.endrange %2 : tensor<i32>`
    """

    BEGIN: ClassVar[type[LegacyOp]] = RangeOp


@op_definition
class EndLoopOp(BlockEnd, op="endloop"):
    """ENDLOOP (loop,): the end of a loop, in the tutorial's age.

    Arguments: none.
    Sources: its LOOP.
    Stage: linear listings.
    Becomes: `tg.end`, as ENDRANGE does.

    `%5 = tg_legacy.endloop %2 : tensor<i32>`
    """

    BEGIN: ClassVar[type[LegacyOp]] = LoopOp


@op_definition
class PhiOp(LegacyOp, op="phi", syntax="$target `,` $value (`over` $loops^)?"):
    """PHI (accumulator, value, loop...): the accumulator, with its value after an iteration.

    Arguments: none.
    Sources: a DEFINE_ACC, its next value, and the LOOPs.
    Stage: linear listings, before ASSIGN took its place.
    Becomes: `tg.store` and `tg.after` in the accumulator's memory, or `tg.reduce`.

    `%4 = tg_legacy.phi %acc, %3 over %2
      : (tensor<f32>, tensor<f32>, tensor<i32>) -> tensor<f32>`
    """

    target = irdl.operand_def(TENSOR)
    value = irdl.operand_def(TENSOR)
    loops = irdl.var_operand_def(TENSOR)
    result = irdl.result_def(TENSOR)

    traits = irdl.traits_def(MemoryWriteEffect())

    ESCAPES_BLOCK: ClassVar[bool] = True

    def verify_rule(self) -> None:
        found = f"{self.target.type} of {producer(self.target)}"
        require(is_accumulator(self.target), f"PHI updates an accumulator, not {found}")
        verify_assigned(self.target, self.value)
        verify_loops(self.loops)


@op_definition
class IfOp(EffectOp, op="if"):
    """IF (condition, barrier?): the start of a block that executes only where the condition holds.

    Arguments: none.
    Sources: a bool, and a BARRIER that comes before.
    Stage: lowering, codegen.
    Becomes: the gate of each STORE in the block, of which `tg-linearize` makes a `tg.if` again,
    after the `tg.barrier`.

    `%1 = tg_legacy.if %0 after %b : tensor<i1>`
    """

    condition = irdl.operand_def(TENSOR)
    barrier = irdl.opt_operand_def(VOID_EDGE)

    OPENS_BLOCK: ClassVar[bool] = True

    assembly_format = "$condition (`after` $barrier^)? attr-dict `:` type($condition)"

    def verify_rule(self) -> None:
        type = tg.tensor(self.condition)
        is_bool = type.element_type == tg.BOOL and not type.get_shape()
        require(is_bool, f"the condition of an IF is tensor<i1>, not {type}")
        if self.barrier is not None:
            made_by(self.barrier, tg.BarrierOp, "an IF waits for a BARRIER, not ")
        ends = len(ends_of(self.result))
        require(ends == 1, f"an IF has one ENDIF or BLOCKEND, not {ends}")


@op_definition
class EndIfOp(BlockEnd, op="endif"):
    """ENDIF (if,): the end of a conditional block.

    Arguments: none.
    Sources: its IF.
    Stage: lowering, codegen.
    Becomes: nothing: the gates say what is conditional.

    `%2 = tg_legacy.endif %1 : !tg.void`
    """

    BEGIN: ClassVar[type[LegacyOp]] = IfOp


@op_definition
class BlockOp(EffectOp, op="block"):
    """BLOCK (block0, block1, ...), members: ops in a row, after those of other blocks.

    Arguments: the ops, in order; here they are sources.
    Sources: blocks that come before.
    Stage: linearization.
    Becomes: a part of `tg.linear`.

    `%b = tg_legacy.block %0, %1 after %a : tensor<f32>, !tg.void`
    """

    members = irdl.var_operand_def(EDGE)
    before = irdl.var_operand_def(VOID_EDGE)

    irdl_options = (irdl.AttrSizedOperandSegments(as_property=True),)

    assembly_format = "custom<Edges>($members) (`after` $before^)? attr-dict (`:` type($members)^)?"

    def verify_rule(self) -> None:
        verify_blocks(self.before)
        for member in self.members:
            require(
                not isinstance(member.owner, _BLOCKS),
                f"a {producer(member)} is no member of a block: it comes before or after it",
            )
        require_distinct(self.members, "a member", "ops")


@op_definition
class BlockStartOp(EffectOp, op="blockstart", syntax="$begin attr-dict `:` type($begin)"):
    """BLOCKSTART (range or if): the point where the block of a loop or a condition begins.

    Arguments: none.
    Sources: a RANGE or an IF.
    Stage: linearization.
    Becomes: nothing: in `tg.linear` the position says it.

    `%s = tg_legacy.blockstart %range : tensor<i32>`
    """

    begin = irdl.operand_def(EDGE)

    def verify_rule(self) -> None:
        _verify_begin(self.begin, "a BLOCKSTART begins")


@op_definition
class BlockForkOp(EffectOp, op="blockfork", syntax="$source custom<Int>($count) attr-dict"):
    """BLOCKFORK (block), count: a block that several others come after.

    Arguments: how many others.
    Sources: the block.
    Stage: linearization.
    Becomes: nothing: the block is once in `tg.linear`.

    `%f = tg_legacy.blockfork %b 2`
    """

    source = irdl.operand_def(VOID_EDGE)
    count = irdl.prop_def(tg.NumberAttr)

    def verify_rule(self) -> None:
        verify_blocks((self.source,))
        count, uses = self.count.data, self.result.uses.get_length()
        require(count >= 2, f"a fork has two branches or more, got {count}")
        require(uses == count, f"a fork of {count} branches has {uses}")


@op_definition
class BlockEndOp(EffectOp, op="blockend"):
    """BLOCKEND (range or if, block0, block1, ...): the end of a loop or condition.

    Arguments: the RANGE or IF, here a source.
    Sources: the blocks inside.
    Stage: linearization.
    Becomes: `tg.end` of the loop in `tg.linear`; the end of the gates of a condition.

    `%e = tg_legacy.blockend %range after %b : tensor<i32>`
    """

    CLOSES: ClassVar[slice | None] = slice(1)

    begin = irdl.operand_def(EDGE)
    before = irdl.var_operand_def(VOID_EDGE)

    assembly_format = "$begin `after` $before attr-dict `:` type($begin)"

    def verify_rule(self) -> None:
        _verify_begin(self.begin, "a BLOCKEND ends")
        require(bool(self.before), "a BLOCKEND comes after at least one block")
        verify_blocks(self.before)


_BLOCKS = (BlockOp, BlockStartOp, BlockForkOp, BlockEndOp)


def verify_blocks(values: Sequence[SSAValue]) -> None:
    """Raise unless values are blocks."""
    for value in values:
        made_by(value, _BLOCKS, "expected a BLOCK, BLOCKSTART, BLOCKFORK or BLOCKEND, got ")


def _verify_begin(begin: SSAValue, does: str) -> None:
    """Raise unless a value begins a loop or a condition."""
    opens = getattr(begin.owner, "OPENS_BLOCK", False)
    require(opens, f"{does} a RANGE or an IF, not {producer(begin)}")
