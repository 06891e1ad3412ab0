"""The structure of a task, by which tasks that are alike are recognised."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.structure import Structures
from tgdialect.lowering.rangeify.alike import Structure
from tgdialect.lowering.rangeify.kernel import Realised
from tgdialect.ops import tg
from tgdialect.ops.base import TgOp
from tgdialect.ops.properties import is_memory, tensor
from tgdialect.ops.walk import behind


def structure_of_task(
    structures: Structures,
    root: Operation,
    values: Sequence[SSAValue],
    written: Realised,
    about: Hashable,
    realised: Mapping[Operation, Realised],
) -> Structure | None:
    """The structure of a task that computes some values, and first accesses the memory `written`;
    None if it depends on sizes that are no constants. `realised` values but the root are read from
    memory. `about` is what else its kernels depend on, as a text.
    """
    numbers: dict[SSAValue, int] = {}

    def memory(buffer: SSAValue) -> str:
        known = numbers.setdefault(buffer, len(numbers))
        return f"{known} {structures.text(buffer.type)}"

    def described(stored: Realised) -> str:
        """All that is known of how a value is stored."""
        known = [getattr(stored, field.name) for field in fields(stored)]
        return " ".join(
            memory(cast("SSAValue", each)) if isinstance(each, SSAValue) else str(each)
            for each in known
        )

    def leaf(value: SSAValue) -> str | None:
        owner = value.owner
        if owner is not root and isinstance(owner, TgOp):
            if (known := realised.get(owner)) is not None:
                return f"realised {described(known)}"
            if owner.operands and not isinstance(owner, tg.AfterOp | tg.BufferOp):
                return None
        buffer = behind(value, tg.AfterOp)
        if is_memory(buffer) and isinstance(buffer.owner, tg.BufferOp | Block):
            return f"memory {memory(buffer)}"
        return None

    first = described(written)
    found = structures.computing(values, leaf)
    if found is None or any(DYNAMIC_INDEX in tensor(buffer).get_shape() for buffer in numbers):
        return None
    text = f"{first}\n{about}\n{found.text}"
    return Structure(text, [*found.numbers, *numbers], [*numbers])
