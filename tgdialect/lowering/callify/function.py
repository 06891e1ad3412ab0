"""The body of a callified function: FUNCTIONs and calls substituted, markers resolved."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.analysis.demand import is_storage
from tgdialect.lowering.callify.arguments import SEVERAL_DEVICES, NewFunction
from tgdialect.lowering.callify.outlining import Outliner
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.attributes import VOID, InvalidAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import CallOp, FunctionOp
from tgdialect.ops.marker import ContiguousBackwardOp, ContiguousOp, DetachOp
from tgdialect.ops.memory import CopyOp, LoadOp, StoreOp
from tgdialect.ops.movement import ResizeOp, WindowOp
from tgdialect.ops.ordering import AfterOp, SinkOp
from tgdialect.ops.properties import place, tensor
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp
from tgdialect.transforms.substitution import Substitution


class Callifier(Substitution):
    """The rebuilding of one function on memory."""

    def __init__(
        self, function: FuncOp, device: str, outliner: Outliner, *, has_state: bool = True
    ) -> None:
        """`has_state` says whether BUFFERs are arguments, not memory of one call."""
        self.outliner = outliner
        self.has_state = has_state
        self.new = NewFunction(function, device, has_state=has_state)
        self.block = self.new.block
        super().__init__(function, self.new.builder)
        self.values.update(self.new.add_arguments())
        self.results: dict[SSAValue, BufferOp] = {}
        """Results of outlined functions, and the buffers that they are in."""

    def run(self) -> FuncOp:
        self.convert(self.function.body.block)
        self.builder.location = self.function.location
        self.store_results()
        self.collect_effects()
        return self.new.finish()

    # -- outlining

    def is_kept(self, op: Operation) -> bool:
        return isinstance(op, FunctionOp) and self.outliner.is_outlined(op)

    def keep(self, op: FunctionOp) -> None:
        """CALL the function that a FUNCTION has become, with memory for its results."""
        # The function, which takes each argument once.
        unique = {value: slot for slot, value in enumerate(dict.fromkeys(op.arguments))}
        slots = [unique[argument] for argument in op.arguments]
        callee = self.outliner.function(op, slots, self.function.sym_name.data, self.callified)
        arguments = [self.as_memory(self.values[a]) for a in unique]
        buffers = [
            self.new_buffer(tensor(argument))
            for argument in callee.args
            if "tg.output" in argument_attributes(argument)
        ]
        # The CALL, and the results AFTER it.
        operands = [*arguments, *(b.result for b in buffers)]
        call = self.builder.put(CallOp(callee.sym_name.data, operands, VOID))
        self.tuples[op.result] = values = [self.builder.put(AfterOp(b, [call])) for b in buffers]
        self.results.update(zip(values, buffers, strict=True))

    def callified(self, function: FuncOp) -> FuncOp:
        return Callifier(function, self.new.device, self.outliner, has_state=False).run()

    def as_memory(self, value: SSAValue) -> SSAValue:
        """An argument of a call: memory as it is, any other value stored in a new buffer."""
        if is_storage(value):
            return value
        buffer = self.new_buffer(self.new.memory_type(value))
        return self.builder.put(AfterOp(buffer, [self.builder.put(StoreOp(buffer, value))]))

    def new_buffer(self, type: TensorType[Attribute]) -> BufferOp:
        return self.builder.insert(BufferOp(next(self.builder.free_slots), type))

    # -- the body

    def convert_op(self, op: Operation) -> None:
        """Rebuild one op on the new values."""
        match op:
            case SinkOp():
                return
            case BufferOp() if not self.has_state or isinstance(op.parent_op(), FunctionOp):
                dims = [self.values[dim] for dim in op.dims]
                type = self.new.memory_type(op.result)
                self.append(op, BufferOp(next(self.builder.free_slots), type, dims))
            case ParamOp() | BufferOp():
                # Those of the function itself are arguments.
                if op.result not in self.values:
                    raise self.error(f"a function that is called holds no {op.name}", op)
            case DetachOp() | ContiguousBackwardOp():
                self.values[op.result] = self.values[op.source]
            case CopyOp() | LoadOp() if isinstance(place(op.result).device, tuple):
                raise self.error(SEVERAL_DEVICES, op)
            case CopyOp() if self.is_anywhere(op):
                self.values[op.result] = self.values[op.source]
            case ContiguousOp() | CopyOp():
                self.append(op, LoadOp(self.values[op.source]))
            case LoadOp():
                alt = None if op.alt is None else self.values[op.alt]
                gate = None if op.gate is None else self.values[op.gate]
                self.append(op, LoadOp(self.values[op.buffer], alt, gate))
            case ResizeOp() | WindowOp() if any(self.is_data(v) for v in op.operands[1:]):
                raise self.error(
                    "an extent or offset is computed from data: only arithmetic on index "
                    "arguments is compiled",
                    op,
                )
            case TgOp() if not op.regions:
                self.append(op, op.rebuild([self.values[v] for v in op.operands]))
            case _:
                raise self.error(f"{op.name} does not belong in a tensor program", op)

    def is_anywhere(self, op: CopyOp) -> bool:
        """Whether a COPY is of a constant, which is computed where it is needed as well."""
        constant = self.values[op.source].owner
        return isinstance(constant, ConstOp) and not isinstance(constant.value, InvalidAttr)

    def is_data(self, index: SSAValue) -> bool:
        """Whether an index scalar is computed from memory, which places it on a device."""
        return self.values[index].type != index.type

    def append(self, old: Operation, new: TgOp) -> None:
        self.values[old.results[0]] = self.builder.put(new)

    # -- effects

    def store_results(self) -> None:
        """STORE each result in an argument. What an outlined function returns is made there."""
        for number, value in enumerate(self.returned):
            out = self.new.add_result(value, f"out{number}")
            if (buffer := self.results.pop(value, None)) is not None:
                buffer.result.replace_all_uses_with(out)
                buffer.detach()
            else:
                self.builder.insert(StoreOp(out, value))

    def collect_effects(self) -> None:
        """A SINK of every effect that no other op waits for."""
        for op in reversed(list(self.block.ops)):
            if isinstance(op, AfterOp) and not op.result.uses:
                self.block.erase_op(op)
        roots = [
            op.results[0]
            for op in self.block.ops
            if op.results and op.results[0].type == VOID and not op.results[0].uses
        ]
        self.builder.insert(SinkOp(roots))
