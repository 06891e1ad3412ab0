"""Buffers, LOAD and STORE."""

from __future__ import annotations

from xdsl import irdl
from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.traits import MemoryReadEffect
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import SIGNATURE, AllocatingOp, EffectOp, LegacyOp, PureOp
from tgdialect.legacy.ops.control import verify_loops
from tgdialect.legacy.ops.framework import DeviceOp, UniqueOp
from tgdialect.legacy.ops.indexing import (
    IndexOp,
    ViewOp,
    known_size,
    verify_condition,
    verify_flat_memory,
)
from tgdialect.legacy.rules import made_by, producer, require, require_natural
from tgdialect.legacy.table import device_of_operands, views_of
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, VOID_EDGE
from tgdialect.ops.ordering import EDGE

AT = irdl.AnyOf((TENSOR, VOID_EDGE))
"""Constraint: a position, or a VIEW without a source."""


@op_definition
class BufferOp(AllocatingOp, op="buffer"):
    """BUFFER (device, unique), size: memory on a device; two ids are different memory.

    Arguments: the number of elements.
    Sources: a DEVICE, and a UNIQUE.
    Stage: graph construction, scheduling.
    Becomes: `tg.buffer`.

    `%2 = tg_legacy.buffer %device, %unique size 16
      : tensor<16xf32, #tg.place<"CPU", global>>`
    """

    device = irdl.operand_def(VOID_EDGE)
    unique = irdl.operand_def(VOID_EDGE)
    size = irdl.prop_def(tg.NumberAttr)

    assembly_format = "$device `,` $unique `size` custom<Int>($size) attr-dict `:` type($result)"

    def verify_rule(self) -> None:
        device = self.device.owner
        if not isinstance(device, DeviceOp) or not isinstance(self.unique.owner, UniqueOp):
            found = f"{producer(self.device)} and {producer(self.unique)}"
            raise VerifyException(f"the sources of a BUFFER are a DEVICE and a UNIQUE, not {found}")
        name, where = device.device, tg.place(self.result)
        is_there = where.addrspace is tg.AddrSpace.GLOBAL and where.device == name.data
        require(is_there, f"the BUFFER is global memory on {name}, not {self.result.type}")
        size, shape = self.size.data, tg.tensor(self.result).get_shape()
        require(shape == (size,), f"the size is {size}, the shape {tg.show_shape(shape)}")


@op_definition
class BufferViewOp(PureOp, op="buffer_view"):
    """BUFFER_VIEW (buffer), size, offset: a part of a buffer, for files on disk.

    Arguments: the number of elements, and the first one.
    Sources: a buffer.
    Stage: scheduling.
    Becomes: `tg.shrink` of the buffer.

    `%1 = tg_legacy.buffer_view %0 size 4 offset 8
      : tensor<16xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>`
    """

    buffer = irdl.operand_def(TENSOR)
    size = irdl.prop_def(tg.NumberAttr)
    offset = irdl.prop_def(tg.NumberAttr)

    assembly_format = f"$buffer `size` custom<Int>($size) `offset` custom<Int>($offset) {SIGNATURE}"

    def verify_rule(self) -> None:
        verify_flat_memory(self.buffer)
        first, size, known = self.offset.data, self.size.data, known_size(self.buffer)
        is_inside = first >= 0 and size >= 0 and (known is None or first + size <= known)
        require(is_inside, f"size {size} at offset {first} is not inside of {self.buffer.type}")


@op_definition
class DefineGlobalOp(AllocatingOp, op="define_global"):
    """DEFINE_GLOBAL (), slot, name?, mutable?: an argument of the kernel, in global memory.

    Arguments: the position of the argument; in the tutorial's age also its name, and whether the
    kernel writes it.
    Sources: none.
    Stage: linearization, codegen.
    Becomes: `tg.param`. Where its size is not known it is that of the cells which are accessed.

    `%0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>`
    `%1 = tg_legacy.define_global 1 "data1" mutable : tensor<?xi32, #tg.place<global>>`
    """

    slot = irdl.prop_def(tg.NumberAttr)
    symbol = irdl.opt_prop_def(StringAttr)
    mutable = irdl.opt_prop_def(UnitAttr)

    assembly_format = (
        "custom<Int>($slot) custom<Name>($symbol) (`mutable` $mutable^)? attr-dict `:` "
        "type($result)"
    )

    def verify_rule(self) -> None:
        require_natural(self.slot.data, "slot")
        verify_pointer(self, tg.AddrSpace.GLOBAL)


@op_definition
class DefineLocalOp(AllocatingOp, op="define_local", syntax="$symbol attr-dict `:` type($result)"):
    """DEFINE_LOCAL (), name: memory that the threads of a workgroup share.

    Arguments: its name.
    Sources: none.
    Stage: lowering, codegen.
    Becomes: `tg.buffer` in `local` space.

    `%0 = tg_legacy.define_local "temp0" : tensor<16xf32, #tg.place<local>>`
    """

    symbol = irdl.prop_def(StringAttr)

    def verify_rule(self) -> None:
        verify_pointer(self, tg.AddrSpace.LOCAL)
        is_known = tg.tensor(self.result).has_static_shape()
        require(is_known, f"the size of local memory is known, not {self.result.type}")


def verify_pointer(op: LegacyOp, space: tg.AddrSpace) -> None:
    """Raise unless the result is memory of one axis in an address space."""
    (result,) = op.results
    where = tg.place(result)
    is_flat = len(tg.tensor(result).get_shape()) == 1 and where.axis is None
    require(
        where.addrspace is space and is_flat,
        f"the result is {space} memory of one axis on one device, not {result.type}",
    )


@op_definition
class DefineAccOp(AllocatingOp, op="define_acc"):
    """DEFINE_ACC (initial, range0, range1, ...), number: the accumulator of a reduction.

    Reading it gives its present value. ASSIGN or PHI changes it.

    Arguments: the number of the accumulator.
    Sources: the initial value, which is the identity of the reduction, and the RANGEs to reduce,
    before which it begins. Without any it begins where it is.
    Stage: lowering.
    Becomes: `tg.reduce` where the loops reduce with one operation, else `tg.buffer` in `reg` space.

    `%1 = tg_legacy.define_acc 0 from %0 : tensor<f32>`
    """

    number = irdl.prop_def(tg.NumberAttr)
    initial = irdl.operand_def(TENSOR)
    ranges = irdl.var_operand_def(TENSOR)

    assembly_format = f"custom<Int>($number) `from` $initial (`over` $ranges^)? {SIGNATURE}"

    def verify_rule(self) -> None:
        require_natural(self.number.data, "number")
        require(
            not tg.is_memory(self.initial),
            f"an accumulator begins with a value, not with memory: {self.initial.type}",
        )
        verify_loops(self.ranges)


@op_definition
class LoadOp(LegacyOp, op="load"):
    """LOAD (buffer, view or position?, alternative?, gate?, dependency...): read memory.

    A position in a buffer is that of the first element of a vector. A buffer that is a location, as
    INDEX gives it, has no position.

    Arguments: none.
    Sources: a buffer and a VIEW, and a STORE to wait for; or a buffer and a position, or a
    location, then the value where the gate is false, the gate, and a BARRIER to wait for.
    Stage: lowering, codegen.
    Becomes: `tg.load`, gated; a movement of the buffer where there is a VIEW.

    `%2 = tg_legacy.load %0 at %1 alt %a gate %g
      : tensor<24xf32, #tg.place<global>> at tensor<i32> alt tensor<f32> gate tensor<i1>
      -> tensor<f32>`
    """

    buffer = irdl.operand_def(TENSOR)
    at = irdl.opt_operand_def(AT)
    alt = irdl.opt_operand_def(TENSOR)
    gate = irdl.opt_operand_def(TENSOR)
    dependencies = irdl.var_operand_def(EDGE)
    result = irdl.result_def(TENSOR)

    irdl_options = (irdl.AttrSizedOperandSegments(as_property=True),)
    traits = irdl.traits_def(MemoryReadEffect())

    assembly_format = (
        "$buffer (`at` $at^)? (`alt` $alt^)? (`gate` $gate^)? (`after` $dependencies^)? "
        "attr-dict `:` type($buffer) (`at` type($at)^)? (`alt` type($alt)^)? "
        "(`gate` type($gate)^)? (`after` type($dependencies)^)? `->` type($result)"
    )

    def verify_rule(self) -> None:
        verify_access(self.buffer, self.at, self.result)
        value = tg.tensor(self.result)
        where = tg.PlaceAttr.of(device_of_operands(self))
        loaded = tg.tensor_type(value.element_type, value.get_shape(), where)
        require(value == loaded, f"the LOAD gives {loaded}, not {value}")
        if self.alt is not None:
            alt = tg.tensor(self.alt)
            is_same = (
                alt.element_type == value.element_type and alt.get_shape() == value.get_shape()
            )
            require(is_same, f"the alternative is {alt}, the value {value}")
        if self.gate is not None:
            verify_condition(self.gate, self.result)


@op_definition
class StoreOp(EffectOp, op="store"):
    """STORE (buffer, view or position?, value, gate?, dependency...): write memory.

    Arguments: none.
    Sources: a buffer, a VIEW and a value; or a buffer and a position, or a location, then the value
    and a gate: where it is false nothing is written.
    Stage: lowering, codegen.
    Becomes: `tg.store`, gated; to a movement of the buffer where there is a VIEW.

    `%3 = tg_legacy.store %0 at %1 value %2 gate %g
      : tensor<24xf32, #tg.place<global>> at tensor<i32> value tensor<f32> gate tensor<i1>`
    """

    buffer = irdl.operand_def(TENSOR)
    at = irdl.opt_operand_def(AT)
    value = irdl.operand_def(TENSOR)
    gate = irdl.opt_operand_def(TENSOR)
    dependencies = irdl.var_operand_def(EDGE)

    irdl_options = (irdl.AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$buffer (`at` $at^)? `value` $value (`gate` $gate^)? (`after` $dependencies^)? "
        "attr-dict `:` type($buffer) (`at` type($at)^)? `value` type($value) "
        "(`gate` type($gate)^)? (`after` type($dependencies)^)?"
    )

    def verify_rule(self) -> None:
        verify_access(self.buffer, self.at, self.value)
        view = (self.buffer if self.at is None else self.at).owner
        for shown in view.views if isinstance(view, ViewOp) else ():
            is_distinct = not shown.is_repeated
            require(is_distinct, f"{shown} repeats positions: a STORE writes each once")
        if self.gate is not None:
            verify_condition(self.gate, self.value)


def verify_access(buffer: SSAValue, at: SSAValue | None, value: SSAValue) -> None:
    """Raise unless a value is what a position of a buffer, a view of it, or a location holds."""
    is_one = tg.is_memory(buffer) and tg.place(buffer).axis is None
    require(is_one, f"expected memory on one device, got {buffer.type}")
    holds, is_of = tg.dtype_of(buffer), tg.dtype_of(value)
    require(holds == is_of, f"the memory holds {holds.name}, the value is {is_of.name}")
    shape = tg.shape_of(value)
    if at is None:
        wanted = tg.shape_of(buffer)
    elif isinstance(at.owner, ViewOp):
        if (source := at.owner.source) is not None:
            require(False, f"the VIEW beside a buffer has no source, got {producer(source)}")
        at.owner.verify_positions(known_size(buffer))
        wanted = views_of(at.owner)[-1].shape
    else:
        wanted = _accessed_shape(buffer, at, shape)
    found, of = tg.show_shape(shape), tg.show_shape(wanted)
    require(shape == wanted, f"the value has shape {found}, not {of}")


def _accessed_shape(buffer: SSAValue, position: SSAValue, shape: tg.Shape) -> tg.Shape:
    """The shape of what is accessed at a position: any vector at a scalar, else the position's."""
    is_integer = tg.is_tensor(position.type) and tg.dtype_of(position).is_integer
    require(is_integer, f"a position is an integer, not {position.type}")
    is_flat = len(tg.shape_of(buffer)) == 1
    require(is_flat, f"a position is in memory of one axis, not in {buffer.type}")
    wanted = tg.shape_of(position)
    return shape if not wanted and len(shape) == 1 else wanted


@op_definition
class CastOp(PureOp, op="cast", syntax="$element attr-dict `:` type($element) `->` type($result)"):
    """CAST (location): the location of a vector, which begins at that of its first element.

    Arguments: none; its type says how many elements.
    Sources: a location.
    Stage: codegen. A CAST of values is `tg.cast`.
    Becomes: `tg.index` with a vector of positions.

    `%1 = tg_legacy.cast %0 : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>`
    """

    element = irdl.operand_def(TENSOR)

    def verify_rule(self) -> None:
        old, new = tg.tensor(self.element), tg.tensor(self.result)
        rule = f"a CAST of a location takes the INDEX of one element, not {old} of "
        made_by(self.element, IndexOp, rule)
        require(not old.get_shape(), f"{rule}{producer(self.element)}")
        is_vector = len(new.get_shape()) == 1 and new.has_static_shape()
        is_same = new.element_type == old.element_type and new.encoding == old.encoding
        rule = f"a location of {old} is cast to a vector of it, not to {new}"
        require(is_vector and is_same, rule)
