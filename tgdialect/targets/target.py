"""`Target`: the description of a processor that every pass asks."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Target:
    """What a processor has. A pass reads these fields and detects nothing itself.

    Sizes are in bytes. The defaults are those of a processor of which nothing is known.
    """

    name: str
    features: frozenset[str] = frozenset()
    """The features of its instruction set, in LLVM's spelling, with all that they imply."""

    native: frozenset[str] = frozenset()
    """Decomposed elementwise ops, without the dialect's name, that are one instruction or few."""
    converted: frozenset[str] = frozenset()
    """The narrow floats with an instruction to and from f32; the others are converted by integer
    operations on their bits. All of them are only stored: arithmetic is in f32."""

    axis_types: frozenset[str] = frozenset()
    """The AxisTypes that a SPLIT may give a range, by their names."""

    vector_bits: int = 0
    """The width of the widest vector registers; 0 where there are none."""
    vector_registers: int = 0
    """How many vector registers of that width there are."""
    masks_stores: bool = False
    """Whether one instruction stores some lanes of a vector, of 4 bytes each or more."""

    l1: int = 32 << 10
    """The L1 data cache of a core."""
    l2: int = 512 << 10
    """The L2 cache of a core."""
    llc: int = 16 << 20
    """The last-level cache: the part of it that a process may count on."""

    threads: int = 1
    """How many threads a kernel may use."""

    def __post_init__(self) -> None:
        for name in ("l1", "l2", "llc", "threads"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} is {value}, not a positive number")

    def lanes(self, itemsize: int) -> int:
        """How many elements of that many bytes a vector has; 1 without vectors."""
        return max(self.vector_bits // (8 * itemsize), 1)

    def __str__(self) -> str:
        """All fields as text, the same in every process: a set has no order of its own."""
        return ", ".join(f"{f.name} = {_text(getattr(self, f.name))}" for f in fields(self))


def _text(value: str | int | frozenset[str]) -> str:
    return repr(sorted(value) if isinstance(value, frozenset) else value)
