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

    execution: str = "loops"
    """What runs a loop nest: `loops` of threads, or a `grid` of workgroups."""

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

    cache_line: int = 64
    """Bytes. Rows of a tile that lie in lines of their own are dearer, and threads do not share
    a line that they store to."""
    l1_ways: int = 8
    """How many rows of a tile may lie in one set of L1: those beyond evict one another. Caches of
    12 ways keep no more than these 8 beside what else a tile loads."""
    page: int = 4096
    tlb_pages: int = 64
    """How many pages the first TLB knows: a tile that is spread over more is copied together."""
    page_streams: int = 32
    """How many pages a core follows at once: so many steps a block of a reduction has that goes
    down one page after another. More lose the prefetcher, fewer are more passes over the
    results."""
    bytes_per_cycle: int = 8
    """The bytes that a core loads from memory and stores to it, by which the heuristic tells
    whether a kernel is long enough for threads."""

    threads: int = 1
    """How many threads a kernel may use."""

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} is {value}, not a positive number")
        for name in ("vector_bits", "vector_registers"):
            if (value := getattr(self, name)) < 0:
                raise ValueError(f"{name} is {value}, a negative number")
        if self.l1 < self.l1_ways:
            raise ValueError(f"l1 is {self.l1} bytes, fewer than its {self.l1_ways} ways")

    @property
    def l1_way(self) -> int:
        """The bytes apart at which addresses are in one set of L1: a page at most, because an L1 is
        indexed by the part of an address that is not translated."""
        return min(self.page, 1 << ((self.l1 // self.l1_ways).bit_length() - 1))

    @property
    def packed_block(self) -> int:
        """The bytes up to which a column of packed steps needs no blocks: half as much again as L1
        (48 KiB where L1 has 32). Blocks keep it in L1, but cost passes over the results."""
        return self.l1 + self.l1 // 2

    def lanes(self, itemsize: int) -> int:
        """How many elements of that many bytes a vector has; 1 without vectors."""
        return max(self.vector_bits // (8 * itemsize), 1)

    def __str__(self) -> str:
        """All fields as text, the same in every process: a set has no order of its own."""
        return ", ".join(f"{f.name} = {_text(getattr(self, f.name))}" for f in fields(self))


_POSITIVE = (
    *("l1", "l2", "llc", "cache_line", "l1_ways", "page", "tlb_pages", "page_streams"),
    *("bytes_per_cycle", "threads"),
)
"""The fields of which 0 makes no sense."""


def _text(value: str | int | frozenset[str]) -> str:
    return repr(sorted(value) if isinstance(value, frozenset) else value)
