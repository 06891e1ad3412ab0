"""Gradients through memory: from a read AFTER some writes back to the values that they wrote.

Memory is versioned. A read sees the initial contents of its memory, changed by the writes that its
AFTERs depend on. That set of writes is the version.

The gradient with respect to a version stays pending until the reverse walk reaches the version's
last write. The gradient of the written cells then goes to the written value. The rest is the
gradient with respect to the version without that write. The version without any write is the
initial contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import MemoryEffectKind, get_effects
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import parameter_effects
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.transforms.builder import Builder
from tgdialect.transforms.gradient.rules import RULES

Version = int
"""A set of writes, as a bit mask."""

_VIEWS = (tg.MovementOp, tg.AfterOp, tg.DetachOp, tg.ContiguousBackwardOp)
"""Ops whose result is a view of their first operand, if that is memory."""

_BIJECTIONS = (tg.PermuteOp, tg.FlipOp, tg.ReshapeOp)
"""Views that show every cell of their source once."""


class Versions:
    """The versions of memory that the ops of a block read, and the gradients with respect to them.

    A gradient rule reads the operands of its op again, after all writes of the block. If an operand
    is memory that the block writes later, a LOAD before the op therefore saves its value.
    """

    def __init__(self, block: Block, validity: Validity) -> None:
        self._roots: dict[object, SSAValue] = {}
        self._writers: dict[Operation, tuple[Version, frozenset[SSAValue]]] = {}
        """The bit of each op that writes memory, and the memories that it writes."""
        self._writes: dict[SSAValue, Version] = {}
        """All writes of the block to each memory."""
        self._before: dict[Operation, Version] = {}
        """The writes that each op depends on; a write includes itself."""
        self._varying: Version = 0
        self._pending: dict[SSAValue, dict[Version, SSAValue]] = {}
        self._validity = validity
        ops = list(block.ops)
        for op in ops:
            self._number(op)
        for op in ops if self._writes else ():
            self._load_operands(op)

    def _load_operands(self, op: Operation) -> None:
        """LOAD the operands of an op that are memory which the block writes later."""
        if isinstance(op, tg.LoadOp | tg.AfterOp | ReturnOp):
            return
        is_location = isinstance(op, (*_VIEWS, tg.StoreOp, tg.AtomicAddOp))
        written = {self._root(location) for location in _written(op)}
        for position, operand in enumerate(op.operands):
            if (position == 0 and is_location) or not tg.is_memory(operand):
                continue
            memory = self._root(operand)
            if memory in written or self._seen(operand) == self._writes.get(memory, 0):
                continue
            gives_memory = any(map(tg.is_memory, op.results))  # As CONTIGUOUS of memory.
            takes_memory = gives_memory or isinstance(op, tg.CallOp | tg.FunctionOp | tg.ScanOp)
            op.operands[position] = self._loaded(op, operand, takes_memory=takes_memory)

    def _loaded(self, op: Operation, location: SSAValue, *, takes_memory: bool) -> SSAValue:
        """A LOAD before an op of a location, or of what it shows of memory through PADs, whose
        cells stay invalid."""
        builder = tg.OpBuilder.before(op)
        views: list[Operation] = []
        dependencies: list[SSAValue] = []
        while not self._validity[location] and isinstance(owner := location.owner, _VIEWS):
            if isinstance(owner, tg.AfterOp):
                dependencies += owner.dependencies
            else:
                views.append(owner)
            location = owner.operands[0]
        if dependencies:
            location = builder.put(after := tg.AfterOp(location, dependencies))
            self._number(after)
        load = tg.LoadOp(location, addrspace=tg.place(location).addrspace if takes_memory else None)
        value = builder.put(load)
        self._number(load)
        for view in reversed(views):
            if isinstance(view, tg.MovementOp):
                value = builder.put(rebuilt := view.rebuild((value, *view.operands[1:])))
                self._number(rebuilt)
        return value

    def _number(self, op: Operation) -> None:
        """Record the writes that an op depends on, and give a write its bit."""
        before = self._writes_before(operands_with_captured(op))
        if locations := _written(op):
            bit = 1 << len(self._writers)
            memories = frozenset(self._root(location) for location in locations)
            self._writers[op] = bit, memories
            for memory in memories:
                self._writes[memory] = self._writes.get(memory, 0) | bit
            before |= bit
        self._before[op] = before

    def _root(self, location: SSAValue) -> SSAValue:
        """The memory of a location. BUFFERs of one slot are one memory, and so are its PARAMs."""
        location = tg.behind(location, *_VIEWS)
        owner, key = location.owner, location
        if isinstance(owner, tg.BufferOp | tg.ParamOp):
            key = type(owner), tg.place(location).addrspace, tg.integer(owner, "slot")
        return self._roots.setdefault(key, location)

    # -- which values vary

    def mark_varying(self, op: Operation) -> None:
        """Record that the memory an op may write depends on a value we differentiate by."""
        if op in self._writers:
            self._varying |= self._writers[op][0]

    def is_varying(self, op: tg.AfterOp) -> bool:
        """Whether an AFTER sees a write of a varying value."""
        return bool(self._seen(op.result) & self._varying)

    def _seen(self, location: SSAValue) -> Version:
        """The version that a location sees: the writes that its AFTERs depend on."""
        afters = (view for view in tg.through(location, *_VIEWS) if isinstance(view, tg.AfterOp))
        seen = self._writes_before(value for after in afters for value in after.dependencies)
        return seen & self._writes.get(self._root(location), 0)

    def _writes_before(self, values: Iterable[SSAValue]) -> Version:
        """The writes that values depend on."""
        before = 0
        for value in values:
            if isinstance(owner := value.owner, Operation):
                before |= self._before.get(owner, 0)
        return before

    # -- the reverse walk

    def read(self, builder: Builder, op: tg.AfterOp, gradient: SSAValue) -> bool:
        """Add the gradient of an AFTER to that of its version. False if the AFTER sees no write."""
        if not (seen := self._seen(op.result)):
            return False
        memory, views = self._root(op.result), _views(op.result)
        part: SSAValue | None = gradient
        for view in views:
            if part is not None:
                part = _rule(builder, view, part)
        if part is not None:
            builder.add_to(self._pending.setdefault(memory, {}), seen, part)
        return True

    def write(self, builder: Builder, op: Operation) -> Iterable[tuple[SSAValue, SSAValue]]:
        """Remove a write from the pending versions. Yields each written value and its gradient."""
        if op not in self._writers:
            return
        bit, memories = self._writers[op]
        for memory in memories:
            pending = self._pending.get(memory, {})
            for version in [v for v in pending if v & bit]:
                gradient = pending.pop(version)
                if not isinstance(op, tg.StoreOp | tg.AtomicAddOp):
                    what = f"@{op.callee.string_value()}" if isinstance(op, tg.CallOp) else op.name
                    message = f"what {what} writes to memory has no gradient"
                    raise locate(PassFailedException(message), op)
                # The rest is the gradient with respect to the version without this write.
                part, rest = self._parts(builder, op, gradient)
                yield op.value, part
                if rest is not None:
                    builder.add_to(pending, version & ~bit, rest)

    def initial(self, value: SSAValue) -> SSAValue | None:
        """The gradient with respect to the initial contents of memory; None if there is none."""
        pending = self._pending.get(value)
        return None if pending is None else pending.pop(0, None)

    def _parts(
        self, builder: Builder, op: tg.StoreOp | tg.AtomicAddOp, gradient: SSAValue
    ) -> tuple[SSAValue, SSAValue | None]:
        """The gradients of the stored value and of the memory before the write.

        The second is None if it is 0, because the write covers the memory.
        """
        # The stored value gets the gradient of the written cells, where the gate is true.
        views, gate = _views(op.buffer), op.gate if isinstance(op, tg.StoreOp) else None
        part = gradient
        for view in reversed(views):
            part = _viewed(builder, view, part)
        zero = builder.constant(0, gradient)
        if not self._validity[op.value]:  # Invalid cells are not written.
            valid = builder.valid_cells(op.value)
            gate = valid if gate is None else builder.put(tg.AndOp(gate, valid))
        if gate is not None:
            part = builder.put(tg.WhereOp(gate, part, zero))
        # An addition keeps the contents; a STORE through bijections overwrites all of them.
        if isinstance(op, tg.AtomicAddOp):
            return part, gradient
        if gate is None and all(isinstance(view, _BIJECTIONS) for view in views):
            return part, None
        # Any other STORE: the gradient of the memory is 0 in the written cells.
        written = builder.expanded(builder.constant(1, gradient), tg.shape_of(op.buffer))
        if gate is not None:
            written = builder.put(tg.WhereOp(gate, written, zero))
        for view in views:
            written = _rule(builder, view, written)
            assert written is not None
        is_written = builder.put(tg.CmpNeOp(written, zero))
        return part, builder.put(tg.WhereOp(is_written, zero, gradient))


def operands_with_captured(op: Operation) -> Sequence[SSAValue]:
    """The operands of an op, and the values that its regions capture."""
    if not op.regions or isinstance(op, tg.FunctionOp | tg.ScanOp):
        return op.operands
    captured = dict.fromkeys(
        operand
        for inner in op.walk()
        for operand in inner.operands
        if not op.is_ancestor(operand.owner)
    )
    return (*op.operands, *captured)


def _written(op: Operation) -> Sequence[SSAValue]:
    """The locations that an op may write."""
    if isinstance(op, tg.StoreOp | tg.AtomicAddOp):
        return (op.buffer,)
    effects = get_effects(op)
    if effects is not None and all(e.kind is not MemoryEffectKind.WRITE for e in effects):
        return ()
    memories = [operand for operand in operands_with_captured(op) if tg.is_memory(operand)]
    if isinstance(op, tg.CallOp) and memories:
        known: Mapping[int, tuple[bool, bool]] | None = parameter_effects(op)
        if known is not None:
            written = {slot for slot, (_, writes) in known.items() if writes}
            return [a for slot, a in enumerate(op.arguments) if tg.is_memory(a) and slot in written]
    return memories


def _views(location: SSAValue) -> list[Operation]:
    """The views between a location and its memory, without AFTERs; the outermost comes first."""
    return [view for view in tg.through(location, *_VIEWS) if not isinstance(view, tg.AfterOp)]


def _rule(builder: Builder, view: Operation, gradient: SSAValue) -> SSAValue | None:
    """The gradient of a view's source, given the gradient of the view."""
    return RULES[type(view)](builder, view, gradient)[0]


def _viewed(builder: Builder, view: Operation, gradient: SSAValue) -> SSAValue:
    """A view of a gradient: the cells that `view` shows of the memory, taken from its gradient."""
    match view:
        case tg.PadOp() if view.fill is None:
            offsets, shape = (builder.known(dims) for dims in tg.window(view))
            fill = tg.number_attribute(0, tg.tensor(gradient).element_type)
            return builder.put(tg.PadOp(gradient, offsets, shape, fill))
        case tg.BitcastOp():
            part = _rule(builder, view, gradient)
            assert part is not None
            return part
        case tg.MovementOp():
            return builder.put(view.rebuild((gradient, *view.operands[1:])))
        case _:
            return gradient
