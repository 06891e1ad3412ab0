"""Callify: turn each function on tensors into one stateless function on memory.

Tensor level to function level (docs/ir.md). Arguments become memory on the target device; BUFFERs,
PARAMs and results become arguments as well. FUNCTIONs are substituted, or become functions that are
called; calls of other functions are substituted. Markers are resolved, and what is left of many
devices is views: a device tuple is one memory here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.demand import is_storage
from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.symbols import is_foreign, own_functions
from tgdialect.diagnostics import locate
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.outlining import Outliner
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.attributes import VOID, AddrSpace, PlaceAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.call import CallOp, FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.marker import ContiguousBackwardOp, ContiguousOp, DetachOp
from tgdialect.ops.memory import CopyOp, LoadOp, StoreOp
from tgdialect.ops.movement import ReshapeOp, ResizeOp, ShrinkOp, WindowOp
from tgdialect.ops.multi import ReplicatedOp
from tgdialect.ops.ordering import AfterOp, SinkOp
from tgdialect.ops.properties import Dim, is_memory, shape_of, tensor, tensor_type
from tgdialect.ops.source import BufferOp, ParamOp

ArgumentAttributes = dict[str, Attribute]


@dataclass
class _Callifier:
    """The rebuilding of one function: old values to new ones, and the arguments made so far."""

    function: FuncOp
    device: str
    outliner: Outliner
    arguments: list[ArgumentAttributes] = field(default_factory=list[ArgumentAttributes])
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    tuples: dict[SSAValue, Sequence[SSAValue]] = field(
        default_factory=dict[SSAValue, Sequence[SSAValue]]
    )
    active: list[FuncOp] = field(default_factory=list[FuncOp])
    returned: Sequence[SSAValue] = ()
    results: dict[SSAValue, BufferOp] = field(default_factory=dict[SSAValue, BufferOp])
    """What the calls of outlined functions made, and the buffers that it is in."""

    def run(self) -> FuncOp:
        self.add_existing_arguments()
        self.add_leaves(ParamOp)
        self.add_leaves(BufferOp)
        self.convert(self.function.body.block)
        self.builder.location = self.function.location
        self.store_results()
        self.collect_effects()
        self.builder.insert(ReturnOp())
        self.new.function_type = FunctionType.from_lists(self.block.arg_types, ())
        return self.new

    def __post_init__(self) -> None:
        old = self.function
        self.block = Block()
        self.builder = OpBuilder.at_end(self.block, old.location)
        type = FunctionType.from_lists((), ())
        self.new = FuncOp(old.sym_name.data, type, Region(self.block), old.sym_visibility)
        self.new.location = old.location
        self.new.attributes.update(old.attributes)

    # -- arguments

    def memory_type(self, value: SSAValue) -> TensorType[Attribute]:
        """The type of a value's elements in the target's global memory."""
        place = PlaceAttr.of(self.device, AddrSpace.GLOBAL)
        type = tensor(value)
        return tensor_type(type.element_type, type.get_shape(), place)

    def argument_type(self, value: SSAValue) -> Attribute:
        """Index scalars stay values; everything else is memory."""
        return tensor(value) if tensor(value) == tensor_type(INDEX) else self.memory_type(value)

    def add_argument(
        self, type: Attribute, attributes: ArgumentAttributes, hint: str | None
    ) -> SSAValue:
        argument = self.block.insert_arg(type, len(self.block.args))
        argument.name_hint = hint
        self.arguments.append(attributes)
        self.write_attributes()
        return argument

    def write_attributes(self) -> None:
        """The new function says at any time what is known of its arguments: shapes need it."""
        self.new.arg_attrs = ArrayAttr(DictionaryAttr(a) for a in self.arguments)

    def add_existing_arguments(self) -> None:
        old = self.function
        attributes = old.arg_attrs.data if old.arg_attrs else [DictionaryAttr({})] * len(old.args)
        for argument, given in zip(old.args, attributes, strict=True):
            if not isinstance(argument.type, TensorType):
                raise self.error(f"an argument of @{old.sym_name.data} is no tensor")
            type = self.argument_type(argument)
            self.values[argument] = self.add_argument(type, dict(given.data), argument.name_hint)

    def add_leaves(self, kind: type[ParamOp] | type[BufferOp]) -> None:
        """PARAMs and BUFFERs of the body become arguments, in the order of their slots."""
        leaves = [op for op in self.function.body.block.ops if isinstance(op, kind)]
        by_slot: dict[int, SSAValue] = {}
        dynamic: list[tuple[ArgumentAttributes, ParamOp | BufferOp]] = []
        for op in sorted(leaves, key=lambda op: op.slot.data):
            slot, result = op.slot.data, op.results[0]
            if slot not in by_slot:
                attributes: ArgumentAttributes = {}
                type = self.argument_type(result)
                by_slot[slot] = self.add_argument(type, attributes, result.name_hint)
                if isinstance(op, BufferOp):
                    attributes["tg.buffer"] = IntegerAttr(slot, 64)
                elif not is_memory(by_slot[slot]):
                    for name, bound in (("tg.min", op.min), ("tg.max", op.max)):
                        if bound is not None:
                            attributes[name] = IntegerAttr(bound.data, INDEX)
                    if op.symbol is not None:
                        attributes["tg.name"] = op.symbol
                if (constant := op.attributes.get("tg.constant")) is not None:
                    if constant != UnitAttr() or not is_memory(by_slot[slot]):
                        raise self.error("tg.constant is a unit, and for tensors alone", op)
                    attributes["tg.constant"] = constant
                if op.dims:
                    dynamic.append((attributes, op))
            if by_slot[slot].type != self.argument_type(result):
                raise self.error(f"slot {slot} is {by_slot[slot].type} and {result.type}", op)
            self.values[result] = by_slot[slot]
        for attributes, op in dynamic:
            extents = [self.values.get(d, d) for d in op.dims]
            attributes["tg.dims"] = self.dims_attribute(extents, op)
        self.write_attributes()

    def dims_attribute(self, dims: Sequence[Dim], op: Operation | None = None) -> Attribute:
        """Which arguments the dynamic dimensions of an argument are: one that `op` has become."""
        positions = [d.index for d in dims if isinstance(d, BlockArgument)]
        if len(positions) != len(dims):
            raise self.error(
                "the dynamic dimensions of arguments, results, PARAMs and BUFFERs are index "
                "arguments themselves",
                op,
            )
        return DenseArrayBase.from_list(i64, positions)

    def error(self, message: str, op: Operation | None = None) -> Exception:
        """The failure of the pass, at an op of the program."""
        return locate(PassFailedException(message), op or self.function)

    # -- the body

    def convert(self, root: Block) -> None:
        """Rebuild the ops of a body in order; bodies that are substituted go through a stack."""
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
        unique = list(dict.fromkeys(op.arguments))
        slots = [unique.index(argument) for argument in op.arguments]
        callee = self.outliner.function(op, slots, self.function.sym_name.data, self.callified)
        arguments = [self.as_memory(self.values[a]) for a in unique]
        buffers = [
            self.new_buffer(tensor(argument))
            for argument in callee.args
            if "tg.output" in argument_attributes(argument)
        ]
        operands = [*arguments, *(b.result for b in buffers)]
        call = self.builder.put(CallOp(callee.sym_name.data, operands, VOID))
        self.tuples[op.result] = values = [self.builder.put(AfterOp(b, [call])) for b in buffers]
        self.results.update(zip(values, buffers, strict=True))

    def callified(self, function: FuncOp) -> FuncOp:
        return _Callifier(function, self.device, self.outliner).run()

    def as_memory(self, value: SSAValue) -> SSAValue:
        """An argument of a call: a buffer in any version as it is, what else there is in one."""
        if is_storage(value):
            return value
        buffer = self.new_buffer(self.memory_type(value))
        return self.builder.put(AfterOp(buffer, [self.builder.put(StoreOp(buffer, value))]))

    def new_buffer(self, type: TensorType[Attribute]) -> BufferOp:
        return self.builder.insert(BufferOp(next(self.builder.free_slots), type))

    def substituted(self, op: Operation) -> tuple[Block, Callable[[], None]] | None:
        """The body that stands for a FUNCTION or for a call of a function, its arguments bound."""
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
            raise self.error(f"a tensor program cannot call @{name}: {reason}", op)
        if callee is self.function or callee in self.active:
            raise self.error(f"@{callee.sym_name.data} calls itself", op)
        for parameter, argument in zip(callee.args, op.operands, strict=True):
            self.values[parameter] = self.values[argument]
        self.active.append(callee)

        def bind() -> None:
            self.active.pop()
            if isinstance(op, FuncCallOp):
                self.values.update(zip(op.results, self.returned, strict=True))
            elif self.returned:
                self.tuples[op.results[0]] = self.returned

        return callee.body.block, bind

    @staticmethod
    def callee(op: Operation) -> FuncOp | None:
        """The function that an op calls; None for the call of a kernel, and other ops."""
        if not isinstance(op, FuncCallOp | CallOp):
            return None
        callee = SymbolTable.lookup_symbol(op, op.callee)
        return callee if isinstance(callee, FuncOp) else None

    def convert_op(self, op: Operation) -> None:
        self.builder.location = op.location
        match op:
            case ParamOp() | SinkOp():
                return
            case BufferOp():
                if op.result not in self.values:
                    raise self.error("a function that is called holds no BUFFER", op)
            case ReturnOp():
                self.returned = [self.values[v] for v in op.operands]
            case TupleOp():
                self.tuples[op.result] = [self.values[v] for v in op.values]
            case GetTupleOp():
                self.values[op.result] = self.tuples[op.source][op.index.data]
            case DetachOp() | ContiguousBackwardOp():
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
                raise self.error(
                    "an extent or offset is computed from data: only arithmetic on index "
                    "arguments is compiled",
                    op,
                )
            case TgOp() if not op.regions:
                self.append(op, op.rebuild([self.values[v] for v in op.operands]))
            case _:
                raise self.error(f"{op.name} does not belong in a tensor program", op)

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
        names = [f"out{i}" for i in range(len(self.returned))]
        for value, name in zip(self.returned, names, strict=True):
            attributes: ArgumentAttributes = {"tg.output": UnitAttr()}
            if dims := [d for d in shape_of(value) if not isinstance(d, int)]:
                attributes["tg.dims"] = self.dims_attribute(dims)
            out = self.add_argument(self.memory_type(value), attributes, name)
            if (buffer := self.results.pop(value, None)) is not None:
                buffer.result.replace_all_uses_with(out)
                buffer.detach()
            else:
                self.builder.insert(StoreOp(out, value))

    def collect_effects(self) -> None:
        """One SINK of every effect that nothing waits for."""
        for op in reversed(list(self.block.ops)):
            if isinstance(op, AfterOp) and not op.result.uses:
                self.block.erase_op(op)
        roots = [
            op.results[0]
            for op in self.block.ops
            if op.results and op.results[0].type == VOID and not op.results[0].uses
        ]
        self.builder.insert(SinkOp(roots))


@dataclass(frozen=True)
class CallifyPass(LoweringPass):
    """Turn each function on tensors into one stateless function on memory.

    BUFFERs, PARAMs and results become arguments. FUNCTIONs are substituted, or become functions of
    their own that CALLs refer to. Markers and COPYs are resolved.
    """

    name = "tg-callify"
    level_before = "tensor"
    level_after = "function"

    device: str = "CPU"
    """The device that arguments without one are on."""

    def lower(self, module: ModuleOp) -> None:
        functions = list(own_functions(module))
        for symbol in module.ops:
            if isinstance(symbol, FuncOp) and symbol not in functions:
                check_calls(symbol, functions)
        outliner = Outliner(module)
        converted = [_Callifier(f, self.device, outliner).run() for f in functions]
        for old, new in zip(functions, converted, strict=True):
            if old.sym_visibility != StringAttr("private"):
                module.body.block.insert_op_before(new, old)
        for old in functions:
            module.body.block.erase_op(old, safe_erase=False)
        for outlined in outliner.functions.values():
            module.body.block.add_op(outlined)
        for function in own_functions(module):
            check_constants(function)


def check_calls(foreign: FuncOp, functions: Sequence[FuncOp]) -> None:
    """Raise PassFailedException where a function of other dialects calls one that is callified."""
    for op in foreign.walk():
        if isinstance(op, FuncCallOp) and SymbolTable.lookup_symbol(op, op.callee) in functions:
            name = op.callee.string_value()
            message = f"@{name} is called by a function of other dialects, and will take its"
            raise locate(PassFailedException(f"{message} results as arguments"), op)


def check_constants(function: FuncOp) -> None:
    """Raise PassFailedException where an argument that is said to be constant is written."""
    constants = {a for a in function.args if "tg.constant" in argument_attributes(a)}
    for access in accesses(function.body.block.ops) if constants else ():
        if access.writes and access.memory in constants:
            message = "an argument that is {tg.constant} is written"
            raise locate(PassFailedException(message), access.op)
