"""The CPU as a machine of LLVM: its features, and the library that object code for it may need."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Self

from tgdialect.backends.llvm_machine import Machine
from tgdialect.targets import Target
from tgdialect.targets.cpu import vector_registers
from tgdialect.targets.host import llvm_host

HALF_CONVERSION_NAMES = tuple(
    f"__{name}2" for name in ("truncsfbf", "truncdfbf", "truncsfhf", "truncdfhf", "extendhfsf")
)
"""Functions of compiler-rt and libgcc that LLVM calls for conversions of f16 and bf16 where the
target has no instruction: from f64 to f16 on many CPUs, others where the feature is missing. A
process that was not built with a recent libgcc lacks them, so they are part of the object code that
calls them."""


@cache
def half_conversions() -> str:
    """These functions as LLVM IR, of `half_conversions.ll`.

    All round to nearest even and keep NaNs. From f64, the value goes through f32 rounded *to odd*,
    which makes the second rounding exact (Boldo & Melquiond, "Emulation of FMA and correctly
    rounded sums: proved algorithms using rounding to odd", 2008).
    """
    return (files(__package__ or "") / "half_conversions.ll").read_text("utf-8")


@dataclass(frozen=True)
class CpuTarget(Machine):
    """A kind of CPU that code is generated for.

    `has` and `vector_bits` look at `features` only: the features of a named CPU are not known here.
    """

    @classmethod
    def host(cls) -> Self:
        """The CPU that this process runs on, with all its features listed."""
        return cls(*llvm_host())

    @classmethod
    def of(cls, target: Target) -> Self:
        """A CPU of this machine's kind whose code needs no features but those of a target."""
        flags = ",".join(f"+{name}" for name in sorted(target.features))
        return cls(llvm_host()[0], "", flags)

    def has(self, feature: str) -> bool:
        """Whether a feature in LLVM's spelling is switched on."""
        return f"+{feature}" in self.features.split(",")

    @property
    def vector_bits(self) -> int:
        """The width of the widest vector registers in bits; 0 if no feature brings any."""
        return vector_registers(self.features.split(","))[0]

    def _library_of(self, code: bytes) -> str:
        """The conversions of f16 and bf16 that the CPU lacks."""
        needs_any = any(name.encode() in code for name in HALF_CONVERSION_NAMES)
        return half_conversions() if needs_any else ""
