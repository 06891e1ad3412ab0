"""The CPU as a machine of LLVM: its features, and the library that object code for it may need."""

from dataclasses import dataclass
from typing import Self

from tgdialect.backends.half_conversions import HALF_CONVERSION_NAMES, half_conversions
from tgdialect.backends.llvm_machine import Machine
from tgdialect.targets import Target
from tgdialect.targets.cpu import vector_registers
from tgdialect.targets.host import llvm_host


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
