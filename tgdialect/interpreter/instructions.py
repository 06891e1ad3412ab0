"""The meaning of each instruction that INS may name.

A function takes the bits of the operands as arrays of unsigned integers, which broadcast, and
returns those of the result, modulo the width of its dtype. Matrix instructions are in `wmma.py`.
Sources: the manuals that `targets/instructions.py` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from tgdialect.interpreter.warps import check_warps
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.attributes import VOID
from tgdialect.ops.codegen import warp_of
from tgdialect.ops.numpy_dtypes import Array

Meaning = Callable[..., Any]


def execute(op: tg.InsOp, operands: Sequence[Array]) -> Array | None:
    """The result of an instruction of a table, in the dtype of the op; None if it has none. Raises
    InterpretationError for one of a warp: there are no work items."""
    check_warps(op, warp_of(op), (), ())
    if op.result.type == VOID:
        return None
    bits = [np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}") for x in operands]
    dtype = numpy_dtype_of(op.result)
    value = np.asarray(MEANINGS[op.instruction](*bits))
    return value.astype(f"u{dtype.itemsize}").view(dtype)


# -- bits ------------------------------------------------------------------------------------------


def _width(x: Array) -> int:
    return 8 * x.dtype.itemsize


def _bit(x: Array, i: Any) -> Array:
    """Bit i of each word; i may be an array."""
    return x >> np.asarray(i, x.dtype) & x.dtype.type(1)


def _word(bits: Sequence[Array]) -> Array:
    """The word of some bits, the least significant first."""
    return reduce(np.bitwise_or, (b << b.dtype.type(i) for i, b in enumerate(bits)))


def _popcount(x: Array) -> Array:
    return np.bitwise_count(x).astype(x.dtype)


def _counted(x: Array, total: Array) -> Array:
    return _popcount(x) + total


def _leading_zeros(x: Array) -> Array:
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < _width(x):
            x = x | x >> x.dtype.type(shift)
    return x.dtype.type(_width(x)) - _popcount(x)


def _trailing_zeros(x: Array) -> Array:
    return _popcount((x & -x) - x.dtype.type(1))


def _reversed_bits(x: Array) -> Array:
    return _word([_bit(x, i) for i in range(_width(x))][::-1])


def _first_one(x: Array) -> Array:
    """The leading zeros; all ones where there is no one."""
    return np.where(x == 0, ~x, _leading_zeros(x))


def _deposited(x: Array, mask: Array) -> Array:
    """PDEP: the low bits of x, at the places that are set in the mask."""
    total, taken = np.zeros_like(x & mask), np.zeros_like(x & mask)
    for i in range(_width(mask)):
        is_set = _bit(mask, i)
        total |= (_bit(x, taken) & is_set) << total.dtype.type(i)
        # All bits are taken once: the last place is not looked up.
        taken = np.minimum(taken + is_set, taken.dtype.type(_width(mask) - 1))
    return total


def _extracted(x: Array, mask: Array) -> Array:
    """PEXT: the bits of x at the places that are set in the mask, as low bits."""
    total, count = np.zeros_like(x & mask), np.zeros_like(x & mask)
    for i in range(_width(mask)):
        is_set = _bit(mask, i)
        place = np.minimum(count, count.dtype.type(_width(mask) - 1))
        total |= (_bit(x, i) & is_set) << place
        count = count + is_set
    return total


def _field(x: Array, start: Any, length: Any) -> Array:
    """Some bits of a word, as low bits; those behind its end are 0."""
    width = _width(x)
    start, length = (np.asarray(y, np.int64) for y in (start, length))
    shifted = np.where(start < width, x >> np.minimum(start, width - 1).astype(x.dtype), 0)
    return shifted.astype(x.dtype) & _ones(x, length)


def _ones(x: Array, count: Any) -> Array:
    """A word of so many ones, the least significant bits."""
    width, count = _width(x), np.asarray(count, np.int64)
    full = ~x.dtype.type(0)
    # A shift by the width itself has no meaning.
    return np.where(count > 0, full >> np.clip(width - count, 0, width - 1).astype(x.dtype), 0)


def _bytes_swapped(x: Array) -> Array:
    return x.byteswap()


def _x86_field(x: Array, control: Array) -> Array:
    """BEXTR: start and length are bytes of the control word."""
    low = control & control.dtype.type(0xFF)
    return _field(x, low, control >> control.dtype.type(8) & control.dtype.type(0xFF))


def _low_bits(x: Array, count: Array) -> Array:
    """BZHI: the bits from a number on are 0."""
    return x & _ones(x, count & count.dtype.type(0xFF))


def _ptx_field(x: Array, start: Array, length: Array, *, signed: bool) -> Array:
    start, length = (
        np.minimum(y & y.dtype.type(0xFF), 255).astype(np.int64) for y in (start, length)
    )
    value = _field(x, start, length)
    if not signed:
        return value
    sign = _bit(x, np.clip(start + length - 1, 0, 31)) & (length > 0)
    # Bits of the sign stand where the field has none of the word's.
    own = _ones(x, np.clip(np.minimum(length, 32 - start), 0, 32))
    return np.where(sign == 1, value | ~own, value)


def _inserted(field: Array, into: Array, start: Array, length: Array) -> Array:
    start, length = (y.astype(np.int64) & 0xFF for y in (start, length))
    at = np.minimum(start, 31).astype(into.dtype)
    mask = np.where(start < 32, _ones(into, length) << at, 0).astype(into.dtype)
    return (into & ~mask) | (field << at & mask)


def _amd_field(x: Array, start: Array, length: Array, *, signed: bool) -> Array:
    start, length = (y.astype(np.int64) & 31 for y in (start, length))
    if not signed:
        return _field(x, start, length)
    value = (x.view(np.int32) >> start.astype(np.int32)).view(np.uint32) & _ones(x, length)
    sign = _bit(value, np.maximum(length - 1, 0)) & (length > 0)
    return np.where(sign == 1, value | ~_ones(x, length), value)


def _chosen(mask: Array, a: Array, b: Array) -> Array:
    return (mask & a) | (~mask & b)


def _funnel(high: Array, low: Array, distance: Array, *, left: bool) -> Array:
    """A word of two, shifted modulo 32: the upper half of it to the left, the lower one to the
    right."""
    both = high.astype(np.uint64) << np.uint64(32) | low
    n = distance.astype(np.uint64) & np.uint64(31)
    return both << n >> np.uint64(32) if left else both >> n


def _funnel_of_low_first(low: Array, high: Array, distance: Array, *, left: bool) -> Array:
    return _funnel(high, low, distance, left=left)


def _crc32(reversed_polynomial: int) -> Meaning:
    """The remainder of a checksum and a word of 32 or 64 bits, the least significant bit first."""

    def checksum(crc: Array, data: Array) -> Array:
        x = (crc ^ data) & np.uint64(0xFFFFFFFF)
        words = [data.astype(np.uint64) >> np.uint64(32)] if _width(data) == 64 else []
        total = _divided(x.astype(np.uint64), reversed_polynomial)
        for word in words:
            total = _divided(total ^ word, reversed_polynomial)
        return total

    return checksum


def _divided(x: Array, polynomial: int) -> Array:
    for _ in range(32):
        x = x >> np.uint64(1) ^ np.where(x & np.uint64(1), np.uint64(polynomial), np.uint64(0))
    return x


# -- parts of words --------------------------------------------------------------------------------


def _parts(x: Array, bits: int, *, signed: bool = False) -> Array:
    """The parts of each word, on a new last axis, the least significant first; as i64."""
    kind = f"{'i' if signed else 'u'}{bits // 8}"
    split = np.ascontiguousarray(x)[..., None].view(kind)
    return split.astype(np.int64)


def _dot(
    total: Array,
    a: Array,
    b: Array,
    *,
    signs: tuple[bool, bool],
    bits: int = 8,
    saturate: bool = False,
) -> Array:
    """total + the products of the parts of two words."""
    products = _parts(a, bits, signed=signs[0]) * _parts(b, bits, signed=signs[1])
    value = total.view(np.int32).astype(np.int64) + products.sum(axis=-1)
    return np.clip(value, -(2**31), 2**31 - 1) if saturate else value


def _dot_then_add(a: Array, b: Array, total: Array, *, signs: tuple[bool, bool]) -> Array:
    return _dot(total, a, b, signs=signs)


def _pairs(a: Array, b: Array) -> Array:
    """VPMADDWD: the sum of the two products of signed halves."""
    return _dot(np.zeros((), np.uint32), a, b, signs=(True, True), bits=16)


def _saturated_pairs(a: Array, b: Array) -> Array:
    """VPMADDUBSW: the sum of the products of bytes, unsigned in a and signed in b, saturated."""
    products = _parts(a, 8) * _parts(b, 8, signed=True)
    return np.clip(products.sum(axis=-1), -(2**15), 2**15 - 1)


def _differences(a: Array, b: Array, total: Array | int = 0) -> Array:
    """The sum of the absolute differences of bytes."""
    # Words of 64 bits do not fit i64, and sums wrap.
    sums = np.abs(_parts(a, 8) - _parts(b, 8)).sum(axis=-1)
    return sums.astype(np.uint64) + np.asarray(total, np.uint64)


def _difference(a: Array, b: Array, total: Array | int = 0) -> Array:
    x, y = a.astype(np.int64), b.astype(np.int64)
    return np.abs(x - y) + np.asarray(total, np.int64)


def _saturating(sign: int, *, signed: bool) -> Meaning:
    """a + b, or a - b, at the bounds of the dtype where it would wrap."""

    def function(a: Array, b: Array) -> Array:
        bounds = np.iinfo(f"{'i' if signed else 'u'}{a.dtype.itemsize}")
        x, y = (z.view(bounds.dtype).astype(np.int64) for z in (a, b))
        return np.clip(x + sign * y, bounds.min, bounds.max)

    return function


def _average(a: Array, b: Array) -> Array:
    """Rounded up."""
    return (a.astype(np.int64) + b + 1) >> 1


def _high_product(a: Array, b: Array, *, saturate: bool) -> Array:
    """The product of two fractions with a sign, rounded to nearest, ties up."""
    x, y = (z.view(np.int16).astype(np.int64) for z in (a, b))
    value = (x * y + (1 << 14)) >> 15
    return np.minimum(value, 2**15 - 1) if saturate else value


def _ptx_bytes(a: Array, b: Array, selector: Array) -> Array:
    """PRMT: four bytes of b and a, chosen by a digit each, of which bit 3 replicates the sign."""
    both = _parts(b.astype(np.uint64) << np.uint64(32) | a, 8)
    total = np.zeros_like(a & b & selector, np.int64)
    for i in range(4):
        digit = (selector >> np.uint32(4 * i)).astype(np.int64) & 15
        byte = _taken(both, digit & 7)
        total |= np.where(digit & 8, 0xFF * (byte >> 7), byte) << (8 * i)
    return total


def _amd_bytes(a: Array, b: Array, selector: Array) -> Array:
    """V_PERM: four bytes of a and b, chosen by a byte each; 8 to 11 are the signs of halves, 12 is
    0 and what is greater 0xff."""
    both = _parts(a.astype(np.uint64) << np.uint64(32) | b, 8)
    total = np.zeros_like(a & b & selector, np.int64)
    for i in range(4):
        number = (selector >> np.uint32(8 * i)).astype(np.int64) & 0xFF
        sign = 0xFF * (_taken(both, np.clip(2 * (number - 8) + 1, 0, 7)) >> 7)
        other = np.where(number == 12, 0, 0xFF)
        byte = np.where(number < 8, _taken(both, np.minimum(number, 7)), sign)
        total |= np.where(number < 12, byte, other) << (8 * i)
    return total


def _taken(parts: Array, places: Array) -> Array:
    """The part of each word at a place."""
    shape = np.broadcast_shapes(parts.shape[:-1], places.shape)
    parts = np.broadcast_to(parts, (*shape, parts.shape[-1]))
    return np.take_along_axis(parts, np.broadcast_to(places, shape)[..., None], -1)[..., 0]


def _multiplied_24(a: Array, b: Array, total: Array) -> Array:
    x, y = (z.astype(np.uint64) & np.uint64(0xFFFFFF) for z in (a, b))
    return x * y + total


def _to_tf32(x: Array) -> Array:
    """A float of 32 bits rounded to 10 bits behind the point, to nearest with ties away from 0."""
    exponent, fraction = x & np.uint32(0x7F800000), x & np.uint32(0x7FFFFF)
    special = np.where(fraction, x | np.uint32(0x400000), x)
    return np.where(exponent == 0x7F800000, special, x + np.uint32(0x1000)) & np.uint32(0xFFFFE000)


_SIGNS = {"u": False, "s": True}
_IEEE, _CASTAGNOLI = 0xEDB88320, 0x82F63B78
"""The reversed polynomials of the two CRC-32s: of Ethernet (IEEE 802.3), and Castagnoli's."""

MEANINGS: dict[str, Meaning] = {
    # x86
    "popcnt": _popcount,
    "lzcnt": _leading_zeros,
    "tzcnt": _trailing_zeros,
    "bswap": _bytes_swapped,
    "pdep": _deposited,
    "pext": _extracted,
    "bzhi": _low_bits,
    "bextr": _x86_field,
    "crc32": _crc32(_CASTAGNOLI),
    "vpavgb": _average,
    "vpaddusb": _saturating(1, signed=False),
    "vpaddsb": _saturating(1, signed=True),
    "vpsubusb": _saturating(-1, signed=False),
    "vpaddsw": _saturating(1, signed=True),
    "vpsubsw": _saturating(-1, signed=True),
    "vpmulhrsw": partial(_high_product, saturate=False),
    "vpmaddubsw": _saturated_pairs,
    "vpmaddwd": _pairs,
    "vpsadbw": _differences,
    "vpopcntd": _popcount,
    "vpdpbusd": partial(_dot, signs=(False, True)),
    "vpdpbusds": partial(_dot, signs=(False, True), saturate=True),
    "vpdpwssd": partial(_dot, signs=(True, True), bits=16),
    # AArch64
    "rbit": _reversed_bits,
    "clz": _leading_zeros,
    "rev": _bytes_swapped,
    "crc32w": _crc32(_IEEE),
    "crc32cw": _crc32(_CASTAGNOLI),
    "cnt": _popcount,
    "urhadd": _average,
    "uabd": _difference,
    "uqadd": _saturating(1, signed=False),
    "sqadd": _saturating(1, signed=True),
    "uqsub": _saturating(-1, signed=False),
    "sqrdmulh": partial(_high_product, saturate=True),
    "sdot": partial(_dot, signs=(True, True)),
    "udot": partial(_dot, signs=(False, False)),
    "usdot": partial(_dot, signs=(False, True)),
    # PTX, which has its own `clz`
    "popc": _popcount,
    "brev": _reversed_bits,
    "prmt": _ptx_bytes,
    "bfe.u32": partial(_ptx_field, signed=False),
    "bfe.s32": partial(_ptx_field, signed=True),
    "bfi": _inserted,
    "sad.u32": _difference,
    "shf.l.wrap": partial(_funnel_of_low_first, left=True),
    "shf.r.wrap": partial(_funnel_of_low_first, left=False),
    **{
        f"dp4a.{a}32.{b}32": partial(_dot_then_add, signs=(_SIGNS[a], _SIGNS[b]))
        for a in "us"
        for b in "us"
    },
    "cvt.rna.tf32.f32": _to_tf32,
    # AMD's GPUs
    "v_bfrev_b32": _reversed_bits,
    "v_ffbh_u32": _first_one,
    "v_clz_i32_u32": _first_one,
    "v_bcnt_u32_b32": _counted,
    "v_bfe_u32": partial(_amd_field, signed=False),
    "v_bfe_i32": partial(_amd_field, signed=True),
    "v_bfi_b32": _chosen,
    "v_perm_b32": _amd_bytes,
    "v_alignbit_b32": partial(_funnel, left=False),
    "v_sad_u8": _differences,
    "v_mad_u32_u24": _multiplied_24,
    "v_dot4_u32_u8": partial(_dot_then_add, signs=(False, False)),
    "v_dot4_i32_iu8 neg_lo:[1,1,0]": partial(_dot_then_add, signs=(True, True)),
    "v_dot4_i32_iu8 neg_lo:[1,0,0]": partial(_dot_then_add, signs=(True, False)),
    "v_dot4_i32_iu8 neg_lo:[0,1,0]": partial(_dot_then_add, signs=(False, True)),
}
"""By the name of an instruction, which means the same on each target that has one of it. Those
without a result are in no row, as no value depends on them, and matrix instructions neither."""
