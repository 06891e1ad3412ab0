"""CUSTOM, CUSTOMFUNCTION and INS: code that is not the dialect's own arithmetic.

It is refused unless the caller allows it, and then runs as the function that the caller registers
(`tgdialect.custom`): by the name or the format of a CUSTOM, the mnemonic of an INS, or the symbol
of a CUSTOMFUNCTION. The built-in sorts (`ops/sorts.py`) and an INS that a table lists are no such
code: what they do is here. Matrix instructions are in `wmma.py`. Sources: the manuals that
`targets/instructions.py` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import InterpretationError

from tgdialect.custom import CustomCode, signature_of_call, signature_of_custom
from tgdialect.interpreter.wmma import check_warps
from tgdialect.ops import tg
from tgdialect.ops.arrays import compute_dtype, numpy_dtype_of
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.sorts import SORTS


def run_sort(name: str, source: Array, target: Array) -> None:
    """Sort the last axis of an array into one of as many cells, or fewer."""
    sort = SORTS[name]
    # NumPy's order of narrow floats has no place for NaN.
    keys = source if source.dtype.kind in "biu" else source.astype(np.float64)
    last = source.shape[-1] - 1
    if sort.descending:
        order = last - np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        order = np.argsort(keys, axis=-1, kind="stable")
    order = order[..., : target.shape[-1]]
    target[...] = np.take_along_axis(source, order, -1) if sort.gives_values else order


def allow(custom: CustomCode, what: str) -> None:
    """Refuse what is not the dialect's own arithmetic, unless it is allowed."""
    if not custom.allowed:
        raise InterpretationError(
            f"{what} is executed with allow_custom only (tg-run --allow-custom)"
        )


def run_custom(
    custom: CustomCode, op: tg.CustomOp | tg.InsOp, arrays: Sequence[Array]
) -> Array | None:
    """The result of a CUSTOM or INS, as an array of its dtype; None if it is `!tg.void`. The last
    axes must be the op's shape."""
    if isinstance(op, tg.InsOp) and not op.is_foreign:
        return execute(op, arrays)
    key = op.fmt.data if isinstance(op, tg.CustomOp) else op.mnemonic.data
    call = op.call_of(custom.functions) if isinstance(op, tg.CustomOp) else None
    if call is not None and isinstance(op, tg.CustomOp):
        function = custom.on_arrays(signature_of_custom(op, call))
        dtypes = [compute_dtype(tg.dtype_of(op.arguments[number])) for number in call.order]
        arrays = [np.asarray(arrays[n], to) for n, to in zip(call.order, dtypes, strict=True)]
    else:
        function = _registered(custom, op.name, key)
    value = function(*arrays)
    if isinstance(op.result.type, tg.VoidType):
        return None
    array = np.asarray(value, numpy_dtype_of(op.result))
    shape = tg.tensor(op.result).get_shape()
    last = array.shape[array.ndim - len(shape) :] if array.ndim >= len(shape) else None
    if last is None or any(d not in (s, DYNAMIC_INDEX) for d, s in zip(shape, last, strict=True)):
        raise InterpretationError(f"the function for {op.name} returned {array.shape}, not {shape}")
    return array


def run_custom_function(
    custom: CustomCode, op: tg.CallOp, callee: tg.CustomFunctionOp, arrays: Sequence[Array]
) -> None:
    """CALL a CUSTOMFUNCTION on arrays, some of which it changes."""
    name = callee.sym_name.data
    if name in SORTS and name not in custom.functions:
        run_sort(name, *arrays)
        return
    _registered(custom, callee.name, name)
    signature = signature_of_call(op, callee)
    for array, argument in zip(arrays, signature.arguments, strict=True):
        array.flags.writeable = argument.writes
    custom.on_arrays(signature)(*arrays)


def _registered(custom: CustomCode, op_name: str, key: str) -> Any:
    allow(custom, f'{op_name} "{key}"')
    if (function := custom.functions.get(key)) is None:
        raise InterpretationError(
            f'{op_name} "{key}" has no implementation here; pass one in `custom`'
        )
    return function


# -- the instructions of tables --------------------------------------------------------------------

Meaning = Callable[..., int]
"""From the width of the operands in bits, and the bits of each as an unsigned integer, to those of
the result, modulo the width of its dtype."""


def execute(op: tg.InsOp, operands: Sequence[Array]) -> Array | None:
    """The result of an instruction of a table, in the dtype of the op; None if it has none. Raises
    InterpretationError for one of a warp: there are no work items."""
    check_warps(op, tg.warp_of(op), (), ())
    if op.result.type == tg.VOID:
        return None
    dtype, meaning = numpy_dtype_of(op.result), MEANINGS[op.instruction]
    width, result_bits = 8 * operands[0].dtype.itemsize, 8 * dtype.itemsize

    def on_cells(*bits: int) -> int:
        return meaning(width, *bits) & _ones(result_bits)

    bits = [x.view(f"u{x.dtype.itemsize}") for x in operands]
    words = np.frompyfunc(on_cells, len(bits), 1)(*bits)
    return np.asarray(words, f"u{dtype.itemsize}").view(dtype)


# -- bits ------------------------------------------------------------------------------------------


def _ones(count: int) -> int:
    """A word of so many ones, the least significant bits."""
    return (1 << count) - 1


def _signed(x: int, bits: int) -> int:
    """The number of a word in two's complement."""
    return x - (x >> bits - 1 << bits)


def _clipped(value: int, bits: int, *, signed: bool) -> int:
    """The nearest number that a word of so many bits has."""
    least = -1 << bits - 1 if signed else 0
    return min(max(value, least), least + _ones(bits))


def _popcount(width: int, x: int, total: int = 0) -> int:
    return x.bit_count() + total


def _leading_zeros(width: int, x: int) -> int:
    return width - x.bit_length()


def _trailing_zeros(width: int, x: int) -> int:
    return ((x & -x) - 1 & _ones(width)).bit_count()


def _reversed_bits(width: int, x: int) -> int:
    return int(f"{x:0{width}b}"[::-1], 2)


def _first_one(width: int, x: int) -> int:
    """The leading zeros; all ones where there is no one."""
    return width - x.bit_length() if x else -1


def _deposited(width: int, x: int, mask: int) -> int:
    """PDEP: the low bits of x, at the places that are set in the mask."""
    places = [i for i in range(width) if mask >> i & 1]
    return sum((x >> i & 1) << place for i, place in enumerate(places))


def _extracted(width: int, x: int, mask: int) -> int:
    """PEXT: the bits of x at the places that are set in the mask, as low bits."""
    places = [i for i in range(width) if mask >> i & 1]
    return sum((x >> place & 1) << i for i, place in enumerate(places))


def _field(x: int, start: int, length: int) -> int:
    """Some bits of a word, as low bits; those behind its end are 0."""
    return x >> start & _ones(length)


def _bytes_swapped(width: int, x: int) -> int:
    return int.from_bytes(x.to_bytes(width // 8, "little"), "big")


def _x86_field(width: int, x: int, control: int) -> int:
    """BEXTR: start and length are bytes of the control word."""
    return _field(x, control & 0xFF, control >> 8 & 0xFF)


def _low_bits(width: int, x: int, count: int) -> int:
    """BZHI: the bits from a number on are 0."""
    return _field(x, 0, count & 0xFF)


def _ptx_field(width: int, x: int, start: int, length: int, *, signed: bool) -> int:
    start, length = start & 0xFF, length & 0xFF
    sign = x >> min(start + length - 1, 31) & 1 if signed and length else 0
    # Bits of the sign stand where the field has none of the word's.
    own = max(min(length, 32 - start), 0)
    return _field(x, start, length) | -sign << own


def _inserted(width: int, field: int, into: int, start: int, length: int) -> int:
    start &= 0xFF
    mask = _ones(length & 0xFF) << start
    return into & ~mask | field << start & mask


def _amd_field(width: int, x: int, start: int, length: int, *, signed: bool) -> int:
    start, length = start & 31, length & 31
    if not signed or not length:
        return _field(x, start, length)
    return _signed(_field(_signed(x, 32), start, length), length)


def _chosen(width: int, mask: int, a: int, b: int) -> int:
    return mask & a | ~mask & b


def _funnel(width: int, low: int, high: int, distance: int, *, left: bool = False) -> int:
    """A word of two, shifted modulo 32: the upper half of it to the left, the lower one to the
    right."""
    both, distance = high << 32 | low, distance & 31
    return both << distance >> 32 if left else both >> distance


def _high_first_funnel(width: int, high: int, low: int, distance: int) -> int:
    return _funnel(width, low, high, distance)


def _crc32(width: int, crc: int, data: int, *, polynomial: int) -> int:
    """The remainder of a checksum and a word of 32 or 64 bits, the least significant bit first."""
    total = crc & _ones(32)
    for start in range(0, width, 32):
        total ^= _field(data, start, 32)
        for _ in range(32):
            total = total >> 1 ^ polynomial * (total & 1)
    return total


# -- parts of words --------------------------------------------------------------------------------


def _parts(width: int, x: int, bits: int = 8, *, signed: bool = False) -> Sequence[int]:
    """The numbers of the parts of a word, the least significant first."""
    parts = [_field(x, start, bits) for start in range(0, width, bits)]
    return [_signed(part, bits) for part in parts] if signed else parts


def _dot(
    width: int,
    a: int,
    b: int,
    total: int = 0,
    *,
    signs: tuple[bool, bool],
    bits: int = 8,
    saturate: bool = False,
) -> int:
    """The products of the parts of two words + total."""
    factors = (_parts(width, x, bits, signed=s) for x, s in zip((a, b), signs, strict=True))
    value = _signed(total, width) + sum(x * y for x, y in zip(*factors, strict=True))
    return _clipped(value, width, signed=True) if saturate else value


def _add_dot(width: int, total: int, a: int, b: int, **options: Any) -> int:
    return _dot(width, a, b, total, **options)


def _differences(width: int, a: int, b: int, total: int = 0) -> int:
    """The sum of the absolute differences of bytes."""
    pairs = zip(_parts(width, a), _parts(width, b), strict=True)
    return sum(abs(x - y) for x, y in pairs) + total


def _difference(width: int, a: int, b: int, total: int = 0) -> int:
    return abs(a - b) + total


def _saturating(width: int, a: int, b: int, *, sign: int, signed: bool) -> int:
    """a + b, or a - b, at the bounds of the dtype where it would wrap."""
    x, y = (_signed(z, width) if signed else z for z in (a, b))
    return _clipped(x + sign * y, width, signed=signed)


def _average(width: int, a: int, b: int) -> int:
    """Rounded up."""
    return a + b + 1 >> 1


def _high_product(width: int, a: int, b: int, *, saturate: bool) -> int:
    """The product of two fractions with a sign, rounded to nearest, ties up."""
    value = _signed(a, 16) * _signed(b, 16) + (1 << 14) >> 15
    return _clipped(value, 16, signed=True) if saturate else value


def _ptx_bytes(width: int, a: int, b: int, selector: int) -> int:
    """PRMT: four bytes of b and a, chosen by a digit each, of which bit 3 replicates the sign."""
    both, total = _parts(64, b << 32 | a), 0
    for i in range(4):
        digit = _field(selector, 4 * i, 4)
        byte = both[digit & 7]
        total |= (0xFF * (byte >> 7) if digit & 8 else byte) << 8 * i
    return total


def _amd_bytes(width: int, a: int, b: int, selector: int) -> int:
    """V_PERM: four bytes of a and b, chosen by a byte each; 8 to 11 are the signs of halves, 12 is
    0 and what is greater 0xff."""
    both = _parts(64, a << 32 | b)
    known = [*both, *(0xFF * (byte >> 7) for byte in both[1::2]), 0, 0xFF]
    numbers = _parts(width, selector)
    return sum(known[min(number, 13)] << 8 * i for i, number in enumerate(numbers))


def _multiplied_24(width: int, a: int, b: int, total: int) -> int:
    return (a & 0xFFFFFF) * (b & 0xFFFFFF) + total


def _to_tf32(width: int, x: int) -> int:
    """A float of 32 bits rounded to 10 bits behind the point, to nearest with ties away from 0."""
    exponent, fraction = x & 0x7F800000, x & 0x7FFFFF
    special = x | 0x400000 if fraction else x
    return (special if exponent == 0x7F800000 else x + 0x1000) & 0xFFFFE000


_IEEE, _CASTAGNOLI = 0xEDB88320, 0x82F63B78
"""The reversed polynomials of the two CRC-32s: of Ethernet (IEEE 802.3), and Castagnoli's."""

_ROWS: Sequence[tuple[Meaning, str]] = (
    # Bits
    (_popcount, "popcnt, vpopcntd, cnt, popc, v_bcnt_u32_b32"),
    (_leading_zeros, "lzcnt, clz"),
    (_first_one, "v_ffbh_u32, v_clz_i32_u32"),
    (_trailing_zeros, "tzcnt"),
    (_reversed_bits, "rbit, brev, v_bfrev_b32"),
    (_bytes_swapped, "bswap, rev"),
    (_deposited, "pdep"),
    (_extracted, "pext"),
    (_low_bits, "bzhi"),
    (_x86_field, "bextr"),
    (partial(_ptx_field, signed=False), "bfe.u32"),
    (partial(_ptx_field, signed=True), "bfe.s32"),
    (partial(_amd_field, signed=False), "v_bfe_u32"),
    (partial(_amd_field, signed=True), "v_bfe_i32"),
    (_inserted, "bfi"),
    (_chosen, "v_bfi_b32"),
    (partial(_funnel, left=True), "shf.l.wrap"),
    (_funnel, "shf.r.wrap"),
    (_high_first_funnel, "v_alignbit_b32"),
    (partial(_crc32, polynomial=_IEEE), "crc32w"),
    (partial(_crc32, polynomial=_CASTAGNOLI), "crc32, crc32cw"),
    # Parts of words
    (_average, "vpavgb, urhadd"),
    (_difference, "uabd, sad.u32"),
    (_differences, "vpsadbw, v_sad_u8"),
    (partial(_saturating, sign=1, signed=False), "vpaddusb, uqadd"),
    (partial(_saturating, sign=1, signed=True), "vpaddsb, vpaddsw, sqadd"),
    (partial(_saturating, sign=-1, signed=False), "vpsubusb, uqsub"),
    (partial(_saturating, sign=-1, signed=True), "vpsubsw"),
    (partial(_high_product, saturate=False), "vpmulhrsw"),
    (partial(_high_product, saturate=True), "sqrdmulh"),
    (partial(_dot, signs=(False, True), saturate=True), "vpmaddubsw"),
    (partial(_dot, signs=(True, True), bits=16), "vpmaddwd"),
    (partial(_add_dot, signs=(False, False)), "udot"),
    (partial(_add_dot, signs=(False, True)), "vpdpbusd, usdot"),
    (partial(_add_dot, signs=(True, True)), "sdot"),
    (partial(_add_dot, signs=(False, True), saturate=True), "vpdpbusds"),
    (partial(_add_dot, signs=(True, True), bits=16), "vpdpwssd"),
    (partial(_dot, signs=(False, False)), "dp4a.u32.u32, v_dot4_u32_u8"),
    (partial(_dot, signs=(False, True)), "dp4a.u32.s32, v_dot4_i32_iu8 neg_lo:[0,1,0]"),
    (partial(_dot, signs=(True, False)), "dp4a.s32.u32, v_dot4_i32_iu8 neg_lo:[1,0,0]"),
    (partial(_dot, signs=(True, True)), "dp4a.s32.s32, v_dot4_i32_iu8 neg_lo:[1,1,0]"),
    (_ptx_bytes, "prmt"),
    (_amd_bytes, "v_perm_b32"),
    (_multiplied_24, "v_mad_u32_u24"),
    (_to_tf32, "cvt.rna.tf32.f32"),
)
MEANINGS = {name: meaning for meaning, names in _ROWS for name in names.split(", ")}
"""By the name of an instruction, which means the same on each target that has one of it. Those
without a result are in no row, as no value depends on them, and matrix instructions neither."""
