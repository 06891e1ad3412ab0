"""Selection rule of INS: one op for each register, in a form that the target has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue

from tgdialect.lowering.lacking import forms_of
from tgdialect.lowering.select.kernel import SelectedKernel, static_shape
from tgdialect.lowering.select.tiles import RegisterTile, broadcast_tile, row_length
from tgdialect.ops.attributes import VOID
from tgdialect.ops.codegen import InsOp
from tgdialect.ops.properties import tensor, tensor_type


def instruction(k: SelectedKernel, op: InsOp) -> RegisterTile:
    """INS: rows are cut into registers of the widths that the instruction has. The last register of
    a row may have more lanes than there are cells: these repeat the last one."""
    found = forms_of(op, k.target)
    if op.result.type == VOID:
        operands = [k.scalars.register(k.tile(a).pieces[0]) for a in op.arguments]
        return RegisterTile((), (1,), [k.scalars.put(InsOp(op.mnemonic.data, operands))])
    shape, lanes = static_shape(op.result), [form.lanes for form in found]
    widths = tuple(_widths(row_length(shape), lanes))
    tiles = [broadcast_tile(k.scalars, k.tile(a), shape, widths) for a in op.arguments]
    pieces: list[SSAValue] = []
    for i, each in enumerate(zip(*(tile.pieces for tile in tiles), strict=True)):
        width = widths[i % len(widths)]
        whole = max(width, min(lanes))
        type = tensor_type(tensor(op.result).element_type, (whole,) if whole > 1 else ())
        registers = [_filled(k, k.scalars.register(piece), width, whole) for piece in each]
        value = k.scalars.emit(InsOp, registers, {"mnemonic": op.mnemonic}, type)
        pieces.append(k.scalars.register(k.scalars.lanes(value, range(width))))
    return RegisterTile(shape, widths, pieces)


def _widths(length: int, lanes: Sequence[int]) -> Iterator[int]:
    """The widths of the registers of a row: the widest that are full, then one that may not be."""
    while length:
        width = next((each for each in lanes if each <= length), length)
        yield width
        length -= width


def _filled(k: SelectedKernel, value: SSAValue, width: int, whole: int) -> SSAValue:
    """A register of so many lanes, of which the first ones are those of a value."""
    if width == whole:
        return value
    cells = [k.scalars.lane(value, min(i, width - 1)) for i in range(whole)]
    return k.scalars.stack(cells)
