"""What a target computes natively: the tables that instruction selection goes by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.features import cpu_features
from tgdialect.analysis.machine import vector_registers
from tgdialect.transforms.decompose import NAMES as DECOMPOSABLE


@dataclass(frozen=True)
class TargetOps:
    """One target: what it has of what a kernel may use."""

    name: str
    native: frozenset[str]
    """Decomposed elementwise ops, without the dialect's name, that are one instruction or few."""
    converted: frozenset[str] = frozenset()
    """The narrow floats with an instruction to and from f32; the others are converted by integer
    operations on their bits. All of them are only stored: arithmetic is in f32."""

    vector_bits: int = 0
    """The width of the widest vector registers; 0 where there are none."""
    masks_stores: bool = False
    """Whether one instruction stores some lanes of a vector, of 4 bytes each or more."""

    def lacks(self, name: str) -> bool:
        """Whether an elementwise op has to be decomposed."""
        return name in DECOMPOSABLE and name not in self.native


_CPU_NATIVE = frozenset(
    ("neg", "sub", "div", "sqrt", "not", "cmpgt", "cmpge", "cmple", "cmpeq"),
)

TARGETS = {"cpu": TargetOps("cpu", _CPU_NATIVE)}

_FEATURES: dict[str, dict[str, frozenset[str] | bool]] = {
    "fma": {"native": frozenset(("mulacc",))},
    "f16c": {"converted": frozenset(("f16",))},
    "avx": {"masks_stores": True},
}
"""What a feature of a CPU, in LLVM's spelling, adds to the fields of its target."""


def target_ops(target: str, features: Collection[str] = ()) -> TargetOps:
    """The table of a target with these features, in LLVM's spelling, with or without the `+`.

    Raises PassFailedException for an unknown target or feature.
    """
    if (ops := TARGETS.get(target)) is None:
        raise PassFailedException(f"{target!r} is not one of the targets: {', '.join(TARGETS)}")
    try:
        found = cpu_features(features)
    except ValueError as error:
        raise PassFailedException(str(error)) from None
    ops = replace(ops, vector_bits=vector_registers(found)[0])
    for feature in found:
        for name, more in _FEATURES.get(feature, {}).items():
            ops = replace(ops, **{name: getattr(ops, name) | more})
    return ops
