"""One function: the ops of a LINEAR, in order, as blocks of the `llvm` dialect."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.lanes import only_locates
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.llvm_dialect import AtomicRMWOp
from tgdialect.lowering.render.arithmetic import ELEMENTWISE, across, compute
from tgdialect.lowering.render.calls import Requirement, check_call
from tgdialect.lowering.render.emitter import ACQUIRE, RELEASE, LLVMEmitter
from tgdialect.lowering.render.memory import MemoryRenderer
from tgdialect.lowering.render.threads import SharedFrame
from tgdialect.lowering.render.types import (
    POINTER,
    element_of,
    is_vector,
    lanes_of,
    literal,
    register_type,
)
from tgdialect.ops.attributes import AddrSpace, AxisType
from tgdialect.ops.call import CallOp
from tgdialect.ops.codegen import AtomicAddOp, BarrierOp, EndIfOp, IfOp
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import ExpandOp, IndexOp, MovementOp, PermuteOp, ReshapeOp, StackOp
from tgdialect.ops.ordering import EndOp, GroupOp, RangeOp, SinkOp
from tgdialect.ops.properties import dtype_of, integers, is_memory, number, place, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp, VConstOp
from tgdialect.targets import Target

FLAG_BYTES = 8
"""The size and alignment of the flag of `append_once`, in bytes."""

_REFUSED = {
    "tg.special": "needs a grid: threads have RANGEs",
    "tg.wmma": "is not scalar: tg-select expands it",
    "tg.custom": "is text: the llvm backend has no source text",
    "tg.ins": "is an instruction of its own: the llvm backend has no source text",
    "tg.customfunction": "is opaque: the llvm backend cannot call it",
}
"""Ops that this backend cannot render, and why."""


def refusal(op: Operation) -> PassFailedException:
    """Why an op is not rendered."""
    reason = _REFUSED.get(op.name, "has to be lowered before tg-render")
    return PassFailedException(f"{op.name} {reason}")


def argument_type(value: SSAValue) -> Attribute:
    """The LLVM type of a parameter: a pointer for memory, else a scalar."""
    return POINTER if is_memory(value) else register_type(dtype_of(value))


class _OpenLoop(NamedTuple):
    body: Block
    exit: Block
    bound: SSAValue
    next: Block | None = None
    """The block in which a thread takes its next iteration, of a THREAD loop."""


class FunctionRenderer:
    """Renders one function: appends `llvm` ops for the ops of a LINEAR."""

    def __init__(
        self,
        name: str,
        parameters: Sequence[SSAValue],
        target: Target,
        programs: Mapping[str, Sequence[Requirement]] | None = None,
        *,
        is_threaded: bool = False,
        streamed: Set[SSAValue] = frozenset(),
    ) -> None:
        """Without `programs` a program is rendered; else a host function, which may call these. A
        function that is threaded takes its arguments from a `threads.SharedFrame`. STOREs to
        `streamed` parameters bypass the caches."""
        self._target = target
        self._programs = programs
        self._streamed = streamed
        # A copy of a kernel at each of its calls would have LLVM compile it as often.
        flags = () if programs is not None else ("no_inline",)
        types = [argument_type(p) for p in parameters]
        self.emitter = LLVMEmitter(name, [POINTER] if is_threaded else types, *flags)
        self.context = SharedFrame(self.emitter, types, target.cache_line) if is_threaded else None
        self.values: dict[SSAValue, SSAValue] = {}
        self.intervals = MinMax()
        self.memory = MemoryRenderer(self.emitter, self.intervals, self.values, target)
        self._rows: dict[SSAValue, Sequence[SSAValue]] = {}
        """The vectors of values that have two axes."""
        self._loops: dict[SSAValue, _OpenLoop] = {}
        self._conditionals: dict[SSAValue, Block] = {}
        self._stack_bytes = 0
        given = self.emitter.arguments if self.context is None else self.context.arguments()
        for parameter, argument in zip(parameters, given, strict=True):
            argument.name_hint = parameter.name_hint
            self.bind(parameter, argument)

    def alias(self, value: SSAValue, parameter: SSAValue) -> None:
        """Bind a PARAM to the parameter of the function for its slot."""
        if value is not parameter:
            memory = is_memory(value)
            self.bind(value, self.memory.pointer(parameter) if memory else self.values[parameter])

    def bind(self, value: SSAValue, argument: SSAValue) -> None:
        """Bind a value to an argument of the function."""
        if is_memory(value):
            self.memory.add(value, argument, is_streamed=value in self._streamed)
        else:
            self.values[value] = argument

    def render(self, ops: Sequence[Operation]) -> llvm.FuncOp:
        """The function that executes the ops in order."""
        self.append(ops)
        return self.emitter.finish()

    def append(self, ops: Sequence[Operation]) -> None:
        """Execute ops in order."""
        for op in ops:
            if isinstance(op, ParamOp):
                continue
            self.emitter.location = op.location
            try:
                self._render(op)
            except PassFailedException as error:
                raise locate(error, op) from error

    def append_once(self, ops: Sequence[Operation], memory: SSAValue) -> None:
        """Render ops that run once, guarded by a flag in the first 8 bytes of memory.

        The load of the flag acquires and the store releases: a thread that finds it set sees all
        that the thread which has set it has written.
        """
        e, flag = self.emitter, self.memory.pointer(memory)
        is_new = e.compare("eq", e.load(flag, i64, FLAG_BYTES, ACQUIRE), e.number(0))
        merge = self._enter_if(is_new)
        self.append(ops)
        e.store(e.number(1), flag, FLAG_BYTES, RELEASE)
        self._leave_if(merge)

    def _render(self, op: Operation) -> None:
        handlers = _HANDLERS if self._programs is None else _HOST_HANDLERS
        if (handler := handlers.get(type(op))) is not None:
            handler(self, op)
        elif isinstance(op, MovementOp) and op.operands[0] in self.memory:
            self.memory.view(op)
        elif (movement := _MOVEMENTS.get(type(op))) is not None:
            movement(self, op)
        elif op.name in ELEMENTWISE:
            if only_locates(op):
                return
            operands = [self.values[operand] for operand in op.operands]
            lanes = max(lanes_of(value.type) for value in operands)
            operands = [self.emitter.splat(value, lanes) for value in operands]
            self.define(op, compute(self.emitter, op, operands, self.intervals))
        else:
            raise refusal(op)

    def define(self, op: Operation, value: SSAValue) -> None:
        """Record the LLVM value of the result of an op."""
        result = op.results[0]
        self.values[result] = value
        if value.name_hint is None:
            value.name_hint = result.name_hint

    # -- leaves

    def const(self, op: ConstOp) -> None:
        type = register_type(dtype_of(op.result))
        self.values[op.result] = self.emitter.constant(literal(op.value, type))

    def vconst(self, op: VConstOp) -> None:
        if not only_locates(op):
            lanes = [self.emitter.number(value) for value in integers(op, "values")]
            self.define(op, self.emitter.stack(lanes))

    def buffer(self, op: BufferOp) -> None:
        """A REG or LOCAL buffer: zeroed memory on the stack."""
        type = tensor(op.result)
        if place(op.result).addrspace is AddrSpace.GLOBAL:
            raise PassFailedException("a global buffer has no memory yet: run tg-plan first")
        if not type.has_static_shape():
            raise PassFailedException(f"a buffer in a program has a static shape, not {type}")
        bytes = max(math.prod(type.get_shape()) * dtype_of(op.result).itemsize, 1)
        self._stack_bytes += bytes
        if self._stack_bytes > self._target.local:
            raise PassFailedException(
                f"the buffers of this program take {self._stack_bytes} bytes or more; "
                f"the target {self._target.name} has {self._target.local} for them"
            )
        alignment = self._target.alignment
        pointer = self.emitter.allocate(bytes, alignment)
        pointer.name_hint = op.result.name_hint
        self.memory.add(op.result, pointer, alignment)

    # -- memory

    def load(self, op: LoadOp) -> None:
        gate, alt = (None if v is None else self.values[v] for v in (op.gate, op.alt))
        self.define(op, self.memory.load(op.buffer, gate, alt))

    def store(self, op: StoreOp) -> None:
        value = self.values[op.value]
        gate = None if op.gate is None else self.values[op.gate]
        if gate is None or is_vector(value.type):
            lanes = lanes_of(value.type)
            mask = None if gate is None else self.emitter.splat(gate, lanes)
            self.memory.store(value, op.buffer, mask)
            return
        merge = self._enter_if(gate)
        self.memory.store(value, op.buffer)
        self._leave_if(merge)

    def atomic_add(self, op: AtomicAddOp) -> None:
        dtype, value = dtype_of(op.value), self.values[op.value]
        if dtype.is_float and dtype.bits < 32:
            raise PassFailedException(
                f"the target {self._target.name} has no atomic add of {dtype.name}"
            )
        if dtype.is_bool:
            value = self.emitter.emit(llvm.ZExtOp, (value,), i8)
        kind = "_or" if dtype.is_bool else "fadd" if dtype.is_float else "add"
        self.emitter.insert(AtomicRMWOp(kind, self.memory.pointer(op.buffer), value))

    # -- vectors

    def stack(self, op: StackOp) -> None:
        sources = [self.values[source] for source in op.sources]
        if tensor(op.sources[0]).get_shape():
            self._rows[op.result] = sources
        else:
            self.define(op, self.emitter.stack(sources))

    def permute(self, op: PermuteOp) -> None:
        """PERMUTE of a STACK of vectors: a transpose, unless every axis stays where it is."""
        is_identity = list(integers(op, "order")) == sorted(integers(op, "order"))
        if (rows := self._rows.get(op.source)) is not None:
            self._rows[op.result] = rows if is_identity else self.emitter.transposed(rows)
        else:
            # A vector or scalar has one order of its axes.
            self.values[op.result] = self.values[op.source]

    def lane(self, op: IndexOp) -> None:
        """INDEX by a constant: a lane of a vector, or a vector of a STACK; 0 out of bounds."""
        attribute = constant_attribute(op.indices[0])
        if attribute is None or len(op.indices) > 1:
            raise PassFailedException("a vector is indexed by one constant")
        e, position = self.emitter, int(number(attribute))
        rows = self._rows.get(op.source)
        if not 0 <= position < tensor(op.source).get_shape()[0]:
            source = self.values[op.source] if rows is None else rows[0]
            type = element_of(source.type) if rows is None else source.type
            self.values[op.result] = e.number(0, type)
        elif rows is not None:
            self.define(op, rows[position])
        else:
            self.define(op, e.lane(self.values[op.source], position))

    def reshape(self, op: ReshapeOp) -> None:
        """RESHAPE of a scalar to one lane, which is that scalar; of a STACK of vectors to one
        vector."""
        if (parts := self._rows.get(op.source)) is not None:
            self.define(op, self.emitter.joined(parts))
        else:
            self.values[op.result] = self.values[op.source]

    def expand(self, op: ExpandOp) -> None:
        """A scalar in every lane."""
        lanes = tensor(op.result).get_shape()[0]
        self.define(op, self.emitter.splat(self.values[op.source], lanes))

    def reduce(self, op: ReduceOp) -> None:
        self.define(op, across(self.emitter, op, self.values[op.source]))

    # -- control flow

    def range(self, op: RangeOp) -> None:
        """Begin a loop. The test before the first iteration is left out if the bound is at least
        1."""
        e = self.emitter
        bound, zero = self.values[op.bound], e.number(0)
        if self.context is not None and op.axis_type.data is AxisType.THREAD:
            next, taken, exit = e.new_block(), e.new_block(), e.new_block()
            e.branch(next)
            e.enter(next)
            number = self.context.take()
            e.branch_if(e.compare("slt", number, bound), taken, (), exit)
            e.enter(taken)
            self._loops[op.result] = _OpenLoop(taken, exit, bound, next)
            self.define(op, number)
            return
        body, exit = e.new_block(i64), e.new_block()
        if self.intervals[op.bound].lo >= 1:
            e.branch(body, zero)
        else:
            e.branch_if(e.compare("sgt", bound, zero), body, (zero,), exit)
        e.enter(body)
        self._loops[op.result] = _OpenLoop(body, exit, bound)
        self.define(op, body.args[0])

    def end(self, op: EndOp) -> None:
        e = self.emitter
        for range in op.ranges:
            loop = self._loops[range]
            if loop.next is not None:
                e.branch(loop.next)
                e.enter(loop.exit)
                continue
            next = e.binary(llvm.AddOp, loop.body.args[0], e.number(1))
            e.branch_if(e.compare("slt", next, loop.bound), loop.body, (next,), loop.exit)
            e.enter(loop.exit)

    def if_(self, op: IfOp) -> None:
        self._conditionals[op.result] = self._enter_if(self.values[op.gate])

    def end_if(self, op: EndIfOp) -> None:
        self._leave_if(self._conditionals[op.begin])

    def _enter_if(self, condition: SSAValue) -> Block:
        """Begin a block that runs if a condition holds; returns the block after it."""
        then, merge = self.emitter.new_block(), self.emitter.new_block()
        self.emitter.branch_if(condition, then, (), merge)
        self.emitter.enter(then)
        return merge

    def _leave_if(self, merge: Block) -> None:
        self.emitter.branch(merge)
        self.emitter.enter(merge)

    def call(self, op: CallOp) -> None:
        name = op.callee.string_value()
        wanted = None if self._programs is None else self._programs.get(name)
        if wanted is None:
            raise PassFailedException(f"@{name} is not a program, which is all that may be called")
        check_call(op, wanted, self.intervals)
        arguments = [
            self.memory.pointer(a) if a in self.memory else self.values[a] for a in op.arguments
        ]
        self.emitter.insert(llvm.CallOp(name, *arguments))

    def no_access(self, op: Operation) -> None:
        raise PassFailedException(f"{op.name} in a function: only programs access memory")

    def nothing(self, op: Operation) -> None:
        """An ordering edge: the order is that of the ops."""


_MOVEMENTS: dict[type[Operation], Callable[[FunctionRenderer, Any], None]] = {
    StackOp: FunctionRenderer.stack,
    PermuteOp: FunctionRenderer.permute,
    IndexOp: FunctionRenderer.lane,
    ReshapeOp: FunctionRenderer.reshape,
    ExpandOp: FunctionRenderer.expand,
}
"""How movement ops of scalars and vectors are rendered."""

_HANDLERS: dict[type[Operation], Callable[[FunctionRenderer, Any], None]] = {
    ConstOp: FunctionRenderer.const,
    VConstOp: FunctionRenderer.vconst,
    BufferOp: FunctionRenderer.buffer,
    LoadOp: FunctionRenderer.load,
    StoreOp: FunctionRenderer.store,
    AtomicAddOp: FunctionRenderer.atomic_add,
    RangeOp: FunctionRenderer.range,
    EndOp: FunctionRenderer.end,
    ReduceOp: FunctionRenderer.reduce,
    IfOp: FunctionRenderer.if_,
    EndIfOp: FunctionRenderer.end_if,
    BarrierOp: FunctionRenderer.nothing,
    GroupOp: FunctionRenderer.nothing,
    SinkOp: FunctionRenderer.nothing,
}
"""In a program."""

_HOST_HANDLERS: dict[type[Operation], Callable[[FunctionRenderer, Any], None]] = {
    ConstOp: FunctionRenderer.const,
    BufferOp: FunctionRenderer.buffer,
    CallOp: FunctionRenderer.call,
    IndexOp: FunctionRenderer.no_access,
}
"""In the function that calls programs."""
