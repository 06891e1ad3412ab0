"""The memory of a kernel: its buffers, versions of them, and the effects that these wait for."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from tgdialect.ops import tg


def buffer_type(
    dtype: Attribute, shape: Sequence[int], space: tg.AddrSpace
) -> TensorType[Attribute]:
    """The type of memory in an address space, on no device."""
    return tg.tensor_type(dtype, tuple(shape), tg.PlaceAttr.of(addrspace=space))


def new_buffer(
    builder: tg.OpBuilder, dtype: Attribute, shape: Sequence[int], space: tg.AddrSpace
) -> SSAValue:
    """A BUFFER of a slot of its own."""
    return builder.put(tg.BufferOp(next(builder.free_slots), buffer_type(dtype, shape, space)))


def version(builder: tg.OpBuilder, memory: SSAValue, after: Sequence[SSAValue]) -> SSAValue:
    """Memory AFTER some effects, or in some loops; as it is if there are none."""
    return builder.put(tg.AfterOp(memory, after)) if after else memory


def grouped(builder: tg.OpBuilder, effects: Sequence[SSAValue]) -> SSAValue:
    """One effect for several."""
    return effects[0] if len(effects) == 1 else builder.put(tg.GroupOp(effects))
