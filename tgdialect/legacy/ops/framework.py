"""Meta ops: kernels, devices, symbolic sizes, assignment."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl import irdl
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, UnitAttr, i1
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, MemoryReadEffect, MemoryWriteEffect, NoTerminator

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import SIGNATURE, AllocatingOp, EdgeOp, LegacyOp, PureOp
from tgdialect.legacy.rules import (
    made_by,
    producer,
    require,
    require_identifier,
    require_natural,
)
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, VOID_EDGE
from tgdialect.ops.codegen import verify_format
from tgdialect.ops.ordering import EDGE


@op_definition
class DeviceOp(EdgeOp, op="device", syntax="$device attr-dict"):
    """DEVICE (), name: a device, which BUFFER, COPY and CONST refer to.

    Arguments: the name of the device.
    Sources: none.
    Stage: graph construction, scheduling.
    Becomes: the device in the place of a type, or of `tg.copy`.

    `%0 = tg_legacy.device "CPU"`
    """

    device = irdl.prop_def(StringAttr)

    def verify_rule(self) -> None:
        require(bool(self.device.data), "the name of a device is not empty")


@op_definition
class UniqueOp(EdgeOp, op="unique", syntax="custom<Int>($id) attr-dict"):
    """UNIQUE (), id: the identity of a BUFFER: two with different ids are different memory.

    Arguments: an integer.
    Sources: none.
    Stage: graph construction, where BUFFERs are made.
    Becomes: the slot of `tg.buffer`.

    `%0 = tg_legacy.unique 3`
    """

    id = irdl.prop_def(tg.NumberAttr)

    def verify_rule(self) -> None:
        require_natural(self.id.data, "id")


@op_definition
class NameOp(EdgeOp, op="name", syntax="$text (`of` $named^ `:` type($named))? attr-dict"):
    """NAME (u?), name: what a kernel or a variable is called in the generated code.

    Arguments: the name.
    Sources: none, or the op that it names.
    Stage: scheduling, code generation.
    Becomes: the symbol of the kernel that it stands in.

    `%0 = tg_legacy.name "r_4"`
    """

    text = irdl.prop_def(StringAttr)
    named = irdl.opt_operand_def(EDGE)

    def verify_rule(self) -> None:
        require_identifier(self.text)


@op_definition
class KernelOp(LegacyOp, op="kernel"):
    """KERNEL (u0, u1, ...), body: one launch of a kernel on the memory that it reads and writes.

    The body refers to source k by `DEFINE_GLOBAL k`, and to a variable by DEFINE_VAR, which a BIND
    among the sources gives a value. It ends in a SINK.

    Arguments: the kernel: its body, and its name.
    Sources: the memory that the kernel takes, then BINDs.
    Stage: scheduling.
    Becomes: `tg.call` of a kernel symbol: a `tg.kernel` if the body has loops, else a function.

    `%k = tg_legacy.kernel "r_4"(%out, %a) {
       %s = tg.sink %store : !tg.void
     } : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>)
      -> !tg.void`
    """

    HOLDS_KERNEL: ClassVar[bool] = True

    label = irdl.prop_def(StringAttr)
    arguments = irdl.var_operand_def(TENSOR)
    body = irdl.region_def("single_block")
    result = irdl.result_def(VOID_EDGE)

    traits = irdl.traits_def(IsolatedFromAbove(), NoTerminator(), MemoryWriteEffect())

    assembly_format = (
        "$label `(` $arguments `)` attr-dict-with-keyword $body `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    @property
    def buffers(self) -> list[SSAValue]:
        """The arguments that are memory: one for each DEFINE_GLOBAL."""
        return [argument for argument in self.arguments if tg.is_memory(argument)]

    def verify_rule(self) -> None:
        require_identifier(self.label)
        is_ended = isinstance(self.body.block.last_op, tg.SinkOp)
        require(is_ended, "the body of a KERNEL ends in its tg.sink")
        buffers = self.buffers
        variables = {v.symbol: v for v in map(_variable, self.arguments) if v is not None}
        for argument in self.arguments:
            is_taken = tg.is_memory(argument) or isinstance(argument.owner, BindOp)
            require(is_taken, f"a KERNEL takes memory and BINDs, not {argument.type}")
        for op in self.body.walk():
            if isinstance(op, KernelOp):
                require(False, f"{op.label} is a KERNEL in a KERNEL")
            if op.name == "tg_legacy.define_global":
                _verify_global(op, buffers)
            elif isinstance(op, DefineVarOp):
                bound, symbol = variables.get(op.symbol), f"{op.symbol}, {op.min.data} to "
                require(
                    bound is not None and (bound.min, bound.max) == (op.min, op.max),
                    f"no BIND gives the variable {symbol}{op.max.data}, a value",
                )


def _variable(argument: SSAValue) -> DefineVarOp | None:
    """The variable that a source of a KERNEL binds."""
    variable = argument.owner.variable.owner if isinstance(argument.owner, BindOp) else None
    return variable if isinstance(variable, DefineVarOp) else None


def _verify_global(op: Operation, buffers: Sequence[SSAValue]) -> None:
    """Raise unless a DEFINE_GLOBAL in a KERNEL is what the source of that number is."""
    slot = tg.integer(op, "slot") or 0
    count = len(buffers)
    require(slot < count, f"DEFINE_GLOBAL {slot} has no source: there are {count}")
    given, wanted = tg.tensor(buffers[slot]), tg.tensor(op.results[0])
    is_sized = given.has_static_shape() and wanted.has_static_shape()
    is_same = given.element_type == wanted.element_type and (
        not is_sized or prod(given.get_shape()) == prod(wanted.get_shape())
    )
    require(is_same, f"DEFINE_GLOBAL {slot} is {wanted}, its source {given}")


@op_definition
class MultiOp(PureOp, op="multi"):
    """MULTI (shard0, shard1, ...), axis, real: a tensor whose parts are on several devices.

    Arguments: the axis that is split, absent where each device has the whole; for each shard
    whether it holds data, or only zeros.
    Sources: a shard for each device.
    Stage: graph construction (`Tensor.shard`).
    Becomes: a value whose place has all the devices, and the axis.

    `%2 = tg_legacy.multi %0, %1 axis 0 real [true, true]
      : (tensor<2xf32, #tg.place<"A">>, tensor<2xf32, #tg.place<"B">>)
      -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>`
    """

    shards = irdl.var_operand_def(TENSOR)
    axis = irdl.opt_prop_def(tg.NumberAttr)
    flags = irdl.prop_def(DenseArrayBase.constr(i1), prop_name="flags")

    assembly_format = (
        f"$shards (`axis` custom<Int>($axis)^)? `real` custom<Integers>($flags) {SIGNATURE}"
    )

    def verify_rule(self) -> None:
        flags, shards = len(self.flags), len(self.shards)
        require(flags == shards, f"{flags} flags for {shards} shards")
        are_whole = self.axis is not None or all(self.flags.get_values())
        require(are_whole, "without an axis each shard is the whole: all of them are real")


@op_definition
class CopyOp(LegacyOp, op="copy"):
    """COPY (device, u), clone: the data on another device, or in new memory on the same.

    Arguments: `clone`, whether memory on the same device is new.
    Sources: a DEVICE, and what is copied.
    Stage: graph construction, scheduling.
    Becomes: `tg.copy`; nothing where the data is there already and `clone` is not set.

    `%2 = tg_legacy.copy %1 to %0 clone
      : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"B">>`
    """

    source = irdl.operand_def(TENSOR)
    device = irdl.operand_def(VOID_EDGE)
    is_clone = irdl.opt_prop_def(UnitAttr, prop_name="clone")
    result = irdl.result_def(TENSOR)

    traits = irdl.traits_def(MemoryReadEffect())

    assembly_format = (
        "$source `to` $device (`clone` $clone^)? attr-dict `:` type($source) `->` type($result)"
    )

    def verify_rule(self) -> None:
        made_by(self.device, DeviceOp, "a COPY goes to a DEVICE, not ")


@op_definition
class AssignOp(LegacyOp, op="assign", syntax="$target `,` $value"):
    """ASSIGN (target, value): the target, with a new value from here on.

    Arguments: none.
    Sources: memory and the value that it gets, or the KERNEL that writes it; or a DEFINE_ACC and
    its next value.
    Stage: graph construction; lowering, where it updates accumulators.
    Becomes: `tg.store` and `tg.after`, in the REG memory of an accumulator too.

    `%2 = tg_legacy.assign %0, %1 : tensor<f32>`
    """

    target = irdl.operand_def(TENSOR)
    value = irdl.operand_def(EDGE)
    result = irdl.result_def(TENSOR)

    traits = irdl.traits_def(MemoryWriteEffect())

    ESCAPES_BLOCK: ClassVar[bool] = True

    def verify_rule(self) -> None:
        target, kernel = self.target, self.value.owner
        if tg.is_memory(target) and isinstance(kernel, KernelOp):
            is_taken = target in kernel.arguments
            require(is_taken, f"{kernel.label} does not take the target of this ASSIGN")
            return
        require(
            tg.is_memory(target) or is_accumulator(target),
            f"ASSIGN updates memory or an accumulator, not {target.type} of {producer(target)}",
        )
        found = producer(self.value)
        is_value = tg.is_tensor(self.value.type)
        require(is_value, f"the value is a tensor, or a KERNEL for memory, not {found}")
        verify_assigned(target, self.value)


_ACCUMULATORS = ("tg_legacy.define_acc", "tg_legacy.assign", "tg_legacy.phi")


def is_accumulator(value: SSAValue) -> bool:
    """Whether a value is a DEFINE_ACC, or an accumulator after an assignment."""
    return producer(value) in _ACCUMULATORS and not tg.is_memory(value)


def verify_assigned(target: SSAValue, value: SSAValue) -> None:
    """Raise unless a value has the shape and dtype of what it is assigned to."""
    is_same = tg.same_shape(tg.shape_of(target), tg.shape_of(value))
    is_same &= tg.tensor(target).element_type == tg.tensor(value).element_type
    require(is_same, f"the target is {target.type}, the value {value.type}")


@op_definition
class DefineVarOp(PureOp, op="define_var"):
    """DEFINE_VAR (), name, min, max: an integer known when the program is called, such as a size.

    Arguments: the name, and the least and greatest value.
    Sources: none.
    Stage: graph construction (symbolic shapes).
    Becomes: `tg.param` of dtype index, with a name and bounds.

    `%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>`
    """

    symbol = irdl.prop_def(StringAttr)
    min = irdl.prop_def(tg.NumberAttr)
    max = irdl.prop_def(tg.NumberAttr)

    assembly_format = "$symbol custom<Int>($min) `to` custom<Int>($max) attr-dict `:` type($result)"

    def verify_rule(self) -> None:
        type, dtype = tg.tensor(self.result), tg.dtype_of(self.result)
        require_identifier(self.symbol)
        is_scalar = dtype.is_integer and not type.get_shape()
        require(is_scalar, f"a variable is an integer scalar, not {type}")
        low, high = self.min.data, self.max.data
        is_interval = dtype.low <= low <= high <= dtype.high
        require(is_interval, f"{low} to {high} is no interval of {dtype.name}")


@op_definition
class BindOp(PureOp, op="bind", syntax="$variable `,` $value"):
    """BIND (variable, value): a variable that has its value.

    Arguments: none.
    Sources: a DEFINE_VAR, and a CONST within its bounds.
    Stage: graph construction, JIT.
    Becomes: the value; as a source of KERNEL, the argument for the variable.

    `%b = tg_legacy.bind %n, %c : tensor<index>`
    """

    variable = irdl.operand_def(TENSOR)
    value = irdl.operand_def(TENSOR)

    def verify_rule(self) -> None:
        variable = made_by(self.variable, DefineVarOp, "a BIND gives a DEFINE_VAR its value, not ")
        verify_assigned(self.variable, self.value)
        value, found = tg.known_index(self.value), producer(self.value)
        require(value is not None, f"the value of a BIND is a known CONST, not {found}")
        low, high = variable.min.data, variable.max.data
        is_inside = value is not None and low <= value <= high
        require(is_inside, f"{variable.symbol} is from {low} to {high}, got {value}")


@op_definition
class EmptyOp(AllocatingOp, op="empty", syntax="attr-dict `:` type($result)"):
    """EMPTY (): a tensor whose contents do not matter yet.

    Arguments: none; its type says shape and dtype.
    Sources: none.
    Stage: graph construction.
    Becomes: `tg.buffer`.

    `%0 = tg_legacy.empty : tensor<4x4xf32, #tg.place<"CPU", global>>`
    """

    def verify_rule(self) -> None:
        where = tg.place(self.result)
        is_placed = where.addrspace is tg.AddrSpace.GLOBAL and where.device is not None
        require(
            is_placed and tg.tensor(self.result).has_static_shape(),
            f"an EMPTY is global memory on a device, of a known size, not {self.result.type}",
        )


@op_definition
class NoopOp(LegacyOp, op="noop", syntax="$source"):
    """NOOP (u): its source, where an op has to stand between two others.

    Arguments: none.
    Sources: what it passes on.
    Stage: between rewrites.
    Becomes: its source.

    `%1 = tg_legacy.noop %0 : tensor<4xf32>`
    """

    source = irdl.operand_def(EDGE)
    result = irdl.result_def(EDGE)

    traits = irdl.traits_def(tg.PureInGraph())


class _FormattedOp(LegacyOp, syntax="$fmt `(` $arguments `)`"):
    """A piece of the target's source code with a placeholder for each source."""

    fmt = irdl.prop_def(StringAttr)
    arguments = irdl.var_operand_def(TENSOR)
    result = irdl.result_def(irdl.AnyAttr())

    traits = irdl.traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_rule(self) -> None:
        verify_format(self.fmt.data, len(self.arguments))


@op_definition
class CustomOp(_FormattedOp, op="custom"):
    """CUSTOM (u0, u1, ...), format: a statement in the target's source code.

    Arguments: a format string with a placeholder for each source.
    Sources: what the placeholders stand for.
    Stage: lowering, code generation.
    Becomes: `tg.custom`, which executes only where the caller allows it.

    `%1 = tg_legacy.custom "prefetch({0});"(%0) : tensor<i32> -> !tg.void`
    """


@op_definition
class CustomIOp(_FormattedOp, op="customi"):
    """CUSTOMI (u0, u1, ...), format: an expression, written where its value is used.

    Arguments: a format string with a placeholder for each source.
    Sources: what the placeholders stand for.
    Stage: lowering, code generation.
    Becomes: `tg.custom` with the attribute `inline`.

    `%1 = tg_legacy.customi "popcount({0})"(%0) : tensor<i32>`
    """

    def verify_rule(self) -> None:
        super().verify_rule()
        type = self.result.type
        require(tg.is_tensor(type), f"a CUSTOMI is an expression: a tensor, not {type}")
