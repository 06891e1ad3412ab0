"""The `llvm` dialect as an output: blocks and branches, calls, atomics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import ClassVar, NamedTuple

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.custom import CallSignature
from tgdialect.llvm_dialect.atomics import AtomicRMWOp
from tgdialect.llvm_dialect.loops import FULLY_UNROLLED, LOOP_ANNOTATION
from tgdialect.lowering.render.elementwise import ComputedOp
from tgdialect.lowering.render.llvm.accesses import LLVMAccesses, View
from tgdialect.lowering.render.llvm.arithmetic import across, any_register, compute
from tgdialect.lowering.render.llvm.custom import call_host, custom
from tgdialect.lowering.render.llvm.emitter import ACQUIRE, RELEASE, call
from tgdialect.lowering.render.llvm.exponentials import EXPONENTIALS
from tgdialect.lowering.render.llvm.matrices import sums_of
from tgdialect.lowering.render.llvm.streams import Stream
from tgdialect.lowering.render.llvm.threads import SharedFrame
from tgdialect.lowering.render.llvm.types import POINTER, lanes_of, register_type, vector_of
from tgdialect.lowering.render.names import OBJECT
from tgdialect.lowering.render.output import Output, refusal
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.cpu import scales
from tgdialect.targets.instructions import InstructionForm
from tgdialect.targets.matrix import MatrixInstruction

FLAG_BYTES = 8
"""The size and alignment of the flag of `begin_once`, in bytes."""


def argument_type(value: SSAValue, pointer: LLVMPointerType = POINTER) -> Attribute:
    """The LLVM type of a parameter: a pointer for memory, else a scalar."""
    return pointer if tg.is_memory(value) else register_type(tg.dtype_of(value))


class _OpenLoop(NamedTuple):
    body: Block
    exit: Block
    bound: SSAValue
    next: Block | None = None
    """The block in which a thread takes its next iteration, of a THREAD loop."""
    unrolls: bool = False


class LLVMFunction(LLVMAccesses, Output[SSAValue]):
    """An `llvm.func` under construction."""

    global_pointer: ClassVar[LLVMPointerType] = POINTER
    """The type of a pointer to memory that is an argument."""

    has_work_items: ClassVar[bool] = False
    """Whether several work items execute the function at once."""

    is_of_host: ClassVar[bool] = True
    """Whether it runs where functions of the host can be called, and on memory of the host."""

    keeps_sums: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        parameters: Sequence[SSAValue],
        target: Target,
        *flags: str,
        is_threaded: bool = False,
        streamed: Set[SSAValue] = frozenset(),
        prefetched: Mapping[tg.RangeOp, Sequence[Stream]] = {},
        covered: Set[tg.BufferOp] = frozenset(),
    ) -> None:
        """`flags` are unit attributes of the function. One that is threaded takes its arguments
        from a `threads.SharedFrame`. STOREs to `streamed` parameters bypass the caches. `covered`
        are buffers of which each cell is stored before it is read."""
        types = [argument_type(p, self.global_pointer) for p in parameters]
        inputs = [POINTER] if is_threaded else types
        super().__init__(name, inputs, *flags)
        self._target, self._streamed, self._prefetched = target, streamed, prefetched
        self._values: dict[SSAValue, SSAValue] = {}
        """The memory and loop variables that addresses to prefetch are made of."""
        self._covered = covered
        self._frame = SharedFrame(self, types, target.cache_line) if is_threaded else None
        self._loops: list[_OpenLoop] = []
        self._merges: list[Block] = []
        """The blocks after the open conditionals."""
        given = self.arguments if self._frame is None else self._frame.arguments()
        self.given = list(given)
        """The values of the parameters."""
        for parameter, argument in zip(parameters, self.given, strict=True):
            argument.name_hint = parameter.name_hint
            self._values[parameter] = argument

    # -- scalars

    def constant_of(self, value: Attribute, dtype: tg.DType) -> SSAValue:
        return self.number(tg.number(value), register_type(dtype))

    def zero(self, dtype: tg.DType) -> SSAValue:
        return self.number(0, register_type(dtype))

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary(llvm.AddOp, a, b)

    def multiply(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.binary(llvm.MulOp, a, b)

    def compute(self, op: Operation, operands: Sequence[SSAValue], intervals: MinMax) -> SSAValue:
        if (exponential := EXPONENTIALS.get(type(op))) is not None:
            if not scales(self._target):
                raise refusal(op, self._target)
            return exponential(self, *operands)
        return compute(ComputedOp(self, op, operands, intervals))

    def define(self, result: SSAValue, value: SSAValue) -> SSAValue:
        if value.name_hint is None:
            value.name_hint = result.name_hint
        return value

    # -- vectors

    def lanes(self, value: SSAValue) -> int:
        return lanes_of(value.type)

    def across(self, op: tg.ReduceOp, vector: SSAValue) -> SSAValue:
        if op.kind.data is tg.ReduceKind.MAX:
            vector = any_register(self, vector, self._target)
        return across(self, op, vector)

    def multiply_matrices(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, fragments: Sequence[SSAValue]
    ) -> SSAValue:
        """WMMA of sums that are a vector: they go to memory and back."""
        *factors, sums = fragments
        memory = self.allocate(4 * lanes_of(sums.type), self._target.alignment)
        self.store(sums, memory, self._target.alignment)
        kept = sums_of(self, instruction)
        kept.begin(memory)
        kept.multiply_add(*factors)
        kept.end(memory)
        return self.load(memory, sums.type, self._target.alignment)

    def begin_sums(self, op: tg.WmmaOp, instruction: MatrixInstruction, sums: View | None) -> None:
        self._sums = sums_of(self, instruction)
        self._sums.begin(None if sums is None else self.address(sums))

    def multiply_add(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, factors: Sequence[Sequence[SSAValue]]
    ) -> None:
        for a, b in factors:
            self._sums.multiply_add(a, b)

    def end_sums(self, op: tg.WmmaOp, sums: View) -> None:
        self._sums.end(self.address(sums))

    def instruction(
        self, op: tg.InsOp, form: InstructionForm, operands: Sequence[SSAValue]
    ) -> SSAValue | None:
        if form.has_effect:
            parts = form.text, form.constraints, operands
            self.insert(llvm.InlineAsmOp(*parts, [], 0, has_side_effects=True))
            return None
        element = register_type(tg.dtype_of(op.result))
        if form.is_of_warp:
            # Side effects keep LLVM from moving it to where some lanes of a warp are not.
            words = [
                word for x in zip(operands, op.arguments, strict=True) for word in self._words(*x)
            ]
            struct = llvm.LLVMStructType.from_type_list([element] * form.lanes)
            parts = form.text, form.constraints, words, [struct]
            made = self.put(llvm.InlineAsmOp(*parts, 0, has_side_effects=True))
            return self.stack(self.elements(made))
        type = vector_of(element, form.lanes)
        return self.put(llvm.InlineAsmOp(form.text, form.constraints, operands, [type], 0))

    def _words(self, value: SSAValue, of: SSAValue) -> Sequence[SSAValue]:
        """The registers of 32 bits of a fragment."""
        if (bits := tg.dtype_of(of).bits) < 32:
            size = lanes_of(value.type) * bits // 32
            value = self.emit(llvm.BitcastOp, (value,), vector_of(i32, size))
        return [self.lane(value, i) for i in range(lanes_of(value.type))]

    # -- memory

    def allocate_buffer(self, op: tg.BufferOp, bytes: int, alignment: int) -> SSAValue:
        """Memory on the stack, zeroed where cells may be read before they are stored."""
        pointer = self.allocate(bytes, alignment, is_zeroed=op not in self._covered)
        pointer.name_hint = op.result.name_hint
        self._values[op.result] = pointer
        return pointer

    def add_atomically(self, view: View, value: SSAValue) -> None:
        """Where one thread executes the function, nobody else writes: a load and a store suffice.
        LLVM exchanges the word of an element where the processor adds no narrower ones."""
        dtype = view.dtype
        is_alone = self._frame is None and not self.has_work_items
        if is_alone and (dtype.bits >= 32 or not dtype.is_float):
            kind = llvm.OrOp if dtype.is_bool else llvm.AddOp
            old = self.load_view(view, None, None)
            is_float, pair = dtype.is_float, (old, value)
            new = self.float(llvm.FAddOp, *pair) if is_float else self.binary(kind, *pair)
            self.store_view(new, view, None)
            return
        if dtype.is_bool:
            value = self.emit(llvm.ZExtOp, (value,), i8)
        kind = "_or" if dtype.is_bool else "fadd" if dtype.is_float else "add"
        self.insert(AtomicRMWOp(kind, self.address(view), value))

    # -- control flow

    def begin_loop(self, op: tg.RangeOp, bound: SSAValue, *, runs: bool, unrolls: bool) -> SSAValue:
        """The test before the first iteration is left out if the loop runs."""
        zero = self.number(0)
        if self._frame is not None and op.axis_type.data is tg.AxisType.THREAD:
            next, taken, exit = self.new_block(), self.new_block(), self.new_block()
            self.branch(next)
            self.enter(next)
            number = self._frame.take(bound)
            self.branch_if(self.compare("slt", number, bound), taken, (), exit)
            self.enter(taken)
            self._loops.append(_OpenLoop(taken, exit, bound, next))
            self._values[op.result] = number
            return number
        body, exit = self.new_block(i64), self.new_block()
        if runs:
            self.branch(body, zero)
        else:
            self.branch_if(self.compare("sgt", bound, zero), body, (zero,), exit)
        self.enter(body)
        self._loops.append(_OpenLoop(body, exit, bound, unrolls=unrolls))
        self._values[op.result] = body.args[0]
        for stream in self._prefetched.get(op, ()):
            self._prefetch(stream)
        return body.args[0]

    def _prefetch(self, stream: Stream) -> None:
        offset = self.number(stream.start)
        for variable, stride in stream.strides.items():
            moved = self.multiply(self._values[variable], self.number(stride))
            offset = self.add(offset, moved)
        self.prefetch(self.offset(self._values[stream.memory], offset, i8), stream.bytes)

    def end_loop(self) -> None:
        loop = self._loops.pop()
        if loop.next is not None:
            self.branch(loop.next)
        else:
            next = self.binary(llvm.AddOp, loop.body.args[0], self.number(1))
            condition = self.compare("slt", next, loop.bound)
            self.branch_if(condition, loop.body, (next,), loop.exit)
            if loop.unrolls and (branch := self.block.last_op) is not None:
                branch.attributes[LOOP_ANNOTATION] = FULLY_UNROLLED
        self.enter(loop.exit)

    def begin_if(self, condition: SSAValue) -> None:
        then, merge = self.new_block(), self.new_block()
        self.branch_if(condition, then, (), merge)
        self.enter(then)
        self._merges.append(merge)

    def end_if(self) -> None:
        merge = self._merges.pop()
        self.branch(merge)
        self.enter(merge)

    def begin_once(self, flag: SSAValue) -> None:
        """The load of the flag acquires and the store releases."""
        known = self.load(flag, i64, FLAG_BYTES, ACQUIRE)
        self.begin_if(self.compare("eq", known, self.number(0)))

    def end_once(self, flag: SSAValue) -> None:
        self.store(self.number(1), flag, FLAG_BYTES, RELEASE)
        self.end_if()

    def call(self, name: str, arguments: Sequence[SSAValue]) -> None:
        self.insert(call(OBJECT.symbol(name), arguments))

    def custom(self, op: tg.CustomOp, operands: Sequence[SSAValue]) -> SSAValue | None:
        return custom(self, op, operands, on_host=self.is_of_host)

    def call_host(
        self, signature: CallSignature, arguments: Sequence[SSAValue], *, is_registered: bool
    ) -> SSAValue | None:
        if not self.is_of_host:
            return super().call_host(signature, arguments, is_registered=is_registered)
        name = signature.symbol if is_registered else OBJECT.symbol(signature.name)
        return call_host(self, name, signature, arguments)
