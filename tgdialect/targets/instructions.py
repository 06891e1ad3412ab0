"""The tables of instructions that INS may name: x86, AArch64, PTX and AMD's GPUs.

An instruction computes cell by cell, changes no memory, and its result is exact: it is a function
of the bits of its operands, which `interpreter/instructions.py` states. A matrix instruction
multiplies the fragments of a warp instead, and rounds its sums as the hardware does. Sources: Intel
64 and IA-32 Architectures Software Developer's Manual, volume 2; Arm Architecture Reference Manual
for A-profile; PTX ISA; AMD's instruction set references of CDNA3 and RDNA3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tgdialect.ops import tg
from tgdialect.ops.instructions import InstructionSignature
from tgdialect.targets.grid import GRIDS
from tgdialect.targets.matrix import MATRIX_INSTRUCTIONS, MatrixInstruction
from tgdialect.targets.target import Target


@dataclass(frozen=True)
class InstructionForm:
    """One form of an instruction: how it is assembled for some dtypes, lanes and processors."""

    signature: InstructionSignature
    text: str
    """LLVM's inline assembly. `$0` is the result, the operands follow."""
    constraints: str
    """LLVM's constraints: the registers of the result and the operands, and clobbers. A fragment
    has several registers, one for each 32 bits."""
    needs: frozenset[str]
    """Features of a CPU, which must all be there, or names of GPUs, of which one must be."""
    lanes: int = 1
    """The number of cells that it computes."""

    @property
    def is_of_warp(self) -> bool:
        """Whether all work items of a warp have to execute it together."""
        return self.signature.config is not None

    @property
    def has_effect(self) -> bool:
        """Whether it is executed for its effect: it may not be removed or moved."""
        return self.signature.result is None

    def is_of(self, target: Target) -> bool:
        """Whether a target has it."""
        if target.is_grid:
            return target.name in self.needs
        return self.needs <= target.features


Table = Mapping[str, Sequence[InstructionForm]]
"""The forms of each instruction, those of the most lanes first."""


def _table(*rows: tuple[str, Iterable[InstructionForm]]) -> Table:
    found: dict[str, list[InstructionForm]] = {}
    for name, forms in rows:
        found.setdefault(name, []).extend(forms)
    return {name: sorted(forms, key=lambda form: -form.lanes) for name, forms in found.items()}


Row = tuple[str, list[InstructionForm]]


def _row(name: str, types: str, text: str, constraints: str, needs: str) -> Row:
    """An instruction on single cells, of one or several types, which stand between bars."""
    kinds, processors = map(InstructionSignature.of, types.split("|")), frozenset(needs.split())
    return name, [InstructionForm(kind, text, constraints, processors) for kind in kinds]


# -- x86 -------------------------------------------------------------------------------------------

_32_OR_64 = "b32 -> b32 | b64 -> b64"
_PAIRS = "b32 b32 -> b32 | b64 b64 -> b64"
_AVX = {128: "avx", 256: "avx2", 512: "avx512bw"}
_VNNI, _POPCNT = (
    {128: f"{feature} avx512vl", 256: f"{feature} avx512vl", 512: feature}
    for feature in ("avx512vnni", "avx512vpopcntdq")
)


def _vectors(name: str, types: str, widths: Mapping[int, str], prefix: str = "") -> Row:
    """An instruction on vector registers of some bits, with the features that bring each width.

    AT&T's order is the reverse of the manual's. Where there are three operands, the first one is
    also the result.
    """
    signature = InstructionSignature.of(types)
    count, bits = len(signature.operands), int((signature.result or "")[1:])
    operands = [f"${i}" for i in range(count, 1 if count > 2 else 0, -1)]
    text = f"{prefix}{name} {', '.join([*operands, '$0'])}"
    constraints = ",".join(["=x", *("0" if count > 2 and i == 0 else "x" for i in range(count))])
    return name, [
        InstructionForm(signature, text, constraints, frozenset(needs.split()), width // bits)
        for width, needs in widths.items()
    ]


_B8, _B16, _B32 = (f"{b} {b} -> {b}" for b in ("b8", "b16", "b32"))
_DOT = "b32 b32 b32 -> b32"

_X86 = (
    _row("popcnt", _32_OR_64, "popcnt $1, $0", "=r,r,~{flags}", "popcnt"),
    _row("lzcnt", _32_OR_64, "lzcnt $1, $0", "=r,r,~{flags}", "lzcnt"),
    _row("tzcnt", _32_OR_64, "tzcnt $1, $0", "=r,r,~{flags}", "bmi"),
    _row("bswap", _32_OR_64, "bswap $0", "=r,0", "sse2"),
    _row("pdep", _PAIRS, "pdep $2, $1, $0", "=r,r,r", "bmi2"),
    _row("pext", _PAIRS, "pext $2, $1, $0", "=r,r,r", "bmi2"),
    _row("bzhi", _PAIRS, "bzhi $2, $1, $0", "=r,r,r,~{flags}", "bmi2"),
    _row("bextr", _PAIRS, "bextr $2, $1, $0", "=r,r,r,~{flags}", "bmi"),
    _row("crc32", _PAIRS, "crc32 $2, $0", "=r,0,r", "sse4.2"),
    _row("pause", "->", "pause", "", "sse2"),
    _row("lfence", "->", "lfence", "", "sse2"),
    *(_vectors(name, _B8, _AVX) for name in ("vpavgb", "vpaddusb", "vpaddsb", "vpsubusb")),
    *(_vectors(name, _B16, _AVX) for name in ("vpaddsw", "vpsubsw", "vpmulhrsw", "vpmaddubsw")),
    _vectors("vpmaddwd", _B32, _AVX),
    _vectors("vpsadbw", "b64 b64 -> b64", _AVX),
    _vectors("vpopcntd", "b32 -> b32", _POPCNT),
    *(_vectors(name, _DOT, _VNNI) for name in ("vpdpbusd", "vpdpbusds", "vpdpwssd")),
    *(
        _vectors(name, _DOT, {128: "avxvnni", 256: "avxvnni"}, "{vex} ")
        for name in ("vpdpbusd", "vpdpbusds", "vpdpwssd")
    ),
)

# -- AArch64 ---------------------------------------------------------------------------------------


def _wide(name: str, types: str, needs: str = "neon") -> Row:
    """An instruction on 128-bit vectors. Where there are three operands, the first is the result
    as well, and the others are bytes."""
    signature = InstructionSignature.of(types)
    count, bits = len(signature.operands), int((signature.result or "")[1:])
    shape = {8: "16b", 16: "8h", 32: "4s"}[bits]
    factors = "16b" if count > 2 else shape
    operands = [f"${i}.{factors}" for i in range(2 if count > 2 else 1, count + 1)]
    constraints = ",".join(["=w", *("0" if count > 2 and i == 0 else "w" for i in range(count))])
    text = f"{name} {', '.join([f'$0.{shape}', *operands])}"
    return name, [
        InstructionForm(signature, text, constraints, frozenset(needs.split()), 128 // bits)
    ]


def _on_registers(operands: int, letter: str, bits: int = 32) -> tuple[str, str]:
    """The types and the constraints of an instruction on registers of some bits."""
    types = " ".join([f"b{bits}"] * operands) + f" -> b{bits}"
    return types, ",".join([f"={letter}", *[letter] * operands])


def _general(name: str, operands: int) -> Sequence[Row]:
    """An instruction on general registers of 32 bits (`w`) and of 64."""
    rows: list[Row] = []
    for bits, modifier in ((32, ":w"), (64, ":x")):
        places = ", ".join(f"${{{i}{modifier}}}" for i in range(operands + 1))
        types, constraints = _on_registers(operands, "r", bits)
        rows.append(_row(name, types, f"{name} {places}", constraints, "neon"))
    return rows


_AARCH64 = (
    *(row for name in ("rbit", "clz", "rev") for row in _general(name, 1)),
    *(
        _row(name, "b32 b32 -> b32", f"{name} ${{0:w}}, ${{1:w}}, ${{2:w}}", "=r,r,r", "crc")
        for name in ("crc32w", "crc32cw")
    ),
    _row("yield", "->", "yield", "", "neon"),
    _wide("cnt", "b8 -> b8"),
    *(_wide(name, _B8) for name in ("urhadd", "uabd", "uqadd", "sqadd", "uqsub")),
    _wide("sqrdmulh", _B16),
    *(_wide(name, _DOT, "dotprod") for name in ("sdot", "udot")),
    _wide("usdot", _DOT, "i8mm"),
)

# -- PTX -------------------------------------------------------------------------------------------

TO_TF32 = "cvt.rna.tf32.f32"
"""Rounds a factor of `mma.sync` to tf32."""
_SM = "nvidia:sm_80 nvidia:sm_90 nvidia:sm_90a"


def _ptx(name: str, operands: int, spelled: str = "") -> Row:
    """An instruction on registers of 32 bits."""
    places = ", ".join(f"${i}" for i in range(operands + 1))
    types, constraints = _on_registers(operands, "r")
    return _row(name, types, f"{spelled or name} {places};", constraints, _SM)


def _mma(instruction: MatrixInstruction, mnemonic: str) -> Row:
    """`mma.sync` of A, B and C: neighbours along k share a register of 32 bits. Factors that have
    to be rounded first are the bits that `cvt` gives."""
    factor = "b32" if instruction.rounds else instruction.factor
    config = instruction.fragments.config
    signature = InstructionSignature((factor, factor, "f32"), "f32", config)
    bits = tg.DTYPES[tg.TYPES[instruction.factor]].bits
    (a,), (b,), (c,) = config.operand_shapes
    counts = c, a * bits // 32, b * bits // 32, c
    registers = [
        "{" + ", ".join(f"${i}" for i in range(first, last)) + "}"
        for first, last in pairwise([0, *accumulate(counts)])
    ]
    text = f"{mnemonic} {', '.join(registers)};"
    constraints = ["=f"] * c + ["r"] * sum(counts[1:3]) + ["f"] * c
    needs = frozenset(grid.name for grid in GRIDS if instruction.name in grid.matrix)
    return mnemonic, [InstructionForm(signature, text, ",".join(constraints), needs, c)]


_PTX = (
    *(_ptx(name, 1, f"{name}.b32") for name in ("popc", "clz", "brev")),
    *(_row(name, "b64 -> b32", f"{name}.b64 $0, $1;", "=r,l", _SM) for name in ("popc", "clz")),
    _row("brev", "b64 -> b64", "brev.b64 $0, $1;", "=l,l", _SM),
    _ptx("prmt", 3, "prmt.b32"),
    _ptx("bfe.u32", 3),
    _ptx("bfe.s32", 3),
    _ptx("bfi", 4, "bfi.b32"),
    _ptx("sad.u32", 3),
    _ptx("shf.l.wrap", 3, "shf.l.wrap.b32"),
    _ptx("shf.r.wrap", 3, "shf.r.wrap.b32"),
    *(_ptx(f"dp4a.{a}32.{b}32", 3) for a in "us" for b in "us"),
    _row("nanosleep", "b32 ->", "nanosleep.u32 $0;", "r", _SM),
    # To nearest with ties away from zero: `mma.sync` truncates.
    _row(TO_TF32, "f32 -> b32", f"{TO_TF32} $0, $1;", "=r,f", _SM),
    *(_mma(each, name) for each in MATRIX_INSTRUCTIONS if (name := each.mnemonic) is not None),
)

# -- GPUs of AMD -----------------------------------------------------------------------------------

_CDNA, _RDNA = "amd:gfx90a amd:gfx942", "amd:gfx1100"
_ANY = f"{_CDNA} {_RDNA}"


def _amd(name: str, operands: int, needs: str = _ANY, modifiers: str = "") -> Row:
    """An instruction on vector registers, of which each work item has 32 bits."""
    places = ", ".join(f"${i}" for i in range(operands + 1))
    types, constraints = _on_registers(operands, "v")
    whole = f"{name} {modifiers}".rstrip()
    return _row(whole, types, f"{name} {places} {modifiers}".rstrip(), constraints, needs)


_AMD = (
    _amd("v_bfrev_b32", 1),
    _amd("v_ffbh_u32", 1, _CDNA),
    _amd("v_clz_i32_u32", 1, _RDNA),
    _amd("v_bcnt_u32_b32", 2),
    *(_amd(name, 3) for name in ("v_bfe_u32", "v_bfe_i32", "v_bfi_b32", "v_perm_b32")),
    *(_amd(name, 3) for name in ("v_alignbit_b32", "v_sad_u8", "v_mad_u32_u24")),
    # Software waits after a dot product of CDNA, which LLVM does for its own instructions only.
    _amd("v_dot4_u32_u8", 3, _RDNA),
    *(_amd("v_dot4_i32_iu8", 3, _RDNA, f"neg_lo:[{s},0]") for s in ("1,1", "1,0", "0,1")),
    _row("s_nop", "->", "s_nop 0", "", _ANY),
)

TABLES: Mapping[str, Table] = {
    "cpu": _table(*_X86, *_AARCH64),
    "nvidia": _table(*_PTX),
    "amd": _table(*_AMD),
}
"""By the name of a target, or of the vendor of several."""


def vendor(name: str) -> str:
    """The part of a target's name before the colon."""
    return name.partition(":")[0]


def forms(target: Target, instruction: str) -> Sequence[InstructionForm]:
    """The forms of an instruction that a target has, those of the most lanes first."""
    rows = TABLES.get(vendor(target.name), {}).get(instruction, ())
    return [form for form in rows if form.is_of(target)]


def instructions(target: Target) -> Sequence[str]:
    """The instructions that a target has."""
    return [name for name in TABLES.get(vendor(target.name), ()) if forms(target, name)]


DOTTED = 4
"""The products of bytes that a dot product of `dot_product` adds."""
_SIGNS = {"i8": "s32", "ui8": "u32"}
_DOT_PRODUCTS = {
    "nvidia": {(a, b): f"dp4a.{_SIGNS[a]}.{_SIGNS[b]}" for a in _SIGNS for b in _SIGNS}
}
"""By vendor; LLVM makes the dot products of AMD's GPUs itself."""


def dot_products(target: Target) -> Mapping[tuple[str, str], str]:
    """By the dtypes of two factors, the instruction of a target that adds the products of their
    bytes, a word of each, to a sum of 32 bits."""
    return _DOT_PRODUCTS.get(vendor(target.name), {})


def signatures(
    targets: Iterable[Target],
) -> Iterator[tuple[str, Mapping[str, Sequence[InstructionSignature]]]]:
    """The signatures of all instructions, by target and by vendor, as the dialect knows them. The
    targets have all features, so that an instruction of any CPU is known."""
    for target in targets:
        own = {each: forms(target, each) for each in instructions(target)}
        family = vendor(target.name)
        for name, table in ((family, TABLES.get(family, {})), (target.name, own)):
            yield name, {each: [*{f.signature: 0 for f in rows}] for each, rows in table.items()}


_LANGUAGES = {"cpu": "c", "nvidia": "cuda"}


def language_of(target: str) -> str | None:
    """The C-like language that has inline assembly of a target, given by its name; None if none."""
    return _LANGUAGES.get(vendor(target))


_PLACE = re.compile(r"\$\{(\d+):(\w)\}|\$(\d+)|\$\$|[%{|}]")


def gnu(text: str, *, has_dialects: bool) -> str:
    """The inline assembly of GNU C for that of LLVM. `has_dialects` says that braces and bars are
    marks of the dialects of an assembler, as for x86: CUDA C++ has them as they are."""

    def spelled(match: re.Match[str]) -> str:
        number, modifier, plain = match.groups()
        whole = match[0]
        if number is not None:
            return f"%{modifier}{number}"
        if plain is not None:
            return f"%{plain}"
        if whole == "$$":
            return "$"
        return "%" + whole if whole == "%" or has_dialects else whole

    return _PLACE.sub(spelled, text)
