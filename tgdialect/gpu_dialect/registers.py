"""Registers that the hardware sets for each thread."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.irdl import IRDLOperation, result_def, traits_def
from xdsl.traits import Pure


class SpecialRegisterOp(IRDLOperation):
    """Reads a register, as `%0 = nvvm.read.ptx.sreg.tid.x : i32`."""

    res = result_def(i32)
    assembly_format = "attr-dict `:` type($res)"
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[i32])
