"""The body of a callified function: FUNCTIONs and calls substituted, markers resolved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from tgdialect.analysis.demand import is_storage
from tgdialect.analysis.symbols import is_foreign
from tgdialect.lowering.callify.arguments import NewFunction
from tgdialect.lowering.callify.outlining import Outliner
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.attributes import VOID, InvalidAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import CallOp, FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.marker import ContiguousBackwardOp, ContiguousOp, DetachOp
from tgdialect.ops.memory import CopyOp, LoadOp, StoreOp
from tgdialect.ops.movement import ReshapeOp, ResizeOp, ShrinkOp, WindowOp
from tgdialect.ops.multi import ReplicatedOp
from tgdialect.ops.ordering import AfterOp, GroupOp, SinkOp
from tgdialect.ops.properties import place, tensor
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp


class Callifier:
    """The rebuilding of one function."""

    def __init__(self, function: FuncOp, device: str, outliner: Outliner) -> None:
        self.function = function
        self.outliner = outliner
        self.new = NewFunction(function, device)
        self.block = self.new.block
        self.builder = self.new.builder
        self.values: dict[SSAValue, SSAValue] = dict(self.new.add_arguments())
        """The new values of old ones."""
        self.tuples: dict[SSAValue, Sequence[SSAValue]] = {}
        """The new values in old tuples."""
        self.active: list[FuncOp] = []
        """The functions that are being substituted, outermost first."""
        self.returned: Sequence[SSAValue] = ()
        """What the last body that ended has returned."""
        self.results: dict[SSAValue, BufferOp] = {}
        """Results of outlined functions, and the buffers that they are in."""

    def run(self) -> FuncOp:
        self.convert(self.function.body.block)
        self.builder.location = self.function.location
        self.store_results()
        self.collect_effects()
        return self.new.finish()

    # -- the body

    def convert(self, root: Block) -> None:
        """Rebuild the ops of a body in order. Bodies that are substituted are on a stack, each with
        what is to be done at its end."""
        stack = [iter(root.ops)]
        finish: list[Callable[[], None]] = []
        while stack:
            op = next(stack[-1], None)
            if op is None:
                stack.pop()
                if finish:
                    finish.pop()()
                continue
            if isinstance(op, FunctionOp) and self.outliner.is_outlined(op):
                self.builder.location = op.location
                self.outline(op)
                continue
            inner = self.substituted(op)
            if inner is None:
                self.convert_op(op)
            else:
                body, done = inner
                stack.append(iter(body.ops))
                finish.append(done)

    # -- outlining

    def outline(self, op: FunctionOp) -> None:
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
        return Callifier(function, self.new.device, self.outliner).run()

    def as_memory(self, value: SSAValue) -> SSAValue:
        """An argument of a call: memory as it is, any other value stored in a new buffer."""
        if is_storage(value):
            return value
        buffer = self.new_buffer(self.new.memory_type(value))
        return self.builder.put(AfterOp(buffer, [self.builder.put(StoreOp(buffer, value))]))

    def new_buffer(self, type: TensorType[Attribute]) -> BufferOp:
        return self.builder.insert(BufferOp(next(self.builder.free_slots), type))

    def substituted(self, op: Operation) -> tuple[Block, Callable[[], None]] | None:
        """The body to substitute for a FUNCTION or a call, and what to do at its end.

        The parameters of the body are bound to the arguments. None for other ops.
        """
        if isinstance(op, FunctionOp):
            for param in op.body.block.ops:
                if isinstance(param, ParamOp):
                    argument = op.arguments[param.slot.data]
                    self.values[param.result] = self.values[argument]
            body = op.body.block

            def pack(op: FunctionOp = op) -> None:
                last = op.body.block.last_op
                assert isinstance(last, TupleOp)
                self.tuples[op.result] = self.tuples[last.result]

            return body, pack
        callee = self.callee(op)
        if callee is None:
            return None
        if is_foreign(callee):
            reason = "it has no body" if callee.is_declaration else "it is of other dialects"
            name = callee.sym_name.data
            raise self.new.error(f"a tensor program cannot call @{name}: {reason}", op)
        if callee is self.function or callee in self.active:
            raise self.new.error(f"@{callee.sym_name.data} calls itself", op)
        for parameter, argument in zip(callee.args, op.operands, strict=True):
            self.values[parameter] = self.values[argument]
        self.active.append(callee)

        def bind() -> None:
            self.active.pop()
            if isinstance(op, FuncCallOp):
                self.values.update(zip(op.results, self.returned, strict=True))
            elif self.returned:
                self.tuples[op.results[0]] = self.returned
            else:
                # A CALL without results is waited for: it is the effects of the body.
                ops = [each for each in callee.body.block.ops if not isinstance(each, SinkOp)]
                effects = [r for each in ops for r in each.results if r.type == VOID]
                group = GroupOp([self.values[effect] for effect in effects])
                self.values[op.results[0]] = self.builder.put(group)

        return callee.body.block, bind

    @staticmethod
    def callee(op: Operation) -> FuncOp | None:
        """The function that an op calls; None for a CALL of a kernel, and for other ops."""
        if not isinstance(op, FuncCallOp | CallOp):
            return None
        callee = SymbolTable.lookup_symbol(op, op.callee)
        return callee if isinstance(callee, FuncOp) else None

    def convert_op(self, op: Operation) -> None:
        """Rebuild one op on the new values."""
        self.builder.location = op.location
        match op:
            case SinkOp():
                return
            case ParamOp() | BufferOp():
                # Those of the function itself, and of FUNCTIONs, are arguments.
                if op.result not in self.values:
                    raise self.new.error(f"a function that is called holds no {op.name}", op)
            case ReturnOp():
                self.returned = [self.values[v] for v in op.operands]
            case TupleOp():
                self.tuples[op.result] = [self.values[v] for v in op.values]
            case GetTupleOp():
                self.values[op.result] = self.tuples[op.source][op.index.data]
            case DetachOp() | ContiguousBackwardOp():
                self.values[op.result] = self.values[op.source]
            case CopyOp() if self.is_anywhere(op):
                self.values[op.result] = self.values[op.source]
            case ContiguousOp() | CopyOp():
                self.append(op, LoadOp(self.values[op.source]))
            case LoadOp():
                alt = None if op.alt is None else self.values[op.alt]
                gate = None if op.gate is None else self.values[op.gate]
                self.append(op, LoadOp(self.values[op.buffer], alt, gate))
            case ReplicatedOp():
                self.append(op, self.first_shard(self.values[op.source], op.axis.data))
            case ResizeOp() | WindowOp() if any(self.is_data(v) for v in op.operands[1:]):
                raise self.new.error(
                    "an extent or offset is computed from data: only arithmetic on index "
                    "arguments is compiled",
                    op,
                )
            case TgOp() if not op.regions:
                self.append(op, op.rebuild([self.values[v] for v in op.operands]))
            case _:
                raise self.new.error(f"{op.name} does not belong in a tensor program", op)

    def is_anywhere(self, op: CopyOp) -> bool:
        """Whether a COPY is of a constant to one device, where it is computed as well."""
        constant = self.values[op.source].owner
        return (
            isinstance(constant, ConstOp)
            and not isinstance(constant.value, InvalidAttr)
            and not isinstance(place(op.result).device, tuple)
        )

    def is_data(self, index: SSAValue) -> bool:
        """Whether an index scalar is computed from memory, which places it on a device."""
        return self.values[index].type != index.type

    def append(self, old: Operation, new: TgOp) -> None:
        self.values[old.results[0]] = self.builder.put(new)

    def first_shard(self, source: SSAValue, axis: int) -> TgOp:
        """The first entry of the sharding axis: every shard of a replicated value is the same."""
        shape = tensor(source).get_shape()
        start = [0] * len(shape)
        one = self.builder.put(ShrinkOp(source, start, (*shape[:axis], 1, *shape[axis + 1 :])))
        return ReshapeOp(one, (*shape[:axis], *shape[axis + 1 :]))

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
