"""Call ops: function abstraction, and the symbols that a CALL refers to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl import irdl
from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr, SymbolNameConstraint, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryWriteEffect,
    NoTerminator,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import facts, locate
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops.attributes import VOID, AddrSpace, NumberAttr, TupleType, is_tensor
from tgdialect.ops.base import (
    SIGNATURE,
    TENSOR,
    TUPLE,
    NothingInGraph,
    PureInGraph,
    TgOp,
    Value,
    ValueOp,
)
from tgdialect.ops.canonicalization import HasTgCanonicalization
from tgdialect.ops.codegen import AtomicAddOp, CustomFunctionOp, CustomOp, InsOp, ProgramOp
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.ordering import RangeOp, SinkOp
from tgdialect.ops.properties import is_memory, place, place_of, tensor, tensor_type
from tgdialect.ops.sorts import SORTS, verify_sort
from tgdialect.ops.source import BufferOp, ParamOp, parameters
from tgdialect.ops.views import memory_of
from tgdialect.ops.walk import Walk


def _accepts(parameter: Attribute, argument: Attribute) -> bool:
    """Whether an argument has its parameter's type; `?` accepts any extent, null any device."""
    if parameter == argument or not (is_tensor(parameter) and is_tensor(argument)):
        return parameter == argument
    wanted, given = place_of(parameter), place_of(argument)
    extents = parameter.get_shape(), argument.get_shape()
    return (
        parameter.element_type == argument.element_type
        and len(extents[0]) == len(extents[1])
        and all(p in (a, DYNAMIC_INDEX) for p, a in zip(*extents, strict=True))
        and wanted.addrspace == given.addrspace
        and (wanted.device is None or (wanted.device, wanted.axis) == (given.device, given.axis))
    )


def _verify_argument(slot: int, parameter: Attribute, argument: Attribute) -> None:
    if not _accepts(parameter, argument):
        raise VerifyException(f"argument {slot} is {argument}, the parameter {parameter}")


class ResultOfFunction(NothingInGraph):
    """No effect, except for a TUPLE in the body of a FUNCTION or SCAN, which is the body's
    result."""

    KEPT_IN: ClassVar[Sequence[str]] = ("tg.function", "tg.scan")


@op_definition
class TupleOp(TgOp):
    """TUPLE (v0, v1, ...): pack values; the body of a FUNCTION ends in one.

    `%2 = tg.tuple %0, %1 : (tensor<4xf32>, tensor<i32>) -> !tg.tuple<tensor<4xf32>, tensor<i32>>`
    """

    name = "tg.tuple"

    values = irdl.var_operand_def(TENSOR)
    result = irdl.result_def(TUPLE)

    traits = irdl.traits_def(ResultOfFunction())

    assembly_format = f"$values {SIGNATURE}"

    def __init__(self, values: Sequence[Value]):
        self.infer(values)


@op_definition
class GetTupleOp(ValueOp):
    """GETTUPLE (T,), idx: the element at idx of a tuple.

    `%1 = tg.gettuple %0 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>`
    """

    name = "tg.gettuple"

    source = irdl.operand_def(TUPLE)
    index = irdl.prop_def(NumberAttr)

    traits = irdl.traits_def(HasTgCanonicalization())

    assembly_format = f"$source custom<Int>($index) {SIGNATURE}"

    def __init__(self, source: Value, index: int):
        self.infer((source,), {"index": NumberAttr.of(index)})


@op_definition
class FunctionOp(TgOp):
    """FUNCTION (body, a0, a1, ...): the TUPLE that body ends in, each PARAM k being a_k.

    The body is isolated: it refers to its arguments by PARAMs only, and has no side effect. A
    BUFFER in it is memory of one evaluation, which its STOREs and CALLs of kernels may write. A
    PARAM with a dynamic shape accepts any extent, and one without a place any place. The result
    type is inferred from the body with the types of the arguments.

    `%1 = tg.function(%0) {
       %p = tg.param 0 : tensor<4xf32>
       %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
     } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>`
    """

    name = "tg.function"

    arguments = irdl.var_operand_def(TENSOR)
    body = irdl.region_def("single_block")
    result = irdl.result_def(TUPLE)

    traits = irdl.traits_def(IsolatedFromAbove(), NoTerminator(), PureInGraph())

    assembly_format = (
        "`(` $arguments `)` attr-dict-with-keyword $body `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, arguments: Sequence[Value], body: Region):
        self.infer(arguments, regions=(body,))

    @property
    def has_memory(self) -> bool:
        """Whether it has BUFFERs of its own, those of FUNCTIONs in it not counted."""
        return any(isinstance(op, BufferOp) for op in self.body.block.ops)

    def verify_rule(self) -> None:
        params = parameters(self.body.block)
        if len(params) != len(self.arguments):
            raise VerifyException(
                f"the body has {len(params)} parameters for {len(self.arguments)} arguments"
            )
        for param, argument in zip(params, self.arguments, strict=True):
            wanted, given = tensor(param.result), tensor(argument)
            if place_of(wanted).addrspace is None:
                # The body reads a memory argument as a value.
                given = tensor_type(given.element_type, given.get_shape(), place_of(wanted))
            if not _accepts(wanted, given):
                _verify_argument(param.slot.data, wanted, argument.type)
        for op in self.body.walk():
            if (memory := foreign_memory(op)) is not None:
                message = f"this {op.name} has an effect on memory that is not the function's own"
                raise locate(VerifyException(message), memory)


def foreign_memory(op: Operation) -> Operation | None:
    """An op of the body of a FUNCTION that may write to other memory than BUFFERs of that body."""
    if isinstance(op, CallOp):
        written = [a for a in op.arguments if place(a).addrspace is not None]
    elif isinstance(op, StoreOp | AtomicAddOp):
        written = [op.buffer]
    else:
        return op if op.has_trait(MemoryWriteEffect) else None
    return next((op for v in written if not isinstance(memory_of(v).owner, BufferOp)), None)


@op_definition
class KernelOp(TgOp):
    """A named kernel. PARAMs are its arguments; its SINK is the root, on which all effects depend.

    After `tg-select` the target follows the name: `for "cpu"`.

    The specification passes a kernel's body to CALL; here it is a symbol, as in MLIR.

    `tg.kernel @k {
       %0 = tg.param 0 : tensor<f32, #tg.place<global>>
       %1 = tg.const 1.5 : tensor<f32>
       %2 = tg.store %0, %1 : tensor<f32, #tg.place<global>>, tensor<f32>
       %3 = tg.sink %2 : !tg.void
     }`
    """

    name = "tg.kernel"
    HOLDS_KERNEL: ClassVar[bool] = True

    sym_name = irdl.prop_def(SymbolNameConstraint())
    target = irdl.opt_prop_def(StringAttr)
    body = irdl.region_def("single_block")

    traits = irdl.traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    assembly_format = "$sym_name (`for` $target^)? attr-dict-with-keyword $body"

    def __init__(self, name: str, body: Region):
        Operation.__init__(self, properties={"sym_name": unchecked.text(name)}, regions=(body,))

    @property
    def params(self) -> list[ParamOp]:
        """The parameters by slot."""
        return parameters(self.body.block)

    @property
    def calls(self) -> bool:
        """Whether it calls other kernels, and computes nothing but which memory they get."""
        return CallOp in map(type, ops_of(self.body.block))

    @property
    def sink(self) -> SinkOp:
        """The root."""
        last = self.body.block.last_op
        if not isinstance(last, SinkOp):
            raise VerifyException("a kernel ends in its tg.sink")
        return last

    def verify_(self) -> None:
        sink, axes = self.sink, set[int]()
        for op in self.body.block.ops:
            if isinstance(op, SinkOp) and op is not sink:
                raise VerifyException("a kernel has one tg.sink, its last op")
            if isinstance(op, RangeOp):
                if op.axis.data in axes:
                    raise VerifyException(f"two ranges have axis id {op.axis.data}")
                axes.add(op.axis.data)
        if (lost := lost_effect(self.body.block)) is not None:
            raise locate(VerifyException(f"the SINK does not need this {lost.name}"), lost)


def lost_effect(block: Block) -> Operation | None:
    """The last op with an effect on which the SINK of a graph does not depend, if there is one.

    It would never be executed, so a kernel must not have one. A STORE to a buffer of the block
    itself is no effect: only ops that read the buffer see it.
    """
    needed: set[object] = set()
    for op in reversed(ops_of(block)):
        if op in needed or isinstance(op, SinkOp):
            needed.update([operand.owner for operand in op.operands])
        elif isinstance(op, CallOp | CustomOp | InsOp) or (
            isinstance(op, StoreOp | AtomicAddOp) and not _is_own(op.buffer)
        ):
            return op
    return None


def _is_own(location: SSAValue) -> bool:
    """Whether a location is in a BUFFER that is not in global memory."""
    memory = memory_of(location)
    is_global = place(memory).addrspace is AddrSpace.GLOBAL
    return isinstance(memory.owner, BufferOp) and not is_global


class _CalleeExists(SymbolUserOpInterface):
    """The symbol of a CALL exists, and the arguments match its parameters."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        symbol = op.callee.string_value()
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if callee is None:
            raise VerifyException(f"there is no symbol @{symbol}")
        if isinstance(callee, CustomFunctionOp) and symbol in SORTS:
            verify_sort(symbol, op.arguments)
        if not isinstance(callee, CustomFunctionOp):
            known = facts("types of parameters")
            if callee not in known:
                known[callee] = _parameter_types(callee)
            if (types := known[callee]) is None:
                raise VerifyException(f"@{symbol} is a {callee.name}, which is not callable")
            if len(types) != len(op.arguments):
                raise VerifyException(
                    f"@{symbol} has {len(types)} parameters, got {len(op.arguments)} arguments"
                )
            for slot, (parameter, argument) in enumerate(zip(types, op.arguments, strict=True)):
                _verify_argument(slot, parameter, argument.type)
        elif callee.reads is not None or callee.writes is not None:
            reads, writes = callee.effects(0)
            for slot in sorted(reads | writes):
                if slot >= len(op.arguments) or not is_memory(op.arguments[slot]):
                    raise VerifyException(
                        f"@{symbol} accesses the memory of argument {slot}, which is none here"
                    )
        if (result := call_result_type(callee)) != op.result.type:
            raise VerifyException(f"@{symbol} gives {result}, not {op.result.type}")
        around = op.parent_op()
        while around is not None and not isinstance(around, KernelOp | ProgramOp):
            around = around.parent_op()
        if around is not None and around in _called(callee):
            raise VerifyException(f"@{around.sym_name.data} calls itself")


def _called(symbol: Operation) -> set[Operation]:
    """A symbol, and those that it calls, directly or not."""
    walk = Walk([symbol])
    for each in walk:
        calls = (op for op in each.walk() if isinstance(op, CallOp))
        callees = (SymbolTable.lookup_symbol(call, call.callee) for call in calls)
        walk.add(callee for callee in callees if callee is not None)
    return {*walk.seen}


def _parameter_types(callee: Operation) -> Sequence[Attribute] | None:
    """The types of a callee's parameters; None if the op is not callable."""
    match callee:
        case FuncOp():
            return callee.function_type.inputs.data
        case KernelOp():
            return [p.result.type for p in callee.params]
        case ProgramOp():
            return [p.result.type for p in parameters(callee.linear.body.block)]
        case _:
            return None


def call_result_type(callee: Operation) -> Attribute:
    """Void for kernels, programs and custom functions; else the tuple of the function's results."""
    if isinstance(callee, FuncOp) and callee.function_type.outputs:
        return TupleType(callee.function_type.outputs)
    return VOID


@op_definition
class CallOp(TgOp):
    """CALL (body, a0, a1, ...): opaque invocation of a compiled kernel or custom function.

    `%1 = tg.call @k(%0) : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void`
    """

    name = "tg.call"

    callee = irdl.prop_def(SymbolRefAttr)
    arguments = irdl.var_operand_def(TENSOR)
    result = irdl.result_def(irdl.AnyAttr())

    traits = irdl.traits_def(_CalleeExists())

    assembly_format = f"$callee `(` $arguments `)` {SIGNATURE}"

    def __init__(self, callee: str, arguments: Sequence[Value], result: Attribute = VOID):
        self.infer(arguments, {"callee": unchecked.symbol(callee)}, type=result)
