"""The results of instructions, against the manuals' definitions, bit by bit, on Python's integers.

Instructions of this machine's processor are executed in `targets/test_instructions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from instruction_text import kernel_text, operands_of

import tgdialect as tg
from tgdialect.targets.instructions import TABLES

ONES = 2**32 - 1


def bit(x: int, i: int) -> int:
    return x >> i & 1


def byte(x: int, i: int) -> int:
    return x >> 8 * i & 0xFF


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if bit(x, bits - 1) else x


def dot(*, a_signed: bool, b_signed: bool) -> Callable[[int, int, int], int]:
    def function(a: int, b: int, total: int) -> int:
        for i in range(4):
            x, y = byte(a, i), byte(b, i)
            total += (signed(x, 8) if a_signed else x) * (signed(y, 8) if b_signed else y)
        return total

    return function


def sum_first(function: Callable[[int, int, int], int]) -> Callable[[int, int, int], int]:
    return lambda total, a, b: function(a, b, total)


def ptx_field(*, is_signed: bool) -> Callable[[int, int, int], int]:
    """PTX ISA, "bfe"."""

    def function(a: int, b: int, c: int) -> int:
        start, length = b & 0xFF, c & 0xFF
        fill = bit(a, min(start + length - 1, 31)) if is_signed and length else 0
        inside = [i < length and start + i <= 31 for i in range(32)]
        return sum((bit(a, start + i) if inside[i] else fill) << i for i in range(32))

    return function


def bfi(a: int, b: int, c: int, d: int) -> int:
    """PTX ISA, "bfi"."""
    for i in range(d & 0xFF):
        if (at := (c & 0xFF) + i) <= 31:
            b = b & ~(1 << at) | bit(a, i) << at
    return b


def prmt(a: int, b: int, c: int) -> int:
    """PTX ISA, "prmt", without a mode."""
    total = 0
    for i in range(4):
        selector = c >> 4 * i & 15
        chosen = byte(b << 32 | a, selector & 7)
        total |= (0xFF * bit(chosen, 7) if selector & 8 else chosen) << 8 * i
    return total


def v_perm(a: int, b: int, c: int) -> int:
    """CDNA3 ISA, V_PERM_B32."""
    both, total = a << 32 | b, 0
    for i in range(4):
        selector = byte(c, i)
        if selector >= 13:
            chosen = 0xFF
        elif selector == 12:
            chosen = 0
        elif selector >= 8:
            chosen = 0xFF * bit(both, 16 * (selector - 8) + 15)
        else:
            chosen = byte(both, selector)
        total |= chosen << 8 * i
    return total


def amd_field(*, is_signed: bool) -> Callable[[int, int, int], int]:
    """CDNA3 ISA, V_BFE_U32 and V_BFE_I32."""

    def function(a: int, b: int, c: int) -> int:
        length = c & 31
        x = (signed(a, 32) if is_signed else a) >> (b & 31) & (1 << length) - 1
        return signed(x, length) if is_signed and length else x

    return function


def crc(polynomial: int) -> Callable[[int, int], int]:
    def function(total: int, data: int) -> int:
        total ^= data
        for _ in range(32):
            total = total >> 1 ^ polynomial * (total & 1)
        return total

    return function


def reversed_bits(x: int) -> int:
    return int(f"{x:032b}"[::-1], 2)


def differences(a: int, b: int, total: int) -> int:
    return total + sum(abs(byte(a, i) - byte(b, i)) for i in range(4))


CASES: dict[str, Callable[..., int]] = {
    "nvidia.popc": lambda x: x.bit_count(),
    "nvidia.clz": lambda x: 32 - x.bit_length(),
    "nvidia.brev": reversed_bits,
    "nvidia.prmt": prmt,
    "nvidia.bfe.u32": ptx_field(is_signed=False),
    "nvidia.bfe.s32": ptx_field(is_signed=True),
    "nvidia.bfi": bfi,
    "nvidia.sad.u32": lambda a, b, c: abs(a - b) + c,
    "nvidia.shf.l.wrap": lambda a, b, c: (b << 32 | a) << (c & 31) >> 32,
    "nvidia.shf.r.wrap": lambda a, b, c: (b << 32 | a) >> (c & 31),
    **{
        f"nvidia.dp4a.{a}32.{b}32": dot(a_signed=a == "s", b_signed=b == "s")
        for a in "us"
        for b in "us"
    },
    "amd.v_bfrev_b32": reversed_bits,
    "amd.v_ffbh_u32": lambda x: 32 - x.bit_length() if x else ONES,
    "amd.v_clz_i32_u32": lambda x: 32 - x.bit_length() if x else ONES,
    "amd.v_bcnt_u32_b32": lambda x, total: x.bit_count() + total,
    "amd.v_bfe_u32": amd_field(is_signed=False),
    "amd.v_bfe_i32": amd_field(is_signed=True),
    "amd.v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "amd.v_perm_b32": v_perm,
    "amd.v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "amd.v_sad_u8": differences,
    "amd.v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "amd.v_dot4_u32_u8": dot(a_signed=False, b_signed=False),
    "amd.v_dot4_i32_iu8 neg_lo:[1,1,0]": dot(a_signed=True, b_signed=True),
    "amd.v_dot4_i32_iu8 neg_lo:[1,0,0]": dot(a_signed=True, b_signed=False),
    "amd.v_dot4_i32_iu8 neg_lo:[0,1,0]": dot(a_signed=False, b_signed=True),
    "cpu.rbit": reversed_bits,
    "cpu.clz": lambda x: 32 - x.bit_length(),
    "cpu.rev": lambda x: int.from_bytes(x.to_bytes(4, "little"), "big"),
    "cpu.crc32w": crc(0xEDB88320),
    "cpu.crc32cw": crc(0x82F63B78),
    "cpu.sdot": sum_first(dot(a_signed=True, b_signed=True)),
    "cpu.udot": sum_first(dot(a_signed=False, b_signed=False)),
    "cpu.usdot": sum_first(dot(a_signed=False, b_signed=True)),
    "cpu.vpdpbusd": sum_first(dot(a_signed=False, b_signed=True)),
    "cpu.vpopcntd": lambda x: x.bit_count(),
}


@pytest.mark.parametrize("mnemonic", CASES)
def test_meaning(mnemonic: str) -> None:
    table, _, name = mnemonic.partition(".")
    form = next(f for f in TABLES[table][name] if f.signature.operands[0] == "b32")
    operands = operands_of(form, np.random.default_rng(7), 400)
    found = tg.compile(kernel_text(mnemonic, form, 400), target="interpreter")(*operands)
    assert np.asarray(found).tolist() == expected(CASES[mnemonic], operands)


def expected(
    function: Callable[..., int],
    operands: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
) -> list[int]:
    return [function(*map(int, cells)) & ONES for cells in zip(*operands, strict=True)]


def test_crc_of_a_text() -> None:
    """The checksum that everybody gives of the digits 1 to 9, of which eight are two words."""
    words = np.frombuffer(b"12345678", "<u4")
    total = np.full(1, ONES, np.uint32)
    form = TABLES["cpu"]["crc32w"][0]
    exe = tg.compile(kernel_text("cpu.crc32w", form, 1), target="interpreter")
    for word in words:
        total = np.asarray(exe(total, np.array([word], np.uint32)))
    assert int(total[0]) ^ ONES == 0x9AE0DAAF


def test_foreign_instruction() -> None:
    """One that no table lists is the caller's code."""
    form = TABLES["cpu"]["popcnt"][-1]
    text = kernel_text("dsp.double", form)
    x = operands_of(form, np.random.default_rng(0))[0]
    with pytest.raises(tg.CompilationError, match="allow_custom"):
        tg.compile(text, target="interpreter")(x)
