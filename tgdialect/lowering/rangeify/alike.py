"""Tasks that are alike: the first is lowered, and the others call its kernels.

In a program of equal layers most tasks compute the same of other buffers. What a task becomes
depends on the ops between its root and memory, on what fusion has decided about these, and on the
types of the buffers. That is a text, which takes a quarter of the time of lowering the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.structure import Structures
from tgdialect.lowering.rangeify.kernel import Realised
from tgdialect.lowering.rangeify.planning.fusion import Fusion
from tgdialect.ops import tg
from tgdialect.ops.base import TgOp
from tgdialect.ops.properties import is_memory, tensor
from tgdialect.ops.walk import behind

Parts = Sequence[tuple[str, Sequence[int]]]
"""The names of the kernels that one becomes, and the slots of the arguments that each gets."""


class LoweredTask(NamedTuple):
    """The kernels of a task that has been lowered."""

    parts: Parts
    arguments: Sequence[int]
    """The number of each argument among the buffers of the task."""
    is_masked: bool = False
    """Whether it has stored the validity of its cells as well: in the last of its buffers."""


class TaskPlace(NamedTuple):
    """Where a task is in the function: its structure, and the memory there."""

    text: str
    buffers: list[SSAValue]
    """The memory that it accesses, in an order that the structure decides."""

    def arguments_of(self, lowered: LoweredTask) -> list[SSAValue]:
        """The arguments of the kernels that a task of this structure has become."""
        return [self.buffers[number] for number in lowered.arguments]

    def numbers_of(self, arguments: Iterable[SSAValue]) -> list[int]:
        """The inverse of `arguments_of`."""
        numbers = {buffer: number for number, buffer in enumerate(self.buffers)}
        return [numbers[argument] for argument in arguments]


class Tasks:
    """The lowered tasks of one function, in `lowered`, by the texts of their structures."""

    def __init__(
        self,
        structures: Structures,
        fusion: Fusion,
        realised: Mapping[Operation, Realised],
        intervals: MinMax,
        is_output: Callable[[SSAValue], bool],
    ) -> None:
        """`is_output` says of memory whether invalid cells are 0 in it."""
        self.lowered: dict[str, LoweredTask] = {}
        self.are_several = True
        """Whether there is another task that one may be like."""
        self._structures = structures
        self._fusion = fusion
        self._realised = realised
        self._intervals = intervals
        self._is_output = is_output

    def place(
        self, root: Operation, values: Sequence[SSAValue], written: Sequence[SSAValue], about: Any
    ) -> TaskPlace | None:
        """The structure of a task that computes some values, and first accesses what it has
        `written`; None if it is the only task, or depends on sizes that are no constants. `about`
        is what else its kernels depend on: ops and values in it are among those that it computes.
        """
        if not self.are_several:
            return None
        numbers: dict[SSAValue, int] = {}
        words: list[str] = []
        text_of = self._structures.text

        def number(buffer: SSAValue) -> str:
            """Memory, with its number."""
            known = numbers.setdefault(buffer, len(numbers))
            own = "output" if self._is_output(buffer) else ""
            return f"{known} {own} {text_of(buffer.type)}"

        def leaf(value: SSAValue) -> str | None:
            owner = value.owner
            if owner is not root and isinstance(owner, TgOp):
                if (known := self._realised.get(owner)) is not None:
                    memories = [known.data] if known.mask is None else [known.data, known.mask]
                    return " ".join(["realised", known.place, *map(number, memories)])
                if owner.operands and not isinstance(owner, tg.AfterOp | tg.BufferOp):
                    return None
            memory = behind(value, tg.AfterOp)
            if is_memory(memory) and isinstance(memory.owner, tg.BufferOp | Block):
                return f"memory {number(memory)}"
            return None

        words += map(number, written)
        structure = self._structures.computing(values, leaf, self._note)
        dynamic = (DYNAMIC_INDEX in tensor(buffer).get_shape() for buffer in numbers)
        if structure is None or any(dynamic):
            return None
        fusion = self._fusion
        words += map(str, (fusion.splits.get(root, ()), fusion.orders.get(root, ())))
        words += map(str, _numbered(about, structure.numbers))
        return TaskPlace("\n".join([*words, structure.text]), [*numbers])

    def _note(self, op: Operation) -> str:
        """The facts about an op that a kernel also depends on: its LOCAL buffer, and the intervals
        of indices, which decide whether they are clamped."""
        axes = self._fusion.local_axes.get(op)
        text = "" if axes is None else f"local {axes}"
        if isinstance(op, tg.IndexOp):
            text += str([self._intervals[index] for index in op.indices])
        return text


def _numbered(what: Any, numbers: Mapping[SSAValue, int]) -> Sequence[Any]:
    """Something that refers to ops and values, with their numbers instead of them."""
    if isinstance(what, TgOp):
        return ["op", *(numbers[result] for result in what.results)]
    if isinstance(what, SSAValue):
        return ["value", numbers[what]]
    if isinstance(what, Set | tuple | list):
        found = [_numbered(each, numbers) for each in cast("Iterable[Any]", what)]
        return sorted(found) if isinstance(what, Set) else found
    if is_dataclass(what):
        return [_numbered(getattr(what, field.name), numbers) for field in fields(what)]
    return [str(what)]
