"""Selection rules of INS, one op for each register in a form that the target has, and of WMMA of
fragments, which becomes INS where the target has it as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.lacking import forms_of, lacking
from tgdialect.lowering.select.kernel import SelectedKernel, static_shape
from tgdialect.lowering.select.scalars import dtype_name
from tgdialect.lowering.select.tiles import RegisterTile, broadcast_tile, row_length
from tgdialect.ops import tg
from tgdialect.targets.instructions import TO_TF32
from tgdialect.targets.matrix import instruction_of


def instruction(k: SelectedKernel, op: tg.InsOp) -> RegisterTile:
    """INS: rows are cut into registers of the widths that the instruction has. The last register of
    a row may have more lanes than there are cells: these repeat the last one."""
    found = forms_of(op, k.target)
    if op.config is not None:
        return _multiplied(k, op.mnemonic.data, _fragments(k, op, op.config))
    if op.result.type == tg.VOID:
        operands = [k.scalars.register(k.tile(a).pieces[0]) for a in op.arguments]
        return RegisterTile((), (1,), [k.scalars.put(tg.InsOp(op.mnemonic.data, operands))])
    shape, lanes = static_shape(op.result), [form.lanes for form in found]
    widths = tuple(_widths(row_length(shape), lanes))
    tiles = [broadcast_tile(k.scalars, k.tile(a), shape, widths) for a in op.arguments]
    pieces: list[SSAValue] = []
    for i, each in enumerate(zip(*(tile.pieces for tile in tiles), strict=True)):
        width = widths[i % len(widths)]
        whole = max(width, min(lanes))
        type = tg.tensor_type(tg.tensor(op.result).element_type, (whole,) if whole > 1 else ())
        registers = [k.scalars.register(piece) for piece in each]
        if width < whole:
            cells = [min(i, width - 1) for i in range(whole)]
            filled = ([k.scalars.lane(value, i) for i in cells] for value in registers)
            registers = [k.scalars.stack(values) for values in filled]
        value = k.scalars.emit(tg.InsOp, registers, {"mnemonic": op.mnemonic}, type)
        pieces.append(k.scalars.register(k.scalars.lanes(value, range(width))))
    return RegisterTile(shape, widths, pieces)


def _widths(length: int, lanes: Sequence[int]) -> Iterator[int]:
    """The widths of the registers of a row: the widest that are full, then one that may not be."""
    while length:
        width = next((each for each in lanes if each <= length), length)
        yield width
        length -= width


def matrix_instruction(k: SelectedKernel, op: tg.WmmaOp) -> RegisterTile:
    """WMMA of fragments: INS, or the same op on whole fragments, if the target has the instruction.

    before -> after:
        wmma %a, %b, %c config <...>  ->  ins "target.mma.sync..."(%a, %b, %c)
    """
    factor, accumulator = dtype_name(op.a), dtype_name(op.result)
    instruction = instruction_of(k.target, op.config, factor, accumulator)
    if instruction is None:
        dims = "x".join(map(str, op.config.m_n_k))
        raise PassFailedException(
            f"the target {k.target.name} has no {dims} wmma of {op.config.threads} threads that "
            f"multiplies {factor} and adds {accumulator}{lacking(op, k.target)}"
        )
    a, b, c = _fragments(k, op, op.config)
    if instruction.rounds:
        a, b = _rounded(k, a), _rounded(k, b)
    if instruction.mnemonic is not None:
        return _multiplied(k, f"{k.target.name}.{instruction.mnemonic}", (a, b, c))
    result = k.scalars.emit(tg.WmmaOp, (a, b, c), {"config": op.config})
    return RegisterTile(static_shape(op.result), [tg.tensor(result).get_shape()[0]], [result])


def _multiplied(k: SelectedKernel, mnemonic: str, fragments: Sequence[SSAValue]) -> RegisterTile:
    """A matrix instruction. The result is of the type of the fragment of C."""
    type = tg.tensor(fragments[2])
    value = k.scalars.emit(tg.InsOp, fragments, {"mnemonic": StringAttr(mnemonic)}, type)
    shape = static_shape(value)
    return RegisterTile(shape, shape, [value])


def _fragments(k: SelectedKernel, op: tg.InsOp | tg.WmmaOp, config: tg.WmmaAttr) -> list[SSAValue]:
    """The fragments of A, B and C, each as one vector, or as the LOAD of a factor in memory."""
    fragments: list[SSAValue] = []
    for name, operand in zip("abc", op.operands, strict=True):
        tile, dtype = k.tile(operand), dtype_name(operand)
        if name != "c" and config.is_shared(name):
            fragments.append(k.scalars.register(tile.pieces[0]))
            continue
        stored = [k.narrow.stored(k.scalars.register(piece), dtype) for piece in tile.pieces]
        fragment = stored[0]
        if len(stored) > 1:
            pieces = zip(stored, tile.widths, strict=True)
            fragment = k.scalars.stack([k.scalars.lane(p, i) for p, w in pieces for i in range(w)])
        fragment = k.scalars.splat(fragment, sum(tile.widths))
        if dtype_name(fragment) != dtype:
            fragment = k.scalars.apply("bitcast", (fragment,), dtype)
        fragments.append(fragment)
    return fragments


def _rounded(k: SelectedKernel, fragment: SSAValue) -> SSAValue:
    """The bits of a fragment of f32 that is rounded to tf32."""
    mnemonic = {"mnemonic": StringAttr(f"{k.target.name}.{TO_TF32}")}
    lanes = [k.scalars.lane(fragment, i) for i in range(static_shape(fragment)[0])]
    word = tg.tensor_type(tg.TYPES["ui32"])
    return k.scalars.stack([k.scalars.emit(tg.InsOp, (lane,), mnemonic, word) for lane in lanes])
