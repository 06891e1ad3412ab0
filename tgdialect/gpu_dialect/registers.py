"""Registers that the hardware sets for each thread."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.irdl import IRDLOperation, result_def, traits_def
from xdsl.traits import Pure

from tgdialect.fast_xdsl.formats import op_definition


class SpecialRegisterOp(IRDLOperation):
    """Reads a register, as `%0 = nvvm.read.ptx.sreg.tid.x : i32`."""

    res = result_def(i32)
    assembly_format = "attr-dict `:` type($res)"
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


def indices(name: str, of: str) -> list[type[SpecialRegisterOp]]:
    """The ops `name.x`, `name.y` and `name.z`, which read the index of something along each axis: x
    varies fastest."""
    return [
        op_definition(
            type(
                f"{''.join(map(str.capitalize, name.split('.')))}{axis.upper()}Op",
                (SpecialRegisterOp,),
                {"name": f"{name}.{axis}", "__doc__": f"The index of {of}, {axis}."},
            )
        )
        for axis in "xyz"
    ]
