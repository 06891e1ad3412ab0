"""CPUs: the features of instruction sets, in LLVM's spelling, and the `Target` fields they set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple

from tgdialect.targets.processors import features_of, rates
from tgdialect.targets.target import Target

CPU = Target(
    "cpu",
    native=frozenset(
        ("neg", "sub", "div", "sqrt", "not", "cmpgt", "cmpge", "cmple", "cmpeq"),
    ),
    axis_types=frozenset(
        ("upcast", "unroll", "group_reduce", "thread", "global", "reduce"),
    ),
)
"""A CPU without features: one thread, scalars only, caches of usual sizes."""

_ADDED: dict[str, dict[str, frozenset[str] | bool]] = {
    "fma": {"native": frozenset(("mulacc",))},
    "f16c": {"converted": frozenset(("f16",))},
    "avx": {"masks_stores": True},
    "amx-bf16": {"matrix": frozenset(("amx.m32n32k32.bf16",))},
    "avx512bf16": {"matrix": frozenset(("dots.m8n32k2.bf16",))},
    "neon": {"native": frozenset(("mulacc",)), "load_store": True},
    "fp-armv8": {"converted": frozenset(("f16",))},
}
"""The fields of `Target` that a feature adds to."""

_WIDTHS = (128, 256, 512)
"""The widths in bits of the vector registers of AVX-512."""
_ROUNDED_AS_THREAD = 4
"""The last operand of intrinsics on 512 bits: they round as the thread does."""


class Scaling(NamedTuple):
    """An intrinsic that multiplies each lane of a vector by a power of two, rounding once. Its
    operands are the vector, the exponents as floats, a vector for lanes that are masked, the mask,
    and further numbers. The power for an infinite exponent counts even where the lane is NaN."""

    name: str
    mask_bits: int
    further: Sequence[int]


SCALES = "avx512vl"
"""The feature that brings the instructions of `scaling`, `reciprocal_estimate` and `look_up`."""


def scales(target: Target) -> bool:
    """Whether a processor has the instructions of `scaling`, `reciprocal_estimate` and
    `look_up`."""
    return SCALES in target.features


def register_lanes(bits: int, lanes: int, least: int = min(_WIDTHS)) -> int:
    """The lanes of the narrowest register that has so many lanes of some bits and is `least` bits
    wide, else of the widest."""
    fitting = (w for w in _WIDTHS if max(least, lanes * bits) <= w)
    return next(fitting, max(_WIDTHS)) // bits


def scaling(bits: int, lanes: int) -> Scaling:
    """The intrinsic that scales a register of floats of some bits."""
    width = bits * lanes
    kind = {32: "ps", 64: "pd"}[bits]
    further = (_ROUNDED_AS_THREAD,) if width == max(_WIDTHS) else ()
    return Scaling(f"llvm.x86.avx512.mask.scalef.{kind}.{width}", max(8, lanes), further)


def reciprocal_estimate(lanes: int) -> tuple[str, int]:
    """The intrinsic for reciprocals of a register of f32, within 2^-14 of them, and the bits of its
    mask. Its operands are the register, one for lanes that are masked, and the mask."""
    return f"llvm.x86.avx512.rcp14.ps.{32 * lanes}", max(8, lanes)


def look_up(lanes: int, *, is_float: bool) -> str:
    """The intrinsic that chooses, for each lane of 32 bits of a register, one of 16 numbers by the
    lower four bits of an integer. The numbers are one register of 16 lanes, which comes before the
    integers, or two of 8, one before and one behind them."""
    if lanes == 16:
        return f"llvm.x86.avx512.permvar.s{'f' if is_float else 'i'}.512"
    return f"llvm.x86.avx512.vpermi2var.{'ps' if is_float else 'd'}.256"


DOT_PRODUCT, DOT_LANES = "llvm.x86.avx512bf16.dpbf16ps.512", 16
"""The intrinsic that adds the products of a pair of bf16 to each f32 of a register, and the lanes
of that. Its operands are the sums and two registers of pairs."""
DOT_ASSEMBLY = "vdpbf16ps $2, $1, $0"
"""The same as inline assembly, with the sums as `$0`."""


def feature_of(field: str, value: str) -> str | None:
    """The feature that adds a value to a field of `Target`."""
    return next(
        (
            feature
            for feature, more in _ADDED.items()
            if isinstance(values := more.get(field), frozenset) and value in values
        ),
        None,
    )


def has_maximum(target: Target) -> bool:
    """Whether a processor has an instruction for the maximum of MAX, which keeps NaN and orders
    zeros."""
    return not target.features.isdisjoint(("avx10.2", "fp-armv8"))


_VECTORS = {"avx512f": (512, 32), "neon": (128, 32), "avx": (256, 16)} | dict.fromkeys(
    ("sse2", "sse"), (128, 16)
)
"""The vector registers of a feature: the bits of each, and how many there are."""

_IMPLIED = {
    feature: implied
    for features, implied in {
        # x86
        "sse2": "sse",
        "sse3 aes gfni pclmul sha": "sse2",
        "ssse3 sse4a": "sse3",
        "sse4.1": "ssse3",
        "sse4.2": "sse4.1",
        "avx": "sse4.2",
        "f16c fma avx2": "avx",
        "fma4": "avx sse4a",
        "xop": "fma4",
        "avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8": "avx2",
        "avx512f": "avx2 f16c fma",
        "avx512bw avx512cd avx512dq avx512ifma avx512vl avx512vnni": "avx512f",
        "avx512vp2intersect avx512vpopcntdq": "avx512f",
        "avx512bf16 avx512bitalg avx512fp16 avx512vbmi avx512vbmi2": "avx512bw",
        "avx10.1": (
            "avx512bf16 avx512bitalg avx512cd avx512dq avx512fp16 avx512ifma avx512vbmi "
            "avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq"
        ),
        "avx10.2": "avx10.1",
        "vaes": "avx2 aes",
        "vpclmulqdq": "avx pclmul",
        "amx-bf16 amx-fp16 amx-int8": "amx-tile",
        # AArch64
        "neon fullfp16": "fp-armv8",
        "fp16fml sve": "fullfp16",
        "dotprod i8mm rdm sha2": "neon",
        "sve2": "sve",
    }.items()
    for feature in features.split()
}
"""The features that each feature implies directly, separated by spaces. Sources: LLVM's `X86.td`
and `AArch64Features.td`."""

_ALONE = (
    "64bit adx amx-avx512 amx-complex amx-fp8 amx-movrs amx-tf32 amx-tile bf16 bmi bmi2 ccmp cf "
    "cldemote clflushopt clwb clzero cmov cmpccxadd crc crc32 cx16 cx8 egpr enqcmd fp-armv8 "
    "fsgsbase fxsr hreset invpcid kl lse lwp lzcnt mmx movbe movdir64b movdiri movrs mwaitx ndd nf "
    "pconfig pku popcnt ppx prefetchi prfchw ptwrite push2pop2 raoint rdpid rdpru rdrnd rdseed rtm "
    "sahf serialize sgx sha512 shstk sm3 sm4 sse tbm tsxldtrk uintr usermsr waitpkg wbnoinvd "
    "widekl xsave xsavec xsaveopt xsaves zu"
)
"""The features that imply no feature that this project uses."""

FEATURES = frozenset((*_IMPLIED, *_ALONE.split()))
"""The features that may be named."""

ARITHMETIC = frozenset(
    (*_IMPLIED, *["amx-tile", "bf16", "bmi", "bmi2", "fp-armv8", "lzcnt", "movbe", "popcnt", "sse"])
).difference(["aes", "pclmul", "sha", "sha2", "vaes", "vpclmulqdq"])
"""The features that generated code may make use of."""


def with_arithmetic_alone(target: Target) -> Target:
    """A target without the features that no generated code makes use of."""
    return replace(target, features=target.features & ARITHMETIC)


FROM_FEATURES = frozenset({"vector_bits", "vector_registers"}.union(*_ADDED.values()))
"""The fields of `Target` that features determine."""

ALIGNMENT = max(CPU.alignment, *(bits // 8 for bits, _ in _VECTORS.values()))
"""The alignment of memory that is allocated before the CPU is known: enough for every CPU, at the
cost of some padding."""


def cpu(features: Collection[str] = ()) -> Target:
    """A CPU with these features. `cpu_features` describes their form and the errors. One that is
    named by its processor has that one's caches and rates, too."""
    return replace(_with_features(cpu_features(features)), **rates(features))


@lru_cache(maxsize=64)
def _with_features(features: frozenset[str]) -> Target:
    bits, registers = vector_registers(features)
    found = replace(CPU, features=features, vector_bits=bits, vector_registers=registers)
    for feature in features:
        for name, more in _ADDED.get(feature, {}).items():
            found = replace(found, **{name: getattr(found, name) | more})
    return found


def vector_registers(features: Collection[str]) -> tuple[int, int]:
    """The bits of the widest vector registers, and how many there are; (0, 0) without any. Features
    may begin with `+`."""
    names = {feature.removeprefix("+") for feature in features}
    return max([v for name, v in _VECTORS.items() if name in names], default=(0, 0))


def cpu_features(names: Collection[str]) -> frozenset[str]:
    """The features that a list of LLVM's feature flags enables. `avx2` or `+avx2` adds the feature
    and all that it implies. A later `-avx2` removes it and all features that imply it. The name of
    a processor, as `znver4`, adds all that it has.

    Raises ValueError for an unknown feature.
    """
    return _enabled(tuple(each for name in names for each in features_of(name)))


@lru_cache(maxsize=64)
def _enabled(names: tuple[str, ...]) -> frozenset[str]:
    # A compilation asks for the features of its machine five times.
    found: set[str] = set()
    for name in names:
        feature = name[1:] if name[:1] in ("+", "-") else name
        if feature not in FEATURES:
            raise ValueError(_unknown(feature))
        if not name.startswith("-"):
            found |= _with_implied(feature)
        elif feature in found:
            found = {other for other in found if feature not in _with_implied(other)}
    return frozenset(found)


def without_implied(features: Collection[str]) -> list[str]:
    """The smallest list of features that implies all of these, sorted."""
    implied = {other for name in features for other in _with_implied(name) if other != name}
    return sorted(set(features) - implied)


@cache
def _with_implied(feature: str) -> frozenset[str]:
    implied = _IMPLIED.get(feature, "").split()
    return frozenset({feature}).union(*map(_with_implied, implied))


def _unknown(feature: str) -> str:
    from difflib import get_close_matches

    nearest = get_close_matches(feature, sorted(FEATURES))
    hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ";"
    return f"{feature!r} is no feature of a CPU{hint} there are: {', '.join(sorted(FEATURES))}"


PORTABLE = replace(CPU, name="c", axis_types=CPU.axis_types - {"thread"})
"""A processor that a C compiler knows: scalars, one thread, caches of usual sizes."""
