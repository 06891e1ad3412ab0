"""Basic blocks, of which the older linearizer makes a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, prop_def, var_operand_def

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import EffectOp
from tgdialect.legacy.rules import made_by, producer, require, require_distinct
from tgdialect.ops import tg
from tgdialect.ops.base import VOID_EDGE
from tgdialect.ops.ordering import EDGE


@op_definition
class BlockOp(EffectOp):
    """BLOCK (block0, block1, ...), members: ops in a row, after those of other blocks.

    Arguments: the ops, in order; here they are sources.
    Sources: blocks that come before.
    Stage: linearization.
    Becomes: a part of `tg.linear`.

    `%b = tg_legacy.block %0, %1 after %a : tensor<f32>, !tg.void`
    """

    name = "tg_legacy.block"

    members = var_operand_def(EDGE)
    before = var_operand_def(VOID_EDGE)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

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
class BlockStartOp(EffectOp):
    """BLOCKSTART (range or if): the point where the block of a loop or a condition begins.

    Arguments: none.
    Sources: a RANGE or an IF.
    Stage: linearization.
    Becomes: nothing: in `tg.linear` the position says it.

    `%s = tg_legacy.blockstart %range : tensor<i32>`
    """

    name = "tg_legacy.blockstart"

    begin = operand_def(EDGE)

    assembly_format = "$begin attr-dict `:` type($begin)"

    def verify_rule(self) -> None:
        _verify_begin(self.begin, "a BLOCKSTART begins")


@op_definition
class BlockForkOp(EffectOp):
    """BLOCKFORK (block), count: a block that several others come after.

    Arguments: how many others.
    Sources: the block.
    Stage: linearization.
    Becomes: nothing: the block is once in `tg.linear`.

    `%f = tg_legacy.blockfork %b 2`
    """

    name = "tg_legacy.blockfork"

    source = operand_def(VOID_EDGE)
    count = prop_def(tg.NumberAttr)

    assembly_format = "$source custom<Int>($count) attr-dict"

    def verify_rule(self) -> None:
        verify_blocks((self.source,))
        count, uses = self.count.data, self.result.uses.get_length()
        require(count >= 2, f"a fork has two branches or more, got {count}")
        require(uses == count, f"a fork of {count} branches has {uses}")


@op_definition
class BlockEndOp(EffectOp):
    """BLOCKEND (range or if, block0, block1, ...): the end of a loop or condition.

    Arguments: the RANGE or IF, here a source.
    Sources: the blocks inside.
    Stage: linearization.
    Becomes: `tg.end` of the loop in `tg.linear`; the end of the gates of a condition.

    `%e = tg_legacy.blockend %range after %b : tensor<i32>`
    """

    name = "tg_legacy.blockend"

    CLOSES: ClassVar[slice | None] = slice(1)

    begin = operand_def(EDGE)
    before = var_operand_def(VOID_EDGE)

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
