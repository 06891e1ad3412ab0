"""Tasks that are alike: the first is lowered, and the others call its kernels.

In a program of equal layers most tasks compute the same of other buffers. What a task becomes
depends on the ops between its root and memory, the plan in their attributes included, on the types
of the buffers, and on facts about values. The ops are a text, which takes a quarter of the time of
lowering the task. The facts are recorded where a kernel asks them: a task is like another if they
are the same for the values in the same places. So no dependence is listed, and none forgotten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.structure import Structures
from tgdialect.lowering.rangeify.kernel import Realised
from tgdialect.ops import tg

T = TypeVar("T")

Fact = Callable[[SSAValue], Any]
Asked = dict[tuple[Fact, SSAValue], Any]
"""Facts about values that have been asked, and the answers."""


class Facts:
    """Facts about the values of a function, of which those that are asked are recorded."""

    def __init__(self) -> None:
        self._asked: Asked | None = None

    def recorded(self, fact: Callable[[SSAValue], T]) -> Callable[[SSAValue], T]:
        """A fact about a value, by a function that records that it is asked. Its answers are
        compared by equality, so they must not name ops or values of the function."""

        def ask(value: SSAValue) -> T:
            answer = fact(value)
            if self._asked is not None:
                self._asked[fact, value] = answer
            return answer

        return ask

    @contextmanager
    def recording(self) -> Generator[Asked]:
        """The facts that are asked while this is entered; it is not entered again inside."""
        assert self._asked is None
        self._asked = asked = {}
        try:
            yield asked
        finally:
            self._asked = None


@dataclass
class Structure:
    """Where something is in a function: the text of its structure, and the values there."""

    text: str
    values: Sequence[SSAValue]
    """The values in it: those of equal texts that have one number have one place."""
    memory: list[SSAValue]
    """The memory that it accesses, in an order that the structure decides."""


class Alike(Generic[T]):
    """Results for structures: those that are alike share one."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[list[tuple[Fact, int, Any]], T]]] = defaultdict(list)
        """By the text of a structure: its result, and the facts that this depends on,
        each with the place of its value and the answer."""

    def find(self, structure: Structure) -> T | None:
        """The result for a structure that is like this one; None if there is none."""
        if (found := self._found.get(structure.text)) is not None:
            for facts, result in found:
                if all(fact(structure.values[at]) == answer for fact, at, answer in facts):
                    return result
        return None

    def add(self, structure: Structure, asked: Asked, result: T) -> None:
        """Record the result for a structure, and the facts that it depends on. If one is about a
        value that is elsewhere in the function, no other structure is like this one."""
        places: dict[SSAValue, int] = {}
        for place, value in enumerate(structure.values):
            places.setdefault(value, place)
        if all(value in places for _, value in asked):
            facts = [(fact, places[value], answer) for (fact, value), answer in asked.items()]
            self._found[structure.text].append((facts, result))


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
        if owner is not root and isinstance(owner, tg.TgOp):
            if (known := realised.get(owner)) is not None:
                return f"realised {described(known)}"
            if owner.operands and not isinstance(owner, tg.AfterOp | tg.BufferOp):
                return None
        buffer = tg.behind(value, tg.AfterOp)
        if tg.is_memory(buffer) and isinstance(buffer.owner, tg.BufferOp | Block):
            return f"memory {memory(buffer)}"
        return None

    first = described(written)
    found = structures.computing(values, leaf)
    if found is None or any(DYNAMIC_INDEX in tg.tensor(buffer).get_shape() for buffer in numbers):
        return None
    text = f"{first}\n{about}\n{found.text}"
    return Structure(text, [*found.numbers, *numbers], [*numbers])
