"""Basic blocks, of which the older linearizer makes a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import EffectOp
from tgdialect.legacy.table import producer
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
            if isinstance(member.owner, BlockOp | BlockStartOp | BlockForkOp | BlockEndOp):
                raise VerifyException(
                    f"a {member.owner.name} is no member of a block: it comes before or after it"
                )
        if len(set(self.members)) != len(self.members):
            raise VerifyException(
                f"a member is listed twice: {len(self.members)} sources are "
                f"{len(set(self.members))} ops"
            )


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
        if not getattr(self.begin.owner, "OPENS_BLOCK", False):
            raise VerifyException(
                f"a BLOCKSTART begins a RANGE or an IF, not {producer(self.begin)}"
            )


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
        if self.count.data < 2:
            raise VerifyException(f"a fork has two branches or more, got {self.count.data}")
        if (uses := self.result.uses.get_length()) != self.count.data:
            raise VerifyException(f"a fork of {self.count.data} branches has {uses}")


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
        if not getattr(self.begin.owner, "OPENS_BLOCK", False):
            raise VerifyException(f"a BLOCKEND ends a RANGE or an IF, not {producer(self.begin)}")
        if not self.before:
            raise VerifyException("a BLOCKEND comes after at least one block")
        verify_blocks(self.before)


def verify_blocks(values: Sequence[SSAValue]) -> None:
    """Raise unless values are blocks."""
    for value in values:
        if not isinstance(value.owner, BlockOp | BlockStartOp | BlockForkOp | BlockEndOp):
            raise VerifyException(
                f"expected a BLOCK, BLOCKSTART, BLOCKFORK or BLOCKEND, got {producer(value)}"
            )
