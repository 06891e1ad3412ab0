"""Conversions between f16, bf16, f32 and f64 that not every CPU has, as LLVM IR.

LLVM calls functions of these names, which compiler-rt and libgcc have, where the target has no
instruction: f64 to f16 on many CPUs, bf16 and f16 on those that lack the feature. A process that
was not built with a recent libgcc lacks them, so they are part of the object code that calls them.

All round to nearest even and keep NaNs. From f64, the value goes through f32 rounded *to odd*,
which makes the second rounding exact (Boldo & Melquiond, "Emulation of FMA and correctly
rounded sums: proved algorithms using rounding to odd", 2008).
"""

from functools import cache
from importlib.resources import files


@cache
def half_conversions() -> str:
    """The functions, of `half_conversions.ll`."""
    return (files(__package__ or "") / "half_conversions.ll").read_text("utf-8")


HALF_CONVERSION_NAMES = (
    "__truncsfbf2",
    "__truncdfbf2",
    "__truncsfhf2",
    "__truncdfhf2",
    "__extendhfsf2",
)
