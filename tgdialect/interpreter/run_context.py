"""State that a run shares: callable ops, custom code, BUFFERs, and the depth of nested calls."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from tgdialect.custom import CustomCode
from tgdialect.diagnostics import errors_at, locate
from tgdialect.interpreter.block_analysis import Roots, memory_uses
from tgdialect.interpreter.instructions import run_custom_function
from tgdialect.interpreter.memory import LiveView
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array

_MAX_DEPTH = 100
"""The greatest depth of calls and FUNCTIONs within one another. It stops recursion, which would
never end, before Python's stack is full."""
_MAX_CALLS = 1 << 14
"""The greatest number of calls in a call, those of its callees included and a loop's counted once.
As many of one op each take some seconds. A smaller limit refuses programs of many short functions;
without one, functions that call the one before twice would have 2^n."""


@dataclass(frozen=True)
class Contents:
    """The contents of a memory argument after a call, and which of its elements the callee
    wrote."""

    data: Array
    written: Callable[[], Array]


@dataclass(frozen=True)
class Outcome:
    """Of a call: its results, and for each argument its new contents if it was written."""

    results: Sequence[Array]
    contents: Sequence[Contents | None]


Slots = frozenset[int]


Callee = Callable[
    ["RunContext", Any, Sequence[Array], Sequence[Array], Mapping[int, LiveView]], Outcome
]
"""Runs an op that can be called on arrays, and on those of the PARAMs of a `func.func`. The last
argument has views, by slot, of the memory that several slots show the same cells of."""


@dataclass
class RunContext:
    """The state that all parts of one run of the interpreter share.

    `callees` say how ops are called, by name; `scalar` runs kernels one iteration at a time.
    """

    callees: Mapping[str, Callee]
    custom: CustomCode = field(default_factory=CustomCode)
    buffers: Mapping[int, Array] = field(default_factory=dict[int, Array])
    scalar: bool = False
    _effects: dict[Operation, tuple[Slots, Slots]] = field(
        default_factory=dict[Operation, tuple[Slots, Slots]]
    )
    _calls: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _depth: int = 0

    @contextmanager
    def nested(self, what: str) -> Generator[None]:
        """Count a call, and refuse to go on without end."""
        if self._depth >= _MAX_DEPTH:
            raise InterpretationError(f"{what} nests more than {_MAX_DEPTH} deep")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    # -- calls

    def call(
        self,
        callee: Operation,
        arguments: Sequence[Array],
        extra: Sequence[Array] = (),
        shared: Mapping[int, LiveView] = {},
    ) -> Outcome:
        """Run a callee on arrays, which it does not change.

        `extra` are the arguments of the PARAMs of a `func.func`, by slot.
        """
        with errors_at(callee):
            if (run := self.callees.get(callee.name)) is None:
                raise InterpretationError(f"{callee.name} is not callable")
            return run(self, callee, arguments, extra, shared)

    def run_call(
        self,
        op: Operation,
        callee: Operation,
        arguments: Sequence[Array],
        shared: Mapping[int, LiveView] = {},
    ) -> Outcome:
        """Run what a CALL or `func.call` calls on arrays, which that does not change."""
        if not (isinstance(op, tg.CallOp) and isinstance(callee, tg.CustomFunctionOp)):
            return self.call(callee, arguments, shared=shared)
        arrays = [data.copy() for data in arguments]
        with errors_at(callee):
            run_custom_function(self.custom, op, callee, arrays)
        read, written = callee.effects(len(arrays))
        contents = [
            Contents(new, partial(np.ones, new.shape, np.bool_))
            if slot in written and (slot not in read or new.tobytes() != old.tobytes())
            else None
            for slot, (new, old) in enumerate(zip(arrays, arguments, strict=True))
        ]
        return Outcome([], contents)

    # -- what a callee does to its arguments

    def effects(self, callee: Operation, arguments: int = 0) -> tuple[Slots, Slots]:
        """The arguments that a callee reads, and those that it writes; of so many, all of those of
        an opaque one. Refuses one that calls again and again."""
        if (known := self._effects.get(callee)) is not None:
            return known
        if isinstance(callee, tg.CustomFunctionOp):
            return callee.effects(arguments)
        if not callee.regions:
            return frozenset(range(arguments)), frozenset(range(arguments))
        with self.nested(f"the call of {callee.name}"):
            read: set[int] = set()
            written: set[int] = set()
            roots = Roots()
            calls = 0
            for op in callee.regions[0].walk():
                inner: tuple[Slots, Slots] | None = None
                if isinstance(op, tg.CallOp | func.CallOp):
                    target = SymbolTable.lookup_symbol(op, op.callee.string_value())
                    inner = None if target is None else self.effects(target, len(op.operands))
                    calls += 1 + (0 if target is None else self._calls.get(target, 0))
                    if calls > _MAX_CALLS:
                        message = (
                            f"functions that are called again and again make over {_MAX_CALLS}"
                        )
                        raise locate(InterpretationError(f"{message} calls"), op)
                for use in memory_uses(op, roots):
                    if (slot := _slot(use.root)) is None:
                        continue
                    if use.reads and (inner is None or use.position in inner[0]):
                        read.add(slot)
                    if use.writes and (inner is None or use.position in inner[1]):
                        written.add(slot)
        self._calls[callee] = calls
        result = self._effects[callee] = (frozenset(read), frozenset(written))
        return result


def symbol_of(op: Operation, symbol: str | SymbolRefAttr) -> Operation:
    """The op of a symbol, looked up from another op."""
    if (found := SymbolTable.lookup_symbol(op, symbol)) is None:
        name = symbol if isinstance(symbol, str) else symbol.string_value()
        raise InterpretationError(f"there is no symbol @{name}")
    return found


def write_back(contents: Iterable[tuple[str, Array, Array]]) -> None:
    """Write to the caller's arrays: their names, the arrays, and the new contents of each.

    The new contents may share the storage of any of the arrays.
    """
    written = list(contents)
    for name, target, _ in written:
        if not target.flags.writeable:
            raise InterpretationError(f"{name} is written, but the input is read-only")
    targets = [target for _, target, _ in written]
    detached = [
        data.copy() if any(np.may_share_memory(data, target) for target in targets) else data
        for *_, data in written
    ]
    for target, data in zip(targets, detached, strict=True):
        target[...] = data


def _slot(root: SSAValue) -> int | None:
    """Which argument a memory is: the slot of a PARAM, or the position of a block argument."""
    if isinstance(root, BlockArgument):
        return root.index
    return root.owner.slot.data if isinstance(root.owner, tg.ParamOp) else None
