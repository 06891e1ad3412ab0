"""Load and store ops: reading a buffer, writing one, moving data between devices."""

from __future__ import annotations

from xdsl import irdl
from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.fast_xdsl.unchecked import segments
from tgdialect.ops.attributes import AddrSpace, Device
from tgdialect.ops.base import TENSOR, TgOp, Value, ValueOp, VoidOp
from tgdialect.ops.canonicalization import HasTgCanonicalization
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.properties import is_memory, same_shape, shape_of, show_shape, tensor
from tgdialect.ops.views import is_repeated

DEVICE = irdl.AnyOf((irdl.BaseAttr(StringAttr), irdl.BaseAttr(ArrayAttr)))
"""Constraint: the name of a device, or an array of names."""


def device_attribute(device: Device) -> Attribute | None:
    """A device as a property."""
    if device is None:
        return None
    if isinstance(device, str):
        return unchecked.text(device)
    return ArrayAttr(StringAttr(d) for d in device)


def verify_gate(gate: SSAValue, buffer: SSAValue) -> None:
    """A gate is bool, of shape () or of the buffer's shape."""
    type, shape = tensor(gate), shape_of(gate)
    if type.element_type != BOOL or (shape and not same_shape(shape, shape_of(buffer))):
        raise VerifyException(f"a gate is bool, () or of the buffer's shape, not {type}")


def verify_cells(buffer: SSAValue, value: SSAValue) -> None:
    """Raise unless a stored value has the shape and dtype of its buffer."""
    into, given = shape_of(buffer), shape_of(value)
    if not same_shape(into, given):
        raise VerifyException(
            f"the buffer has shape {show_shape(into)}, the value {show_shape(given)}"
        )
    holds, is_of = tensor(buffer).element_type, tensor(value).element_type
    if holds != is_of:
        raise VerifyException(f"the buffer holds {holds}, the value is {is_of}")


@op_definition
class LoadOp(TgOp):
    """LOAD (buf, alt?, gate?), device, addrspace: read a buffer into a new anonymous one.

    Where `gate` is false memory is not accessed and the value is `alt`. An operand that is no
    memory is stored first. With an address space the result is memory.

    `%1 = tg.load %0 : tensor<f32, #tg.place<global>> -> tensor<f32>`
    `%3 = tg.load %0 alt %1 gate %2
      : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>`
    """

    name = "tg.load"

    buffer = irdl.operand_def(TENSOR)
    alt = irdl.opt_operand_def(TENSOR)
    gate = irdl.opt_operand_def(TENSOR)
    device = irdl.opt_prop_def(DEVICE)
    addrspace = irdl.opt_prop_def(StringAttr)
    result = irdl.result_def(TENSOR)

    irdl_options = (irdl.AttrSizedOperandSegments(as_property=True),)
    traits = irdl.traits_def(MemoryReadEffect())

    assembly_format = (
        "$buffer (`alt` $alt^ `gate` $gate)? (`device` $device^)? (`addrspace` $addrspace^)? "
        "attr-dict `:` type($buffer) (`,` type($alt)^ `,` type($gate))? `->` type($result)"
    )

    def __init__(
        self,
        buffer: Value,
        alt: Value | None = None,
        gate: Value | None = None,
        *,
        device: Device = None,
        addrspace: AddrSpace | None = None,
    ):
        self.infer(
            [v for v in (buffer, alt, gate) if v is not None],
            {
                "operandSegmentSizes": segments(1, alt is not None, gate is not None),
                "device": device_attribute(device),
                "addrspace": None if addrspace is None else unchecked.text(addrspace.value),
            },
        )

    def verify_rule(self) -> None:
        if (self.alt is None) != (self.gate is None):
            raise VerifyException("alt and gate come together")
        if self.addrspace is not None and self.addrspace.data not in set(AddrSpace):
            raise VerifyException(f"{self.addrspace.data!r} is not one of {', '.join(AddrSpace)}")
        if self.alt is not None and self.gate is not None:
            alt, buffer = tensor(self.alt), tensor(self.buffer)
            same = same_shape(shape_of(self.alt), shape_of(self.buffer))
            if not same or alt.element_type != buffer.element_type:
                raise VerifyException(f"alt is {alt}, the buffer {buffer}")
            verify_gate(self.gate, self.buffer)


@op_definition
class StoreOp(VoidOp):
    """STORE (buf, val, gate?): write val into buf where the gate is true. The only side effect.

    Invalid cells of val, and locations out of bounds, are not written.

    `%2 = tg.store %0, %1 : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>`
    """

    name = "tg.store"

    buffer = irdl.operand_def(TENSOR)
    value = irdl.operand_def(TENSOR)
    gate = irdl.opt_operand_def(TENSOR)

    traits = irdl.traits_def(MemoryWriteEffect())

    assembly_format = (
        "$buffer `,` $value (`gate` $gate^)? attr-dict `:` "
        "type($buffer) `,` type($value) (`,` type($gate)^)?"
    )

    def __init__(self, buffer: Value, value: Value, gate: Value | None = None):
        self.infer((buffer, value) if gate is None else (buffer, value, gate))

    def verify_rule(self) -> None:
        if not is_memory(self.buffer):
            raise VerifyException(f"STORE writes memory, not {self.buffer.type}")
        verify_cells(self.buffer, self.value)
        if is_repeated(self.buffer):
            raise VerifyException(
                "the buffer is an EXPAND, which shows one cell of memory many times"
            )
        if self.gate is not None:
            verify_gate(self.gate, self.buffer)


@op_definition
class CopyOp(ValueOp):
    """COPY (T,), device, clone?: T on a device; a tuple of devices reshards with axis 0.

    Canonicalisation drops a copy on the way to another device, and the second of two copies to one
    device, but no `clone`.

    `%1 = tg.copy %0 to "B" : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"B">>`
    """

    name = "tg.copy"

    source = irdl.operand_def(TENSOR)
    device = irdl.prop_def(DEVICE)
    forced = irdl.opt_prop_def(UnitAttr, prop_name="clone")

    traits = irdl.traits_def(HasTgCanonicalization())

    assembly_format = (
        "$source `to` $device (`clone` $clone^)? attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(self, source: Value, device: str | tuple[str, ...], *, clone: bool = False):
        self.infer(
            (source,), {"device": device_attribute(device), "clone": UnitAttr() if clone else None}
        )
