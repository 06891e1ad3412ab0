"""CALLs of kernels in order, and the buffers between them: the function around the kernels, and
kernels that call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import written_operands
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.creation import created
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.passed_memory import add_parameters
from tgdialect.lowering.rangeify.copy_non_contiguous import buffer_like
from tgdialect.lowering.rangeify.planning.plan import erase_plan
from tgdialect.ops import tg
from tgdialect.ops.views import views_of

MAX_CALLS = 1 << 12
"""The most CALLs that a function may get from functions that have been outlined, beyond the first
ones of each. Larger: functions that call the one before twice, which have 2^n, compile for longer
until they are refused (so many CALLs take ten seconds); smaller: models are refused, of which one
of 96 layers with 40 kernels each has 3,800."""


class Calls(tg.OpBuilder):
    """Appends CALLs to a block, after the ops that they replace.

    Whoever calls sets `location` to that of the op that the new ops are for.
    """

    def __init__(self, around: FuncOp | tg.KernelOp) -> None:
        block = around.body.block
        super().__init__(InsertPoint.at_end(block), around.location)
        self._old = ops_of(block)
        """The ops that the new ones replace."""
        self._current: dict[SSAValue, SSAValue] = {}
        """Each buffer as the next CALL has to see it: AFTER the CALLs that have written it."""
        self._readers: dict[SSAValue, list[SSAValue]] = {}
        """The CALLs that have read a buffer since it was last written."""
        buffers = (op for op in self._old if isinstance(op, tg.BufferOp))
        self._kept: list[SSAValue] = [buffer.result for buffer in buffers]
        """The old values that stay, with those that they are computed from: index arithmetic for
        extents and arguments, and the buffers for results of outlined functions."""
        self._inlined: set[FuncOp] = set()
        """The functions whose CALLs are in place of one of them."""
        self._copies = 0
        """How many CALLs are in place of others of the same functions."""

    # -- calls

    def call(
        self, kernel: str, arguments: Iterable[SSAValue], written: Sequence[SSAValue]
    ) -> SSAValue:
        """CALL a kernel with buffers and index scalars, some of which it writes."""
        arguments = list(arguments)
        self._kept += [argument for argument in arguments if not tg.is_memory(argument)]
        versions = [self._version(a, a in written) for a in arguments]
        call = self.put(tg.CallOp(kernel, versions))
        self._record(call, arguments, written)
        return call

    def repeat(self, op: tg.CallOp, values: Mapping[SSAValue, SSAValue] = {}) -> SSAValue:
        """CALL the kernel that an old CALL calls, on the same views of the current buffers.

        `values` maps arguments and values of the function that the old CALL is in to those of this
        one, if they are different functions.
        """
        # The buffer of each argument, and the movements that make the argument of it.
        memory: list[SSAValue] = []
        chains: list[list[tg.MovementOp]] = []
        for argument in op.arguments:
            source, views = views_of(argument)
            source, outer = views_of(values.get(source, source))
            memory.append(source)
            chains.append([*outer, *views])
        targets = written_operands(op)
        given = zip(memory, op.arguments, strict=True)
        written = dict.fromkeys(source for source, argument in given if argument in targets)
        # The same movements of the current version.
        arguments: list[SSAValue] = []
        for source, chain in zip(memory, chains, strict=True):
            value = self._version(source, source in written) if tg.is_memory(source) else source
            self._kept.append(source)
            for view in chain:
                extents = [values.get(operand, operand) for operand in view.operands[1:]]
                self._kept += extents
                value = self.put(view.rebuild([value, *extents]))
            arguments.append(value)
        call = self.put(tg.CallOp(op.callee.string_value(), arguments, tg.VOID))
        self._record(call, [a for a in memory if tg.is_memory(a)], list(written))
        return call

    def inline(self, op: tg.CallOp, callee: FuncOp) -> SSAValue:
        """Put the CALLs that a function makes in place of a CALL of it; returns their GROUP.

        The function has been split into kernels already. Raises PassFailedException if there are
        too many.
        """
        if callee in self._inlined:
            self._copies += sum(isinstance(inner, tg.CallOp) for inner in ops_of(callee.body.block))
            if self._copies > MAX_CALLS:
                message = f"functions that are called again and again take more than {MAX_CALLS}"
                raise locate(PassFailedException(f"{message} calls of kernels"), op)
        self._inlined.add(callee)
        values: dict[SSAValue, SSAValue] = dict(zip(callee.args, op.arguments, strict=True))
        effects: list[SSAValue] = []
        for inner in callee.body.block.ops:
            if isinstance(inner, tg.CallOp):
                effects.append(self.repeat(inner, values))
            elif isinstance(inner, tg.BufferOp):
                new = inner.clone(values)
                new.properties["slot"] = tg.NumberAttr.of(next(self.free_slots))
                self.insert(new)
            elif inner.results and tg.is_tensor(inner.results[0].type):
                # Of the others, versions and views are memory, which each CALL makes for itself.
                if tg.is_memory(inner.results[0]):
                    continue
                self.insert(inner.clone(values))
        return self.put(tg.GroupOp(effects))

    def together(self, calls: Sequence[SSAValue]) -> SSAValue | None:
        """The effect of several CALLs; None of no CALL."""
        return self.put(tg.GroupOp(calls)) if len(calls) > 1 else next(iter(calls), None)

    def _version(self, buffer: SSAValue, is_written: bool) -> SSAValue:
        """A buffer after the CALLs so far that wrote it; a writer waits for its readers too."""
        value = self._current.get(buffer, buffer)
        if is_written and (readers := self._readers.get(buffer)):
            value = self.put(tg.AfterOp(value, readers))
        return value

    def _record(
        self, effect: SSAValue, arguments: Iterable[SSAValue], written: Sequence[SSAValue]
    ) -> None:
        """Record which buffers a CALL has written and read."""
        for buffer in written:
            self._current[buffer] = self.put(tg.AfterOp(buffer, [effect]))
            self._readers[buffer] = []
        for buffer in arguments:
            if tg.is_memory(buffer) and buffer not in written:
                self._readers.setdefault(buffer, []).append(effect)


class HostFunction(Calls):
    """The function that calls the kernels which compute its ops."""

    def __init__(self, function: FuncOp, device: str) -> None:
        super().__init__(function)
        self._function = function
        self._device = device

    def finish(self, effects: Iterable[SSAValue]) -> None:
        """Add a SINK of the effects and a return, and erase the old ops."""
        self.location = self._function.location
        self.insert(tg.SinkOp(list(effects)))
        self.insert(created(ReturnOp, (), ()))
        kept = {*tg.computed_from(*self._kept)}
        for op in reversed(self._old):
            if op not in kept:
                Rewriter.erase_op(op)
        erase_plan(ops_of(self.block))
        for op in reversed(self.block.ops):
            if isinstance(op, tg.AfterOp) and not op.result.uses:
                self.block.erase_op(op)

    def put_old(self, op: Operation, user: Operation) -> SSAValue:
        """Add an op to those that are erased at the end, before one that is to use it."""
        self._old.insert(self._old.index(user), op)
        return tg.OpBuilder.before(user).put(op)

    def keep(self, op: Operation, values: dict[SSAValue, SSAValue]) -> SSAValue:
        """Put an old op, and those that it is computed from, after the CALLs so far.

        `values` has what stands for values that CALLs have computed, and gets those of the new ops.
        """
        needed = {op}
        for each in reversed(self._old):
            if each in needed:
                sources = (operand.owner for operand in each.operands if operand not in values)
                needed.update(source for source in sources if isinstance(source, Operation))
        for each in self._old:
            if each not in needed or isinstance(each, tg.BufferOp):
                continue
            if each is op or not values.keys() >= {*each.results}:
                assert isinstance(each, tg.TgOp)
                new = self.insert(each.rebuild([values.get(o, o) for o in each.operands]))
                values[each.results[0]] = new.results[0]
        return values[op.results[0]]

    def read(self, data: SSAValue, order: Sequence[int]) -> SSAValue:
        """The value that a buffer has after the CALLs so far, whose axes it has in another
        order."""
        view = self._current.get(data, data)
        if order:
            view = self.put(tg.PermuteOp(view, [order.index(axis) for axis in range(len(order))]))
        return self.put(tg.LoadOp(view))

    def buffer(self, like: SSAValue, dtype: Attribute, order: Sequence[int] = ()) -> SSAValue:
        """A new buffer in global memory with the shape of a value, or its axes in another order."""
        buffer = buffer_like(like, dtype, self._device, next(self.free_slots), order)
        self._kept.extend(buffer.dims)
        return self.put(buffer)


class CallingKernel(Calls):
    """A kernel that calls functions, whose CALLs take the places of its own."""

    def __init__(self, kernel: tg.KernelOp) -> None:
        super().__init__(kernel)
        self._kernel = kernel
        self._writers: Counter[SSAValue] = Counter()
        """How many CALLs write each buffer."""

    def run(self) -> None:
        """Put the CALLs that the functions make in place. The callers pass the memory between
        these."""
        for op in self._old:
            if isinstance(op, tg.CallOp):
                callee = SymbolTable.lookup_symbol(self._kernel, op.callee)
                if isinstance(callee, FuncOp):
                    op.result.replace_all_uses_with(self.inline(op, callee))
                    self.block.erase_op(op)
                    continue
            op.detach()
            self.block.add_op(op)
            if isinstance(op, tg.AfterOp):
                # An iteration reads the memory as the one before has left it.
                self._current[op.buffer] = op.result
        if not any(isinstance(op, tg.CallOp) for op in self.block.ops):
            self._do_nothing()
            return
        buffers = [op for op in self.block.ops if isinstance(op, tg.BufferOp)]
        types = [tg.tensor(buffer.result) for buffer in buffers]
        params = add_parameters(self._kernel, types, [buffer.dims for buffer in buffers])
        loops = [op for op in self.block.ops if isinstance(op, tg.RangeOp)]
        inside = tg.OpBuilder(InsertPoint.after(loops[-1]), self._kernel.location)
        for buffer, memory in zip(buffers, params, strict=True):
            if self._writers[buffer.result] > 1:
                # A CALL that fills it runs in each iteration where another one overwrites it. The
                # only CALL that writes it, from values that do not change, runs before the loops.
                memory = inside.put(tg.AfterOp(memory, [loop.result for loop in loops]))
            buffer.result.replace_all_uses_with(memory)
            self.block.erase_op(buffer)

    def _do_nothing(self) -> None:
        """Erase the loops of a kernel without CALLs: all that it would write has no elements."""
        self._kernel.sink.operands = ()
        for op in reversed(ops_of(self.block)):
            if not isinstance(op, tg.ParamOp | tg.SinkOp) and not op.results[0].uses:
                Rewriter.erase_op(op)

    def _record(
        self, effect: SSAValue, arguments: Iterable[SSAValue], written: Sequence[SSAValue]
    ) -> None:
        super()._record(effect, arguments, written)
        self._writers.update(written)
