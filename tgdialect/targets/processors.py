"""Processors by name: what their cores start and move in a cycle, for the cost model.

The names are LLVM's. What a name stands for is known without the machine, so that a schedule for it
can be made and tested anywhere; `python -m tgdialect.calibrate` measures the same fields on a
machine. Sources: AMD, "Software Optimization Guide" for families 17h to 1Ah; Intel, "Intel 64 and
IA-32 Architectures Optimization Reference Manual"; Arm, "Software Optimization Guide" for Neoverse
N1, N2, V1 and V2; Fog, "The microarchitecture of Intel, AMD and VIA CPUs"; for Apple's cores
Johnson, "Apple M1 Microarchitecture Research". Bandwidths are those that loops reach, about two
thirds of what manuals state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_AVX2 = ("avx2", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")
_AVX512 = (*_AVX2, "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512vnni")
_AMX = (*_AVX512, "avx512bf16", "avx512fp16", "amx-bf16", "amx-int8")
_ARM = ("neon",)


@dataclass(frozen=True)
class Processor:
    """A processor: its features, in LLVM's spelling, and the fields of `Target` that these do not
    imply."""

    features: Sequence[str]
    fields: Mapping[str, int] = field(default_factory=dict[str, int])


def _core(features: Sequence[str], /, **fields: int) -> Processor:
    return Processor(features, fields)


_ZEN: Mapping[str, int] = {
    "l1": 32 << 10,
    "l2": 512 << 10,
    "tlb_pages": 64,
    "l2_bytes": 32,
    "llc_bytes": 24,
}
"""Properties that the cores of one family share: sizes in bytes, bytes in a cycle."""
_ZEN2 = {**_ZEN, "datapath_bits": 256}
_ZEN4 = {**_ZEN2, "l2": 1 << 20, "tlb_pages": 72}
_LAPTOP = {"l1": 32 << 10, "l2": 256 << 10, "l2_bytes": 32, "llc_bytes": 16}
"""The same of processors of laptops."""
_XEON = {"l1": 32 << 10, "l2": 1 << 20, "l2_bytes": 48, "llc_bytes": 10}
"""The same of servers with AVX-512."""
_ICELAKE = {**_XEON, "l1": 48 << 10, "l2": 1280 << 10, "l1_ways": 12}
_NEOVERSE = {"l1": 64 << 10, "l2": 1 << 20, "tlb_pages": 48, "l2_bytes": 32, "llc_bytes": 16}
"""The same of servers of AArch64."""

PROCESSORS: Mapping[str, Processor] = {
    "znver1": _core(_AVX2, **_ZEN, datapath_bits=128, mulacc_latency=5),
    "znver2": _core(_AVX2, **_ZEN2, mulacc_latency=5),
    "znver3": _core(_AVX2, **_ZEN2),
    "znver4": _core((*_AVX512, "avx512bf16"), **_ZEN4),
    "znver5": _core((*_AVX512, "avx512bf16"), **{**_ZEN4, "l1": 48 << 10, "datapath_bits": 512}),
    "haswell": _core(_AVX2, **_LAPTOP, mulacc_latency=5),
    "broadwell": _core(_AVX2, **_LAPTOP, mulacc_latency=5),
    "skylake": _core(_AVX2, **_LAPTOP),
    "alderlake": _core(_AVX2, **{**_LAPTOP, "l1": 48 << 10, "l2": 1280 << 10, "l1_ways": 12}),
    "skylake-avx512": _core(_AVX512[:-1], **_XEON),
    "cascadelake": _core(_AVX512, **_XEON),
    "icelake-server": _core(_AVX512, **_ICELAKE),
    "sapphirerapids": _core(_AMX, **{**_ICELAKE, "l2": 2 << 20, "tlb_pages": 96}),
    "emeraldrapids": _core(_AMX, **{**_ICELAKE, "l2": 2 << 20, "tlb_pages": 96}),
    "graniterapids": _core(_AMX, **{**_ICELAKE, "l2": 2 << 20, "tlb_pages": 96}),
    "neoverse-n1": _core(_ARM, **_NEOVERSE),
    "neoverse-n2": _core(_ARM, **_NEOVERSE),
    "neoverse-v1": _core(_ARM, **_NEOVERSE, vector_ports=4),
    "neoverse-v2": _core(_ARM, **{**_NEOVERSE, "l2": 2 << 20}, vector_ports=4),
    **dict.fromkeys(
        ("apple-m1", "apple-m2", "apple-m3", "apple-m4"),
        _core(
            _ARM,
            **{"l1": 128 << 10, "l2": 12 << 20, "page": 16 << 10, "tlb_pages": 160},
            **{"vector_ports": 4, "vector_loads": 3, "l2_bytes": 32, "llc_bytes": 16},
        ),
    ),
}
"""The processors that are known, by LLVM's names."""


def features_of(name: str) -> Sequence[str]:
    """The features that a name stands for: those of a processor, else itself."""
    known = PROCESSORS.get(name)
    return (name,) if known is None else known.features


def rates(names: Iterable[str]) -> Mapping[str, int]:
    """The fields of `Target` that the processors among some names state. Others have the usual
    values."""
    known = (PROCESSORS[name].fields for name in names if name in PROCESSORS)
    return {field: value for fields in known for field, value in fields.items()}
