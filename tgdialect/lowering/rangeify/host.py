"""The function around the kernels: their CALLs in order, and the buffers between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tgdialect.lowering.rangeify.schedule import written_arguments
from tgdialect.lowering.rangeify.views import views_of
from tgdialect.ops.attributes import VOID, AddrSpace, PlaceAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import CallOp
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.numbering import next_slot
from tgdialect.ops.ordering import AfterOp, GroupOp, SinkOp
from tgdialect.ops.properties import is_memory, shape_of, tensor_type
from tgdialect.ops.source import BufferOp


class HostFunction:
    """The new ops of one function, which replace the ops that its kernels compute."""

    def __init__(self, block: Block, device: str) -> None:
        self._block = block
        self._device = device
        self._new: list[TgOp] = []
        self._current: dict[SSAValue, SSAValue] = {}
        """Each buffer as the next CALL has to see it: AFTER the CALLs that have written it."""
        self._readers: dict[SSAValue, list[SSAValue]] = {}
        """The CALLs that have read a buffer since it was last written."""
        # Buffers for the results of outlined functions. Callify has numbered those that it dropped.
        outlined = [op for op in block.ops if isinstance(op, BufferOp)]
        self._kept: set[Operation] = set(outlined)
        """The old ops that stay: index arithmetic for extents and arguments, and buffers."""
        self._slot = next_slot(outlined)

    def finish(self, effects: Iterable[SSAValue]) -> None:
        """Replace the body of the function by the new ops, a SINK of the effects, and a return."""
        self._new.append(SinkOp(list(effects)))
        for op in reversed(list(self._block.ops)):
            if op not in self._kept:
                self._block.erase_op(op, safe_erase=False)
        for op in self._new:
            if isinstance(op, AfterOp) and not op.result.uses:
                op.erase()
            else:
                self._block.add_op(op)
        self._block.add_op(ReturnOp())

    # -- buffers

    def buffer(self, like: SSAValue, dtype: Attribute) -> SSAValue:
        """A new buffer in global memory with the shape of a value."""
        shape = shape_of(like)
        static = tuple(d if isinstance(d, int) else DYNAMIC_INDEX for d in shape)
        where = PlaceAttr.of(self._device, AddrSpace.GLOBAL)
        dims = [d for d in shape if isinstance(d, SSAValue)]
        for dim in dims:
            self._keep(dim)
        buffer = BufferOp(self._slot, tensor_type(dtype, static, where), dims)
        self._slot += 1
        self._new.append(buffer)
        return buffer.result

    def _keep(self, value: SSAValue) -> None:
        """Keep an old value, which the extent of a buffer or a CALL needs, and its operands."""
        stack = [value]
        while stack:
            owner = stack.pop().owner
            if isinstance(owner, Operation) and owner not in self._kept:
                self._kept.add(owner)
                stack.extend(owner.operands)

    # -- calls

    def call(
        self, kernel: str, arguments: Iterable[SSAValue], written: Sequence[SSAValue]
    ) -> SSAValue:
        """CALL a kernel with buffers and index scalars, some of which it writes."""
        arguments = list(arguments)
        for argument in arguments:
            if not is_memory(argument):
                self._keep(argument)
        call = CallOp(kernel, [self._version(a, a in written) for a in arguments])
        self._new.append(call)
        self._record(call.result, arguments, written)
        return call.result

    def repeat(
        self, op: CallOp, location: Operation, values: Mapping[SSAValue, SSAValue] = {}
    ) -> SSAValue:
        """CALL the kernel that an old CALL calls, on the same views of the current buffers.

        `values` maps arguments and values of the function that the old CALL is in to those of this
        one, if they are different functions.
        """
        # The buffer of each argument, and the movements that make the argument of it.
        memory: list[SSAValue] = []
        chains: list[list[MovementOp]] = []
        for argument in op.arguments:
            source, views = views_of(argument)
            source, outer = views_of(values.get(source, source))
            memory.append(source)
            chains.append([*outer, *views])
        targets = written_arguments(op)
        given = zip(memory, op.arguments, strict=True)
        written = dict.fromkeys(source for source, argument in given if argument in targets)
        # The same movements of the current version.
        arguments: list[SSAValue] = []
        for source, chain in zip(memory, chains, strict=True):
            value = self._version(source, source in written) if is_memory(source) else source
            self._keep(source)
            for view in chain:
                extents = [values.get(operand, operand) for operand in view.operands[1:]]
                for extent in extents:
                    self._keep(extent)
                moved = view.rebuild([value, *extents])
                self._new.append(moved)
                value = moved.result
            arguments.append(value)
        call = CallOp(op.callee.string_value(), arguments, VOID)
        call.location = location.location
        self._new.append(call)
        self._record(call.result, [a for a in memory if is_memory(a)], list(written))
        return call.result

    def inline(self, op: CallOp, callee: FuncOp) -> SSAValue:
        """Put the CALLs that a function makes in place of a CALL of it; returns their GROUP.

        The function has been split into kernels already.
        """
        values: dict[SSAValue, SSAValue] = dict(zip(callee.args, op.arguments, strict=True))
        effects: list[SSAValue] = []
        for inner in callee.body.block.ops:
            if isinstance(inner, CallOp):
                effects.append(self.repeat(inner, op, values))
            elif inner.results and is_memory(inner.results[0]) and not isinstance(inner, BufferOp):
                pass  # A version or a view of memory, which each CALL makes for itself.
            elif isinstance(inner, TgOp) and not isinstance(inner, AfterOp | GroupOp | SinkOp):
                new = inner.clone(values)  # A BUFFER, or index arithmetic for its extents.
                if isinstance(new, BufferOp):
                    new.properties["slot"] = IntAttr(self._slot)
                    self._slot += 1
                self._new.append(new)
        self._new.append(group := GroupOp(effects))
        return group.result

    def _version(self, buffer: SSAValue, is_written: bool) -> SSAValue:
        """A buffer after the CALLs so far that wrote it; a writer waits for its readers too."""
        value = self._current.get(buffer, buffer)
        if is_written and (readers := self._readers.get(buffer)):
            after = AfterOp(value, readers)
            self._new.append(after)
            value = after.result
        return value

    def _record(
        self, effect: SSAValue, arguments: Iterable[SSAValue], written: Sequence[SSAValue]
    ) -> None:
        """Record which buffers a CALL has written and read."""
        for buffer in written:
            after = AfterOp(buffer, [effect])
            self._new.append(after)
            self._current[buffer] = after.result
            self._readers[buffer] = []
        for buffer in arguments:
            if is_memory(buffer) and buffer not in written:
                self._readers.setdefault(buffer, []).append(effect)
