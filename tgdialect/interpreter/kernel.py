"""The common part of both ways to run a kernel or LINEAR: values, and ops unrelated to loops.

`scalar.py` runs one iteration after the other and is the definition; `lane_run.py` runs many at
once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.block_analysis import BlockAnalysis, Instance, out_of_bounds
from tgdialect.interpreter.instructions import run_custom
from tgdialect.interpreter.memory import LiveView
from tgdialect.interpreter.movement import MOVEMENTS, AppliedMovement, extents
from tgdialect.interpreter.pure import PURE, load
from tgdialect.interpreter.run_context import RunContext, symbol_of
from tgdialect.interpreter.values import MaskedArray, aligned, lifted
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array

LiveValue = MaskedArray | LiveView | None
"""A value, memory, or an ordering edge."""


class Given(NamedTuple):
    """The values of a block's PARAMs by slot, and of what it captures."""

    parameters: Sequence[LiveValue]
    captured: Mapping[SSAValue, LiveValue] = {}


class KernelRun(ABC):
    """One run of a kernel or LINEAR: the values of its ops, each with `lanes` axes for loops."""

    def __init__(
        self,
        analysis: BlockAnalysis,
        context: RunContext,
        functions: Mapping[str, Function],
        given: Given,
        lanes: int = 0,
    ):
        self.analysis = analysis
        self.context = context
        self.lanes = lanes
        self.parameters = given.parameters
        self._functions = functions
        self.known: dict[SSAValue, LiveValue] = {
            value: self.lift(what) for value, what in given.captured.items()
        }
        self.errors: list[InterpretationError] = []
        """Reads of cells without contents since the last BARRIER: a later STORE makes each a
        race."""

    def raise_errors(self) -> None:
        """Raise the first error that would be a race, had another work item written the cell."""
        if self.errors:
            raise self.errors[0]

    @abstractmethod
    def read(self, op: Operation, operand: SSAValue, view: LiveView, gate: Array | None) -> Array:
        """The elements that an op reads from memory where `gate` is true; 0 elsewhere."""

    @abstractmethod
    def write(self, op: Operation, view: LiveView, value: Array, mask: Array | None) -> None:
        """Write a value through a view, where `mask` is true."""

    @abstractmethod
    def hold(self, op: Operation, array: MaskedArray) -> LiveView:
        """New memory that holds a value, for an op whose result is memory."""

    @abstractmethod
    def buffer(self, op: tg.BufferOp, shape: tuple[int, ...]) -> LiveView:
        """The memory of a BUFFER, which is made of zeros when it is first used."""

    @abstractmethod
    def instance(self, op: Operation, lane: Sequence[int] = ()) -> Instance:
        """An op in the iterations that are running, of which a position in the lanes is one."""

    def check_bounds(
        self, op: Operation, location: SSAValue, view: LiveView, mask: Array | None
    ) -> None:
        """Refuse an access outside of its memory, where `mask` is true, after `tg-select`.

        There nothing else proves that indices are in range. Before, such an access reads 0 or
        writes nothing, and `tg-select` gives it a gate.
        """
        if not self.analysis.has_gates:
            return
        cells = view.cell_map.cells
        outside = (cells.numbers == 0).any(axis=-1) if cells.bytewise else cells.numbers == 0
        if mask is not None and bool(outside.any()):
            outside = outside & mask
        if bool(outside.any()):
            (first, *_) = np.argwhere(outside)
            now, memory = self.instance(op, first[: self.lanes].tolist()), view.memory
            index = self._index_text(op, location, outside.shape, first)
            raise out_of_bounds(now, index, memory.name, memory.size)

    def _index_text(
        self, op: Operation, location: SSAValue, shape: Sequence[int], at: Array
    ) -> str:
        """The indices of the element at a position of what a location shows."""
        if not isinstance(owner := location.owner, tg.IndexOp):
            return f"{at[self.lanes :].tolist()} of a view"
        indices = (self.array(op, index).materialised() for index in owner.indices)
        if len(owner.indices) > 1:
            shape, at = shape[: self.lanes], at[: self.lanes]
        return ", ".join(str(np.broadcast_to(index, shape)[tuple(at)]) for index in indices)

    def execute(self, op: Operation) -> None:
        """Execute one op; the errors of it are located there."""
        with errors_at(op):
            if (function := self._functions.get(op.name)) is None:
                raise InterpretationError(f"{op.name} is not an op of a kernel")
            try:
                value = function(self, op)
            except MemoryError as e:
                raise InterpretationError(f"{op.name} of {op.results[0].type}: {e}") from e
        if op.results:
            self.known[op.results[0]] = value

    def array(self, op: Operation, operand: SSAValue, gate: Array | None = None) -> MaskedArray:
        """The value of an operand; of memory, what it holds where `op` reads it."""
        value = self.known[operand]
        if isinstance(value, MaskedArray):
            return value
        if value is None:
            raise InterpretationError(f"{op.name} takes a tensor")
        return MaskedArray(self.read(op, operand, value, gate))

    def lift(self, value: LiveValue) -> LiveValue:
        """A value from outside, which has no lane axes."""
        if isinstance(value, LiveView):
            return LiveView(value.memory, value.cell_map.lifted(self.lanes))
        return None if value is None else lifted(value, self.lanes)

    def result(self, op: Operation, array: MaskedArray) -> LiveValue:
        """A value; or memory that holds it, where the op's result is memory."""
        return self.hold(op, array) if tg.is_memory(op.results[0]) else array


Function = Callable[[Any, Any], LiveValue]
"""The meaning of an op: from the run and the op to the value of its result."""


def _pure(run: KernelRun, op: Operation) -> LiveValue:
    operands = [run.array(op, operand) for operand in op.operands]
    return run.result(op, PURE[op.name](op, operands, run.lanes))


def _movement(run: KernelRun, op: Operation) -> LiveValue:
    source = run.known[op.operands[0]]
    operands = [run.array(op, operand) for operand in op.operands[1:]]
    movement = AppliedMovement(op, operands, run.lanes)
    if isinstance(source, LiveView):
        return LiveView(source.memory, source.cell_map.moved(movement))
    assert source is not None
    return movement.of(source)


def _identity(run: KernelRun, op: Operation) -> LiveValue:
    return run.known[op.operands[0]]


def ordering(run: KernelRun, op: Operation) -> LiveValue:
    """An op that only waits: its result is an ordering edge."""
    return None


def _param(run: KernelRun, op: tg.ParamOp) -> LiveValue:
    if op.slot.data >= len(run.parameters):
        raise InterpretationError(f"parameter {op.slot.data} has no argument")
    return run.lift(run.parameters[op.slot.data])


def _buffer(run: KernelRun, op: tg.BufferOp) -> LiveValue:
    sizes = [run.array(op, operand) for operand in op.operands]
    return run.buffer(op, extents(tg.tensor(op.result).get_shape(), sizes))


def _custom(run: KernelRun, op: tg.CustomOp | tg.InsOp) -> LiveValue:
    arrays = [run.array(op, operand).materialised() for operand in op.operands]
    result = run_custom(run.context.custom, op, arrays)
    return None if result is None else run.result(op, MaskedArray(result))


def _load(run: KernelRun, op: tg.LoadOp) -> LiveValue:
    """LOAD: memory is touched only where the gate is true."""
    alt = gate = mask = None
    if op.alt is not None and op.gate is not None:
        alt, gate = run.array(op, op.alt), run.array(op, op.gate)
        rank = len(tg.tensor(op.buffer).get_shape())
        mask = aligned(gate.materialised(), run.lanes, rank)
    return run.result(op, load(op, run.array(op, op.buffer, mask), alt, gate, run.lanes))


def _call(run: KernelRun, op: tg.CallOp) -> LiveValue:
    """A CALL in a LINEAR: what the callee writes is in memory at once."""
    callee = symbol_of(op, op.callee)
    lanes = run.lanes
    arrays: list[Array] = []
    for operand in op.operands:
        data = run.array(op, operand).materialised()
        if any(size != 1 for size in data.shape[:lanes]):
            raise InterpretationError("a CALL differs between the iterations of a loop")
        arrays.append(data.reshape(data.shape[lanes:]))
    outcome = run.context.run_call(op, callee, arrays, _shared(run, op, callee))
    for operand, content in zip(op.operands, outcome.contents, strict=True):
        view = run.known[operand]
        if content is not None and isinstance(view, LiveView):
            shape = (1,) * lanes + content.data.shape
            run.write(op, view, content.data.reshape(shape), content.written().reshape(shape))
    return None


def _shared(run: KernelRun, op: tg.CallOp, callee: Operation) -> Mapping[int, LiveView]:
    """The arguments of a program that are views of the same cells, of which it writes some, by
    slot."""
    views = {
        slot: view
        for slot, operand in enumerate(op.operands)
        if isinstance(view := run.known[operand], LiveView)
    }
    if run.lanes or not isinstance(callee, tg.ProgramOp) or callee.binary is not None:
        return {}
    _, written = run.context.effects(callee, len(op.operands))
    pairs = [
        pair
        for pair in combinations(views, 2)
        if not written.isdisjoint(pair) and views[pair[0]].overlaps(views[pair[1]])
    ]
    return {slot: views[slot] for pair in pairs for slot in pair}


COMMON: dict[str, Function] = {
    **dict.fromkeys(PURE, _pure),
    **dict.fromkeys(MOVEMENTS, _movement),
    **dict.fromkeys(("tg.detach", "tg.contiguous_backward", "tg.after"), _identity),
    "tg.param": _param,
    "tg.buffer": _buffer,
    "tg.load": _load,
    **dict.fromkeys(("tg.end", "tg.endif", "tg.group", "tg.sink"), ordering),
    **dict.fromkeys(("tg.custom", "tg.ins"), _custom),
    "tg.call": _call,
}
"""The ops of a kernel that take no part in loops, by name."""
